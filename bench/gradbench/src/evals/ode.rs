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
    use super::END;

    /// The derivative of the last number of the primal with respect to `x`. What is kept is y before
    /// each step; the stages of a step are computed again.
    pub fn gradient(x: &[f64], steps: usize, y: &mut [f64], dx: &mut [f64], dy: &mut [f64]) {
        let n = x.len();
        let h = END / steps as f64;
        let mut tape = vec![0.0; n * steps];
        let mut stages = [(); 3].map(|()| vec![0.0; n]);
        let mut adjoints = [(); 3].map(|()| vec![0.0; n]);
        y.fill(0.0);
        for kept in tape.chunks_exact_mut(n) {
            kept.copy_from_slice(y);
            compute_stages(x, h, kept, &mut stages);
            step(x, h, kept, &stages, y);
        }
        dx.fill(0.0);
        dy.fill(0.0);
        dy[n - 1] = 1.0;
        for kept in tape.chunks_exact(n).rev() {
            compute_stages(x, h, kept, &mut stages);
            step_back(x, h, (kept, &stages), &mut adjoints, dx, dy);
        }
    }

    /// What the slopes of the second to fourth stage are taken at.
    fn compute_stages(x: &[f64], h: f64, y: &[f64], stages: &mut [Vec<f64>; 3]) {
        let [y2, y3, y4] = stages;
        moved(x, 0.5 * h, y, y, y2);
        moved(x, 0.5 * h, y, y2, y3);
        moved(x, h, y, y3, y4);
    }

    /// `out` is y after `h` times the slope at `at`.
    fn moved(x: &[f64], h: f64, y: &[f64], at: &[f64], out: &mut [f64]) {
        let n = x.len();
        let (y, at, out) = (&y[..n], &at[..n], &mut out[..n]);
        out[0] = y[0] + h * x[0];
        for i in 1..n {
            out[i] = y[i] + h * x[i] * at[i - 1];
        }
    }

    fn step(x: &[f64], h: f64, y1: &[f64], stages: &[Vec<f64>; 3], y: &mut [f64]) {
        let n = x.len();
        let [y2, y3, y4] = stages.each_ref().map(|stage| &stage[..n]);
        let (y1, y) = (&y1[..n], &mut y[..n]);
        y[0] += h * x[0];
        for i in 1..n {
            let j = i - 1;
            y[i] += h / 6.0 * x[i] * (y1[j] + 2.0 * y2[j] + 2.0 * y3[j] + y4[j]);
        }
    }

    /// One step. An entry of a stage is used by the slope of the next entry only, so the adjoints of
    /// the slopes, from the fourth to the first, are loops without a chain.
    fn step_back(
        x: &[f64],
        h: f64,
        (y1, stages): (&[f64], &[Vec<f64>; 3]),
        adjoints: &mut [Vec<f64>; 3],
        dx: &mut [f64],
        dy: &mut [f64],
    ) {
        let n = x.len();
        let [y2, y3, y4] = stages.each_ref().map(|stage| &stage[..n]);
        let [d1, d2, d3] = adjoints.each_mut().map(|adjoint| &mut adjoint[..n]);
        let (y1, dx, dy) = (&y1[..n], &mut dx[..n], &mut dy[..n]);
        let last = n - 1;
        for i in 0..last {
            d3[i] = h / 3.0 * dy[i] + h * x[i + 1] * (h / 6.0) * dy[i + 1];
        }
        d3[last] = h / 3.0 * dy[last];
        for i in 0..last {
            d2[i] = h / 3.0 * dy[i] + 0.5 * h * x[i + 1] * d3[i + 1];
        }
        d2[last] = h / 3.0 * dy[last];
        for i in 0..last {
            d1[i] = h / 6.0 * dy[i] + 0.5 * h * x[i + 1] * d2[i + 1];
        }
        d1[last] = h / 6.0 * dy[last];
        dx[0] += d1[0] + d2[0] + d3[0] + h / 6.0 * dy[0];
        for i in 1..n {
            let j = i - 1;
            let fourth = h / 6.0 * dy[i] * y4[j];
            dx[i] += d1[i] * y1[j] + d2[i] * y2[j] + d3[i] * y3[j] + fourth;
        }
        for i in 0..last {
            dy[i] += x[i + 1] * (d1[i + 1] + d2[i + 1] + d3[i + 1] + h / 6.0 * dy[i + 1]);
        }
    }
}
