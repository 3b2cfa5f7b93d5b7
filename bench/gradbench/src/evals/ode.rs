//! The method of Runge and Kutta on a chain of equations.

use crate::evaluation::{Answer, Count, Outcome, Request, check};
use serde::Deserialize;
use zymase::autodiff_reverse;

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    s: Count,
}

const END: f64 = 2.0;

/// Answers `primal` and `gradient`.
pub fn evaluate(request: &Request) -> Outcome {
    let Input { x, s: Count(steps) } = request.input()?;
    check(!x.is_empty(), "x is empty")?;
    let mut y = vec![0.0; x.len()];
    match request.function {
        "primal" => {
            let ((), timings) = request.repeat(&x[..], |x| primal(x, steps, &mut y))?;
            Answer::new(&y, timings)
        }
        "gradient" => {
            let mut dx = vec![0.0; x.len()];
            let mut dy = vec![0.0; x.len()];
            let run = |x: &[f64]| gradient(x, steps, &mut y, &mut dx, &mut dy);
            let ((), timings) = request.repeat(&x[..], run)?;
            Answer::new(&dx, timings)
        }
        _ => request.unknown_function(),
    }
}

/// The solution at time 2, from zero in `steps` steps.
#[autodiff_reverse(d_primal, Duplicated, Const, Duplicated)]
pub fn primal(x: &[f64], steps: usize, y: &mut [f64]) {
    let n = x.len();
    let h = END / steps as f64;
    let (mut k1, mut k2) = (vec![0.0; n], vec![0.0; n]);
    let (mut k3, mut k4) = (vec![0.0; n], vec![0.0; n]);
    let mut stage = vec![0.0; n];
    y.fill(0.0);
    for _ in 0..steps {
        slopes(x, y, &mut k1);
        advance(y, 0.5 * h, &k1, &mut stage);
        slopes(x, &stage, &mut k2);
        advance(y, 0.5 * h, &k2, &mut stage);
        slopes(x, &stage, &mut k3);
        advance(y, h, &k3, &mut stage);
        slopes(x, &stage, &mut k4);
        for i in 0..n {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
}

/// What y changes by: each by the one before it.
fn slopes(x: &[f64], y: &[f64], k: &mut [f64]) {
    k[0] = x[0];
    for ((k, x), y) in k[1..].iter_mut().zip(&x[1..]).zip(y) {
        *k = x * y;
    }
}

fn advance(y: &[f64], h: f64, k: &[f64], stage: &mut [f64]) {
    for ((stage, y), k) in stage.iter_mut().zip(y).zip(k) {
        *stage = y + h * k;
    }
}

/// The derivative of the last number of [`primal`] with respect to `x`.
pub fn gradient(x: &[f64], steps: usize, y: &mut [f64], dx: &mut [f64], dy: &mut [f64]) {
    dx.fill(0.0);
    dy.fill(0.0);
    dy[x.len() - 1] = 1.0;
    d_primal(x, dx, steps, y, dy);
}

/// Written by hand.
pub mod by_hand {
    use super::{END, advance, slopes};

    /// The derivative of the last number of the primal with respect to `x`. What is kept is y before
    /// each step; the stages of a step are computed again.
    pub fn gradient(x: &[f64], steps: usize, y: &mut [f64], dx: &mut [f64], dy: &mut [f64]) {
        let n = x.len();
        let h = END / steps as f64;
        let mut tape = vec![0.0; n * steps];
        let (mut k1, mut k2) = (vec![0.0; n], vec![0.0; n]);
        let (mut k3, mut k4) = (vec![0.0; n], vec![0.0; n]);
        let (mut y2, mut y3, mut y4) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        y.fill(0.0);
        for kept in tape.chunks_exact_mut(n) {
            kept.copy_from_slice(y);
            slopes(x, y, &mut k1);
            advance(y, 0.5 * h, &k1, &mut y2);
            slopes(x, &y2, &mut k2);
            advance(y, 0.5 * h, &k2, &mut y3);
            slopes(x, &y3, &mut k3);
            advance(y, h, &k3, &mut y4);
            slopes(x, &y4, &mut k4);
            for i in 0..n {
                y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        dx.fill(0.0);
        dy.fill(0.0);
        dy[n - 1] = 1.0;
        for y in tape.chunks_exact(n).rev() {
            slopes(x, y, &mut k1);
            advance(y, 0.5 * h, &k1, &mut y2);
            slopes(x, &y2, &mut k2);
            advance(y, 0.5 * h, &k2, &mut y3);
            slopes(x, &y3, &mut k3);
            advance(y, h, &k3, &mut y4);
            step_back(x, h, [y, &y2, &y3, &y4], dx, dy);
        }
    }

    /// One step: an entry of y and of all stages is used by the slope of the next entry only, so
    /// from the last entry to the first, everything is known when it is needed.
    fn step_back(x: &[f64], h: f64, stages: [&[f64]; 4], dx: &mut [f64], dy: &mut [f64]) {
        let [y1, y2, y3, y4] = stages;
        // The derivatives of what the next entry's slopes read of this entry.
        let (mut d1, mut d2, mut d3, mut d4) = (0.0, 0.0, 0.0, 0.0);
        for i in (0..x.len()).rev() {
            let last = h / 6.0 * dy[i];
            let dk1 = last + 0.5 * h * d2;
            let dk2 = 2.0 * last + 0.5 * h * d3;
            let dk3 = 2.0 * last + h * d4;
            let dk4 = last;
            dy[i] += d1 + d2 + d3 + d4;
            if i == 0 {
                dx[0] += dk1 + dk2 + dk3 + dk4;
            } else {
                let j = i - 1;
                dx[i] += dk1 * y1[j] + dk2 * y2[j] + dk3 * y3[j] + dk4 * y4[j];
                (d1, d2, d3, d4) = (x[i] * dk1, x[i] * dk2, x[i] * dk3, x[i] * dk4);
            }
        }
    }
}
