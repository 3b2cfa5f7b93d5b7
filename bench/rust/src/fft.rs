//! A Fourier transform in place by recursion: the halves by calls of itself, then butterflies.

use zymase::autodiff_reverse;

/// Real and imaginary parts of the roots of one, `n` of them.
pub fn roots(n: usize) -> Vec<f64> {
    let angles = (0..n).map(|k| -std::f64::consts::TAU * k as f64 / n as f64);
    angles
        .flat_map(|angle| [angle.cos(), angle.sin()])
        .collect()
}

/// Even numbers to the front, odd ones to the back.
fn part(data: &mut [f64], scratch: &mut [f64]) {
    let (even, odd) = scratch[..data.len()].split_at_mut(data.len() / 2);
    let pairs = even.chunks_exact_mut(2).zip(odd.chunks_exact_mut(2));
    for (four, (even, odd)) in data.chunks_exact(4).zip(pairs) {
        even.copy_from_slice(&four[..2]);
        odd.copy_from_slice(&four[2..]);
    }
    data.copy_from_slice(&scratch[..data.len()]);
}

/// Transforms `data`, which has real and imaginary parts by turns and a power of two of them;
/// `stride` is how many of the roots to pass over, one at first.
#[autodiff_reverse(d_transform, Duplicated, Const, Duplicated, Const)]
#[inline(never)]
pub fn transform(data: &mut [f64], roots: &[f64], scratch: &mut [f64], stride: usize) {
    if data.len() == 2 {
        return;
    }
    part(data, scratch);
    let (low, high) = data.split_at_mut(data.len() / 2);
    transform(low, roots, scratch, 2 * stride);
    transform(high, roots, scratch, 2 * stride);
    let pairs = low.chunks_exact_mut(2).zip(high.chunks_exact_mut(2));
    for ((low, high), root) in pairs.zip(roots.chunks_exact(2).step_by(stride)) {
        let re = high[0] * root[0] - high[1] * root[1];
        let im = high[0] * root[1] + high[1] * root[0];
        high[0] = low[0] - re;
        high[1] = low[1] - im;
        low[0] += re;
        low[1] += im;
    }
}

/// The transform, and its adjoint, in place.
pub fn gradient(
    (data, d_data): (&mut [f64], &mut [f64]),
    roots: &[f64],
    (scratch, d_scratch): (&mut [f64], &mut [f64]),
) {
    d_transform(data, d_data, roots, scratch, d_scratch, 1);
}

/// Written by hand.
pub mod by_hand {
    /// The transform, and its adjoint, in place. It is linear: the adjoint needs nothing of `data`.
    #[inline(never)]
    pub fn gradient(data: &mut [f64], d_data: &mut [f64], roots: &[f64], scratch: &mut [f64]) {
        super::transform(data, roots, scratch, 1);
        adjoint(d_data, roots, scratch, 1);
    }

    fn adjoint(data: &mut [f64], roots: &[f64], scratch: &mut [f64], stride: usize) {
        if data.len() == 2 {
            return;
        }
        let (low, high) = data.split_at_mut(data.len() / 2);
        let pairs = low.chunks_exact_mut(2).zip(high.chunks_exact_mut(2));
        for ((low, high), root) in pairs.zip(roots.chunks_exact(2).step_by(stride)) {
            let (re, im) = (low[0] - high[0], low[1] - high[1]);
            low[0] += high[0];
            low[1] += high[1];
            high[0] = re * root[0] + im * root[1];
            high[1] = im * root[0] - re * root[1];
        }
        adjoint(low, roots, scratch, 2 * stride);
        adjoint(high, roots, scratch, 2 * stride);
        let pairs = low.chunks_exact(2).zip(high.chunks_exact(2));
        for (four, (low, high)) in scratch[..].chunks_exact_mut(4).zip(pairs) {
            four[..2].copy_from_slice(low);
            four[2..].copy_from_slice(high);
        }
        data.copy_from_slice(&scratch[..data.len()]);
    }
}
