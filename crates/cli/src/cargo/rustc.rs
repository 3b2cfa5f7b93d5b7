//! In the place of rustc: adds what Zymase needs to the compilation of crates for the target.
//!
//! Bitcode comes in the way that costs least, and always as it is before rustc unrolls and
//! vectorizes loops:
//!
//! - A crate for other crates is compiled as without Zymase, with its bitcode in a section of each
//!   object that linkers drop (`-Cembed-bitcode`).
//! - rustc offers that for such crates alone. A program that is not optimized is compiled as without
//!   Zymase too, with its bitcode in files beside the objects (`--emit=llvm-bc`), so that incremental
//!   builds stay what they are.
//! - Any other program, test or shared library is bitcode until the link (`-Clinker-plugin-lto`).
//!
//! So code that asks for no derivative stays as it is, and linking costs what it always does.
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

/// Whether the first argument of this program is the compiler that it is to wrap: cargo gives it as
/// it was set, `rustc` or a path.
pub fn is_compiler(argument: &OsStr) -> bool {
    let path = Path::new(argument);
    path.is_absolute() || path.file_stem() == Some(OsStr::new("rustc"))
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
    match (arguments.makes_rlib(), parts_of_unoptimized(arguments)) {
        (true, _) => command.arg("-Cembed-bitcode=yes"),
        // With bitcode as an output, rustc makes one part only unless it is told otherwise.
        (false, Some(parts)) => {
            command.arg("--emit=llvm-bc");
            command.arg(format!("-Ccodegen-units={parts}"))
        }
        (false, None) => command.args(["-Clinker-plugin-lto", "-Clto=off"]),
    };
    let mut linker = OsString::from("-Clinker=");
    linker.push(installation::beside("zymase-linker")?);
    command.arg(linker).arg("-Wlinker-messages");
    let theirs = arguments.codegen("linker");
    if let Some(theirs) = theirs.filter(|theirs| !theirs.ends_with("zymase-linker")) {
        command.env("ZYMASE_LINKER", theirs);
    }
    command.env("ZYMASE_KEEP_LINK", "1");
    Ok(true)
}

/// How many parts rustc makes of a program, if it is not optimized and has more than one. Bitcode of
/// a single part has another name, and there is nothing to gain.
fn parts_of_unoptimized(arguments: &Arguments) -> Option<u32> {
    let default = match arguments.codegen("incremental") {
        Some(_) => 256,
        None => 16,
    };
    let parts = arguments.codegen("codegen-units");
    let parts = parts.map_or(Some(default), |parts| parts.parse().ok())?;
    let is_one_output = arguments.has("-o") || !arguments.emits("link");
    (arguments.is_unoptimized() && parts > 1 && !is_one_output).then_some(parts)
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
