//! An independent test of differentiation: programs made from a seed, and the referee that
//! compares their derivatives with the interpreter on dual numbers.
//!
//! A program is a small tree of statements ([`tree`]), made at random ([`grow`]) and lowered to
//! the text form of the IR ([`lower`]) or written in C ([`mod@c`]). Every tree terminates and has no undefined behaviour, and
//! so does every tree with statements left out: that is how failing programs become small
//! ([`shrink`]).
//!
//! [`copies`] makes programs of another sort, in C, which check themselves.

pub mod c;
pub mod census;
pub mod contraction;
pub mod copies;
pub mod grow;
pub mod lower;
pub mod native;
pub mod reduction;
pub mod referee;
pub mod shrink;
pub mod tally;
pub mod tree;
pub mod trial;
