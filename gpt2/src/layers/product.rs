//! The matrix product: nearly all of the work.
//!
//! out = x weightᵀ + bias, where `x` has rows of `channels` numbers, `weight` a row for each output,
//! and `bias` a number for each output or none at all. There are three of them, which differ in speed
//! only; the model is written for any [`Product`].

use super::dot;
use zymase::{autodiff_reverse, fast};

/// A way to compute the product, and its derivative by hand.
pub trait Product {
    /// out = x weightᵀ + bias.
    fn product(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize);

    /// Adds the derivatives.
    fn backward(
        dout: &[f32],
        x: (&[f32], &mut [f32]),
        weight: (&[f32], &mut [f32]),
        dbias: &mut [f32],
        channels: usize,
    );
}

/// Each output by a sum in order, as it is defined.
pub struct Naive;

impl Product for Naive {
    fn product(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
        naive(out, x, weight, bias, channels);
    }

    fn backward(
        dout: &[f32],
        x: (&[f32], &mut [f32]),
        weight: (&[f32], &mut [f32]),
        dbias: &mut [f32],
        channels: usize,
    ) {
        by_hand::naive(dout, x, weight, dbias, channels);
    }
}

/// Several rows and several sums at a time.
pub struct Blocked;

impl Product for Blocked {
    fn product(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
        blocked(out, x, weight, bias, channels);
    }

    fn backward(
        dout: &[f32],
        x: (&[f32], &mut [f32]),
        weight: (&[f32], &mut [f32]),
        dbias: &mut [f32],
        channels: usize,
    ) {
        by_hand::blocked(dout, x, weight, dbias, channels);
    }
}

/// The product as it is defined.
#[autodiff_reverse(d_naive, Duplicated, Duplicated, Duplicated, Duplicated, Const)]
#[fast]
pub fn naive(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
    let outputs = weight.len() / channels;
    for (out, x) in out.chunks_exact_mut(outputs).zip(x.chunks_exact(channels)) {
        for (index, (out, weight)) in out
            .iter_mut()
            .zip(weight.chunks_exact(channels))
            .enumerate()
        {
            let start = if bias.is_empty() { 0.0 } else { bias[index] };
            *out = start
                + x.iter()
                    .zip(weight)
                    .map(|(x, weight)| x * weight)
                    .sum::<f32>();
        }
    }
}

/// How many rows are computed with one row of weights before the next: as many as stay in the cache.
const ROWS: usize = 16;

/// The product, [`ROWS`] rows at a time.
#[autodiff_reverse(d_blocked, Duplicated, Duplicated, Duplicated, Duplicated, Const)]
pub fn blocked(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
    let outputs = weight.len() / channels;
    let blocks = out
        .chunks_mut(ROWS * outputs)
        .zip(x.chunks(ROWS * channels));
    for (out, x) in blocks {
        for (index, weight) in weight.chunks_exact(channels).enumerate() {
            let start = if bias.is_empty() { 0.0 } else { bias[index] };
            for (out, x) in out.chunks_exact_mut(outputs).zip(x.chunks_exact(channels)) {
                out[index] = start + dot(x, weight);
            }
        }
    }
}

/// Written by hand.
pub mod by_hand {
    use super::super::add_scaled;
    use super::ROWS;

    /// The derivative of [`naive`](super::naive): one loop for what was given, by rows, and one for
    /// the weights, by outputs, so that each adds to a row that stays in the cache.
    pub fn naive(
        dout: &[f32],
        (x, dx): (&[f32], &mut [f32]),
        (weight, dweight): (&[f32], &mut [f32]),
        dbias: &mut [f32],
        channels: usize,
    ) {
        let outputs = weight.len() / channels;
        for (dout, dx) in dout
            .chunks_exact(outputs)
            .zip(dx.chunks_exact_mut(channels))
        {
            for (&dout, weight) in dout.iter().zip(weight.chunks_exact(channels)) {
                add_scaled(dx, dout, weight);
            }
        }
        for (index, dweight) in dweight.chunks_exact_mut(channels).enumerate() {
            for (dout, x) in dout.chunks_exact(outputs).zip(x.chunks_exact(channels)) {
                add_scaled(dweight, dout[index], x);
            }
        }
        bias(dout, dbias, outputs);
    }

    /// The derivative of [`blocked`](super::blocked): several rows of weights, or of what was given,
    /// are added at a time.
    pub fn blocked(
        dout: &[f32],
        (x, dx): (&[f32], &mut [f32]),
        (weight, dweight): (&[f32], &mut [f32]),
        dbias: &mut [f32],
        channels: usize,
    ) {
        let outputs = weight.len() / channels;
        for (dout, dx) in dout
            .chunks_exact(outputs)
            .zip(dx.chunks_exact_mut(channels))
        {
            add_rows(dx, dout.iter().copied(), weight, channels);
        }
        for (index, dweight) in dweight.chunks_exact_mut(channels).enumerate() {
            let column = dout.iter().skip(index).step_by(outputs).copied();
            add_rows(dweight, column, x, channels);
        }
        bias(dout, dbias, outputs);
    }

    /// Adds rows of `x`, each with its factor, to `y`.
    fn add_rows(y: &mut [f32], mut factors: impl Iterator<Item = f32>, x: &[f32], channels: usize) {
        let mut blocks = x.chunks_exact(ROWS * channels);
        for block in &mut blocks {
            let factors: [f32; ROWS] = std::array::from_fn(|_| factors.next().unwrap_or(0.0));
            let rows: [&[f32]; ROWS] =
                std::array::from_fn(|row| &block[row * channels..][..channels]);
            for (column, y) in y.iter_mut().enumerate() {
                let mut sum = *y;
                for (factor, row) in factors.iter().zip(rows) {
                    sum += factor * row[column];
                }
                *y = sum;
            }
        }
        for (factor, x) in factors.zip(blocks.remainder().chunks_exact(channels)) {
            add_scaled(y, factor, x);
        }
    }

    /// The derivative of the bias, if there is one.
    pub(in crate::layers) fn bias(dout: &[f32], dbias: &mut [f32], outputs: usize) {
        for dout in dout.chunks_exact(outputs) {
            for (dbias, dout) in dbias.iter_mut().zip(dout) {
                *dbias += dout;
            }
        }
    }
}
