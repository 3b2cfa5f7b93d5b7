//! In the place of rustc: adds what Zymase needs to the compilation of crates for the target.
//!
//! A crate for other crates is compiled as without Zymase, with its bitcode in a section of each
//! object that linkers drop (`-Cembed-bitcode`): what asks for no derivative stays as it is, and
//! linking costs what it always does. rustc offers that for such crates alone; programs, tests and
//! shared libraries are left to the linker as bitcode (`-Clinker-plugin-lto`). Either way rustc
//! writes the bitcode before it unrolls and vectorizes loops.
//!
//! Link-time optimization by rustc would merge everything before we see it, so it is off. Debug
//! information says types and lines; where the profile asks for none, the link drops it. Warnings
//! of the linker, which are those of Zymase, reach the user only as `linker-messages`. The newer of
//! the two ways to name symbols tells closures apart, which the messages of Zymase name.

use crate::arguments::Arguments;
use crate::{Result, become_command, cannot_run, installation, messages, subcommand};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Whether the first argument of this program is the compiler that it is to wrap.
pub fn is_compiler(argument: &OsStr) -> bool {
    !argument.to_string_lossy().starts_with('-')
        && Path::new(argument).extension() != Some("rs".as_ref())
}

/// Compiles a crate.
pub fn run(compiler: &OsStr, args: &[OsString]) -> Result<ExitCode> {
    let mut command = match std::env::var_os(subcommand::OUTER_WRAPPER) {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(compiler);
            command
        }
        None => Command::new(compiler),
    };
    command.args(args);
    if args.iter().any(|argument| argument == "-vV") {
        return version(command);
    }
    let arguments = Arguments::read(args);
    let flags = add_flags(&mut command, &arguments)?;
    let json = arguments
        .values("--error-format")
        .any(|format| format == "json");
    match flags && json && !arguments.makes_rlib() {
        true => messages::run(command),
        false => become_command(command),
    }
}

/// Adds flags for a crate that is compiled for the target, by rustc or by rustdoc; whether it
/// is. Build scripts and procedural macros are compiled without `--target`.
pub fn add_flags(command: &mut Command, arguments: &Arguments) -> Result<bool> {
    if !arguments
        .values("--target")
        .last()
        .is_some_and(links_with_c_compiler)
    {
        return Ok(false);
    }
    command.args(["-Cdebuginfo=2", "-Csymbol-mangling-version=v0"]);
    match arguments.makes_rlib() {
        true => command.arg("-Cembed-bitcode=yes"),
        false => command.args(["-Clinker-plugin-lto", "-Clto=off"]),
    };
    let mut linker = OsString::from("-Clinker=");
    linker.push(installation::beside("zymase-linker")?);
    command.arg(linker).arg("-Wlinker-messages");
    if let Some(theirs) = arguments.codegen("linker") {
        command.env("ZYMASE_LINKER", theirs);
    }
    command.env("ZYMASE_KEEP_LINK", "1");
    Ok(true)
}

/// Whether programs for a target are linked by the driver of a C compiler, whose arguments our
/// linker understands.
fn links_with_c_compiler(target: &str) -> bool {
    ["linux", "apple", "bsd", ".json"]
        .iter()
        .any(|system| target.contains(system))
}

/// What rustc says about itself, with a line about Zymase: cargo puts that text into the names of
/// what it builds, so builds with and without Zymase lie beside each other, and another Zymase
/// builds again.
fn version(mut command: Command) -> Result<ExitCode> {
    let output = command.output().map_err(|e| cannot_run(&command, &e))?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        println!("zymase: {}", installation::version());
    }
    Ok(crate::exit_code(output.status))
}
