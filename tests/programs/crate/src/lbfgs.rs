//! Minimization of smooth functions by the limited-memory method of Broyden, Fletcher, Goldfarb and
//! Shanno.

use std::collections::VecDeque;

/// How many steps are remembered.
const MEMORY: usize = 8;

/// Where the search ended.
pub struct Minimum {
    /// The point.
    pub x: Vec<f64>,
    /// The value there.
    pub value: f64,
    /// The norm of the gradient there.
    pub slope: f64,
    /// How many steps led there.
    pub steps: usize,
}

/// A step and the change of the gradient along it.
struct Step {
    s: Vec<f64>,
    y: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn moved(x: &[f64], by: f64, along: &[f64]) -> Vec<f64> {
    x.iter().zip(along).map(|(x, d)| x + by * d).collect()
}

/// The direction of descent, by the two loops over the remembered steps.
fn direction(memory: &VecDeque<Step>, gradient: &[f64]) -> Vec<f64> {
    let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut factors = Vec::with_capacity(memory.len());
    for step in memory.iter().rev() {
        let factor = dot(&step.s, &d) / dot(&step.s, &step.y);
        d = moved(&d, -factor, &step.y);
        factors.push(factor);
    }
    if let Some(last) = memory.back() {
        let scale = dot(&last.s, &last.y) / dot(&last.y, &last.y);
        d.iter_mut().for_each(|d| *d *= scale);
    }
    for (step, factor) in memory.iter().zip(factors.into_iter().rev()) {
        let back = dot(&step.y, &d) / dot(&step.s, &step.y);
        d = moved(&d, factor - back, &step.s);
    }
    d
}

/// Searches from `x` until the norm of the gradient is at most `tolerance`, for at most `limit`
/// steps. `f` gives the value and the gradient.
pub fn minimize(
    f: impl Fn(&[f64]) -> (f64, Vec<f64>),
    x: &[f64],
    tolerance: f64,
    limit: usize,
) -> Minimum {
    let mut x = x.to_vec();
    let (mut value, mut gradient) = f(&x);
    let mut memory: VecDeque<Step> = VecDeque::new();
    let mut steps = 0;
    while dot(&gradient, &gradient).sqrt() > tolerance && steps < limit {
        steps += 1;
        let mut d = direction(&memory, &gradient);
        let mut slope = dot(&d, &gradient);
        if slope >= 0.0 {
            memory.clear();
            d = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        // The first step has no scale yet.
        let mut length = match memory.is_empty() {
            true => 1.0 / slope.abs().sqrt().max(1.0),
            false => 1.0,
        };
        let accepted = loop {
            let there = moved(&x, length, &d);
            let (new_value, new_gradient) = f(&there);
            if new_value <= value + 1e-4 * length * slope {
                break Some((there, new_value, new_gradient));
            }
            length *= 0.5;
            if length < 1e-14 {
                break None;
            }
        };
        let Some((there, new_value, new_gradient)) = accepted else {
            break;
        };
        let step = Step {
            s: moved(&there, -1.0, &x),
            y: moved(&new_gradient, -1.0, &gradient),
        };
        if dot(&step.s, &step.y) > 1e-14 * dot(&step.y, &step.y) {
            memory.push_back(step);
            if memory.len() > MEMORY {
                memory.pop_front();
            }
        }
        (x, value, gradient) = (there, new_value, new_gradient);
    }
    let slope = dot(&gradient, &gradient).sqrt();
    Minimum {
        x,
        value,
        slope,
        steps,
    }
}
