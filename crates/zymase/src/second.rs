//! Matrices of derivatives: Jacobians and Hessians. Requests are in loops, not in closures, so that
//! they are part of the function that calls these (see `first.rs`).

use crate::shape::check_tangent;
use crate::{Differentiable, Input, Scalar, jvp, vjp};
use std::borrow::{Borrow, BorrowMut};

/// The Jacobian of `f` at `x`: for each number of the result, the derivative with respect to `x`.
///
/// Forward mode is used where the result has at least as many numbers as `x`, reverse mode
/// otherwise.
///
/// ```no_run
/// let rows = zymase::jacobian(|x| [x[0] * x[1], x[0] + x[1], x[0]], &[3.0, 2.0]);
/// assert_eq!(rows, [[2.0, 3.0], [1.0, 1.0], [1.0, 0.0]]);
/// ```
#[inline(always)]
pub fn jacobian<X: Input + ?Sized, Y: Differentiable>(
    f: impl Fn(&X) -> Y,
    x: &X,
) -> Vec<X::Gradient> {
    let y = f(x);
    let (rows, columns) = (y.dimension(), dimension(x));
    if rows < columns {
        let mut gradients = Vec::with_capacity(rows);
        for i in 0..rows {
            let mut dy = y.zeros_like();
            set_unit(&mut dy, i, rows);
            gradients.push(vjp(&f, x, &dy).1);
        }
        return gradients;
    }
    let mut matrix = vec![Vec::with_capacity(columns); rows];
    for j in 0..columns {
        let dy = jvp(&f, x, unit(x, j, columns).borrow()).1;
        let mut column = Vec::with_capacity(rows);
        dy.flatten(&mut column);
        matrix
            .iter_mut()
            .zip(column)
            .for_each(|(row, value)| row.push(value));
    }
    let row = |row: Vec<f64>| {
        let mut gradient = x.zero_gradient();
        gradient.unflatten(&mut row.iter());
        gradient
    };
    matrix.into_iter().map(row).collect()
}

/// The second derivatives of `f` at `x`: for each number of `x`, the derivative with respect to `x`
/// of the derivative with respect to that number.
///
/// ```no_run
/// let rows = zymase::hessian(|x| x[0] * x[0] * x[1], &[3.0, 2.0]);
/// assert_eq!(rows, [[4.0, 6.0], [6.0, 0.0]]);
/// ```
#[inline(always)]
pub fn hessian<X: Input + ?Sized, Y: Scalar>(f: impl Fn(&X) -> Y, x: &X) -> Vec<X::Gradient> {
    let columns = dimension(x);
    let mut rows = Vec::with_capacity(columns);
    for i in 0..columns {
        rows.push(hvp(&f, x, unit(x, i, columns).borrow()));
    }
    rows
}

/// The Hessian of `f` at `x` times `v`, without the Hessian: forward mode over reverse mode.
///
/// Panics if `v` does not have the shape of `x`.
///
/// ```no_run
/// let product = zymase::hvp(|x| x[0] * x[0] * x[1], &[3.0, 2.0], &[1.0, 10.0]);
/// assert_eq!(product, [64.0, 6.0]);
/// ```
#[track_caller]
#[inline(always)]
pub fn hvp<X: Input + ?Sized, Y: Scalar>(f: impl Fn(&X) -> Y, x: &X, v: &X) -> X::Gradient {
    check_tangent(x, v);
    let (mut gradient, mut product) = (x.zero_gradient(), x.zero_gradient());
    // SAFETY: the shapes are those of `x`, and gradients are zero.
    unsafe { X::forward_over_reverse(&f, x, v, gradient.borrow_mut(), product.borrow_mut()) };
    product
}

/// How many numbers an input has.
pub(crate) fn dimension<X: Input + ?Sized>(x: &X) -> usize {
    let mut components = Vec::new();
    x.components(&mut components);
    components.len()
}

/// A tangent whose component `i` is one.
pub(crate) fn unit<X: Input + ?Sized>(x: &X, i: usize, count: usize) -> X::Gradient {
    let mut tangent = x.zero_gradient();
    set_unit(&mut tangent, i, count);
    tangent
}

fn set_unit(value: &mut impl Differentiable, i: usize, count: usize) {
    let mut components = vec![0.0; count];
    components[i] = 1.0;
    value.unflatten(&mut components.iter());
}
