//! Trains GPT-2 and writes text with it: `gpt2 --help`.

mod command;

use clap::{Parser, Subcommand};
use command::{convert, sample, tokenize, train};
use std::io::Write;
use std::process::ExitCode;

/// GPT-2 in plain Rust, trained with gradients that the compiler writes.
///
/// With nothing given, it trains a small model on a text that is built in, for about a minute.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    train: train::Arguments,
}

#[derive(Subcommand)]
enum Command {
    /// Trains a model (also with no command)
    Train(Box<train::Arguments>),
    /// Writes text with a model
    Sample(sample::Arguments),
    /// Turns a text file into a file of tokens
    Tokenize(tokenize::Arguments),
    /// Turns a checkpoint into the other format
    #[command(visible_alias = "export")]
    Convert(convert::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        None => train::run(&arguments.train),
        Some(Command::Train(arguments)) => train::run(arguments),
        Some(Command::Sample(arguments)) => sample::run(arguments),
        Some(Command::Tokenize(arguments)) => tokenize::run(arguments),
        Some(Command::Convert(arguments)) => convert::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be reading.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
