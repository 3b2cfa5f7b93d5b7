//! `cargo zymase X`: runs `cargo X` with this program around the compilers.

use crate::config::Config;
use crate::{Complaint, Result, become_command, explain, installation};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use zymase_core::diagnostic::Code;

/// The wrapper that would have run if not for us.
pub const OUTER_WRAPPER: &str = "ZYMASE_OUTER_RUSTC_WRAPPER";
/// The rustdoc that would have run if not for us.
pub const OUTER_RUSTDOC: &str = "ZYMASE_OUTER_RUSTDOC";

const HELP: &str = "\
Cargo, with derivatives

Usage: cargo zymase COMMAND [ARGUMENTS OF CARGO]

Commands:
  build, run, test, bench, ...   what cargo does under that name, with derivatives; every command
                                 and argument of cargo works
  explain [--html PAGE]          builds like `cargo build`, then says for every derivative what is
                                 active, what is kept, what is computed again, and why

What is built lies in target/<the name of the machine>, beside what cargo builds without Zymase.

Examples:
  cargo zymase run --release
  cargo zymase test -p model
  cargo zymase explain --release --bin fit";

/// Runs the subcommand; `args` are what follows `cargo zymase`.
pub fn run(args: &[OsString]) -> Result<ExitCode> {
    match args.first().and_then(|first| first.to_str()) {
        None | Some("--help" | "-h" | "help") => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        Some("--version" | "-V") => {
            println!("cargo-zymase {}", env!("CARGO_PKG_VERSION"));
            Ok(ExitCode::SUCCESS)
        }
        Some("explain") => explain::run(&args[1..]),
        Some(_) => {
            let mut command = cargo()?;
            command.args(args);
            become_command(command)
        }
    }
}

/// Cargo, with everything that makes it build derivatives.
pub fn cargo() -> Result<Command> {
    let config = Config::read();
    let compiler = installation::check(&config)?;
    let own = std::env::current_exe().map_err(|e| Complaint {
        code: Code::Installation,
        message: format!("cannot tell where cargo-zymase is installed: {e}"),
    })?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    if !config.has("target") {
        command.env("CARGO_BUILD_TARGET", compiler.host);
    }
    let theirs = |variable: &str, name: &str| {
        let chosen = std::env::var_os(variable).map(PathBuf::from);
        let chosen = chosen.or_else(|| config.program(name));
        // A build script or test that runs `cargo zymase` is inside of another one.
        chosen.filter(|program| program.file_stem() != own.file_stem() && program != Path::new(""))
    };
    if let Some(wrapper) = theirs("RUSTC_WRAPPER", "rustc-wrapper") {
        command.env(OUTER_WRAPPER, wrapper);
    }
    if let Some(rustdoc) = theirs("RUSTDOC", "rustdoc") {
        command.env(OUTER_RUSTDOC, rustdoc);
    }
    command.env("RUSTC_WRAPPER", &own).env("RUSTDOC", &own);
    Ok(command)
}
