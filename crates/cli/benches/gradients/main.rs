//! How long gradients take, and how long it takes to compile them, as ratios.
//!
//! `cargo bench -p zymase-cli --bench gradients` builds every program of `bench/` with `zymase cc` at
//! -O2 and -O3, with and without `restrict` where it matters, and those in Rust with `cargo zymase`,
//! runs them, and prints tables:
//!
//! - the function alone, its gradient, their ratio, the ratio to a gradient written by hand where
//!   there is one, how far the median of the repetitions lies above the fastest, and the gradients
//!   of other tools over ours;
//! - how the first of these ratios varies over sizes;
//! - the gradient as it is beside one that is made before the function is optimized;
//! - `zymase cc` (`zymase c++` for programs in C++) beside clang alone.
//!
//! The same is in `target/bench/gradients.json`, and `bench/report` makes pictures and a page of it.
//! Words after `--` choose programs, and levels:
//! `cargo bench -p zymase-cli --bench gradients -- -O3 lu fft`.
//!
//! Ratios are of measurements by turns in one run. Nothing is asserted; a ratio that is higher than
//! expected is marked.

mod machine;
mod options;
mod peers;
mod programs;
mod rows;
mod rust;
#[path = "../shared/mod.rs"]
mod shared;
mod suite;
mod turns;

pub use options::Options;
use std::process::ExitCode;
pub use suite::run;

fn main() -> ExitCode {
    match Options::read(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
