//! Derivatives of Rust functions, on stable Rust.
//!
//! ```no_run
//! use zymase::autodiff_reverse;
//!
//! #[autodiff_reverse(d_energy, Duplicated, Const, Active)]
//! fn energy(x: &[f64], mass: f64) -> f64 {
//!     mass * x.iter().map(|x| x * x).sum::<f64>()
//! }
//!
//! let (x, mut dx) = ([3.0, 4.0], [0.0; 2]);
//! let value = d_energy(&x, &mut dx, 0.5, 1.0);
//! assert_eq!(value, 12.5);
//! assert_eq!(dx, [3.0, 4.0]);
//! ```
//!
//! Zymase differentiates compiled code: this crate asks, and the linker `zymase ld`, which
//! `cargo zymase` puts in place, answers. So build, run and test with `cargo zymase build`,
//! `cargo zymase run`, `cargo zymase test`. `cargo check`, clippy, rustdoc and rust-analyzer need
//! nothing. Plain `cargo build` compiles, and then fails to link, with a sentence that says so.
//! `docs/rust.md` of the repository goes from nothing to a first gradient, and
//! `docs/from-other-tools.md` translates from `std::autodiff`, JAX and Enzyme.
//!
//! The function above has two parameters and a result, and the attribute has a word for each:
//! `x` is a reference, so its derivative goes into a *shadow*, `dx`, that follows it
//! (`Duplicated`); `mass` has no derivative (`Const`); the result is what is differentiated
//! (`Active`), and the last argument of `d_energy` is its *seed*, the factor of all derivatives.
//!
//! # Gradients, Jacobians, Hessians
//!
//! | function | gives |
//! | --- | --- |
//! | [`grad`], [`value_and_grad`] | the gradient of a function with one result |
//! | [`jacobian`], [`hessian`] | all first derivatives of several results, all second derivatives of one |
//! | [`vjp`], [`jvp`], [`hvp`] | products of these matrices with a vector, without the matrix |
//! | [`check_grad`] | whether forward mode, reverse mode and finite differences agree |
//! | [`zeros_like`] | a zeroed shadow of any value |
//! | [`set_threads`] | nothing; large products of matrices are computed by so many threads |
//!
//! They take a function or closure of one reference, and a reference to the point: a number, a
//! slice, an array, a `Vec`, a tuple, or a structure with
//! [`#[derive(Differentiable)]`](derive@Differentiable). What a closure has captured is constant.
//!
//! ```no_run
//! use zymase::{Differentiable, grad};
//!
//! #[derive(Differentiable)]
//! struct Model {
//!     weights: Vec<f64>,
//!     bias: f64,
//!     #[constant]
//!     name: String,
//! }
//!
//! let data = [1.0, 2.0];
//! let loss = |model: &Model| {
//!     let sum: f64 = model.weights.iter().map(|w| w * data[0]).sum();
//!     (sum + model.bias - data[1]).powi(2)
//! };
//! let model = Model { weights: vec![1.0, 3.0], bias: 0.5, name: "a".into() };
//! let gradient = grad(loss, &model);
//! assert_eq!(gradient.weights, [5.0, 5.0]);
//! assert_eq!(gradient.bias, 5.0);
//! ```
//!
//! # Attributes
//!
//! [`#[autodiff_reverse]`](macro@autodiff_reverse) and [`#[autodiff_forward]`](macro@autodiff_forward)
//! write a function next to the one they stand on, with the words and the signatures of nightly's
//! `std::autodiff`. An *activity* for each parameter and for the result says what is differentiated:
//!
//! | activity | mode | in the new function |
//! | --- | --- | --- |
//! | `Const` | both | nothing is added |
//! | `Active` | reverse, by value | input: its derivative is appended to what is returned; result: a last argument is its derivative, the *seed* |
//! | `ActiveOnly` | reverse, result | as `Active`, and the result itself is not returned |
//! | `Duplicated` | reverse, references and pointers | a `&mut` shadow follows; derivatives are **added** to it |
//! | `DuplicatedOnly` | reverse | as `Duplicated`, and what is written there is not needed |
//! | `Dual`, `DualOnly` | forward | a shadow follows; `(result, tangent)` is returned, or the tangent alone |
//! | `Dualv`, `DualvOnly` | forward, several at once | one shadow that is as many times as long |
//!
//! A number after the name computes so many derivatives at once: that many shadows, and arrays of
//! results.
//!
//! Beyond `std::autodiff`:
//!
//! - Shadows are checked before anything is written: one that is too short is a panic that names
//!   both lengths. Of structures this is known if they are [`Differentiable`].
//! - `Active` is for anything that is [`Differentiable`]: a `Vec` by value has a `Vec` as derivative.
//! - Methods, trait methods (also those without a body), generic functions, `impl Fn` and nested
//!   functions. A function of a type whose signature and body do not mention `Self` is asked for as
//!   `#[autodiff_reverse(Self::df, …)]`, because an attribute cannot see where it stands.
//!
//! ```no_run
//! use zymase::{autodiff_forward, autodiff_reverse};
//!
//! trait Shape {
//!     #[autodiff_reverse(d_area, Duplicated, Active)]
//!     #[autodiff_forward(f_area, Dual, Dual)]
//!     fn area(&self) -> f64;
//! }
//!
//! struct Rectangle(f64, f64);
//! impl Shape for Rectangle {
//!     fn area(&self) -> f64 {
//!         self.0 * self.1
//!     }
//! }
//!
//! let mut shadow = Rectangle(0.0, 0.0);
//! assert_eq!(Rectangle(2.0, 3.0).d_area(&mut shadow, 1.0), 6.0);
//! assert_eq!((shadow.0, shadow.1), (3.0, 2.0));
//! assert_eq!(Rectangle(2.0, 3.0).f_area(&Rectangle(1.0, 0.0)), (6.0, 3.0));
//! ```
//!
//! # Derivatives of your own
//!
//! No derivative flows through a function with [`#[inactive]`](macro@inactive). With
//! [`#[derivative]`](macro@derivative), other functions compute it:
//!
//! | function | takes | returns |
//! | --- | --- | --- |
//! | augmented | what the function takes | the result and the *tape*: anything that the pullback wants to have |
//! | pullback | the tape, the shadow of each `Duplicated` parameter, the derivative of the result | the derivative of each `Active` parameter |
//! | tangent | what the function takes, each parameter that is not `Const` followed by its tangent | the result and its tangent |
//!
//! The activities say what the rule handles. Where a derivative would flow through a `Const`
//! parameter, that is an error. The pullback *adds* to shadows. A mode without a rule goes through
//! the body.
//!
//! `reverse = pullback`, without an augmented function, is for a pullback that wants to have what the
//! function was given. It takes what the function takes, a `Duplicated` parameter followed by its
//! shadow; of a parameter `&mut` it takes the shadow only. What it is given is what it was when the
//! function was called: Zymase hands on the same memory if nothing overwrites it, and a copy otherwise.
//! Types must be `Copy` for that. Such a function writes to nothing but its parameters that
//! differentiated code reads, and keeps no address.
//!
//! ```no_run
//! use zymase::derivative;
//!
//! /// y = a x, by whatever is fastest.
//! #[derivative(Duplicated, Duplicated, Const, reverse = scale_pullback)]
//! fn scale(y: &mut [f64], x: &[f64], a: f64) {
//!     y.iter_mut().zip(x).for_each(|(y, x)| *y = a * x);
//! }
//!
//! fn scale_pullback(dy: &mut [f64], _x: &[f64], dx: &mut [f64], a: f64) {
//!     for (dx, dy) in dx.iter_mut().zip(dy) {
//!         // What was in y before is gone, and with it the derivative.
//!         *dx += a * std::mem::take(dy);
//!     }
//! }
//!
//! let f = |x: &[f64]| {
//!     let mut y = vec![0.0; x.len()];
//!     scale(&mut y, x, 3.0);
//!     y.iter().sum::<f64>()
//! };
//! assert_eq!(zymase::grad(f, &[1.0, 2.0][..]), [3.0, 3.0]);
//! ```
//!
//! ```no_run
//! use zymase::derivative;
//!
//! /// The root of x³ + x = a, by iteration. Its derivative needs none: 1/(3x² + 1).
//! #[derivative(Active, Active, forward = tangent, reverse = (augmented, pullback))]
//! fn root(a: f64) -> f64 {
//!     let mut x = a;
//!     for _ in 0..50 {
//!         x -= (x * x * x + x - a) / (3.0 * x * x + 1.0);
//!     }
//!     x
//! }
//!
//! fn augmented(a: f64) -> (f64, f64) {
//!     let x = root(a);
//!     (x, 3.0 * x * x + 1.0)
//! }
//!
//! fn pullback(slope: f64, seed: f64) -> f64 {
//!     seed / slope
//! }
//!
//! fn tangent(a: f64, da: f64) -> (f64, f64) {
//!     let (x, slope) = augmented(a);
//!     (x, da / slope)
//! }
//!
//! let derivative = zymase::grad(|a: &f64| root(*a), &2.0);
//! assert!((derivative - 0.25).abs() < 1e-12);
//! ```
//!
//! # Rounding
//!
//! What a function computes in its derivative is bit for bit what it computes elsewhere. With
//! [`#[fast]`](macro@fast) it need not be: sums may be computed in another order, and `exp`, `tanh` and
//! the like approximated for several numbers at once. `RUSTFLAGS=-Clink-arg=--fast` says so for all that
//! is differentiated.
//!
//! # What is refused
//!
//! Zymase refuses rather than guesses: what it cannot differentiate is an error when the program is
//! linked, with file, line, reason and remedy. Results that are references, async functions and
//! functions with any number of arguments have no derivative, and the attributes say so.
//! `docs/rust-refusals.md` has what is refused, and what to write instead.

// The macros name this crate as their users do.
extern crate self as zymase;

mod check;
mod differentiable;
mod first;
mod input;
mod request;
mod rule;
mod second;
mod shape;
mod threads;

pub use check::{GradientMismatch, check_grad};
pub use differentiable::{Differentiable, Scalar};
pub use first::{grad, jvp, value_and_grad, vjp, zeros_like};
pub use input::Input;
pub use second::{hessian, hvp, jacobian};
pub use shape::ShapeError;
pub use threads::set_threads;
pub use zymase_macros::{
    Differentiable, autodiff_forward, autodiff_reverse, derivative, fast, inactive,
};

/// What the attributes expand to; not for anybody else.
#[doc(hidden)]
pub mod __private {
    pub use crate::request::*;
    pub use crate::rule::*;
    pub use crate::shape::{CheckNothing, CheckShape, Growing, Shapes, check_length, check_seed};
}
