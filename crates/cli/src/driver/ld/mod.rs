//! `zymase ld`: links bitcode and native objects, with derivatives.
//!
//! The job of the linker stays the linker's. Objects and archive members that are bitcode are
//! compiled, each alone and back into its place; those that ask for derivatives are served first,
//! with the functions they need taken from wherever bitcode of them is. Everything else goes on
//! untouched, in the same order, to the linker that would have run anyway.

mod archive;
mod arguments;
mod inputs;

use crate::args::CompileOptions;
use crate::compile::{codegen_level, differentiate};
use crate::{journal, output, tools};
pub use arguments::{level, open_response_files};

use arguments::Arguments;
use inputs::{Input, Inputs, Unit};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_llvm::reachable::{Wanted, detach, promote};
use zymase_llvm::requests::{COMMON_PREFIX, Definition, definition, has_symbol, is_unoptimized};
use zymase_llvm::{Context, Module, PassOptions, TargetMachine};

/// Runs the command with the system's linker.
pub fn run(args: &[OsString]) -> Result<u8> {
    link(tools::linker()?.as_os_str().to_os_string(), args)
}

/// Links with a given linker driver, and gives its exit code.
pub fn link(linker: OsString, args: &[OsString]) -> Result<u8> {
    let arguments = Arguments::read(args)?;
    let inputs = Inputs::read(&arguments)?;
    if inputs.units.iter().all(|unit| unit.native) {
        return tools::run(tools::command(&linker).args(args));
    }
    let scratch = output::scratch_folder()?;
    let objects = compile_units(&inputs, &arguments)?;
    let mut command = tools::command(&linker);
    let mut replaced = Vec::new();
    for (number, input) in inputs.inputs.iter().enumerate() {
        match input {
            Input::Passed(argument) => replaced.push(argument.clone()),
            Input::Object(unit) => {
                let path = scratch.path().join(format!("{number}.o"));
                output::write(&path, &objects[unit])?;
                replaced.push(path.into_os_string());
            }
            Input::Archive(whole) => {
                let name = whole.path.file_name().unwrap_or_default();
                let folder = scratch.path().join(number.to_string());
                std::fs::create_dir(&folder).map_err(|e| output::cannot_write(&folder, &e))?;
                let path = folder.join(name);
                archive::write(&path, whole, &objects)?;
                replaced.push(path.into_os_string());
            }
        }
    }
    command.args(arguments::shortened(replaced, scratch.path())?);
    tools::run(&mut command)
}

/// Compiles every bitcode unit to a native object, those with requests first.
fn compile_units(inputs: &Inputs, arguments: &Arguments) -> Result<HashMap<usize, Vec<u8>>> {
    let mut promoted: HashMap<usize, Vec<(String, String)>> = HashMap::new();
    let mut served = HashMap::new();
    for (index, unit) in inputs.units.iter().enumerate() {
        if !unit.native && unit.mentions(COMMON_PREFIX) {
            served.insert(
                index,
                serve(inputs, index, &arguments.options, &mut promoted)?,
            );
        }
    }
    let mut objects = HashMap::new();
    for (index, unit) in inputs.units.iter().enumerate() {
        if unit.native {
            continue;
        }
        journal::step(&format!("generating code for {}", unit.name));
        let context = Context::new();
        let module = match served.remove(&index) {
            Some(module) => module,
            None => Module::parse(&context, &unit.bytes, &unit.name)?,
        };
        promote(&module, promoted.get(&index).map_or(&[], Vec::as_slice));
        objects.insert(index, generate(&module, arguments)?);
    }
    Ok(objects)
}

/// A native object of a module.
fn generate(module: &Module, arguments: &Arguments) -> Result<Vec<u8>> {
    let level = codegen_level(&arguments.options);
    let machine = TargetMachine::for_module(module, level)?;
    if arguments.lto || is_unoptimized(module) {
        let pipeline = format!("default<O{}>", arguments.options.level.digit());
        module.run_passes(&pipeline, Some(&machine), PassOptions::ALL)?;
    }
    machine.emit_object(module)
}

/// Serves the requests of one unit. Other units may have to make variables visible for that.
fn serve(
    inputs: &Inputs,
    index: usize,
    options: &CompileOptions,
    promoted: &mut HashMap<usize, Vec<(String, String)>>,
) -> Result<Module> {
    let unit = &inputs.units[index];
    let context = Context::new();
    let program = Module::parse(&context, &unit.bytes, &unit.name)?;
    let mut taken: HashMap<usize, Vec<(String, String)>> = HashMap::new();
    let mut library = |wanted: Wanted<'_>| -> Result<Vec<Module>> {
        let found = match wanted {
            Wanted::Symbol(name) => find(inputs, index, name, &context)?.into_iter().collect(),
            Wanted::Everything => always_linked(inputs, index, &context)?,
        };
        let mut modules = Vec::new();
        for (other, module) in found {
            if taken.contains_key(&other) {
                continue;
            }
            taken.insert(other, detach(&module, &other.to_string()));
            modules.push(module);
        }
        Ok(modules)
    };
    differentiate(&program, &unit.name, options, &mut library)?;
    for (other, mut renamed) in taken {
        renamed.retain(|(_, new)| has_symbol(&program, new));
        if let (true, Some((symbol, _))) = (inputs.units[other].native, renamed.first()) {
            return Err(local_in_native(symbol, &inputs.units[other].name));
        }
        promoted.entry(other).or_default().extend(renamed);
    }
    Ok(program)
}

/// The other units that are part of the program in any case, parsed.
fn always_linked(
    inputs: &Inputs,
    asking: usize,
    context: &Context,
) -> Result<Vec<(usize, Module)>> {
    let units = inputs.units.iter().enumerate();
    let units = units.filter(|(index, unit)| !unit.optional && *index != asking);
    let parsed = units.map(|(index, unit)| {
        let module = Module::parse(context, &unit.bytes, &unit.name)?;
        Ok((index, module))
    });
    parsed.collect()
}

/// The unit that defines a symbol, parsed.
fn find(
    inputs: &Inputs,
    asking: usize,
    name: &str,
    context: &Context,
) -> Result<Option<(usize, Module)>> {
    let mut found: Option<(usize, Module, Definition)> = None;
    let others = inputs
        .units
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != asking);
    for (index, unit) in others.filter(|(_, unit)| unit.mentions(name)) {
        let module = Module::parse(context, &unit.bytes, &unit.name)?;
        match (definition(&module, name), &found) {
            (Definition::None, _) | (Definition::Shared, Some(_)) => {}
            (Definition::Only, Some((first, _, Definition::Only))) => {
                return Err(two_definitions(name, &inputs.units[*first], unit));
            }
            (kind, _) => found = Some((index, module, kind)),
        }
    }
    Ok(found.map(|(index, module, _)| (index, module)))
}

fn two_definitions(name: &str, first: &Unit, second: &Unit) -> Box<Diagnostic> {
    Diagnostic::new(
        format!(
            "`{name}` is defined in {} and in {}",
            first.name, second.name
        ),
        "a derivative needs its body, and the two may differ",
        "link only one of them",
    )
}

fn local_in_native(symbol: &str, file: &str) -> Box<Diagnostic> {
    Diagnostic::new(
        format!("a derivative uses `{symbol}`, which is local to {file}"),
        "the file was compiled to native code, so the derivative cannot share it",
        "compile the file with -flto, or make it visible to other files (not `static`)",
    )
}

/// The path of an input, for messages.
fn display(path: &Path) -> String {
    path.display().to_string()
}
