// Results with messages, and `?`.
include!("check.rs");

fn messages(x: &[f64]) -> f64 {
    fn half(a: f64) -> Result<f64, String> {
        if a > 100.0 {
            Err(format!("{a} is too large"))
        } else {
            Ok(a / 2.0)
        }
    }
    fn all(x: &[f64]) -> Result<f64, Box<dyn std::error::Error>> {
        let mut product = 1.0;
        for a in x {
            product *= half(*a)? + "2".parse::<f64>()?;
        }
        Ok(product)
    }
    all(x).unwrap_or(0.0)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("messages", messages, x);
}
