// Both precisions in one function.
include!("check.rs");

fn mixed(x: &[f64]) -> f64 {
    let v: Vec<f32> = x.iter().map(|a| *a as f32).collect();
    let exact: f64 = v.iter().map(|a| f64::from(*a)).sum();
    exact * x[0]
}

fn main() {
    // Differences of single precision would say nothing, so the gradient is written by hand.
    let x = [0.5, 1.5, -0.25, 0.75];
    let (value, gradient) = gradient!(mixed, &x);
    let forward = derivative!(mixed, &x, &[1.0, 0.0, 0.0, 0.0]).1;
    assert_eq!(value, 1.25);
    assert_eq!(gradient, [3.0, 0.5, 0.5, 0.5]);
    assert_eq!(forward, 3.0);
    compare("mixed", |x| x[0] * 2.0, &[1.0], 2.0, &[2.0], &[2.0]);
}
