//! Values that derivatives can be taken with respect to.

use crate::ShapeError;

/// A value made of numbers: `f32`, `f64`, arrays, tuples, `Vec` and `Box` of them, and structures
/// with `#[derive(Differentiable)]`.
///
/// The derivative with respect to such a value is a value of the same type and shape, and so is a
/// shadow. [`zeros_like`](Differentiable::zeros_like) makes one. The other methods treat the value
/// as a list of numbers, which is what an optimizer needs:
///
/// ```
/// use zymase::Differentiable;
///
/// let mut value = (1.0, vec![2.0, 3.0]);
/// assert_eq!(value.zeros_like(), (0.0, vec![0.0, 0.0]));
/// assert_eq!(value.dimension(), 3);
/// let mut numbers = Vec::new();
/// value.flatten(&mut numbers);
/// assert_eq!(numbers, [1.0, 2.0, 3.0]);
/// value.unflatten(&mut [4.0, 5.0, 6.0].iter());
/// value.accumulate(&(0.5, vec![0.5, 0.5]));
/// assert_eq!(value, (4.5, vec![5.5, 6.5]));
/// assert_eq!(value.dot(&(2.0, vec![0.0, 1.0])), 15.5);
/// assert!(value.check_shape(&(0.0, vec![])).is_err());
/// ```
///
/// Derive it for structures of your own. By hand, it is unsafe:
///
/// # Safety
///
/// Derivatives write to shadows as far as the primal value goes: `zeros_like` must return a value
/// whose memory has the layout of `self`, and `check_shape` must not accept one that has not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no derivative",
    label = "`{Self}` is not made of `f32` and `f64`",
    note = "write `Const` for a parameter without a derivative, `#[constant]` for such a field, `#[derive(Differentiable)]` for a structure of numbers"
)]
pub unsafe trait Differentiable: Sized {
    /// Whether values own memory elsewhere, as a `Vec` does.
    const OWNS_MEMORY: bool;

    /// A value of the same shape whose numbers are zero; what is not a number is copied.
    fn zeros_like(&self) -> Self;

    /// A copy.
    fn copied(&self) -> Self {
        let mut components = Vec::with_capacity(self.dimension());
        self.flatten(&mut components);
        let mut copy = self.zeros_like();
        copy.unflatten(&mut components.iter());
        copy
    }

    /// How many numbers there are.
    fn dimension(&self) -> usize;

    /// Appends the numbers, in order.
    fn flatten(&self, into: &mut Vec<f64>);

    /// Replaces the numbers, in the order of [`flatten`](Differentiable::flatten).
    fn unflatten(&mut self, from: &mut std::slice::Iter<'_, f64>);

    /// The sum of the products of corresponding numbers.
    fn dot(&self, other: &Self) -> f64;

    /// Adds the numbers of another value of the same shape.
    fn accumulate(&mut self, other: &Self);

    /// Says where the shape of a shadow differs.
    fn check_shape(&self, shadow: &Self) -> Result<(), ShapeError>;

    /// Gives a shadow of the same shape the room to grow that the primal value has.
    fn make_room(&mut self, primal: &Self) {
        let _ = primal;
    }

    /// Takes the derivative of `self` out of memory that a derivative has written.
    ///
    /// # Safety
    ///
    /// `shadow` points to memory that a derivative has written as the shadow of `self`, and that is
    /// not used again.
    unsafe fn adopt_shadow(&self, shadow: *const Self) -> Self;
}

/// `f32` or `f64`: what the result of a function must be for it to have a gradient.
///
/// ```no_run
/// use zymase::{Scalar, grad};
///
/// fn slope<T: Scalar>(f: impl Fn(&T) -> T, x: T) -> f64 {
///     grad(f, &x).to_f64()
/// }
///
/// assert_eq!(slope(|x: &f64| x * x, 3.0), 6.0);
/// assert_eq!(slope(|x: &f32| x * x, 3.0), 6.0);
/// ```
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` has no gradient",
    label = "`{Self}` is neither `f32` nor `f64`",
    note = "`jacobian`, `vjp` and `jvp` are for functions with several results"
)]
pub trait Scalar: Differentiable + Copy {
    /// One, the derivative of a result with respect to itself.
    const ONE: Self;

    /// The distance from one to the next larger number.
    const EPSILON: f64;

    /// The number, without loss.
    fn to_f64(self) -> f64;
}

macro_rules! float {
    ($float:ident) => {
        // SAFETY: a number has no shape.
        unsafe impl Differentiable for $float {
            const OWNS_MEMORY: bool = false;

            fn zeros_like(&self) -> $float {
                0.0
            }

            fn dimension(&self) -> usize {
                1
            }

            fn flatten(&self, into: &mut Vec<f64>) {
                into.push(f64::from(*self));
            }

            fn unflatten(&mut self, from: &mut std::slice::Iter<'_, f64>) {
                *self = *next(from) as $float;
            }

            fn dot(&self, other: &$float) -> f64 {
                f64::from(*self) * f64::from(*other)
            }

            fn accumulate(&mut self, other: &$float) {
                *self += other;
            }

            fn check_shape(&self, _: &$float) -> Result<(), ShapeError> {
                Ok(())
            }

            unsafe fn adopt_shadow(&self, shadow: *const $float) -> $float {
                // SAFETY: the caller points to a number.
                unsafe { shadow.read() }
            }
        }

        impl Scalar for $float {
            const ONE: $float = 1.0;
            const EPSILON: f64 = $float::EPSILON as f64;

            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}

float!(f32);
float!(f64);

fn next<'a>(from: &mut std::slice::Iter<'a, f64>) -> &'a f64 {
    from.next()
        .expect("there must be as many numbers as `dimension` says")
}

// SAFETY: all arrays of a type have one length.
unsafe impl<T: Differentiable, const N: usize> Differentiable for [T; N] {
    const OWNS_MEMORY: bool = T::OWNS_MEMORY;

    fn zeros_like(&self) -> [T; N] {
        self.each_ref().map(T::zeros_like)
    }

    fn dimension(&self) -> usize {
        self.iter().map(T::dimension).sum()
    }

    fn flatten(&self, into: &mut Vec<f64>) {
        self.iter().for_each(|value| value.flatten(into));
    }

    fn unflatten(&mut self, from: &mut std::slice::Iter<'_, f64>) {
        self.iter_mut().for_each(|value| value.unflatten(from));
    }

    fn dot(&self, other: &[T; N]) -> f64 {
        dot(self, other)
    }

    fn accumulate(&mut self, other: &[T; N]) {
        accumulate_each(self, other);
    }

    fn check_shape(&self, shadow: &[T; N]) -> Result<(), ShapeError> {
        check_each(self, shadow)
    }

    fn make_room(&mut self, primal: &[T; N]) {
        make_room_in_each(self, primal);
    }

    unsafe fn adopt_shadow(&self, shadow: *const [T; N]) -> [T; N] {
        // SAFETY: the elements of an array are behind one another.
        std::array::from_fn(|i| unsafe { self[i].adopt_shadow(shadow.cast::<T>().add(i)) })
    }
}

// SAFETY: shadows have the length and the capacity of the primal vector.
unsafe impl<T: Differentiable> Differentiable for Vec<T> {
    const OWNS_MEMORY: bool = true;

    fn zeros_like(&self) -> Vec<T> {
        let mut zeros = Vec::with_capacity(self.capacity());
        zeros.extend(self.iter().map(T::zeros_like));
        zeros
    }

    fn dimension(&self) -> usize {
        self.iter().map(T::dimension).sum()
    }

    fn flatten(&self, into: &mut Vec<f64>) {
        self.iter().for_each(|value| value.flatten(into));
    }

    fn unflatten(&mut self, from: &mut std::slice::Iter<'_, f64>) {
        self.iter_mut().for_each(|value| value.unflatten(from));
    }

    fn dot(&self, other: &Vec<T>) -> f64 {
        dot(self, other)
    }

    fn accumulate(&mut self, other: &Vec<T>) {
        accumulate_each(self, other);
    }

    fn check_shape(&self, shadow: &Vec<T>) -> Result<(), ShapeError> {
        ShapeError::compare("length", self.len(), shadow.len())?;
        check_each(self, shadow)
    }

    fn make_room(&mut self, primal: &Vec<T>) {
        if self.capacity() < primal.capacity() {
            self.reserve_exact(primal.capacity() - self.len());
        }
        make_room_in_each(self, primal);
    }

    unsafe fn adopt_shadow(&self, shadow: *const Vec<T>) -> Vec<T> {
        if self.capacity() == 0 {
            return Vec::new();
        }
        // SAFETY: the shadow points to memory like that of the primal vector, which nobody else
        // owns. Its length and capacity are not numbers with derivatives, so they may be missing.
        unsafe {
            let elements = (*shadow).as_ptr().cast_mut();
            for (i, value) in self.iter().enumerate() {
                let element = elements.add(i);
                element.write(value.adopt_shadow(element));
            }
            Vec::from_raw_parts(elements, self.len(), self.capacity())
        }
    }
}

// SAFETY: a box has the shape of its contents.
unsafe impl<T: Differentiable> Differentiable for Box<T> {
    const OWNS_MEMORY: bool = true;

    fn zeros_like(&self) -> Box<T> {
        Box::new((**self).zeros_like())
    }

    fn dimension(&self) -> usize {
        (**self).dimension()
    }

    fn flatten(&self, into: &mut Vec<f64>) {
        (**self).flatten(into);
    }

    fn unflatten(&mut self, from: &mut std::slice::Iter<'_, f64>) {
        (**self).unflatten(from);
    }

    fn dot(&self, other: &Box<T>) -> f64 {
        (**self).dot(other)
    }

    fn accumulate(&mut self, other: &Box<T>) {
        (**self).accumulate(other);
    }

    fn check_shape(&self, shadow: &Box<T>) -> Result<(), ShapeError> {
        (**self).check_shape(shadow)
    }

    fn make_room(&mut self, primal: &Box<T>) {
        (**self).make_room(primal);
    }

    unsafe fn adopt_shadow(&self, shadow: *const Box<T>) -> Box<T> {
        // SAFETY: the shadow of a box is a box, which nobody else owns.
        unsafe {
            let value = shadow.cast::<*mut T>().read();
            value.write((**self).adopt_shadow(value));
            Box::from_raw(value)
        }
    }
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        // SAFETY: a tuple has the shapes of its parts.
        unsafe impl<$($T: Differentiable),*> Differentiable for ($($T,)*) {
            const OWNS_MEMORY: bool = false $(|| $T::OWNS_MEMORY)*;

            fn zeros_like(&self) -> Self {
                ($(self.$i.zeros_like(),)*)
            }

            fn dimension(&self) -> usize {
                0 $(+ self.$i.dimension())*
            }

            fn flatten(&self, into: &mut Vec<f64>) {
                $(self.$i.flatten(into);)*
            }

            fn unflatten(&mut self, from: &mut std::slice::Iter<'_, f64>) {
                $(self.$i.unflatten(from);)*
            }

            fn dot(&self, other: &Self) -> f64 {
                0.0 $(+ self.$i.dot(&other.$i))*
            }

            fn accumulate(&mut self, other: &Self) {
                $(self.$i.accumulate(&other.$i);)*
            }

            fn check_shape(&self, shadow: &Self) -> Result<(), ShapeError> {
                $(self.$i.check_shape(&shadow.$i)?;)*
                Ok(())
            }

            fn make_room(&mut self, primal: &Self) {
                $(self.$i.make_room(&primal.$i);)*
            }

            unsafe fn adopt_shadow(&self, shadow: *const Self) -> Self {
                // SAFETY: the parts of a shadow are the shadows of the parts.
                unsafe { ($(self.$i.adopt_shadow(&raw const (*shadow).$i),)*) }
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

fn dot<T: Differentiable>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

fn accumulate_each<T: Differentiable>(values: &mut [T], others: &[T]) {
    for (value, other) in values.iter_mut().zip(others) {
        value.accumulate(other);
    }
}

fn check_each<T: Differentiable>(values: &[T], shadows: &[T]) -> Result<(), ShapeError> {
    if T::OWNS_MEMORY {
        for (value, shadow) in values.iter().zip(shadows) {
            value.check_shape(shadow)?;
        }
    }
    Ok(())
}

fn make_room_in_each<T: Differentiable>(shadows: &mut [T], values: &[T]) {
    if T::OWNS_MEMORY {
        for (shadow, value) in shadows.iter_mut().zip(values) {
            shadow.make_room(value);
        }
    }
}
