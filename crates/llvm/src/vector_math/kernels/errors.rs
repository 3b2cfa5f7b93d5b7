//! The error function.

use super::powers::{exp_for_single, exp2_small};
use crate::vector_math::code::{Lane, V};
use crate::vector_math::coefficients::*;

/// The error function.
pub fn erf(x: V<'_>) -> V<'_> {
    let (split, most, small, large): (_, _, &[f64], &[f64]) = match x.lane {
        Lane::F32 => (0.9, 4.0, &ERF_SMALL_32, &ERF_LARGE_32),
        _ => (1.0, 6.0, &ERF_SMALL_64, &ERF_LARGE_64),
    };
    let size = x.abs();
    let z = x * x;
    let near = size + size * z.polynomial(small);
    let exponent = size.clamp(0.0, most).polynomial(large);
    let far = 1.0 - exp2_small(exponent);
    size.less(split).choose(near, far).with_sign_of(x)
}

/// What the error function is less than one, in single precision.
pub fn erfc(x: V<'_>) -> V<'_> {
    let wide = x.double();
    let size = wide.abs().clamp(0.0, ERFC_MOST);
    let t = (size - 3.0) / (size + 3.0);
    let positive = exp_for_single(-(size * size)) * t.polynomial(&ERFC_SINGLE);
    let made = wide.less(0.0).choose(2.0 - positive, positive);
    made.single()
}
