//! Rows of mean zero and variance one, then scaled and moved.

use zymase::{autodiff_reverse, fast};

/// What keeps the variance away from zero.
const EPSILON: f32 = 1e-5;

/// out = (x − mean) / deviation · weight + bias, for each row.
#[autodiff_reverse(d_layer_norm, Duplicated, Duplicated, Duplicated, Duplicated)]
#[fast]
pub fn layer_norm(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32]) {
    let channels = weight.len();
    for (out, x) in out.chunks_exact_mut(channels).zip(x.chunks_exact(channels)) {
        let (mean, scale) = mean_and_scale(x);
        for (((out, x), weight), bias) in out.iter_mut().zip(x).zip(weight).zip(bias) {
            *out = (x - mean) * scale * weight + bias;
        }
    }
}

/// The mean of a row, and one over its deviation.
#[inline]
fn mean_and_scale(x: &[f32]) -> (f32, f32) {
    let count = x.len() as f32;
    let mean = x.iter().sum::<f32>() / count;
    let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
    (mean, 1.0 / (variance + EPSILON).sqrt())
}

/// Written by hand.
pub mod by_hand {
    use super::mean_and_scale;

    /// The derivative of [`layer_norm`](super::layer_norm).
    ///
    /// Mean and deviation are computed again, which takes less time than reading the rest.
    pub fn layer_norm(
        dout: &[f32],
        (x, dx): (&[f32], &mut [f32]),
        (weight, dweight): (&[f32], &mut [f32]),
        dbias: &mut [f32],
    ) {
        let channels = weight.len();
        let rows = x.chunks_exact(channels).zip(dx.chunks_exact_mut(channels));
        for ((x, dx), dout) in rows.zip(dout.chunks_exact(channels)) {
            let (mean, scale) = mean_and_scale(x);
            // Means of the adjoint of the normalized row, and of its product with that row.
            let (mut by_mean, mut by_scale) = (0.0, 0.0);
            for ((x, dout), weight) in x.iter().zip(dout).zip(weight) {
                let dnormed = dout * weight;
                by_mean += dnormed;
                by_scale += dnormed * (x - mean) * scale;
            }
            by_mean /= channels as f32;
            by_scale /= channels as f32;
            let gradients = dx.iter_mut().zip(&mut *dweight).zip(&mut *dbias);
            for (((dx, dweight), dbias), ((x, dout), weight)) in
                gradients.zip(x.iter().zip(dout).zip(weight))
            {
                let normed = (x - mean) * scale;
                *dbias += dout;
                *dweight += normed * dout;
                *dx += (dout * weight - by_mean - normed * by_scale) * scale;
            }
        }
    }
}
