//! `zymase-linker`: `zymase ld` under a name of its own, for compilers that take the path of a
//! linker and no arguments for it, as rustc's `-Clinker` does.
//!
//! Its name must not end in `-ld` nor be `link`: rustc guesses from the name how to talk to a
//! linker, and this one takes what a C compiler takes.

use std::process::{Command, ExitCode};
use zymase_core::diagnostic::Code;

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("error[{}]: {message}", Code::Installation);
            ExitCode::from(1)
        }
    }
}

fn run() -> Result<u8, String> {
    let own = std::env::current_exe()
        .map_err(|e| format!("cannot tell where zymase-linker is installed: {e}"))?;
    let zymase = own.with_file_name(format!("zymase{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(&zymase);
    command.arg("ld").args(std::env::args_os().skip(1));
    let status = command.status().map_err(|e| {
        format!(
            "cannot run {}, which belongs beside zymase-linker ({e}); install Zymase again",
            zymase.display()
        )
    })?;
    Ok(status
        .code()
        .map_or(1, |code| u8::try_from(code).unwrap_or(1)))
}
