//! Least squares: a polynomial that fits the sign function.

use crate::evaluation::{Answer, Count, Outcome, Request};
use serde::Deserialize;
use zymase::autodiff_reverse;

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    n: Count,
}

/// Answers `primal` and `gradient`.
pub fn evaluate(request: &Request) -> Outcome {
    let Input { x, n: Count(n) } = request.input()?;
    match request.function {
        "primal" => request.answer(&x[..], |x| primal(x, n)),
        "gradient" => {
            let mut dx = vec![0.0; x.len()];
            let ((), timings) = request.repeat(&x[..], |x| gradient(x, n, &mut dx))?;
            Answer::new(&dx, timings)
        }
        _ => request.unknown_function(),
    }
}

/// Half the sum of squares of what the polynomial with coefficients `x` misses, at `n` points.
#[autodiff_reverse(d_primal, Duplicated, Const, Active)]
pub fn primal(x: &[f64], n: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        let t = position(i, n);
        let mut value = 0.0;
        let mut power = 1.0;
        for &coefficient in x {
            value += coefficient * power;
            power *= t;
        }
        let miss = sign(t) - value;
        sum += miss * miss;
    }
    0.5 * sum
}

/// The point `i` of `n` in -1 ..= 1.
fn position(i: usize, n: usize) -> f64 {
    -1.0 + 2.0 * i as f64 / (n as f64 - 1.0)
}

fn sign(t: f64) -> f64 {
    if t > 0.0 {
        1.0
    } else if t < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// The derivative of [`primal`] with respect to `x`.
pub fn gradient(x: &[f64], n: usize, dx: &mut [f64]) {
    dx.fill(0.0);
    d_primal(x, dx, n, 1.0);
}

/// Written by hand.
pub mod by_hand {
    use super::{position, sign};

    /// The derivative of the primal with respect to `x`.
    pub fn gradient(x: &[f64], n: usize, dx: &mut [f64]) {
        dx.fill(0.0);
        let mut powers = vec![0.0; x.len()];
        for i in 0..n {
            let t = position(i, n);
            let mut value = 0.0;
            let mut power = 1.0;
            for (coefficient, kept) in x.iter().zip(&mut powers) {
                *kept = power;
                value += coefficient * power;
                power *= t;
            }
            let miss = value - sign(t);
            for (dx, power) in dx.iter_mut().zip(&powers) {
                *dx += miss * power;
            }
        }
    }
}
