//! What the programs share, and functions whose derivatives programs of another crate call.

pub mod lbfgs;

use zymase::{autodiff_forward, autodiff_reverse, derivative, inactive};

/// Asserts that two numbers are equal up to a relative error of `tolerance`.
#[track_caller]
pub fn near(found: f64, expected: f64, tolerance: f64) {
    let scale = found.abs().max(expected.abs()).max(1.0);
    let error = (found - expected).abs() / scale;
    assert!(error <= tolerance, "{found} is not {expected}");
}

/// Asserts that two lists of numbers are equal up to rounding.
#[track_caller]
pub fn equal(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (&found, &expected) in found.iter().zip(expected) {
        near(found, expected, 1e-12);
    }
}

/// The gradient of a function by central differences.
pub fn differences(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    let component = |i: usize| {
        let step = 1e-5 * x[i].abs().max(1.0);
        let at = |by: f64| {
            let mut x = x.to_vec();
            x[i] += by;
            f(&x)
        };
        (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step)
    };
    (0..x.len()).map(component).collect()
}

/// Asserts that a gradient is that of finite differences.
#[track_caller]
pub fn like_differences(f: impl Fn(&[f64]) -> f64, x: &[f64], gradient: &[f64]) {
    for (&found, expected) in gradient.iter().zip(differences(f, x)) {
        near(found, expected, 1e-7);
    }
}

/// A function of a library, with the derivatives that the library offers.
#[autodiff_reverse(d_energy, Duplicated, Active, Active)]
#[autodiff_forward(f_energy, Dual, Dual, Dual)]
pub fn energy(x: &[f64], stiffness: f64) -> f64 {
    x.iter().map(|x| stiffness * x * x + x.cos()).sum()
}

/// Generic: it is compiled where it is used.
#[autodiff_reverse(d_power, Duplicated, Active)]
pub fn power<const N: usize>(x: &[f64; N]) -> f64 {
    x.iter().map(|x| x.powi(N as i32)).sum()
}

/// No derivative flows through it, whoever calls it.
#[inactive]
pub fn scale(x: f64) -> f64 {
    x * x
}

/// Ten times too steep, so that one sees where its derivative comes from.
#[derivative(Active, Active, reverse = (steep_augmented, steep_pullback))]
pub fn steep(x: f64) -> f64 {
    x * x
}

fn steep_augmented(x: f64) -> (f64, f64) {
    (x * x, 20.0 * x)
}

fn steep_pullback(slope: f64, seed: f64) -> f64 {
    slope * seed
}

/// Random numbers between zero and one that are the same in every run.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of mean zero and variance one, by the method of Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
