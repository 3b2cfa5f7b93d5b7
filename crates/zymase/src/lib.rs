//! Derivatives of Rust functions, on stable Rust.
//!
//! Zymase differentiates compiled code: this crate asks, and the linker `zymase ld`, which
//! `cargo zymase` puts in place, answers. So build, run and test with `cargo zymase build`,
//! `cargo zymase run`, `cargo zymase test`. `cargo check`, clippy and rust-analyzer need nothing.

// The macros name this crate as their users do.
extern crate self as zymase;

mod differentiable;
mod request;
mod shape;

pub use differentiable::{Differentiable, Scalar};
pub use shape::ShapeError;
pub use zymase_macros::{Differentiable, autodiff_forward, autodiff_reverse};

/// What the attributes expand to; not for anybody else.
#[doc(hidden)]
pub mod __private {
    pub use crate::request::*;
    pub use crate::shape::{CheckNothing, CheckShape, Growing, Shapes, check_length, check_seed};
}
