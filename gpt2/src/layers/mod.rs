//! The layers: plain functions on slices, each with its derivative by Zymase (`d_…`) and, in a module
//! `by_hand`, one that was written by hand.
//!
//! Activations have a row of channels for each position of each sequence. Functions fill `out`, and
//! backward passes by hand *add* to the gradients that they are given, as those of Zymase do.

pub mod attention;
pub mod cross_entropy;
pub mod encoder;
pub mod gelu;
pub mod layer_norm;
pub mod product;
pub mod residual;
pub mod tuned;

use zymase::inactive;

/// How many numbers are added at a time: a sum in order would not use vectors.
const LANES: usize = 16;

/// The dot product of two slices of the same length, in [`LANES`] sums.
#[inline]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// The largest of some numbers.
///
/// It is subtracted from exponents so that none is too large, and what is computed of them does not
/// depend on it. So it has no derivative: it would be zero, plus what is left of rounding.
#[inactive]
fn largest(x: &[f32]) -> f32 {
    x.iter()
        .fold(f32::NEG_INFINITY, |largest, &x| largest.max(x))
}

/// y += factor x.
#[inline]
fn add_scaled(y: &mut [f32], factor: f32, x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}
