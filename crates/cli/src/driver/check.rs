//! `zymase check`: builds a program whose requests check themselves, and runs it.
//!
//! The comparison is made in the program, by code in C that is linked to it (`check/*.c`): it has to
//! run the program's functions on the program's memory. See `zymase_core::compare` for what the
//! compiler adds.

use crate::args::COMPARE;
use crate::args::CheckArgs;
use crate::tools::{self, Language};
use crate::{cc, output};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// What compares derivatives at run time: one file, in parts.
const RUNTIME: &[&str] = &[
    include_str!("check/cells.c"),
    include_str!("check/notes.c"),
    include_str!("check/children.c"),
    include_str!("check/compare.c"),
    include_str!("check/report.c"),
    include_str!("check/state.c"),
    include_str!("check/call.c"),
];

/// The endings of sources in C++.
const CXX: &[&str] = &["cpp", "cc", "cxx", "c++", "C", "cppm"];

/// Runs the command, and gives the exit code of the program.
pub fn run(args: &CheckArgs) -> Result<u8> {
    let mut build: Vec<OsString> = args.args.clone();
    let mut passed = Vec::new();
    if let Some(end) = build.iter().position(|argument| argument == "--") {
        passed = build.split_off(end + 1);
        build.pop();
    }
    let is_cxx = |argument: &OsString| {
        let ending = Path::new(argument).extension().and_then(OsStr::to_str);
        ending.is_some_and(|ending| CXX.contains(&ending))
    };
    let language = match build.iter().any(is_cxx) {
        true => Language::Cxx,
        false => Language::C,
    };
    let scratch = output::scratch_folder()?;
    let program = scratch.path().join("program");
    build.extend([COMPARE.into(), "-o".into(), program.clone().into()]);
    let code = cc::run(language, &build)?;
    if code != 0 {
        return Ok(code);
    }
    let result = scratch.path().join("result");
    let mut command = tools::command(program.as_os_str());
    command
        .args(passed)
        .env("ZYMASE_CHECK_SEED", args.seed.to_string())
        .env("ZYMASE_CHECK_CALLS", args.calls.to_string())
        .env("ZYMASE_CHECK_RESULT", &result);
    let code = tools::run(&mut command)?;
    // What the program says of itself is lost if it ends by a signal or by `_exit`.
    let result = std::fs::read_to_string(&result).unwrap_or_default();
    if !result.lines().any(|line| line == "told") {
        eprintln!("zymase check: the program ended in the middle, without a summary");
    }
    match result.lines().any(|line| line == "disagrees") {
        true => Ok(1),
        false => Ok(code),
    }
}

/// The object to link with a program whose requests check themselves.
pub fn runtime(compiler: &OsStr, scratch: &Path) -> Result<PathBuf> {
    let source = scratch.join("zymase_check.c");
    let object = scratch.join("zymase_check.o");
    output::write(&source, RUNTIME.join("\n").as_bytes())?;
    let mut command = tools::command(compiler);
    command.args(["-x", "c", "-std=gnu11", "-O2", "-g", "-fPIC", "-c"]);
    command.arg(&source).arg("-o").arg(&object);
    match tools::run(&mut command)? {
        0 => Ok(object),
        _ => Err(Diagnostic::new(
            Code::MissingTool,
            "cannot compile what compares derivatives at run time",
            format!("`{}` does not compile C", compiler.display()),
            "link with a driver that compiles C too, as clang and gcc do",
        )),
    }
}
