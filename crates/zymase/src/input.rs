//! What the helpers differentiate with respect to, and the requests they make.
//!
//! A helper takes a function `Fn(&X) -> Y`. The function itself goes to the thunk as a constant: what
//! a closure has captured has no derivative here.

use crate::request::{autodiff, enzyme_const, enzyme_dup, fwddiff};
use crate::{Differentiable, Scalar, ShapeError};
use std::borrow::{Borrow, BorrowMut};
use std::mem::MaybeUninit;

/// What a function can be differentiated with respect to: any [`Differentiable`] value, and slices
/// of them. Functions of yours that take gradients of any function are generic over it.
///
/// ```no_run
/// use zymase::{Differentiable, Input, grad};
///
/// /// The length of the gradient.
/// fn steepness<X: Input + ?Sized>(f: impl Fn(&X) -> f64, x: &X) -> f64 {
///     let gradient = grad(f, x);
///     gradient.dot(&gradient).sqrt()
/// }
///
/// assert_eq!(steepness(|x| 3.0 * x[0] + 4.0 * x[1], &[1.0, 2.0]), 5.0);
/// assert_eq!(steepness(|x: &[f64]| x.iter().sum(), &[1.0; 4][..]), 2.0);
/// ```
///
/// # Safety
///
/// The memory of a gradient has the layout of the input's, as [`Differentiable`] says.
#[diagnostic::on_unimplemented(
    message = "no derivative can be taken with respect to `{Self}`",
    label = "`{Self}` is not made of `f32` and `f64`",
    note = "derive `Differentiable` for a structure of numbers"
)]
pub unsafe trait Input {
    /// The type of derivatives with respect to this: the type itself, `Vec<T>` for `[T]`.
    type Gradient: Differentiable + Borrow<Self> + BorrowMut<Self>;

    /// A gradient whose numbers are zero.
    fn zero_gradient(&self) -> Self::Gradient;

    /// Appends the numbers of the input, in the order of [`Differentiable::flatten`].
    fn components(&self, into: &mut Vec<f64>);

    /// Says where the shape of a tangent differs from that of the input.
    fn check_tangent(&self, tangent: &Self) -> Result<(), ShapeError>;

    /// Reverse mode: adds to `dx` the derivative of `f` in the direction `dy` of its result, which
    /// must not own memory, and gives the result.
    ///
    /// # Safety
    ///
    /// `dx` has the shape of `x`.
    #[doc(hidden)]
    unsafe fn reverse<Y: Differentiable, F: Fn(&Self) -> Y>(
        f: &F,
        x: &Self,
        dx: &mut Self,
        dy: Y,
    ) -> Y;

    /// As [`reverse`](Input::reverse), for results that own memory.
    ///
    /// # Safety
    ///
    /// `dx` has the shape of `x`.
    #[doc(hidden)]
    unsafe fn reverse_sum<Y: Differentiable, F: Fn(&Self) -> Y>(
        f: &F,
        x: &Self,
        dx: &mut Self,
        dy: &Y,
    ) -> Y;

    /// Forward mode: the result of `f`, and its derivative in the direction `dx`.
    ///
    /// # Safety
    ///
    /// `dx` has the shape of `x`.
    #[doc(hidden)]
    unsafe fn forward<Y: Differentiable, F: Fn(&Self) -> Y>(f: &F, x: &Self, dx: &Self) -> (Y, Y);

    /// Forward mode over reverse mode: the gradient of `f`, and its derivative in the direction `dx`.
    ///
    /// # Safety
    ///
    /// All have the shape of `x`, and `gradient` and `product` are zero.
    #[doc(hidden)]
    unsafe fn forward_over_reverse<Y: Scalar, F: Fn(&Self) -> Y>(
        f: &F,
        x: &Self,
        dx: &Self,
        gradient: &mut Self,
        product: &mut Self,
    );
}

/// The requests for an input that takes one word, or two where its length follows its address.
///
/// They are part of their callers without optimization too, so that the place of a request is where
/// the program asks. The names of the parameters of thunks stand in messages.
macro_rules! requests {
    ($($length:ident)?) => {
        #[inline(always)]
        unsafe fn reverse<Y: Differentiable, F: Fn(&Self) -> Y>(
            f: &F,
            x: &Self,
            dx: &mut Self,
            dy: Y,
        ) -> Y {
            let thunk: fn(&F, &Self, &mut MaybeUninit<Y>) = |captured, input, result| {
                result.write(captured(input));
            };
            let (mut y, mut dy) = (MaybeUninit::<Y>::uninit(), MaybeUninit::new(dy));
            // SAFETY: these are the words of the thunk, with shadows of their shape.
            unsafe {
                autodiff(
                    thunk as *const (),
                    &raw const enzyme_const,
                    &raw const *f,
                    &raw const enzyme_dup,
                    (&raw const *x).cast::<()>(),
                    (&raw mut *dx).cast::<()>(),
                    $(&raw const enzyme_const, x.$length(),)?
                    &raw const enzyme_dup,
                    &raw mut y,
                    &raw mut dy,
                );
                y.assume_init()
            }
        }

        #[inline(always)]
        unsafe fn reverse_sum<Y: Differentiable, F: Fn(&Self) -> Y>(
            f: &F,
            x: &Self,
            dx: &mut Self,
            dy: &Y,
        ) -> Y {
            let thunk: fn(&F, &Self, &Y, &mut MaybeUninit<Y>, &mut f64) =
                |captured, input, seed, result, sum| {
                    let value = captured(input);
                    *sum = value.dot(seed);
                    result.write(value);
                };
            // The shadow of what the result owns is made by the derivative.
            let (mut y, mut shadow) = (MaybeUninit::<Y>::uninit(), MaybeUninit::<Y>::zeroed());
            let (mut sum, mut one) = (0.0f64, 1.0f64);
            // SAFETY: as above; the result is written, and its shadow belongs to nobody.
            unsafe {
                autodiff(
                    thunk as *const (),
                    &raw const enzyme_const,
                    &raw const *f,
                    &raw const enzyme_dup,
                    (&raw const *x).cast::<()>(),
                    (&raw mut *dx).cast::<()>(),
                    $(&raw const enzyme_const, x.$length(),)?
                    &raw const enzyme_const,
                    &raw const *dy,
                    &raw const enzyme_dup,
                    &raw mut y,
                    &raw mut shadow,
                    &raw const enzyme_dup,
                    &raw mut sum,
                    &raw mut one,
                );
                let y = y.assume_init();
                drop(y.adopt_shadow(shadow.as_ptr()));
                y
            }
        }

        #[inline(always)]
        unsafe fn forward<Y: Differentiable, F: Fn(&Self) -> Y>(
            f: &F,
            x: &Self,
            dx: &Self,
        ) -> (Y, Y) {
            let thunk: fn(&F, &Self, &mut MaybeUninit<Y>) = |captured, input, result| {
                result.write(captured(input));
            };
            let (mut y, mut dy) = (MaybeUninit::<Y>::uninit(), MaybeUninit::<Y>::zeroed());
            // SAFETY: as above.
            unsafe {
                fwddiff(
                    thunk as *const (),
                    &raw const enzyme_const,
                    &raw const *f,
                    &raw const enzyme_dup,
                    (&raw const *x).cast::<()>(),
                    (&raw const *dx).cast::<()>(),
                    $(&raw const enzyme_const, x.$length(),)?
                    &raw const enzyme_dup,
                    &raw mut y,
                    &raw mut dy,
                );
                let y = y.assume_init();
                let dy = y.adopt_shadow(dy.as_ptr());
                (y, dy)
            }
        }

        #[inline(always)]
        unsafe fn forward_over_reverse<Y: Scalar, F: Fn(&Self) -> Y>(
            f: &F,
            x: &Self,
            dx: &Self,
            gradient: &mut Self,
            product: &mut Self,
        ) {
            let thunk: fn(&F, &Self, &mut Self) = |captured, input, gradient| {
                // SAFETY: the gradient has the shape of the input.
                unsafe { <Self as Input>::reverse(captured, input, gradient, Y::ONE) };
            };
            // SAFETY: as above.
            unsafe {
                fwddiff(
                    thunk as *const (),
                    &raw const enzyme_const,
                    &raw const *f,
                    &raw const enzyme_dup,
                    (&raw const *x).cast::<()>(),
                    (&raw const *dx).cast::<()>(),
                    $(&raw const enzyme_const, x.$length(),)?
                    &raw const enzyme_dup,
                    (&raw mut *gradient).cast::<()>(),
                    (&raw mut *product).cast::<()>(),
                    $(&raw const enzyme_const, x.$length(),)?
                );
            }
        }
    };
}

// SAFETY: gradients are made by `zeros_like`.
unsafe impl<T: Differentiable> Input for T {
    type Gradient = T;

    fn zero_gradient(&self) -> T {
        self.zeros_like()
    }

    fn components(&self, into: &mut Vec<f64>) {
        self.flatten(into);
    }

    fn check_tangent(&self, tangent: &T) -> Result<(), ShapeError> {
        self.check_shape(tangent)
    }

    requests!();
}

// SAFETY: the gradient has as many elements as the slice, each made by `zeros_like`.
unsafe impl<T: Differentiable> Input for [T] {
    type Gradient = Vec<T>;

    fn zero_gradient(&self) -> Vec<T> {
        self.iter().map(T::zeros_like).collect()
    }

    fn components(&self, into: &mut Vec<f64>) {
        self.iter().for_each(|value| value.flatten(into));
    }

    fn check_tangent(&self, tangent: &[T]) -> Result<(), ShapeError> {
        ShapeError::compare("length", self.len(), tangent.len())?;
        self.iter()
            .zip(tangent)
            .try_for_each(|(x, dx)| x.check_shape(dx))
    }

    requests!(len);
}
