//! The twelve evals of GradBench, with derivatives by Zymase, and the protocol they are asked by.
//!
//! Every eval has its primal, the derivative that Zymase makes of it, and in `by_hand` one that was
//! written by hand, which the tests and `../rust` compare with.

pub mod evals;
pub mod evaluation;
pub mod protocol;
pub mod random;
