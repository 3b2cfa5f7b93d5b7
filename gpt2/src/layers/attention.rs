//! Causal attention of several heads.

use super::{add_scaled, dot, largest};
use zymase::{autodiff_reverse, fast};

/// Each position looks at itself and those before it, in each head on its own.
///
/// `qkv` has queries, keys and values in each row; `weights` gets, for each sequence, head and
/// position, how much it takes of each position.
#[autodiff_reverse(d_attention, Duplicated, Duplicated, Duplicated, Const, Const, Const)]
#[fast]
pub fn attention(
    out: &mut [f32],
    weights: &mut [f32],
    qkv: &[f32],
    length: usize,
    channels: usize,
    heads: usize,
) {
    let size = channels / heads;
    let scale = 1.0 / (size as f32).sqrt();
    let sequences = out
        .chunks_exact_mut(length * channels)
        .zip(qkv.chunks_exact(3 * length * channels));
    for ((out, qkv), weights) in sequences.zip(weights.chunks_exact_mut(heads * length * length)) {
        for (head, weights) in weights.chunks_exact_mut(length * length).enumerate() {
            let part = |row: usize, which: usize| {
                &qkv[(3 * row + which) * channels + head * size..][..size]
            };
            for (position, weights) in weights.chunks_exact_mut(length).enumerate() {
                let (weights, unseen) = weights.split_at_mut(position + 1);
                unseen.fill(0.0);
                let query = part(position, 0);
                for (seen, weight) in weights.iter_mut().enumerate() {
                    *weight = dot(query, part(seen, 1)) * scale;
                }
                softmax(weights);
                let out = &mut out[position * channels + head * size..][..size];
                out.fill(0.0);
                for (seen, &weight) in weights.iter().enumerate() {
                    add_scaled(out, weight, part(seen, 2));
                }
            }
        }
    }
}

/// Exponentials that are scaled to a sum of one.
#[inline]
fn softmax(x: &mut [f32]) {
    let largest = largest(x);
    let mut sum = 0.0;
    for x in x.iter_mut() {
        *x = (*x - largest).exp();
        sum += *x;
    }
    let scale = 1.0 / sum;
    for x in x.iter_mut() {
        *x *= scale;
    }
}

/// Written by hand.
pub mod by_hand {
    use super::{add_scaled, dot};

    /// The derivative of [`attention`](super::attention), whose `weights` it reads.
    pub fn attention(
        dout: &[f32],
        weights: &[f32],
        (qkv, dqkv): (&[f32], &mut [f32]),
        length: usize,
        channels: usize,
        heads: usize,
    ) {
        let size = channels / heads;
        let scale = 1.0 / (size as f32).sqrt();
        let mut dweights = vec![0.0; length];
        let all = qkv.chunks_exact(3 * length * channels);
        let all = all.zip(dqkv.chunks_exact_mut(3 * length * channels));
        let all = all.zip(dout.chunks_exact(length * channels));
        for (((qkv, dqkv), dout), weights) in all.zip(weights.chunks_exact(heads * length * length))
        {
            for (head, weights) in weights.chunks_exact(length * length).enumerate() {
                let part = |row: usize, which: usize| (3 * row + which) * channels + head * size;
                for (position, weights) in weights.chunks_exact(length).enumerate() {
                    let weights = &weights[..=position];
                    let dweights = &mut dweights[..=position];
                    let dout = &dout[position * channels + head * size..][..size];
                    for (seen, (weight, dweight)) in weights.iter().zip(&mut *dweights).enumerate()
                    {
                        let value = part(seen, 2);
                        *dweight = dot(dout, &qkv[value..][..size]);
                        add_scaled(&mut dqkv[value..][..size], *weight, dout);
                    }
                    // Through the softmax: each weight by how much it is above the mean.
                    let mean = dot(weights, dweights);
                    for (seen, (weight, dweight)) in weights.iter().zip(&*dweights).enumerate() {
                        let dscore = weight * (dweight - mean) * scale;
                        let (query, key) = (part(position, 0), part(seen, 1));
                        add_scaled(&mut dqkv[query..][..size], dscore, &qkv[key..][..size]);
                        add_scaled(&mut dqkv[key..][..size], dscore, &qkv[query..][..size]);
                    }
                }
            }
        }
    }
}
