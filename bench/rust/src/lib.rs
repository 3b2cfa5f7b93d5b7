//! The benchmarks of the papers on Enzyme that GradBench has not, in Rust.
//!
//! Each has its primal, the derivative that Zymase makes of it, and in `by_hand` one that was written
//! by hand. `../gradbench` has the others, in the same form; `benches/derivatives` measures all.

pub mod brusselator;
pub mod dot;
pub mod euler;
pub mod fft;
pub mod matmul;
pub mod runge_kutta;
