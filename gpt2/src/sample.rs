//! Text from a model: one token after the other, each drawn from what the model expects.

use crate::method::{self, Kernel};
use crate::random::Random;
use crate::{Config, Parameters};

/// How tokens are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Above 1 more is tried, below 1 less; 0 takes the likeliest always.
    pub temperature: f64,
    /// Only the likeliest tokens are drawn from, this many of them; 0 is no limit.
    pub top_k: usize,
}

/// Continues `tokens`, which must not be empty, by `count` more. Each is given to `each`, which may
/// say that it is enough by returning `false`.
///
/// The whole window is computed again for each token: it is simple, and a window is short.
pub fn generate(
    (parameters, config, kernel): (&Parameters, &Config, Kernel),
    tokens: &mut Vec<u32>,
    count: usize,
    sampling: &Sampling,
    random: &mut Random,
    mut each: impl FnMut(u32) -> bool,
) {
    for _ in 0..count {
        let window = &tokens[tokens.len().saturating_sub(config.positions)..];
        let logits = method::logits(kernel, parameters, config, window);
        let last = &logits[(window.len() - 1) * config.padded_vocabulary..][..config.vocabulary];
        let token = draw(last, sampling, random);
        tokens.push(token);
        if !each(token) {
            return;
        }
    }
}

/// Draws a token by its logit.
pub fn draw(logits: &[f32], sampling: &Sampling, random: &mut Random) -> u32 {
    let mut order: Vec<u32> = (0..logits.len() as u32).collect();
    // Likeliest first. What is not a number counts as least likely.
    let key = |token: &u32| {
        let logit = logits[*token as usize];
        if logit.is_nan() {
            f32::NEG_INFINITY
        } else {
            logit
        }
    };
    let later = |a: &u32, b: &u32| key(b).total_cmp(&key(a)).then(a.cmp(b));
    let kept = match sampling.top_k {
        _ if sampling.temperature <= 0.0 => 1,
        0 => order.len(),
        k => k.min(order.len()),
    };
    if kept < order.len() {
        order.select_nth_unstable_by(kept - 1, later);
        order.truncate(kept);
    }
    order.sort_unstable_by(later);
    if kept == 1 {
        return order[0];
    }
    let largest = f64::from(key(&order[0]));
    let weights: Vec<f64> = order
        .iter()
        .map(|token| ((f64::from(key(token)) - largest) / sampling.temperature).exp())
        .collect();
    let mut place = random.uniform() * weights.iter().sum::<f64>();
    for (token, weight) in order.iter().zip(weights) {
        place -= weight;
        if place < 0.0 {
            return *token;
        }
    }
    order[0]
}
