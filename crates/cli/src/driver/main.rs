//! The driver: everything that the `zymase` command does.
//!
//! It is started by the launcher, which has found the LLVM library. Exit codes: 0 done, 1 an error
//! in the program or its environment, 2 an error in the command line.

mod args;
mod cc;
mod check;
mod codes;
mod compile;
mod demo;
mod embedded;
mod explain;
#[cfg(test)]
mod hostile;
mod journal;
mod ld;
mod names;
mod opt;
mod output;
mod report;
mod tools;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;
use zymase_core::diagnostic::Result;

/// How much stack the work may need: walks over huge functions are deep, here and in LLVM. Memory
/// is taken only as the stack grows.
const STACK: usize = 512 << 20;

fn main() -> ExitCode {
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(work);
    match worker.map(|worker| worker.join()) {
        Ok(Ok(code)) => code,
        // The message of a panic is on standard error already.
        Ok(Err(_)) => ExitCode::from(101),
        // There is not so much room; most programs need little.
        Err(_) => work(),
    }
}

fn work() -> ExitCode {
    let cli = Cli::parse_from(args::sorted(std::env::args_os()));
    // If it is not a number, that is told at once, whatever the command.
    args::chaos_seed();
    let done = match cli.command {
        None => codes::explain(&cli.explain_code.unwrap_or_default()),
        Some(Command::Opt(args)) => opt::run(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Explain(args)) => exit(explain::run(&args)),
        Some(Command::Demo(args)) => demo::run(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Check(args)) => exit(check::run(&args)),
        Some(Command::Ld(args)) => exit(ld::run(&args.args)),
        Some(Command::Cc(args)) => exit(cc::run(tools::Language::C, &args.args)),
        Some(Command::Cxx(args)) => exit(cc::run(tools::Language::Cxx, &args.args)),
    };
    match done {
        Ok(code) => code,
        Err(diagnostic) => {
            report::print(&diagnostic);
            ExitCode::from(1)
        }
    }
}

/// The exit code of a tool that ran for us.
fn exit(code: Result<u8>) -> Result<ExitCode> {
    code.map(ExitCode::from)
}
