//! Tasks of people who work on Zymase, run with `cargo xtask`.

mod fuzz;
mod trials;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Tasks of people who work on Zymase.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Differentiates generated programs and compares with the oracle until time is up.
    Fuzz(fuzz::Args),
}

fn main() -> ExitCode {
    match Cli::parse().task {
        Task::Fuzz(args) => fuzz::run(&args),
    }
}
