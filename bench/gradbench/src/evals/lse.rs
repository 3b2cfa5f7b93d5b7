//! The logarithm of a sum of exponentials.

use crate::evaluation::{Answer, Outcome, Request, check};
use serde::Deserialize;
use zymase::autodiff_reverse;

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
}

/// Answers `primal` and `gradient`.
pub fn evaluate(request: &Request) -> Outcome {
    let Input { x } = request.input()?;
    check(!x.is_empty(), "x is empty")?;
    match request.function {
        "primal" => request.answer(&x[..], primal),
        "gradient" => {
            let mut dx = vec![0.0; x.len()];
            let ((), timings) = request.repeat(&x[..], |x| gradient(x, &mut dx))?;
            Answer::new(&dx, timings)
        }
        _ => request.unknown_function(),
    }
}

/// The logarithm of the sum of the exponentials, without overflow.
#[autodiff_reverse(d_primal, Duplicated, Active)]
pub fn primal(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = x.iter().map(|x| (x - largest).exp()).sum();
    largest + sum.ln()
}

/// The derivative of [`primal`] with respect to `x`.
pub fn gradient(x: &[f64], dx: &mut [f64]) {
    dx.fill(0.0);
    d_primal(x, dx, 1.0);
}

/// Written by hand.
pub mod by_hand {
    /// The derivative of the primal with respect to `x`.
    pub fn gradient(x: &[f64], dx: &mut [f64]) {
        let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for (x, dx) in x.iter().zip(&mut *dx) {
            *dx = (x - largest).exp();
            sum += *dx;
        }
        let factor = 1.0 / sum;
        for dx in dx {
            *dx *= factor;
        }
    }
}
