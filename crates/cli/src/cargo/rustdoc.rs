//! In the place of rustdoc: tests in documentation are programs that rustdoc compiles by itself.

use crate::arguments::Arguments;
use crate::{Result, become_command, rustc, subcommand};
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Runs rustdoc, for tests with the flags that programs get.
pub fn run(args: &[OsString]) -> Result<ExitCode> {
    let rustdoc = std::env::var_os(subcommand::OUTER_RUSTDOC);
    let mut command = Command::new(rustdoc.unwrap_or("rustdoc".into()));
    command.args(args);
    let arguments = Arguments::read(args);
    if arguments.has("--test") {
        rustc::add_flags(&mut command, &arguments)?;
    }
    become_command(command)
}
