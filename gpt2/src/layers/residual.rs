//! The sum of what a layer was given and what it gives.

use zymase::autodiff_reverse;

/// out = a + b.
#[autodiff_reverse(d_residual, Duplicated, Duplicated, Duplicated)]
pub fn residual(out: &mut [f32], a: &[f32], b: &[f32]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a + b;
    }
}

/// Written by hand.
pub mod by_hand {
    /// The derivative of [`residual`](super::residual).
    pub fn residual(dout: &[f32], da: &mut [f32], db: &mut [f32]) {
        for ((dout, da), db) in dout.iter().zip(da).zip(db) {
            *da += dout;
            *db += dout;
        }
    }
}
