//! How long primals, derivatives by Zymase and derivatives by hand take, side by side:
//!
//!     cargo zymase bench                   # all
//!     cargo zymase bench -- gmm lstm       # those with these words in their names
//!     cargo zymase bench -- --tiny         # the smallest sizes and one repetition
//!
//! Lines have the form of those of the programs in C, see `../bench.h`. Every program has a process of
//! its own: memory that another one has left to the allocator would make it faster.

mod evals;
mod measure;
mod papers;

use measure::Effort;
use std::process::{Command, ExitCode};

/// Measures a function at all its sizes.
type Program = fn(Effort);

const PROGRAMS: [(&str, Program); 17] = [
    ("ba", evals::ba),
    ("brusselator", papers::brusselator),
    ("det", evals::det),
    ("dot", papers::dot),
    ("euler", papers::euler),
    ("fft_recursive", papers::fft),
    ("gmm", evals::gmm),
    ("ht", evals::ht),
    ("kmeans", evals::kmeans),
    ("llsq", evals::llsq),
    ("lse", evals::lse),
    ("lstm", evals::lstm),
    ("matmul", papers::matmul),
    ("ode", evals::ode),
    ("particle", evals::particle),
    ("runge_kutta", papers::runge_kutta),
    ("saddle", evals::saddle),
];

/// The word before the name of the one program that a process measures.
const ALONE: &str = "--alone";

fn main() -> ExitCode {
    let (options, words): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with('-'));
    let has = |option: &str| options.iter().any(|word| word == option);
    let effort = Effort {
        is_tiny: has("--tiny"),
    };
    if has(ALONE) {
        let chosen = PROGRAMS
            .iter()
            .filter(|(name, _)| words.iter().any(|word| word == name));
        chosen.for_each(|(_, program)| program(effort));
        return ExitCode::SUCCESS;
    }
    let is_chosen =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let mut result = ExitCode::SUCCESS;
    for (name, _) in PROGRAMS.iter().filter(|(name, _)| is_chosen(name)) {
        let mut alone = Command::new(std::env::current_exe().expect("a path to this program"));
        alone.args(&options).args([ALONE, name]);
        if !alone.status().is_ok_and(|status| status.success()) {
            eprintln!("{name} failed");
            result = ExitCode::FAILURE;
        }
    }
    result
}
