//! The likelihood of a mixture of Gaussians with a Wishart prior.

use crate::evaluation::{Answer, Count, Outcome, Request, check, flat, rows};
use crate::random::Random;
use serde::{Deserialize, Serialize};
use std::f64::consts::{LN_2, PI};
use zymase::autodiff_reverse;

#[derive(Deserialize)]
struct Input {
    d: Count,
    k: Count,
    n: Count,
    m: Count,
    gamma: f64,
    x: Vec<Vec<f64>>,
    alpha: Vec<f64>,
    mu: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
    l: Vec<Vec<f64>>,
}

#[derive(Serialize)]
struct Output<'a> {
    alpha: &'a [f64],
    mu: Vec<&'a [f64]>,
    q: Vec<&'a [f64]>,
    l: Vec<&'a [f64]>,
}

/// The points, and the numbers of the prior.
pub struct Data {
    /// The dimension of the points.
    pub d: usize,
    /// The points, one after the other.
    pub x: Vec<f64>,
    /// The scale of the prior.
    pub gamma: f64,
    /// The degrees of freedom of the prior, beyond the least.
    pub m: usize,
}

/// The parameters of all components, one after the other, or derivatives with respect to them.
pub struct Mixture {
    /// Logarithms of weights, not normalized.
    pub alpha: Vec<f64>,
    /// Means.
    pub mu: Vec<f64>,
    /// Logarithms of the diagonals of the factors of the precision matrices.
    pub q: Vec<f64>,
    /// What is below these diagonals, column by column.
    pub l: Vec<f64>,
}

/// Answers `objective` and `jacobian`.
pub fn evaluate(request: &Request) -> Outcome {
    let input: Input = request.input()?;
    let (Count(d), Count(k), Count(n)) = (input.d, input.k, input.n);
    check(d > 0 && k > 0 && n > 0, "d, k and n are at least 1")?;
    let triangle = d * (d - 1) / 2;
    check(input.x.len() == n, "x has not n rows")?;
    check(input.alpha.len() == k, "alpha has not k numbers")?;
    let counts = [input.mu.len(), input.q.len(), input.l.len()];
    check(counts == [k; 3], "mu, q or l has not k rows")?;
    let data = Data {
        d,
        x: flat(&input.x, d, "x")?,
        gamma: input.gamma,
        m: input.m.0,
    };
    let mixture = Mixture {
        alpha: input.alpha,
        mu: flat(&input.mu, d, "mu")?,
        q: flat(&input.q, d, "q")?,
        l: flat(&input.l, triangle, "l")?,
    };
    match request.function {
        "objective" => request.answer(&mixture, |mixture| {
            objective(&data, &mixture.alpha, &mixture.mu, &mixture.q, &mixture.l)
        }),
        "jacobian" => {
            let mut result = mixture.zeros_like();
            let run = |mixture: &Mixture| gradient(&data, mixture, &mut result);
            let ((), timings) = request.repeat(&mixture, run)?;
            let output = Output {
                alpha: &result.alpha,
                mu: rows(&result.mu, k, d),
                q: rows(&result.q, k, d),
                l: rows(&result.l, k, triangle),
            };
            Answer::new(&output, timings)
        }
        _ => request.unknown_function(),
    }
}

/// The logarithm of the likelihood of the points, and of the prior.
#[autodiff_reverse(
    d_objective,
    Const,
    Duplicated,
    Duplicated,
    Duplicated,
    Duplicated,
    Active
)]
pub fn objective(data: &Data, alpha: &[f64], mu: &[f64], q: &[f64], l: &[f64]) -> f64 {
    let (d, k) = (data.d, alpha.len());
    let n = data.x.len() / d;
    let triangle = d * (d - 1) / 2;
    assert!(!q.is_empty(), "no components");
    assert!(n * k > 0, "no points");
    let diagonals: Vec<f64> = q.iter().map(|q| q.exp()).collect();
    let mut terms = vec![0.0; n * k];
    let mut centered = vec![0.0; d];
    let mut scaled = vec![0.0; d];
    let mut sum_of_all_q = 0.0;
    for component in 0..k {
        let mu = &mu[component * d..][..d];
        let diagonal = &diagonals[component * d..][..d];
        let l = &l[component * triangle..][..triangle];
        let sum_of_q: f64 = q[component * d..][..d].iter().sum();
        let offset = alpha[component] + sum_of_q;
        for (i, x) in data.x.chunks_exact(d).enumerate() {
            for j in 0..d {
                centered[j] = x[j] - mu[j];
                scaled[j] = diagonal[j] * centered[j];
            }
            add_triangle_times(l, &centered, &mut scaled);
            terms[i * k + component] = offset - 0.5 * sum_of_squares(&scaled);
        }
        sum_of_all_q += sum_of_q;
    }
    let norm = sum_of_squares(&diagonals) + sum_of_squares(l);
    let prior = 0.5 * data.gamma * data.gamma * norm - data.m as f64 * sum_of_all_q;
    let likelihood: f64 = terms.chunks_exact(k).map(log_sum_exp).sum();
    constant(data, n, k) - n as f64 * log_sum_exp(alpha) + likelihood - prior
}

/// Adds the product of the strict lower triangle `l`, which lies column by column, and `x`.
fn add_triangle_times(l: &[f64], x: &[f64], y: &mut [f64]) {
    let d = x.len();
    let mut start = 0;
    for column in 0..d {
        let below = &mut y[column + 1..d];
        let entries = &l[start..][..below.len()];
        for (y, entry) in below.iter_mut().zip(entries) {
            *y += entry * x[column];
        }
        start += entries.len();
    }
}

fn sum_of_squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = x.iter().map(|x| (x - largest).exp()).sum();
    largest + sum.ln()
}

/// What does not depend on the mixture.
fn constant(data: &Data, n: usize, k: usize) -> f64 {
    let (d, freedom) = (data.d as f64, data.d + data.m + 1);
    // The arguments of the gamma functions are halves of integers.
    let gammas: f64 = (0..data.d).map(|j| log_gamma_of_half(freedom - j)).sum();
    let log_gamma = 0.25 * d * (d - 1.0) * PI.ln() + gammas;
    let prior = freedom as f64 * d * (data.gamma.ln() - 0.5 * LN_2) - log_gamma;
    k as f64 * prior - 0.5 * n as f64 * d * (2.0 * PI).ln()
}

/// The logarithm of the gamma function of `twice / 2`, by its recursion.
fn log_gamma_of_half(twice: usize) -> f64 {
    let (mut first, mut sum) = match twice % 2 {
        0 => (2, 0.0),
        _ => (1, 0.5 * PI.ln()),
    };
    while first < twice {
        sum += (0.5 * first as f64).ln();
        first += 2;
    }
    sum
}

/// The derivative of [`objective`] with respect to the mixture.
pub fn gradient(data: &Data, mixture: &Mixture, result: &mut Mixture) {
    let Mixture { alpha, mu, q, l } = mixture;
    result.fill_zero();
    let d = result;
    d_objective(
        data,
        alpha,
        &mut d.alpha,
        mu,
        &mut d.mu,
        q,
        &mut d.q,
        l,
        &mut d.l,
        1.0,
    );
}

impl Mixture {
    /// A mixture of this shape whose numbers are zero.
    pub fn zeros_like(&self) -> Mixture {
        Mixture {
            alpha: vec![0.0; self.alpha.len()],
            mu: vec![0.0; self.mu.len()],
            q: vec![0.0; self.q.len()],
            l: vec![0.0; self.l.len()],
        }
    }

    fn fill_zero(&mut self) {
        for part in [&mut self.alpha, &mut self.mu, &mut self.q, &mut self.l] {
            part.fill(0.0);
        }
    }
}

/// Points and a mixture as GradBench draws them.
pub fn random(random: &mut Random, d: usize, k: usize, n: usize) -> (Data, Mixture) {
    let data = Data {
        d,
        x: random.normals(n * d),
        gamma: 1.0,
        m: 0,
    };
    let mixture = Mixture {
        alpha: random.normals(k),
        mu: random.uniforms(k * d),
        q: random.normals(k * d),
        l: random.normals(k * (d * (d - 1) / 2)),
    };
    (data, mixture)
}

/// Written by hand.
pub mod by_hand {
    use super::{Data, Mixture, add_triangle_times};

    /// The derivative of the objective with respect to the mixture. Differences from the means and
    /// what comes out of the factors is kept for the components of one point, until their weights are
    /// known.
    pub fn gradient(data: &Data, mixture: &Mixture, result: &mut Mixture) {
        let Mixture { alpha, mu, q, l } = mixture;
        let (d, k) = (data.d, alpha.len());
        let n = data.x.len() / d;
        let triangle = d * (d - 1) / 2;
        let diagonals: Vec<f64> = q.iter().map(|q| q.exp()).collect();
        let offset = |(alpha, q): (&f64, &[f64])| alpha + q.iter().sum::<f64>();
        let offsets: Vec<f64> = alpha.iter().zip(q.chunks_exact(d)).map(offset).collect();
        let (mut centered, mut scaled) = (vec![0.0; k * d], vec![0.0; k * d]);
        let mut weights = vec![0.0; k];
        result.fill_zero();
        for x in data.x.chunks_exact(d) {
            for component in 0..k {
                let at = component * d..(component + 1) * d;
                let (mu, diagonal) = (&mu[at.clone()], &diagonals[at.clone()]);
                let (centered, scaled) = (&mut centered[at.clone()], &mut scaled[at]);
                center(x, mu, diagonal, centered, scaled);
                add_triangle_times(&l[component * triangle..][..triangle], centered, scaled);
                weights[component] = offsets[component] - 0.5 * dot(scaled, scaled);
            }
            softmax(&mut weights);
            for (component, weight) in weights.iter().enumerate() {
                let at = component * d..(component + 1) * d;
                let (diagonal, centered) = (&diagonals[at.clone()], &centered[at.clone()]);
                let scaled = &mut scaled[at.clone()];
                scaled.iter_mut().for_each(|scaled| *scaled *= weight);
                result.alpha[component] += weight;
                let (dmu, dq) = (&mut result.mu[at.clone()], &mut result.q[at]);
                back_through_diagonal(diagonal, centered, scaled, *weight, dmu, dq);
                let l = &l[component * triangle..][..triangle];
                let dl = &mut result.l[component * triangle..][..triangle];
                back_through_triangle(l, centered, scaled, dmu, dl);
            }
        }
        let square = data.gamma * data.gamma;
        let mut share = alpha.clone();
        softmax(&mut share);
        for (dalpha, share) in result.alpha.iter_mut().zip(share) {
            *dalpha -= n as f64 * share;
        }
        for (dq, diagonal) in result.q.iter_mut().zip(&diagonals) {
            *dq += data.m as f64 - square * diagonal * diagonal;
        }
        for (dl, l) in result.l.iter_mut().zip(l) {
            *dl -= square * l;
        }
    }

    fn center(x: &[f64], mu: &[f64], diagonal: &[f64], centered: &mut [f64], scaled: &mut [f64]) {
        let d = x.len();
        let (mu, diagonal) = (&mu[..d], &diagonal[..d]);
        let (centered, scaled) = (&mut centered[..d], &mut scaled[..d]);
        for j in 0..d {
            centered[j] = x[j] - mu[j];
            scaled[j] = diagonal[j] * centered[j];
        }
    }

    fn back_through_diagonal(
        diagonal: &[f64],
        centered: &[f64],
        scaled: &[f64],
        weight: f64,
        dmu: &mut [f64],
        dq: &mut [f64],
    ) {
        let d = diagonal.len();
        let (centered, scaled) = (&centered[..d], &scaled[..d]);
        let (dmu, dq) = (&mut dmu[..d], &mut dq[..d]);
        for j in 0..d {
            let back = diagonal[j] * scaled[j];
            dmu[j] += back;
            dq[j] += weight - back * centered[j];
        }
    }

    /// The derivative of minus half the square of the scaled point, which `dy` is the weighted
    /// scaled point of: with respect to the mean and the triangle.
    fn back_through_triangle(l: &[f64], x: &[f64], dy: &[f64], dmu: &mut [f64], dl: &mut [f64]) {
        let mut start = 0;
        for (column, (x, dmu)) in x.iter().zip(dmu).enumerate() {
            let dy = &dy[column + 1..];
            let l = &l[start..][..dy.len()];
            let dl = &mut dl[start..][..dy.len()];
            for (dl, dy) in dl.iter_mut().zip(dy) {
                *dl -= dy * x;
            }
            *dmu += dot(l, dy);
            start += dy.len();
        }
    }

    /// The product of two vectors, in several sums that do not wait for each other.
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        let mut sums = [0.0; 8];
        for (a, b) in a.iter().zip(b) {
            for i in 0..8 {
                sums[i] += a[i] * b[i];
            }
        }
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
        sums.iter().sum::<f64>() + rest
    }

    fn softmax(x: &mut [f64]) {
        let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for x in &mut *x {
            *x = (*x - largest).exp();
            sum += *x;
        }
        let factor = 1.0 / sum;
        for x in x {
            *x *= factor;
        }
    }
}
