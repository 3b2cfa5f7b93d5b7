// Strings around the edges.
include!("check.rs");

fn named(x: &[f64]) -> f64 {
    let names: Vec<String> = (0..x.len()).map(|i| format!("v{}", i * i * i)).collect();
    names
        .iter()
        .zip(x)
        .map(|(name, a)| a * a * name.len() as f64)
        .sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("strings: named", named, x);
}
