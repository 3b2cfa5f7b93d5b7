//! The attributes of the crate `zymase`; its documentation says how to use them.
//!
//! An attribute writes a function next to the one it stands on. That function is safe to call: it
//! checks what it is given, and asks for the derivative of a *thunk*, a closure that calls the
//! original with references only. The request is a call that the linker `zymase ld` replaces.

mod activity;
mod attribute;
mod derive;
mod expand;
mod forms;
mod function;
mod rule;
mod wrapped;

use activity::Mode;
use proc_macro::TokenStream;

/// Writes the derivative of a function in reverse mode.
///
/// `#[autodiff_reverse(NAME, [WIDTH,] ACTIVITIES, RESULT)]`: the name of the new function, an
/// activity for each parameter, and one for the result if there is one.
#[proc_macro_attribute]
pub fn autodiff_reverse(words: TokenStream, function: TokenStream) -> TokenStream {
    expand::beside(Mode::Reverse, words.into(), function.into()).into()
}

/// Writes the derivative of a function in forward mode.
///
/// `#[autodiff_forward(NAME, [WIDTH,] ACTIVITIES, RESULT)]`: the name of the new function, an
/// activity for each parameter, and one for the result if there is one.
#[proc_macro_attribute]
pub fn autodiff_forward(words: TokenStream, function: TokenStream) -> TokenStream {
    expand::beside(Mode::Forward, words.into(), function.into()).into()
}

/// Makes a structure of numbers one that derivatives can be taken with respect to.
///
/// Every field must be `Differentiable`, or be marked `#[constant]` and be `Clone`.
#[proc_macro_derive(Differentiable, attributes(constant))]
pub fn differentiable(item: TokenStream) -> TokenStream {
    derive::differentiable(item.into()).into()
}

/// No derivative flows through this function: its result counts as constant, and so does what it
/// writes.
#[proc_macro_attribute]
pub fn inactive(words: TokenStream, function: TokenStream) -> TokenStream {
    wrapped::inactive(words.into(), function.into()).into()
}

/// Gives a function derivatives that other functions compute.
///
/// `#[derivative(ACTIVITIES, RESULT, forward = tangent, reverse = (augmented, pullback))]`: what the
/// rule handles, in the words of [`macro@autodiff_reverse`], and the functions of one mode or both.
#[proc_macro_attribute]
pub fn derivative(words: TokenStream, function: TokenStream) -> TokenStream {
    rule::derivative(words.into(), function.into()).into()
}
