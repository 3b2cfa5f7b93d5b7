//! `zymase demo`: a derivative of a small built-in program.

use crate::args::{CompileOptions, DemoArgs};
use crate::compile::{differentiate, no_library};
use crate::output;
use zymase_core::diagnostic::Result;
use zymase_llvm::{Context, Module};

const PROGRAM: &str = include_str!("demo.ll");

/// Runs the command.
pub fn run(args: &DemoArgs) -> Result<()> {
    if args.source {
        output::print(PROGRAM.as_bytes());
    }
    let context = Context::new();
    let program = Module::parse(&context, PROGRAM.as_bytes(), "demo.ll")?;
    differentiate(
        &program,
        "demo.ll",
        &CompileOptions::default(),
        &mut no_library,
    )?;
    Ok(())
}
