//! Compares derivatives with each other and with finite differences.

use crate::second::{dimension, unit};
use crate::{Differentiable, Input, Scalar, grad, jvp};
use std::borrow::Borrow;
use std::fmt;

/// Compares the gradient of `f` at `x` in reverse mode with derivatives in forward mode and with
/// finite differences, and says which component is off by how much.
///
/// Finite differences are blind where `f` has a kink or a jump within about a hundred-thousandth of
/// `x`, and where its values have few valid digits.
///
/// ```no_run
/// let f = |x: &[f64; 2]| x[0].sin() * x[1];
/// zymase::check_grad(f, &[0.5, 2.0]).unwrap();
/// ```
pub fn check_grad<X: Input + ?Sized, Y: Scalar>(
    f: impl Fn(&X) -> Y,
    x: &X,
) -> Result<(), GradientMismatch> {
    let count = dimension(x);
    let mut reverse = Vec::with_capacity(count);
    grad(&f, x).flatten(&mut reverse);
    let mut components = Vec::with_capacity(count);
    x.components(&mut components);
    for (i, &reverse) in reverse.iter().enumerate() {
        let forward = jvp(&f, x, unit(x, i, count).borrow()).1.to_f64();
        let moved = |by: f64| {
            let mut components = components.clone();
            components[i] += by;
            let mut moved = x.zero_gradient();
            moved.unflatten(&mut components.iter());
            // What the step is after rounding, not before.
            let mut there = Vec::with_capacity(count);
            moved.flatten(&mut there);
            (f(moved.borrow()).to_f64(), there[i] - components[i] + by)
        };
        let (difference, doubt) = finite_difference(moved, components[i], Y::EPSILON);
        let exact = tolerance(forward, reverse, Y::EPSILON.sqrt() * 1e-1);
        if !(agree(forward, reverse, exact) && agree(difference, reverse, exact.max(doubt))) {
            return Err(GradientMismatch {
                component: i,
                reverse,
                forward,
                difference,
            });
        }
    }
    Ok(())
}

/// The derivative at `at` by central differences of two steps, extrapolated, and how far it may be
/// from the truth.
fn finite_difference(moved: impl Fn(f64) -> (f64, f64), at: f64, epsilon: f64) -> (f64, f64) {
    let slope = |step: f64| {
        let ((above, up), (below, down)) = (moved(step), moved(-step));
        let rounding = epsilon * (above.abs() + below.abs()) / (up - down).abs();
        ((above - below) / (up - down), rounding)
    };
    let step = epsilon.powf(0.2) * at.abs().max(1.0) * 1e-1;
    let ((wide, _), (narrow, rounding)) = (slope(2.0 * step), slope(step));
    let extrapolated = narrow + (narrow - wide) / 3.0;
    let doubt = (narrow - wide).abs() + 100.0 * rounding;
    (extrapolated, doubt)
}

fn tolerance(a: f64, b: f64, relative: f64) -> f64 {
    relative * a.abs().max(b.abs()).max(1.0)
}

fn agree(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance || (a.is_nan() && b.is_nan())
}

/// A component of a gradient on which forward mode, reverse mode and finite differences do not agree.
///
/// ```no_run
/// // The derivative of a staircase is zero. Differences see that it climbs.
/// let stairs = |x: &[f64; 2]| x[0] + (x[1] * 1e6).floor() / 1e6;
/// let mismatch = zymase::check_grad(stairs, &[1.0, 2.0]).unwrap_err();
/// assert_eq!(mismatch.component, 1);
/// assert_eq!((mismatch.reverse, mismatch.forward), (0.0, 0.0));
/// assert!(mismatch.to_string().starts_with("component 1 of the gradient is 0 in reverse mode"));
/// ```
#[derive(Copy, Clone, PartialEq)]
pub struct GradientMismatch {
    /// Which number of the input it is, counted from zero in the order of
    /// [`Differentiable::flatten`].
    pub component: usize,
    /// The derivative in reverse mode.
    pub reverse: f64,
    /// The derivative in forward mode.
    pub forward: f64,
    /// The derivative by finite differences.
    pub difference: f64,
}

impl fmt::Display for GradientMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GradientMismatch {
            component,
            reverse,
            forward,
            difference,
        } = self;
        write!(
            f,
            "component {component} of the gradient is {reverse} in reverse mode, {forward} in \
             forward mode (off by {:e}), and {difference} by finite differences (off by {:e})",
            forward - reverse,
            difference - reverse
        )
    }
}

/// As [`Display`](fmt::Display): `unwrap` shows it.
impl fmt::Debug for GradientMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for GradientMismatch {}
