//! Prints the program of a seed and what came of it: `cargo run --example program -- 42`.

use std::time::Instant;
use zymase_core::pipeline::Options;
use zymase_testgen::{grow::grow, lower::lower, trial::trial};

fn main() {
    for seed in std::env::args().skip(1).filter_map(|s| s.parse().ok()) {
        let program = grow(seed);
        println!("{}", lower(&program));
        let start = Instant::now();
        let verdict = trial(&program, &Options::default());
        println!("seed {seed}: {verdict:?} after {:?}", start.elapsed());
    }
}
