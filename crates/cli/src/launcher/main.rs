//! The `zymase` command: finds LLVM, then runs `zymase-driver` with it.
//!
//! The driver links the LLVM library that comes with a Rust toolchain, and that library goes away
//! or changes its name when the toolchain is updated. The loader would then stop the driver with a
//! message that helps nobody. So the command that users run links nothing: it looks for a library
//! that fits, says one clear sentence if there is none, and passes everything else through.
//! LLVM may also crash on broken input; the launcher turns the death of the driver into an error
//! message and removes what the driver had begun to write.

mod journal;
mod library;

use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use zymase_core::diagnostic::Code;

fn main() -> ExitCode {
    match launch() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error[{}]: {message}", Code::Installation);
            ExitCode::from(1)
        }
    }
}

fn launch() -> Result<ExitCode, String> {
    let driver = driver_path()?;
    let folder = library::find()?;
    let journal = journal::Journal::create()?;
    let mut command = Command::new(&driver);
    command
        .args(std::env::args_os().skip(1))
        .env("ZYMASE_JOURNAL", journal.path());
    library::prepend_search_path(&mut command, &folder);
    let status = command
        .status()
        .map_err(|e| format!("cannot run {}: {e}", driver.display()))?;
    Ok(match status.code() {
        // The loader of the C library exits with 127 when it finds no library.
        Some(127) => return Err(library::unfit(&folder)),
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        None => {
            let step = journal.clean_up();
            eprintln!(
                "error[{}]: the compiler crashed inside LLVM ({}) while {step}",
                Code::Crashed,
                signal(status)
            );
            eprintln!("  help: this is a bug of Zymase or a broken input; nothing was written");
            ExitCode::from(1)
        }
    })
}

/// The driver lies beside the launcher.
fn driver_path() -> Result<PathBuf, String> {
    let own = std::env::current_exe()
        .map_err(|e| format!("cannot tell where zymase is installed: {e}"))?;
    let driver = own.with_file_name(format!("zymase-driver{}", std::env::consts::EXE_SUFFIX));
    if driver.is_file() {
        return Ok(driver);
    }
    let folder = own.parent().map(|p| p.display().to_string());
    Err(format!(
        "zymase-driver is missing in {}; install Zymase again with `cargo install zymase-cli`",
        folder.unwrap_or_default()
    ))
}

/// What ended a process that did not exit by itself.
fn signal(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(number) = status.signal() {
            let name = match number {
                4 => " SIGILL",
                6 => " SIGABRT",
                7 => " SIGBUS",
                8 => " SIGFPE",
                9 => " SIGKILL",
                11 => " SIGSEGV",
                15 => " SIGTERM",
                _ => "",
            };
            return format!("signal {number}{name}");
        }
    }
    status.to_string()
}
