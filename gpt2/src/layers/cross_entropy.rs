//! How surprising the targets are.

use super::largest;
use zymase::{autodiff_reverse, fast};

/// The mean over all rows of −ln softmax(logits)[target]. Each row has `padded` logits, of which the
/// first `vocabulary` count.
#[autodiff_reverse(d_cross_entropy, Duplicated, Const, Const, Const, Active)]
#[fast]
pub fn cross_entropy(logits: &[f32], targets: &[u32], vocabulary: usize, padded: usize) -> f32 {
    let mut loss = 0.0;
    for (logits, &target) in logits.chunks_exact(padded).zip(targets) {
        let logits = &logits[..vocabulary];
        loss += ln_sum_exp(logits) - logits[target as usize];
    }
    loss / targets.len() as f32
}

/// ln Σ exp(x), computed so that nothing is too large.
#[inline]
fn ln_sum_exp(x: &[f32]) -> f32 {
    let largest = largest(x);
    x.iter().map(|x| (x - largest).exp()).sum::<f32>().ln() + largest
}

/// Written by hand.
pub mod by_hand {
    use super::ln_sum_exp;

    /// The derivative of [`cross_entropy`](super::cross_entropy).
    pub fn cross_entropy(
        logits: &[f32],
        dlogits: &mut [f32],
        targets: &[u32],
        vocabulary: usize,
        padded: usize,
        seed: f32,
    ) {
        let seed = seed / targets.len() as f32;
        let rows = logits
            .chunks_exact(padded)
            .zip(dlogits.chunks_exact_mut(padded));
        for ((logits, dlogits), &target) in rows.zip(targets) {
            let logits = &logits[..vocabulary];
            let log_sum = ln_sum_exp(logits);
            for (logit, dlogit) in logits.iter().zip(&mut *dlogits) {
                *dlogit += (logit - log_sum).exp() * seed;
            }
            dlogits[target as usize] -= seed;
        }
    }
}
