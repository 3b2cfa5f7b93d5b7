// Text that grows beside active numbers.
include!("check.rs");

fn report(x: &[f64]) -> f64 {
    let mut log = String::new();
    let mut sum = 0.0;
    for (i, a) in x.iter().enumerate() {
        sum += a * a;
        log.push_str(&format!("{i}: {sum:.3}; "));
    }
    log += "done";
    sum * if log.contains("done") { 2.0 } else { 1.0 } + log.lines().count() as f64 * x[0]
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("logs", report, x);
}
