//! What the thunks of rules do with shadows. A shadow is null where no derivative is wanted.

use crate::Differentiable;

/// The shadow of a slice; zeros in `scratch` if there is none.
///
/// # Safety
///
/// There are `n` values at `primal`, and at `shadow` unless it is null, for as long as `scratch`.
pub unsafe fn slice_or<T: Differentiable>(
    primal: *mut T,
    shadow: *mut T,
    n: usize,
    scratch: &mut Vec<T>,
) -> &mut [T] {
    // SAFETY: as the caller promises.
    unsafe {
        if shadow.is_null() {
            let values = std::slice::from_raw_parts(primal, n);
            scratch.extend(values.iter().map(T::zeros_like));
            return scratch;
        }
        std::slice::from_raw_parts_mut(shadow, n)
    }
}

/// The shadow of a value; zeros in `scratch` if there is none.
///
/// # Safety
///
/// There is a value at `primal`, and at `shadow` unless it is null, for as long as `scratch`.
pub unsafe fn value_or<T: Differentiable>(
    primal: *mut T,
    shadow: *mut T,
    scratch: &mut Option<T>,
) -> &mut T {
    // SAFETY: as the caller promises.
    unsafe {
        match shadow.is_null() {
            true => scratch.insert((*primal).zeros_like()),
            false => &mut *shadow,
        }
    }
}

/// The tangent of a value; zeros if there is none.
///
/// # Safety
///
/// There is a value at `primal`, and at `tangent` unless it is null, and nobody else takes it.
pub unsafe fn tangent_of<T: Differentiable>(primal: *mut T, tangent: *mut T) -> T {
    // SAFETY: as the caller promises.
    unsafe {
        match tangent.is_null() {
            true => (*primal).zeros_like(),
            false => tangent.read(),
        }
    }
}

/// The derivative with respect to a result; it has been taken then.
///
/// # Safety
///
/// There is a value at `result`, and at `shadow` unless it is null.
pub unsafe fn take_seed<T: Differentiable>(result: *mut T, shadow: *mut T) -> T {
    // SAFETY: as the caller promises.
    unsafe {
        let zeros = (*result).zeros_like();
        match shadow.is_null() {
            true => zeros,
            false => shadow.replace(zeros),
        }
    }
}

/// Writes the tangent of a result, if it is wanted.
///
/// # Safety
///
/// There is room for a value at `shadow` unless it is null.
pub unsafe fn give_tangent<T>(shadow: *mut T, tangent: T) {
    if !shadow.is_null() {
        // SAFETY: as the caller promises.
        unsafe { shadow.write(tangent) };
    }
}

/// Adds to a shadow, if it is wanted.
///
/// # Safety
///
/// There is a value at `shadow` unless it is null.
pub unsafe fn accumulate<T: Differentiable>(shadow: *mut T, derivative: T) {
    if !shadow.is_null() {
        // SAFETY: as the caller promises.
        unsafe { (*shadow).accumulate(&derivative) };
    }
}

/// A copy of a slice that is overwritten before it is needed again: what has a bit at a position.
pub fn keep_slice<T: Copy + 'static>(
    slice: &[T],
    overwritten: u64,
    position: u32,
) -> Option<Vec<T>> {
    is_overwritten(overwritten, position).then(|| slice.to_vec())
}

/// The same of a value behind a reference.
pub fn keep_value<T: Copy + 'static>(value: &T, overwritten: u64, position: u32) -> Option<T> {
    is_overwritten(overwritten, position).then_some(*value)
}

/// What was kept of a slice, or the slice.
pub fn slice_again<'a, T>(kept: &'a Option<Vec<T>>, slice: &'a [T]) -> &'a [T] {
    kept.as_deref().unwrap_or(slice)
}

/// What was kept of a value behind a reference, or the value.
pub fn value_again<'a, T>(kept: &'a Option<T>, value: &'a T) -> &'a T {
    kept.as_ref().unwrap_or(value)
}

/// A value that is needed again. Nothing in it is lost when it is copied.
pub fn keep<T: Copy + 'static>(value: T) -> T {
    value
}

fn is_overwritten(overwritten: u64, position: u32) -> bool {
    overwritten
        .checked_shr(position)
        .is_none_or(|bits| bits & 1 == 1)
}
