//! What the programs share.

use zymase::{check_grad, value_and_grad};

/// Compares the gradient of `f` at `x` with forward mode and finite differences, and says so.
pub fn check(name: &str, f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    if let Err(mismatch) = check_grad(&f, x) {
        panic!("{name}: {mismatch}");
    }
    let (value, gradient) = value_and_grad(&f, x);
    assert_eq!(value, f(x), "{name}");
    for (i, &found) in gradient.iter().enumerate() {
        let beside = |h: f64| {
            let mut x = x.to_vec();
            x[i] += h;
            f(&x)
        };
        let h = 1e-5;
        let expected = (beside(h) - beside(-h)) / (2.0 * h);
        let error = (found - expected).abs() / found.abs().max(expected.abs()).max(1.0);
        assert!(error < 1e-6, "{name}: x[{i}]: {found} is not {expected}");
    }
    println!("ok {name}");
    gradient
}
