//! The attributes of the crate `zymase`; its documentation says how to use them.
//!
//! An attribute writes a function next to the one it stands on. That function is safe to call: it
//! checks what it is given, and asks for the derivative of a *thunk*, a closure that calls the
//! original with references only. The request is a call that the linker `zymase ld` replaces.

mod activity;
mod attribute;
mod derive;
mod expand;
mod fast;
mod forms;
mod function;
mod rule;
mod wrapped;

use activity::Mode;
use proc_macro::TokenStream;

/// Writes the derivative of a function in reverse mode.
///
/// `#[autodiff_reverse(NAME, [WIDTH,] ACTIVITIES, RESULT)]`: the name of the new function, an
/// activity for each parameter, and one for the result if there is one. The documentation of the
/// crate `zymase` has a table of the activities.
///
/// ```no_run
/// use zymase::autodiff_reverse;
///
/// #[autodiff_reverse(d_area, Active, Active, Active)]
/// fn area(width: f64, height: f64) -> f64 {
///     width * height
/// }
///
/// // The result, and the derivative of each `Active` parameter.
/// assert_eq!(d_area(2.0, 3.0, 1.0), (6.0, 3.0, 2.0));
///
/// // A result by reference has a shadow too, which is its seed.
/// #[autodiff_reverse(d_squares, Duplicated, Duplicated)]
/// fn squares(x: &[f64], y: &mut [f64]) {
///     for (x, y) in x.iter().zip(y) {
///         *y = x * x;
///     }
/// }
///
/// let (mut y, mut dx, mut dy) = ([0.0; 2], [0.0; 2], [1.0, 10.0]);
/// d_squares(&[3.0, 4.0], &mut dx, &mut y, &mut dy);
/// assert_eq!((y, dx), ([9.0, 16.0], [6.0, 80.0]));
/// ```
#[proc_macro_attribute]
pub fn autodiff_reverse(words: TokenStream, function: TokenStream) -> TokenStream {
    expand::beside(Mode::Reverse, words.into(), function.into()).into()
}

/// Writes the derivative of a function in forward mode.
///
/// `#[autodiff_forward(NAME, [WIDTH,] ACTIVITIES, RESULT)]`: the name of the new function, an
/// activity for each parameter, and one for the result if there is one. The documentation of the
/// crate `zymase` has a table of the activities.
///
/// ```no_run
/// use zymase::autodiff_forward;
///
/// #[autodiff_forward(f_area, Dual, Dual, Dual)]
/// #[autodiff_forward(f_area_twice, 2, Dual, Dual, DualOnly)]
/// fn area(width: f64, height: f64) -> f64 {
///     width * height
/// }
///
/// // Each parameter is followed by its tangent.
/// assert_eq!(f_area(2.0, 1.0, 3.0, 0.0), (6.0, 3.0));
/// // Two derivatives at once: two tangents each, and two results.
/// assert_eq!(f_area_twice(2.0, 1.0, 0.0, 3.0, 0.0, 1.0), [3.0, 2.0]);
/// ```
#[proc_macro_attribute]
pub fn autodiff_forward(words: TokenStream, function: TokenStream) -> TokenStream {
    expand::beside(Mode::Forward, words.into(), function.into()).into()
}

/// Makes a structure of numbers one that derivatives can be taken with respect to.
///
/// Every field must be `Differentiable`, or be marked `#[constant]` and be `Clone`.
///
/// ```no_run
/// use zymase::Differentiable;
///
/// #[derive(Differentiable, Debug, PartialEq)]
/// struct Spring {
///     stiffness: f64,
///     lengths: Vec<f64>,
///     #[constant]
///     name: &'static str,
/// }
///
/// let energy = |s: &Spring| s.stiffness * s.lengths.iter().map(|x| x * x).sum::<f64>();
/// let spring = Spring { stiffness: 2.0, lengths: vec![1.0, 3.0], name: "a" };
/// let gradient = zymase::grad(energy, &spring);
/// assert_eq!(gradient, Spring { stiffness: 10.0, lengths: vec![4.0, 12.0], name: "a" });
/// ```
#[proc_macro_derive(Differentiable, attributes(constant))]
pub fn differentiable(item: TokenStream) -> TokenStream {
    derive::differentiable(item.into()).into()
}

/// No derivative flows through this function: its result counts as constant, and so does what it
/// writes.
///
/// ```no_run
/// use zymase::inactive;
///
/// #[inactive]
/// fn scale_of(x: &[f64]) -> f64 {
///     x.iter().fold(0.0, |largest, x| x.abs().max(largest))
/// }
///
/// // Without the mark, the largest number would have another derivative.
/// let relative = |x: &[f64]| x.iter().sum::<f64>() / scale_of(x);
/// assert_eq!(zymase::grad(relative, &[1.0, 2.0][..]), [0.5, 0.5]);
/// ```
#[proc_macro_attribute]
pub fn inactive(words: TokenStream, function: TokenStream) -> TokenStream {
    wrapped::inactive(words.into(), function.into()).into()
}

/// Permits to compute this function otherwise than it is written, where it is differentiated: sums in
/// another order, and approximations of `exp` or `tanh` for several numbers at once.
///
/// The permission is for the code of the function and for what is inlined into it. NaN and infinities
/// stay what they are. Where no derivative is taken, the function is compiled as it is.
///
/// ```no_run
/// #[zymase::fast]
/// fn total(x: &[f64]) -> f64 {
///     x.iter().map(|x| x.exp()).sum()
/// }
///
/// assert_eq!(zymase::grad(total, &[0.0, 0.0][..]), [1.0, 1.0]);
/// ```
#[proc_macro_attribute]
pub fn fast(words: TokenStream, function: TokenStream) -> TokenStream {
    fast::fast(words.into(), function.into()).into()
}

/// Gives a function derivatives that other functions compute.
///
/// `#[derivative(ACTIVITIES, RESULT, forward = tangent, reverse = (augmented, pullback))]`, or
/// `reverse = pullback` for a pullback that takes what the function was given: what the
/// rule handles, in the words of [`macro@autodiff_reverse`], and the functions of one mode or both.
/// The documentation of the crate `zymase` has a table of what these functions take and return.
///
/// ```no_run
/// use zymase::derivative;
///
/// /// Rounds, and has the derivative of a function that does not.
/// #[derivative(Active, Active, forward = tangent, reverse = (augmented, pullback))]
/// fn rounded(x: f64) -> f64 {
///     x.round()
/// }
///
/// fn tangent(x: f64, dx: f64) -> (f64, f64) {
///     (x.round(), dx)
/// }
///
/// fn augmented(x: f64) -> (f64, ()) {
///     (x.round(), ())
/// }
///
/// fn pullback(_tape: (), seed: f64) -> f64 {
///     seed
/// }
///
/// assert_eq!(zymase::value_and_grad(|x: &f64| 3.0 * rounded(*x), &1.7), (6.0, 3.0));
/// assert_eq!(zymase::jvp(|x: &f64| 3.0 * rounded(*x), &1.7, &1.0), (6.0, 3.0));
/// ```
#[proc_macro_attribute]
pub fn derivative(words: TokenStream, function: TokenStream) -> TokenStream {
    rule::derivative(words.into(), function.into()).into()
}
