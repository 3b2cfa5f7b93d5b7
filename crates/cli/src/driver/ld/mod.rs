//! `zymase ld`: links bitcode and native objects, with derivatives.
//!
//! The job of the linker stays the linker's. Objects and archive members that are bitcode are
//! compiled, each alone and back into its place; those that ask for derivatives are served first,
//! with the functions they need taken from wherever bitcode of them is. Everything else goes on
//! untouched, in the same order, to the linker that would have run anyway.

mod archive;
pub(crate) mod arguments;
pub(crate) mod inputs;
mod keep;
mod kernels;
mod native;
mod resolve;
mod whole;

use crate::args::{CompileOptions, Level};
use crate::compile::{Done, codegen_level, differentiate};
use crate::{check, journal, output, tools};
pub use arguments::{level, open_response_files};

use arguments::Arguments;
use inputs::{Input, Inputs, Unit};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::Path;
use zymase_core::analysis::known::known_name;
use zymase_core::diagnostic::{Code, Diagnostic, Result};
use zymase_llvm::reachable::{Wanted, detach, extract, promote};
use zymase_llvm::requests::{
    COMMON_PREFIX, has_symbol, is_known_function, is_unoptimized, strip_debug, strip_own_debug,
    was_optimized,
};
use zymase_llvm::{Context, Module, TargetMachine, pipelines, sanitizer};

/// Runs the command with the system's linker.
pub fn run(args: &[OsString]) -> Result<u8> {
    link(tools::linker()?.as_os_str().to_os_string(), args)
}

/// Links with a given linker driver, and gives its exit code.
pub fn link(linker: OsString, args: &[OsString]) -> Result<u8> {
    let arguments = Arguments::read(args)?;
    let inputs = Inputs::read(&arguments)?;
    let settled = |unit: &Unit| unit.native.as_ref().is_some_and(|native| !native.asks);
    let scratch = output::scratch_folder()?;
    let runtime = match arguments.options.compare {
        true => Some(check::runtime(&linker, scratch.path())?),
        false => None,
    };
    if inputs.units.iter().all(settled) {
        keep::keep(args, &inputs, &BTreeSet::new())?;
        let [first, last] = match inputs.wants_kernels {
            true => kernels::arguments(&arguments, scratch.path())?,
            false => [None, None],
        };
        let others = args.iter().filter(|a| !CompileOptions::is_ours(a));
        let mut command = tools::command(&linker);
        command.args(first).args(others).args(runtime).args(last);
        return tools::run(&mut command);
    }
    let Compiled {
        objects,
        absorbed,
        used,
    } = compile_units(&inputs, &arguments)?;
    keep::keep(&arguments.all, &inputs, &used)?;
    let mut compiled = objects.values();
    let wants_kernels = inputs.wants_kernels || compiled.any(|object| kernels::are_wanted(object));
    let [first, last] = match wants_kernels {
        true => kernels::arguments(&arguments, scratch.path())?,
        false => [None, None],
    };
    let mut command = tools::command(&linker);
    let mut replaced = Vec::from_iter(first);
    for (number, input) in inputs.inputs.iter().enumerate() {
        if matches!(input, Input::Object { unit, .. } if absorbed.contains(unit)) {
            continue;
        }
        replaced.push(match input {
            Input::Passed(argument) => argument.clone(),
            Input::Object { unit, argument, .. } => match objects.get(unit) {
                None => argument.clone(),
                Some(object) => {
                    let path = scratch.path().join(format!("{number}.o"));
                    output::write(&path, object)?;
                    path.into_os_string()
                }
            },
            Input::Archive { archive, argument } => {
                let mut units = archive.members.iter().filter_map(|member| member.unit);
                match units.any(|unit| objects.contains_key(&unit)) {
                    false => argument.clone(),
                    true => {
                        let name = archive.path.file_name().unwrap_or_default();
                        let folder = scratch.path().join(number.to_string());
                        let made = std::fs::create_dir(&folder);
                        made.map_err(|e| output::cannot_write(&folder, &e))?;
                        let path = folder.join(name);
                        archive::write(&path, archive, &objects)?;
                        path.into_os_string()
                    }
                }
            }
        });
    }
    replaced.extend(runtime.map(OsString::from));
    replaced.extend(last);
    if arguments.leaves_bitcode() {
        replaced.extend(keep::cache_options(&arguments.all));
    }
    command.args(arguments::shortened(replaced, scratch.path())?);
    tools::run(&mut command)
}

/// Serves the requests of everything that would be linked, and gives for each unit its name and
/// what was done.
pub fn serve_all(args: &[OsString], options: &CompileOptions) -> Result<Vec<(String, Done)>> {
    let arguments = Arguments::read(args)?;
    let inputs = Inputs::read(&arguments)?;
    if inputs.units.is_empty() {
        let help = "give sources, modules, or objects that were made by `zymase cc` or with -flto";
        return Err(Diagnostic::new(
            Code::InvalidInput,
            "there is no bitcode in the input",
            "",
            help,
        ));
    }
    let mut all = Vec::new();
    for (index, unit) in inputs.units.iter().enumerate() {
        if unit.archived && !unit.mentions(COMMON_PREFIX) {
            continue;
        }
        let Served { done, .. } = serve(&inputs, index, options, &mut Promoted::new())?;
        all.push((unit.name.clone(), done));
    }
    Ok(all)
}

/// For units whose local variables derivatives use, the old and new names of these.
type Promoted = HashMap<usize, Vec<(String, String)>>;

/// The native objects of units that are not linked as they were.
struct Compiled {
    objects: HashMap<usize, Vec<u8>>,
    /// The units whose code is in the object of another.
    absorbed: BTreeSet<usize>,
    /// The units that derivatives were made from.
    used: BTreeSet<usize>,
}

/// Compiles units to native objects, those with requests first. A unit that is native already, or
/// bitcode for a linker that reads it, stays what it is, unless it asks for derivatives, or
/// derivatives share variables with it that only its own code can see.
fn compile_units(inputs: &Inputs, arguments: &Arguments) -> Result<Compiled> {
    let mut promoted = Promoted::new();
    let mut served = HashMap::new();
    let mut used = BTreeSet::new();
    // Serving one unit may show that another must be compiled again, and that has its own requests.
    loop {
        let asks = |(index, unit): &(usize, &Unit)| {
            let compiled = match &unit.native {
                Some(native) => native.asks || promoted.contains_key(index),
                None => true,
            };
            compiled && unit.mentions(COMMON_PREFIX) && !served.contains_key(index)
        };
        let Some((index, _)) = inputs.units.iter().enumerate().find(asks) else {
            break;
        };
        let unit = serve(inputs, index, &arguments.options, &mut promoted)?;
        if !unit.done.pins.requests.is_empty() {
            used.extend(unit.used);
        }
        served.insert(index, unit.module);
    }
    let replaced = served.keys().chain(promoted.keys()).copied();
    let replaced = with_borrowers(inputs, replaced.collect());
    let together = whole::parts(inputs, arguments, &served);
    let mut whole: Option<(usize, Module)> = None;
    let mut objects = HashMap::new();
    for (index, unit) in inputs.units.iter().enumerate() {
        let (module, renamed) = (served.remove(&index), promoted.get(&index));
        let stays = unit.native.is_some() || arguments.leaves_bitcode();
        if stays && !replaced.contains(&index) && !together.contains(&index) {
            continue;
        }
        let context = Context::new();
        let module = match module {
            Some(module) => module,
            None => Module::parse(&context, &unit.bytes, &unit.name)?,
        };
        promote(&module, renamed.map_or(&[], Vec::as_slice));
        match &whole {
            _ if !together.contains(&index) => {
                objects.insert(index, generate(&module, unit, arguments)?);
            }
            None => whole = Some((index, module)),
            Some((_, whole)) => whole::add(whole, &module, &unit.name)?,
        }
    }
    let mut absorbed = together;
    if let Some((index, module)) = &whole {
        absorbed.remove(index);
        let object = generate(module, &inputs.units[*index], arguments)?;
        objects.insert(*index, object);
    }
    Ok(Compiled {
        objects,
        absorbed,
        used,
    })
}

/// The units whose native code is replaced: these, and those that use something which only the
/// native code of these has.
fn with_borrowers(inputs: &Inputs, mut replaced: BTreeSet<usize>) -> BTreeSet<usize> {
    let native = |index: usize| inputs.units[index].native.as_ref();
    loop {
        let borrows = |index: &usize| {
            let own = native(*index).filter(|_| !replaced.contains(index));
            let mut lenders = replaced.iter().filter_map(|&lender| native(lender));
            own.is_some_and(|own| lenders.any(|lender| own.borrows_from(lender)))
        };
        let found: Vec<usize> = (0..inputs.units.len()).filter(borrows).collect();
        if found.is_empty() {
            return replaced;
        }
        replaced.extend(found);
    }
}

/// A native object of a module. Bitcode beside native code is compiled as that was.
fn generate(module: &Module, unit: &Unit, arguments: &Arguments) -> Result<Vec<u8>> {
    strip_own_debug(module);
    let mut options = arguments.options.clone();
    if let Some(native) = &unit.native {
        options.level = match (native.level, was_optimized(module)) {
            (Some(level), _) => level,
            (None, Some(false)) => Level::Zero,
            (None, _) if options.level == Level::Zero => Level::Two,
            (None, _) => options.level,
        };
    }
    // What the linker is going to leave out takes as long as the code to be handed from pass to pass.
    if arguments.strips_debug {
        strip_debug(module);
    }
    let machine = TargetMachine::for_module(module, codegen_level(&options))?;
    if arguments.lto || unit.native.is_some() || is_unoptimized(module) {
        journal::step(&format!("optimizing {}", unit.name));
        pipelines::program(module, &machine, options.level.digit())?;
        sanitizer::instrument(module, &machine)?;
    }
    journal::step(&format!("generating code for {}", unit.name));
    machine.emit_object(module)
}

/// A unit whose requests are served.
struct Served {
    module: Module,
    done: Done,
    /// The units that were needed, this one included.
    used: BTreeSet<usize>,
}

/// Serves the requests of one unit. Other units may have to make variables visible for that.
fn serve(
    inputs: &Inputs,
    index: usize,
    options: &CompileOptions,
    promoted: &mut Promoted,
) -> Result<Served> {
    let unit = &inputs.units[index];
    let context = Context::new();
    let program = Module::parse(&context, &unit.bytes, &unit.name)?;
    let mut taken = Vec::new();
    let mut present = BTreeSet::from([index]);
    let mut parts = 0;
    let mut library = |wanted: Wanted<'_>| -> Result<Vec<Module>> {
        let found = match wanted {
            Wanted::Symbol(name) | Wanted::Mentioned(name) => {
                let found = resolve::find(inputs, &present, name)?;
                found.into_iter().collect()
            }
            Wanted::Everything => resolve::always_linked(inputs, &present),
        };
        let mut modules = Vec::new();
        for other in found {
            let unit = &inputs.units[other];
            let parse = || Module::parse(&context, &unit.bytes, &unit.name);
            if !unit.is_foreign() {
                let module = parse()?;
                present.insert(other);
                taken.push((other, detach(&module, &other.to_string())));
                modules.push(module);
            } else if let Wanted::Symbol(name) = wanted
                // What C's library has under this name is known without a body.
                && !is_known_function(name)
                && known_name(name).is_none()
            {
                parts += 1;
                let module = parse()?;
                if extract(&module, name, &format!("{other}.{parts}")) {
                    modules.push(module);
                }
            }
        }
        Ok(modules)
    };
    let done = differentiate(&program, &unit.name, options, &mut library)?;
    for (other, mut renamed) in taken {
        renamed.retain(|(_, new)| has_symbol(&program, new));
        if !renamed.is_empty() {
            let names = promoted.entry(other).or_default();
            names.extend(renamed);
            names.sort();
            names.dedup();
        }
    }
    Ok(Served {
        module: program,
        done,
        used: present,
    })
}

/// The path of an input, for messages.
fn display(path: &Path) -> String {
    path.display().to_string()
}
