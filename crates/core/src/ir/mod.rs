//! The intermediate representation.
//!
//! # Semantics
//!
//! **Functions and values.** A function is a control-flow graph in static single assignment form.
//! Blocks have parameters in place of phis; every edge passes one argument for each parameter of
//! the block it leads to, all at once. A value is usable where its definition dominates; the
//! result of a terminator (`invoke`) exists on its normal edge only. Constants are values.
//! The parameters of the first block are the parameters of the function.
//!
//! **Evaluation.** Instructions of a block run in order; the last one, and only it, is a
//! terminator. Operations on vectors work lane by lane unless documented otherwise. Integers are
//! modulo 2ⁿ; division by zero, and the signed division that overflows, are errors. Floats are
//! IEEE with the default rounding; permissions in the flags allow, never require, other results.
//!
//! **Memory** is a set of objects (frame memory, heap memory, global variables), each a sequence
//! of bytes. An address is an object and an offset; arithmetic may leave the bounds, access may
//! not. Every byte knows whether it was written, and bytes of a stored pointer remember it.
//! Reading a byte that was never written gives poison; freed memory, and frame memory of a
//! function that has returned, must not be touched. All values are little-endian.
//!
//! **Undef and poison.** Undef is any value, at each use anew. Poison arises from a broken promise
//! (`nsw`, `nnan`, `inbounds`, an uninitialized byte, a shift by the width or more). It spreads
//! through operations; branching on it, using it as an address, dividing by it is an error.
//! `freeze` turns both into some fixed value. A `select` spreads only the poison of its condition
//! and of the value it chooses.
//!
//! **Calls.** Arguments are passed by value; `byval` memory is copied. A callee may do what its
//! attributes allow. Functions without a body are known by name (the C library, LLVM's
//! intrinsics) or unknown.
//!
//! **Derivatives.** A [`Request`] stands for the call of a derivative; the pipeline replaces it by
//! one. [`Op::Accumulate`] adds a float into memory; accumulations commute. A *tape* is ordinary
//! memory whose accesses carry [`Region::Tape`]: written by a forward sweep, read by the reverse
//! sweep of the same call, and by nothing else.
//!
//! **Nests.** A [`Nest`] runs a body at every point of a domain. A point is a counter for each
//! loop, from 0 up to a bound that may be affine in the counters further out and is read as signed;
//! where a bound is not positive there are no points. At a point, the body gets the counters, the
//! elements of the inputs and values from outside, and each result is combined with an element of
//! an output. Elements lie at `address + Σ distance·counter`, modulo 2⁶⁴. It is as if points were
//! visited one after the other, the last counter fastest, each reading before it writes; that order
//! counts for the rounding of combiners without `reassoc`, and for which of two zeros or whether a NaN
//! is left by those that choose; it is the order of points and, at a point, of outputs. It counts for
//! nothing else, because these are errors:
//!
//! - a byte that an input reads and an output writes, except that a `store` may write what an input
//!   with the same view, operand for operand, reads at the same point and at no other;
//! - a byte that two points, or two outputs, write, except that the same combiner other than
//!   `store` may meet the same element again.
//!
//! A sum of a product, both of which have `contract` and not `reassoc`, is that of `fmuladd`.
//!
//! So points may run in any order or at once, inputs may be read early and sums kept in registers.
//!
//! **Opaque** instructions, constants and types are carried along and never looked into.
//!
//! The text form is documented in [`text`].

mod access;
mod builder;
mod call;
mod constant;
mod copy;
mod entities;
mod function;
mod functions;
mod inst;
mod math;
mod module;
mod nest;
mod ops;
mod request;
mod rule;
pub mod soft;
mod source;
pub mod text;
mod types;
pub mod verify;

pub use access::*;
pub use builder::*;
pub use call::*;
pub use constant::*;
pub use copy::Copied;
pub use entities::*;
pub use function::*;
pub use functions::*;
pub use inst::*;
pub use math::*;
pub use module::*;
pub use nest::*;
pub use ops::*;
pub use request::*;
pub use rule::*;
pub use source::*;
pub use types::*;
