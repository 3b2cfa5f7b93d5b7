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
        let [d1, d2, d3] = adjoints;
        slope_adjoint(x, dy, (h / 3.0, h * (h / 6.0)), dy, d3);
        slope_adjoint(x, dy, (h / 3.0, 0.5 * h), d3, d2);
        slope_adjoint(x, dy, (h / 6.0, 0.5 * h), d2, d1);
        add_products(
            h / 6.0,
            [y1, &stages[0], &stages[1], &stages[2]],
            [d1, d2, d3, dy],
            dx,
        );
        add_to_y(x, h / 6.0, [d1, d2, d3], dy);
    }

    /// The adjoint of a slope: what it adds to y, and what the next stage's slope read of it.
    fn slope_adjoint(
        x: &[f64],
        dy: &[f64],
        (of_y, of_next): (f64, f64),
        next: &[f64],
        out: &mut [f64],
    ) {
        let n = x.len();
        let (dy, next, out) = (&dy[..n], &next[..n], &mut out[..n]);
        for i in 0..n - 1 {
            out[i] = of_y * dy[i] + of_next * x[i + 1] * next[i + 1];
        }
        out[n - 1] = of_y * dy[n - 1];
    }

    fn add_products(sixth: f64, stages: [&[f64]; 4], adjoints: [&[f64]; 4], dx: &mut [f64]) {
        let n = dx.len();
        let [y1, y2, y3, y4] = stages.map(|stage| &stage[..n]);
        let [d1, d2, d3, d4] = adjoints.map(|adjoint| &adjoint[..n]);
        dx[0] += d1[0] + d2[0] + d3[0] + sixth * d4[0];
        for i in 1..n {
            let j = i - 1;
            dx[i] += d1[i] * y1[j] + d2[i] * y2[j] + d3[i] * y3[j] + sixth * d4[i] * y4[j];
        }
    }

    fn add_to_y(x: &[f64], sixth: f64, adjoints: [&[f64]; 3], dy: &mut [f64]) {
        let n = x.len();
        let [d1, d2, d3] = adjoints.map(|adjoint| &adjoint[..n]);
        let dy = &mut dy[..n];
        for i in 0..n - 1 {
            let next = i + 1;
            dy[i] += x[next] * (d1[next] + d2[next] + d3[next] + sixth * dy[next]);
        }
    }
}
