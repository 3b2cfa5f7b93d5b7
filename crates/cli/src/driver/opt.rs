//! `zymase opt`: one module in, the same module with derivatives out.

use crate::args::{Emit, OptArgs};
use crate::compile::{codegen_level, differentiate, no_library};
use crate::{journal, output};
use std::path::Path;
use zymase_core::diagnostic::{Code, Diagnostic, Result};
use zymase_llvm::{Context, Module, TargetMachine};

/// Runs the command.
pub fn run(args: &OptArgs) -> Result<()> {
    let name = args.input.display().to_string();
    let emit = args.emit.unwrap_or_else(|| emit_of(args.output.as_deref()));
    journal::step(&format!("reading {name}"));
    let context = Context::new();
    let program = Module::parse(&context, &output::read(&args.input)?, &name)?;
    let done = differentiate(&program, &name, &args.options, &mut no_library)?;
    journal::step(&format!("writing the output for {name}"));
    let bytes = match emit {
        Emit::Core => done.core.into_bytes(),
        Emit::Llvm => program.print().into_bytes(),
        Emit::Bc => program.to_bitcode(),
        Emit::Obj => {
            let machine = TargetMachine::for_module(&program, codegen_level(&args.options))?;
            machine.emit_object(&program)?
        }
    };
    match &args.output {
        Some(path) if path.as_os_str() != "-" => output::write(path, &bytes),
        None if matches!(emit, Emit::Bc | Emit::Obj)
            && std::io::IsTerminal::is_terminal(&std::io::stdout()) =>
        {
            Err(Diagnostic::new(
                Code::Terminal,
                "not writing binary output to a terminal",
                "a terminal shows text, and this is none",
                "give a file with -o",
            ))
        }
        _ => output::print(&bytes),
    }
}

/// What the name of the output suggests.
fn emit_of(path: Option<&Path>) -> Emit {
    match path.and_then(Path::extension).and_then(|e| e.to_str()) {
        Some("bc") => Emit::Bc,
        Some("o" | "obj") => Emit::Obj,
        Some("core") => Emit::Core,
        _ => Emit::Llvm,
    }
}
