//! `cargo zymase`: cargo, with derivatives.
//!
//! `cargo zymase build` runs `cargo build` with this same program in three places:
//!
//! - as `RUSTC_WRAPPER` it adds flags to the compilation of crates for the target (`rustc.rs`),
//!   so that objects come with bitcode and `zymase-linker` links them;
//! - as `RUSTDOC` it does the same for tests in documentation (`rustdoc.rs`), which know of no
//!   wrapper;
//! - and before that, as the subcommand, it looks whether everything is there (`installation.rs`).
//!
//! Build scripts and procedural macros run on the machine that compiles and are left alone. Cargo
//! tells the two apart only when it is given a target, so it is always given one, by a variable:
//! arguments of cargo go through as they are, also those of subcommands that nobody here knows.

mod arguments;
mod config;
mod explain;
mod installation;
mod messages;
mod rustc;
mod rustdoc;
mod subcommand;

use arguments::Arguments;
use std::ffi::OsString;
use std::process::{Command, ExitCode};
use zymase_core::diagnostic::Code;

/// Why nothing can be built, in one sentence.
pub struct Complaint {
    /// The code of the message.
    pub code: Code,
    /// The sentence.
    pub message: String,
}

/// What a part of this program gives.
pub type Result<T> = std::result::Result<T, Complaint>;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match role(args) {
        Ok(code) => code,
        Err(Complaint { code, message }) => {
            eprintln!("error[{code}]: {message}");
            ExitCode::from(1)
        }
    }
}

/// Cargo passes the name of the subcommand first, a wrapper gets the compiler first, and rustdoc is
/// told the name of a crate. So this program can also be named in `.cargo/config.toml`.
fn role(mut args: Vec<OsString>) -> Result<ExitCode> {
    match args.first() {
        Some(first) if first == "zymase" => subcommand::run(&args[1..]),
        Some(first) if rustc::is_compiler(first) => {
            let compiler = args.remove(0);
            rustc::run(&compiler, &args)
        }
        Some(_) if Arguments::read(&args).has("--crate-name") => rustdoc::run(&args),
        _ => subcommand::run(&args),
    }
}

/// Becomes another program, where the system can do that; else runs it to its end.
pub fn become_command(mut command: Command) -> Result<ExitCode> {
    #[cfg(unix)]
    let failed = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let failed = match command.status() {
        Ok(status) => return Ok(exit_code(status)),
        Err(error) => error,
    };
    Err(cannot_run(&command, &failed))
}

/// The exit code of a program that ran for us; one that died by a signal has failed.
pub fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}

/// The complaint about a program that cannot be started.
pub fn cannot_run(command: &Command, error: &std::io::Error) -> Complaint {
    Complaint {
        code: Code::MissingTool,
        message: format!("cannot run {}: {error}", command.get_program().display()),
    }
}
