//! Whether a shadow has the shape of what it is the shadow of. Derivatives write to shadows as far
//! as primal values go, so this is checked before anything is written.

use crate::{Differentiable, Input};
use std::fmt;

/// A shadow that does not have the shape of its primal value.
///
/// ```
/// use zymase::Differentiable;
///
/// let error = vec![1.0, 2.0].check_shape(&vec![0.0]).unwrap_err();
/// assert_eq!((error.what, error.primal, error.shadow), ("length", 2, 1));
/// assert_eq!(error.to_string(), "its length is 1, that of the value is 2");
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ShapeError {
    /// How long the primal value is.
    pub primal: usize,
    /// How long the shadow is.
    pub shadow: usize,
    /// What is that long: `length` or `capacity`.
    pub what: &'static str,
}

impl ShapeError {
    /// An error unless the two are equal.
    pub fn compare(what: &'static str, primal: usize, shadow: usize) -> Result<(), ShapeError> {
        match primal == shadow {
            true => Ok(()),
            false => Err(ShapeError {
                primal,
                shadow,
                what,
            }),
        }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShapeError {
            primal,
            shadow,
            what,
        } = self;
        write!(f, "its {what} is {shadow}, that of the value is {primal}")
    }
}

impl std::error::Error for ShapeError {}

/// Panics if a shadow is too short for `times` derivatives of a slice.
#[inline]
#[track_caller]
pub fn check_length(name: &str, primal: usize, shadow: usize, times: usize) {
    if shadow / times < primal {
        too_short(name, primal, shadow, times);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn too_short(name: &str, primal: usize, shadow: usize, times: usize) -> ! {
    match times {
        1 => panic!("the shadow of `{name}` has length {shadow}, but `{name}` has length {primal}"),
        _ => panic!(
            "the shadow of `{name}` has length {shadow}, but {times} derivatives of `{name}`, \
             which has length {primal}, need {}",
            times * primal
        ),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn misshapen(name: &str, error: ShapeError) -> ! {
    panic!("the shadow of {name} does not have its shape: {error}");
}

/// Checks the shape of the derivative that is given with respect to a result.
#[track_caller]
pub fn check_seed<T: Differentiable>(result: &T, seed: &T) {
    if let Err(error) = result.check_shape(seed) {
        misshapen("the result", error);
    }
}

/// Checks the shape of a direction.
#[track_caller]
pub fn check_tangent<X: Input + ?Sized>(x: &X, tangent: &X) {
    if let Err(error) = x.check_tangent(tangent) {
        misshapen("the input", error);
    }
}

/// A value and its shadow.
pub struct Shapes<'a, T: ?Sized>(pub &'a T, pub &'a T);

/// A value that the function may let grow, and its shadow.
pub struct Growing<'a, T: ?Sized>(pub &'a T, pub &'a mut T);

/// Compares the shapes of types that know their shape.
pub trait CheckShape {
    /// Panics if the shapes differ.
    fn check(self, name: &str);
}

impl<T: Differentiable> CheckShape for Shapes<'_, T> {
    #[inline]
    #[track_caller]
    fn check(self, name: &str) {
        if T::OWNS_MEMORY
            && let Err(error) = self.0.check_shape(self.1)
        {
            misshapen(name, error);
        }
    }
}

impl<T: Differentiable> CheckShape for Shapes<'_, [T]> {
    #[inline]
    #[track_caller]
    fn check(self, name: &str) {
        if T::OWNS_MEMORY {
            for (primal, shadow) in self.0.iter().zip(self.1) {
                Shapes(primal, shadow).check(name);
            }
        }
    }
}

impl<T: Differentiable> CheckShape for Growing<'_, T> {
    #[inline]
    #[track_caller]
    fn check(self, name: &str) {
        if T::OWNS_MEMORY {
            Shapes(self.0, &*self.1).check(name);
            self.1.make_room(self.0);
        }
    }
}

impl<T: Differentiable> CheckShape for Growing<'_, [T]> {
    #[inline]
    #[track_caller]
    fn check(self, name: &str) {
        if T::OWNS_MEMORY {
            for (primal, shadow) in self.0.iter().zip(self.1) {
                Growing(primal, shadow).check(name);
            }
        }
    }
}

/// Compares nothing, for other types: it is found where [`CheckShape`] is not.
pub trait CheckNothing {
    /// Does nothing.
    fn check(&self, name: &str);
}

impl<T: ?Sized> CheckNothing for Shapes<'_, T> {
    #[inline(always)]
    fn check(&self, _: &str) {}
}

impl<T: ?Sized> CheckNothing for Growing<'_, T> {
    #[inline(always)]
    fn check(&self, _: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_compared_inside_of_containers() {
        let check = |primal: &Vec<Vec<f64>>, shadow: &Vec<Vec<f64>>, expected: &str| {
            let found = primal.check_shape(shadow).err().map(|e| e.to_string());
            assert_eq!(found.unwrap_or_default(), expected);
        };
        let two = vec![vec![1.0, 2.0], vec![3.0]];
        check(&two, &two.zeros_like(), "");
        check(&two, &vec![], "its length is 0, that of the value is 2");
        let short = vec![vec![1.0, 2.0], vec![]];
        check(&two, &short, "its length is 0, that of the value is 1");
    }

    #[test]
    #[should_panic(expected = "the shadow of `x` has length 2, but `x` has length 3")]
    fn a_short_shadow_is_named_with_both_lengths() {
        check_length("x", 3, 2, 1);
    }

    #[test]
    #[should_panic(expected = "2 derivatives of `x`, which has length 3, need 6")]
    fn several_derivatives_need_more() {
        check_length("x", 3, 5, 2);
    }

    #[test]
    fn types_without_a_shape_are_not_compared() {
        struct Other;
        Shapes(&Other, &Other).check("x");
    }

    #[test]
    fn a_shadow_gets_the_room_of_a_value_that_may_grow() {
        let mut value = Vec::with_capacity(10);
        value.push(1.0f64);
        let mut shadow = vec![0.0];
        Growing(&value, &mut shadow).check("x");
        assert!(shadow.capacity() >= 10);
        assert_eq!(shadow, [0.0]);
    }
}
