//! The work on one module: from requests to derivatives.
//!
//! Each step is one function of `zymase_llvm` or of core; the order of the steps is here and
//! nowhere else.

use crate::args::{CompileOptions, Plan, Step, chaos_seed};
use crate::journal;
use crate::report;
use zymase_core::compare::{self, Asking, Compared};
use zymase_core::diagnostic::{Code, Diagnostic, Result, Severity};
use zymase_core::ir::Func;
use zymase_core::ir::text::print_module;
use zymase_core::pipeline;
use zymase_core::plan::PlanKind;
use zymase_core::report::Report;
use zymase_llvm::reachable::{Library, Wanted, isolate};
use zymase_llvm::requests::{Pins, erase_bound, erase_hints, lower, pin, settle_markers};
use zymase_llvm::{Module, OptLevel, chaos, export, import, pipelines, unwinding};

/// What was done to a module.
pub struct Done {
    /// The requests that were served.
    pub pins: Pins,
    /// What was decided about the derivatives.
    pub reports: Vec<Report>,
    /// The text of core's module, derivatives included.
    pub core: String,
}

/// Serves every request in a module; `name` is what messages call it.
/// `library` gives modules that define what this one lacks.
pub fn differentiate(
    program: &Module,
    name: &str,
    options: &CompileOptions,
    library: &mut Library<'_>,
) -> Result<Done> {
    let show = |step: Step, text: &dyn Fn() -> String| {
        if options.print_after.contains(&step) {
            eprintln!("; after {}\n{}", format!("{step:?}").to_lowercase(), text());
        }
    };
    program
        .verify()
        .map_err(|broken| refuse_broken(name, &broken))?;
    journal::step(&format!("reading the requests of {name}"));
    let mut pins = Pins::default();
    pin(program, &mut pins)?;
    show(Step::Requests, &|| program.print());
    if pins.requests.is_empty() {
        erase_hints(program);
        return Ok(Done {
            pins,
            reports: Vec::new(),
            core: String::new(),
        });
    }
    journal::step(&format!("cloning what the requests of {name} reach"));
    let mut isolated = isolate(program, &mut pins, library)?;
    erase_hints(program);
    erase_bound(program);
    show(Step::Isolate, &|| isolated.private.print());
    journal::step(&format!("optimizing what the requests of {name} reach"));
    if let Some(seed) = chaos_seed() {
        chaos::keep_calls(&isolated.private, seed);
    }
    match std::env::var_os("ZYMASE_UNOPTIMIZED") {
        None => pipelines::prepare(&isolated.private)?,
        // For measuring what optimizing first is worth, see bench/README.md.
        Some(_) => pipelines::prepare_unoptimized(&isolated.private)?,
    }
    show(Step::Prepare, &|| isolated.private.print());
    journal::step(&format!("reading the optimized functions of {name}"));
    let mut imported = import::import(&isolated.private)?;
    isolated.reveal();
    let mut added = lower(&mut imported.module, &pins, options.checks)?;
    let asking = match options.compare {
        true => asking(&imported.module, &pins),
        false => Vec::new(),
    };
    let compared = compare::run(&mut imported.module, &asking);
    added.extend(&compared.added);
    show(Step::Import, &|| print_module(&imported.module));
    journal::step(&format!("writing the derivatives of {name}"));
    // What asks for large pages puts `errno` back, which Android has under another name.
    let triple = program.triple();
    let large_pages = triple.contains("linux") && !triple.contains("android");
    let options_of_core = core_options(options, &compared, large_pages);
    let outcome = pipeline::differentiate(&mut imported.module, &options_of_core);
    let outcome = outcome.map_err(|complaint| pins.locate(complaint))?;
    warn(&pins, outcome.warnings, options)?;
    show(Step::Derivatives, &|| print_module(&imported.module));
    note_uncompared(&compared, &outcome.refused);
    let core = print_module(&imported.module);
    journal::step(&format!("handing the derivatives of {name} to LLVM"));
    added.extend(&outcome.added);
    for func in added {
        export::export_function(&mut imported, func)?;
    }
    drop(imported);
    erase_hints(&isolated.private);
    isolated.restore_addresses(program);
    show(Step::Export, &|| isolated.private.print());
    journal::step(&format!("optimizing the derivatives of {name}"));
    pipelines::finish(&isolated.private)?;
    unwinding::guard(&isolated.private, program, &pins);
    show(Step::Finish, &|| isolated.private.print());
    isolated.merge(program, &pins)?;
    settle_markers(program);
    program.verify()?;
    Ok(Done {
        pins,
        reports: outcome.reports,
        core,
    })
}

/// The functions that stand for requests, with the places of these.
fn asking(module: &zymase_core::ir::Module, pins: &Pins) -> Vec<Asking> {
    let asking = pins.requests.iter().filter_map(|pinned| {
        let place = match pinned.places.first() {
            Some(place) => format!("{}:{}", place.file, place.line),
            None => format!("in `{}`", pinned.caller),
        };
        let func = module.func_by_name(&pinned.symbol)?;
        Some(Asking { func, place })
    });
    asking.collect()
}

/// Says which derivatives there are not to compare with.
fn note_uncompared(compared: &Compared, refused: &[(Func, Box<Diagnostic>)]) {
    for (func, complaint) in refused {
        if let Some((_, what)) = compared.optional.iter().find(|(known, _)| known == func) {
            eprintln!(
                "zymase check: cannot look at the {what}: {}",
                complaint.message
            );
        }
    }
}

fn core_options(
    options: &CompileOptions,
    compared: &Compared,
    large_pages: bool,
) -> pipeline::Options {
    pipeline::Options {
        plan: match options.plan {
            Plan::Auto => PlanKind::default(),
            Plan::Everything => PlanKind::Everything,
        },
        chaos: chaos_seed(),
        large_tape: options.warn_cache,
        large_pages,
        check_finite: options.check_finite,
        count_tapes: std::env::var_os("ZYMASE_COUNT_TAPES").is_some(),
        optional: compared.optional.iter().map(|(func, _)| *func).collect(),
        ..pipeline::Options::default()
    }
}

/// Prints warnings; the last one is an error if they are to be errors.
fn warn(pins: &Pins, warnings: Vec<Diagnostic>, options: &CompileOptions) -> Result<()> {
    let mut warnings = warnings.into_iter().peekable();
    while let Some(warning) = warnings.next().filter(|_| !options.no_warnings) {
        let mut warning = pins.locate(Box::new(warning));
        if options.deny_warnings {
            warning.severity = Severity::Error;
            if warnings.peek().is_none() {
                return Err(warning);
            }
        }
        report::print(&warning);
    }
    Ok(())
}

/// For a module that stands alone.
pub fn no_library(_: Wanted<'_>) -> Result<Vec<Module>> {
    Ok(Vec::new())
}

/// The level for the code generator.
pub fn codegen_level(options: &CompileOptions) -> OptLevel {
    use crate::args::Level;
    match options.level {
        Level::Zero => OptLevel::None,
        Level::One => OptLevel::Less,
        Level::Two => OptLevel::Default,
        Level::Three => OptLevel::Aggressive,
    }
}

fn refuse_broken(name: &str, broken: &Diagnostic) -> Box<Diagnostic> {
    Diagnostic::new(
        Code::InvalidInput,
        format!("{name} is not a valid module"),
        broken.reason.clone(),
        "the compiler that wrote it is broken, or the file was changed by hand",
    )
}
