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
use zymase_core::raise::Raise;
use zymase_core::report::Report;
use zymase_core::rounds::{self, Round};
use zymase_llvm::reachable::{Isolated, Library, Wanted, isolate};
use zymase_llvm::requests::{Pins, erase_bound, erase_hints, lower, pin, settle_markers};
use zymase_llvm::{
    Imported, Module, OptLevel, chaos, export, import, permission, pipelines, tape_memory,
    unwinding,
};

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
    let show = |step, text: &dyn Fn() -> String| show(options, step, text);
    program
        .verify()
        .map_err(|broken| refuse_broken(name, &broken))?;
    journal::step(&format!("reading the requests of {name}"));
    let mut pins = Pins {
        compared: options.compare || options.check_finite,
        ..Pins::default()
    };
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
    permission::grant(&isolated.private, &pins, options.fast);
    match optimizes_first() {
        true => pipelines::prepare(&isolated.private)?,
        false => pipelines::prepare_unoptimized(&isolated.private)?,
    }
    permission::grant(&isolated.private, &pins, options.fast);
    show(Step::Prepare, &|| isolated.private.print());
    let work = Work {
        name,
        pins: &pins,
        options,
        keep_memory: tape_memory::is_wanted(program),
    };
    let made = work.derive(&mut isolated)?;
    warn(&pins, made.warnings, options)?;
    erase_hints(&isolated.private);
    isolated.restore_addresses(program);
    show(Step::Export, &|| isolated.private.print());
    journal::step(&format!("optimizing the derivatives of {name}"));
    pipelines::finish(&isolated.private)?;
    unwinding::guard(&isolated.private, program, &pins);
    tape_memory::define(&isolated.private)?;
    show(Step::Finish, &|| isolated.private.print());
    isolated.merge(program, &pins)?;
    settle_markers(program);
    program.verify()?;
    Ok(Done {
        pins,
        reports: made.reports,
        core: made.core,
    })
}

/// Whether what is differentiated is optimized before, as it is except for measuring what that is
/// worth, see bench/README.md.
fn optimizes_first() -> bool {
    std::env::var_os("ZYMASE_UNOPTIMIZED").is_none()
}

/// Prints the program after a step, if the user asks for it.
fn show(options: &CompileOptions, step: Step, text: &dyn Fn() -> String) {
    if options.print_after.contains(&step) {
        eprintln!("; after {}\n{}", format!("{step:?}").to_lowercase(), text());
    }
}

/// What core does for a module.
struct Work<'a> {
    name: &'a str,
    pins: &'a Pins,
    options: &'a CompileOptions,
    keep_memory: bool,
}

/// What core made.
#[derive(Default)]
struct Made {
    reports: Vec<Report>,
    warnings: Vec<Diagnostic>,
    core: String,
}

impl Work<'_> {
    /// Writes all derivatives into the private module. Those that others are taken of come first and
    /// are optimized before they are differentiated. Where that does not succeed, all of them are
    /// made of the program as it was.
    fn derive(&self, isolated: &mut Isolated) -> Result<Made> {
        // Checks in inner derivatives would be part of the program that is differentiated.
        let in_rounds = !self.options.checks && !self.options.compare && optimizes_first();
        let mut before = None;
        let made = self.rounds(isolated, in_rounds, &mut before);
        match (made, before) {
            (Err(_), Some(before)) => {
                isolated.private = before;
                self.rounds(isolated, false, &mut None)
            }
            (made, _) => made,
        }
    }

    /// Does so, with or without rounds for inner derivatives. If there are any, the program is kept
    /// as it was before the first of them.
    fn rounds(
        &self,
        isolated: &Isolated,
        inner: bool,
        before: &mut Option<Module>,
    ) -> Result<Made> {
        let mut made = Made::default();
        loop {
            journal::step(&format!("reading the optimized functions of {}", self.name));
            let mut imported = import::import(&isolated.private)?;
            let added = lower(&mut imported.module, self.pins, self.options.checks)?;
            let options = core_options(self.options, &Compared::default(), self.keep_memory);
            let round = match inner {
                true => rounds::innermost(&imported.module, &options),
                false => None,
            };
            let Some(round) = round else {
                self.last_round(isolated, imported, added, &mut made)?;
                return Ok(made);
            };
            before.get_or_insert_with(|| isolated.private.duplicate());
            self.inner_round(isolated, imported, added, round, &mut made)?;
        }
    }

    /// Writes what a round made and optimizes it.
    fn inner_round(
        &self,
        isolated: &Isolated,
        mut imported: Imported,
        added: Vec<Func>,
        round: Round,
        made: &mut Made,
    ) -> Result<()> {
        imported.module = round.module;
        for func in added.into_iter().chain(round.outcome.added) {
            if !pipeline::asks(&imported.module.funcs[func]) {
                export::export_function(&mut imported, func)?;
            }
        }
        drop(imported);
        made.reports.extend(round.outcome.reports);
        made.warnings.extend(round.outcome.warnings);
        journal::step(&format!("optimizing inner derivatives of {}", self.name));
        pipelines::prepare(&isolated.private)?;
        show(self.options, Step::Prepare, &|| isolated.private.print());
        Ok(())
    }

    /// Writes all derivatives that are not there yet.
    fn last_round(
        &self,
        isolated: &Isolated,
        mut imported: Imported,
        mut added: Vec<Func>,
        made: &mut Made,
    ) -> Result<()> {
        isolated.reveal();
        let asking = match self.options.compare {
            true => asking(&imported.module, self.pins),
            false => Vec::new(),
        };
        let compared = compare::run(&mut imported.module, &asking);
        added.extend(&compared.added);
        show(self.options, Step::Import, &|| {
            print_module(&imported.module)
        });
        journal::step(&format!("writing the derivatives of {}", self.name));
        let options = pipeline::Options {
            kernels: true,
            ..core_options(self.options, &compared, self.keep_memory)
        };
        let outcome = pipeline::differentiate(&mut imported.module, &options);
        let outcome = outcome.map_err(|complaint| self.pins.locate(complaint))?;
        show(self.options, Step::Derivatives, &|| {
            print_module(&imported.module)
        });
        note_uncompared(&compared, &outcome.refused);
        made.core = print_module(&imported.module);
        made.reports.extend(outcome.reports);
        made.warnings.extend(outcome.warnings);
        journal::step(&format!("handing the derivatives of {} to LLVM", self.name));
        added.extend(&outcome.added);
        for func in added {
            export::export_function(&mut imported, func)?;
        }
        Ok(())
    }
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
    keep_memory: bool,
) -> pipeline::Options {
    pipeline::Options {
        plan: match options.plan {
            Plan::Auto => PlanKind::default(),
            Plan::Everything => PlanKind::Everything,
        },
        chaos: chaos_seed(),
        large_tape: options.warn_cache,
        keep_memory,
        check_finite: options.check_finite,
        count_tapes: std::env::var_os("ZYMASE_COUNT_TAPES").is_some(),
        raise: match std::env::var_os("ZYMASE_UNRAISED") {
            Some(_) => Raise::Never,
            None => Raise::default(),
        },
        tells_loops: options.tells_loops,
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
