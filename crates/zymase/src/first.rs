//! First derivatives: of functions with one result, and along directions.
//!
//! Functions that ask for a derivative are always part of their callers, so that messages about the
//! derivative are at the line of the call.

use crate::shape::{check_seed, check_tangent};
use crate::{Differentiable, Input, Scalar};
use std::borrow::BorrowMut;

/// The gradient of `f` at `x`.
///
/// What a closure has captured is constant. `x` may be a number, a slice, an array, a `Vec`, a
/// tuple, or a structure with `#[derive(Differentiable)]`; the gradient has its type (`Vec<T>` for
/// `[T]`) and its shape.
///
/// ```no_run
/// let gradient = zymase::grad(|x| x[0] * x[0] * x[1], &[3.0, 2.0]);
/// assert_eq!(gradient, [12.0, 9.0]);
///
/// let derivative = zymase::grad(|x: &f64| x.sin(), &0.0);
/// assert_eq!(derivative, 1.0);
/// ```
#[inline(always)]
pub fn grad<X: Input + ?Sized, Y: Scalar>(f: impl Fn(&X) -> Y, x: &X) -> X::Gradient {
    value_and_grad(f, x).1
}

/// The value of `f` at `x`, and its gradient.
///
/// ```no_run
/// let (value, gradient) = zymase::value_and_grad(|x| x[0] * x[1], &[3.0, 2.0]);
/// assert_eq!(value, 6.0);
/// assert_eq!(gradient, [2.0, 3.0]);
/// ```
#[inline(always)]
pub fn value_and_grad<X: Input + ?Sized, Y: Scalar>(
    f: impl Fn(&X) -> Y,
    x: &X,
) -> (Y, X::Gradient) {
    let mut gradient = x.zero_gradient();
    // SAFETY: a gradient has the shape of the input.
    let value = unsafe { X::reverse(&f, x, gradient.borrow_mut(), Y::ONE) };
    (value, gradient)
}

/// The value of `f` at `x`, and the product of `dy` and the derivative of `f`: a vector times the
/// Jacobian, in reverse mode.
///
/// Panics if `dy` does not have the shape of the result.
///
/// ```no_run
/// let f = |x: &[f64; 2]| [x[0] * x[1], x[0] + x[1], x[0]];
/// let (y, dx) = zymase::vjp(f, &[3.0, 2.0], &[1.0, 0.0, 10.0]);
/// assert_eq!(y, [6.0, 5.0, 3.0]);
/// assert_eq!(dx, [12.0, 3.0]);
/// ```
#[track_caller]
#[inline(always)]
pub fn vjp<X: Input + ?Sized, Y: Differentiable>(
    f: impl Fn(&X) -> Y,
    x: &X,
    dy: &Y,
) -> (Y, X::Gradient) {
    let mut gradient = x.zero_gradient();
    let dx = gradient.borrow_mut();
    let y = match Y::OWNS_MEMORY {
        // SAFETY: a gradient has the shape of the input.
        true => unsafe { X::reverse_sum(&f, x, dx, dy) },
        // SAFETY: as above.
        false => unsafe { X::reverse(&f, x, dx, dy.copied()) },
    };
    check_seed(&y, dy);
    (y, gradient)
}

/// The value of `f` at `x`, and its derivative in the direction `dx`: the Jacobian times a vector,
/// in forward mode.
///
/// Panics if `dx` does not have the shape of `x`.
///
/// ```no_run
/// let (y, dy) = zymase::jvp(|x| vec![x[0] * x[1], x[0]], &[3.0, 2.0], &[1.0, 0.0]);
/// assert_eq!(y, [6.0, 3.0]);
/// assert_eq!(dy, [2.0, 1.0]);
/// ```
#[track_caller]
#[inline(always)]
pub fn jvp<X: Input + ?Sized, Y: Differentiable>(f: impl Fn(&X) -> Y, x: &X, dx: &X) -> (Y, Y) {
    check_tangent(x, dx);
    // SAFETY: the shape was checked.
    unsafe { X::forward(&f, x, dx) }
}

/// A value of the same shape whose numbers are zero: a shadow, or memory for a gradient.
///
/// ```
/// let zeros = zymase::zeros_like(&(1.0, vec![2.0f32, 3.0]));
/// assert_eq!(zeros, (0.0, vec![0.0, 0.0]));
/// assert_eq!(zymase::zeros_like(&[1.0, 2.0][..]), vec![0.0, 0.0]);
/// ```
pub fn zeros_like<X: Input + ?Sized>(x: &X) -> X::Gradient {
    x.zero_gradient()
}
