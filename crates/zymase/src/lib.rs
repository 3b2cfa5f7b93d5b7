//! Derivatives of Rust functions, on stable Rust.
//!
//! Zymase differentiates compiled code: this crate asks, and the linker `zymase ld`, which
//! `cargo zymase` puts in place, answers. So build, run and test with `cargo zymase build`,
//! `cargo zymase run`, `cargo zymase test`. `cargo check`, clippy and rust-analyzer need nothing.

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

pub use check::{GradientMismatch, check_grad};
pub use differentiable::{Differentiable, Scalar};
pub use first::{grad, jvp, value_and_grad, vjp, zeros_like};
pub use input::Input;
pub use second::{hessian, hvp, jacobian};
pub use shape::ShapeError;
pub use zymase_macros::{Differentiable, autodiff_forward, autodiff_reverse, derivative, inactive};

/// What the attributes expand to; not for anybody else.
#[doc(hidden)]
pub mod __private {
    pub use crate::request::*;
    pub use crate::rule::*;
    pub use crate::shape::{CheckNothing, CheckShape, Growing, Shapes, check_length, check_seed};
}
