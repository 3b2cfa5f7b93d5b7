//! One trial: a program, its derivatives, the verdict.

use crate::c::{self, Expected};
use crate::lower::lower;
use crate::referee::differences::{self, Compared, Steps};
use crate::referee::{Agreement, Arg, Derivatives, Failure, Tolerance, in_memory, oracle, second};
use crate::tree::{ARRAY, Program};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use zymase_core::interp::Machine;
use zymase_core::ir::text::parse_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Func, Mode, Module};
use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;

/// What came of a program.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both derivatives agree with the oracle, which was compared with finite differences so often.
    Agrees(Compared),
    /// The program is no test: it runs too long, or its numbers are not finite or too large.
    Unusable,
    /// The compiler refuses it, in these words.
    Refused(String),
    /// A defect, of the compiler or of the generator.
    Wrong(String),
}

/// How many steps a program may take.
const STEPS: u64 = 3_000;

/// Derivatives beyond this lose too many digits to be compared.
const LARGEST: f64 = 1e6;

/// The arguments of `@f`; `choice` is one of several sets.
pub fn arguments(choice: u64) -> Vec<Arg> {
    let mut rng = fastrand::Rng::with_seed(choice.wrapping_mul(77).wrapping_add(5));
    let mut number = || (rng.f64() * 3.0 - 1.5) + 0.000_71;
    let mut array = || (0..ARRAY).map(|_| number()).collect::<Vec<f64>>();
    let arrays = [array(), array(), array()];
    let [x, y, c] = arrays;
    let (u, w) = (number(), number());
    vec![
        Arg::Dup(x),
        Arg::Dup(y),
        Arg::Const(c),
        Arg::Out(u),
        Arg::Out(w),
        Arg::Int((choice % 4) as i64),
    ]
}

/// Arguments of `@f` of which the first two overlap.
fn overlapping() -> Vec<Arg> {
    let mut args = arguments(3);
    if let Arg::Dup(numbers) = &mut args[0] {
        numbers.extend([0.3, -0.9, 1.1]);
        args[1] = Arg::Part(0, numbers.len() - ARRAY as usize);
    }
    args
}

/// Differentiates a program and compares with the oracle at two points. A panic is a defect like
/// any other.
pub fn trial(program: &Program, options: &Options) -> Verdict {
    trial_of_text(&lower(program), options)
}

/// The same for a program in the text form.
pub fn trial_of_text(text: &str, options: &Options) -> Verdict {
    guarded(|| compare(text, options))
}

/// The verdict of every check of the first order: of the oracle against finite differences, of the
/// plan that is always legal, and of the usual plan.
pub fn first_order(text: &str) -> Verdict {
    let compared = match guarded(|| differences(text)) {
        Verdict::Agrees(compared) => compared,
        verdict => return verdict,
    };
    let with = |plan| {
        let options = Options {
            plan,
            // As it is for users, where nobody looks for accesses to freed memory.
            keep_memory: plan == PlanKind::MinCut,
            ..Options::default()
        };
        trial_of_text(text, &options)
    };
    match with(PlanKind::Everything) {
        Verdict::Agrees(_) => match with(PlanKind::MinCut) {
            Verdict::Wrong(why) => Verdict::Wrong(format!("minimum cut: {why}")),
            Verdict::Refused(why) => Verdict::Wrong(format!("minimum cut: refusal: {why}")),
            Verdict::Agrees(_) => Verdict::Agrees(compared),
            verdict => verdict,
        },
        verdict => verdict,
    }
}

/// The verdict on derivatives of derivatives, in all four nestings of the two modes.
pub fn second_order(text: &str) -> Verdict {
    guarded(|| {
        let mut compared = Compared::default();
        for (mode, name) in [(Mode::Forward, "forward"), (Mode::Combined, "reverse")] {
            match nested(text, mode) {
                Verdict::Agrees(more) => compared += more,
                Verdict::Wrong(why) => {
                    return Verdict::Wrong(format!("second order over {name}: {why}"));
                }
                Verdict::Refused(why) => {
                    return Verdict::Refused(format!("second order over {name}: {why}"));
                }
                Verdict::Unusable => return Verdict::Unusable,
            }
        }
        Verdict::Agrees(compared)
    })
}

/// The verdict on choices by chance, from a seed. What is refused only then is a defect.
pub fn with_chaos(text: &str, seed: u64) -> Verdict {
    let options = Options {
        chaos: Some(seed),
        ..Options::default()
    };
    match trial_of_text(text, &options) {
        Verdict::Refused(why) => {
            let options = Options {
                plan: PlanKind::Everything,
                ..Options::default()
            };
            match trial_of_text(text, &options) {
                Verdict::Agrees(_) => Verdict::Wrong(format!("refused only with chaos: {why}")),
                _ => Verdict::Refused(why),
            }
        }
        verdict => verdict,
    }
}

/// Whether a verdict complains as another did, whatever the numbers: programs that are made smaller
/// must go on to fail in the same way.
pub fn same_failure(verdict: &Verdict, why: &str) -> bool {
    matches!(verdict, Verdict::Wrong(other) if kind(other) == kind(why))
}

/// A message without its numbers.
fn kind(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let words = first.split_whitespace().take(7);
    let plain = |word: &str| {
        word.chars()
            .filter(|c| !c.is_ascii_digit() && !"-.e".contains(*c))
            .collect::<String>()
    };
    words.map(plain).collect::<Vec<_>>().join(" ")
}

/// Runs a trial and turns a panic into a verdict.
fn guarded(trial: impl FnOnce() -> Verdict) -> Verdict {
    let quiet = Quiet::new();
    let verdict = catch_unwind(AssertUnwindSafe(trial));
    drop(quiet);
    verdict.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or(panic.downcast_ref::<&str>().map(ToString::to_string));
        Verdict::Wrong(format!("panic: {}", words.unwrap_or_default()))
    })
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, panics of this thread print nothing.
struct Quiet;

impl Quiet {
    fn new() -> Quiet {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if !QUIET.get() {
                    usual(info);
                }
            }));
        });
        QUIET.set(true);
        Quiet
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(false);
    }
}

/// The sets of arguments that a program is tried with.
const POINTS: [u64; 2] = [2, 5];

/// Whether a program computes in single precision. What it declares of types says nothing.
fn uses_singles(text: &str) -> bool {
    let mut code = text.lines().filter(|line| !line.starts_with("source "));
    code.any(|line| line.contains("f32"))
}

/// How exactly derivatives of a program must agree: single precision rounds differently in each
/// mode.
fn relative(text: &str) -> f64 {
    match uses_singles(text) {
        true => 1e-4,
        false => 1e-9,
    }
}

/// The program in C, with what the oracle says of it; none if it is no test.
pub fn in_c(program: &Program) -> Result<Option<String>, String> {
    let text = lower(program);
    let module = parse_module(&text).map_err(|error| error.to_string())?;
    let func = module.func_by_name("f").ok_or("no function")?;
    let mut points = Vec::new();
    for choice in POINTS {
        let args = arguments(choice);
        if !plain_run(&module, &args)? {
            continue;
        }
        let [arrays, gradient] = oracle(&module, func, &args).map_err(|t| t.to_string())?;
        let scale = gradient.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
        let mut all = gradient.iter().chain(&arrays);
        if all.all(|x| x.is_finite()) && scale <= LARGEST {
            points.push(Expected {
                args,
                arrays,
                gradient,
                tolerance: relative(&text) * (1.0 + scale),
            });
        }
    }
    Ok((!points.is_empty()).then(|| c::program(program, &points, steps(&text))))
}

/// The module of a text; a verdict if the generator did not make one.
fn module_of(text: &str) -> Result<Module, Verdict> {
    let module =
        parse_module(text).map_err(|error| Verdict::Wrong(format!("generator: {error}")))?;
    match verify_module(&module) {
        Ok(()) => Ok(module),
        Err(errors) => {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Err(Verdict::Wrong(format!("generator: {}", errors.join("\n"))))
        }
    }
}

/// The sets of arguments at which a program ends soon enough.
fn points(module: &Module, text: &str) -> Result<Vec<Vec<Arg>>, Verdict> {
    let mut points = Vec::new();
    for choice in POINTS {
        let args = arguments(choice);
        match plain_run(module, &args) {
            Ok(true) => points.push(args),
            Ok(false) => {}
            Err(error) => return Err(Verdict::Wrong(format!("generator: {error}"))),
        }
    }
    // A copy or a nest between the two promises that they do not.
    let promises = text.contains("memcopy") || text.contains("nest [");
    if !promises && plain_run(module, &overlapping()) == Ok(true) {
        points.push(overlapping());
    }
    Ok(points)
}

/// Compares the derivatives of a function with the oracle at some points.
fn compare_at(
    module: &Module,
    name: &str,
    points: &[Vec<Arg>],
    options: &Options,
    relative: f64,
) -> Result<Option<Derivatives>, Verdict> {
    let tolerance = Tolerance {
        relative,
        largest: LARGEST,
    };
    let Some(first) = points.first() else {
        return Ok(None);
    };
    let derivatives = match Derivatives::new(module, name, first, options) {
        Ok(derivatives) => derivatives,
        Err(Failure::Refused(why)) => return Err(Verdict::Refused(why.to_string())),
        Err(other) => return Err(Verdict::Wrong(format!("malformed: {other}"))),
    };
    let mut usable = false;
    for args in points {
        match derivatives.compare(args, tolerance) {
            Ok(agreement) => usable |= agreement == Agreement::Full,
            Err(error) => return Err(Verdict::Wrong(error)),
        }
    }
    Ok(usable.then_some(derivatives))
}

fn compare(text: &str, options: &Options) -> Verdict {
    let compared = module_of(text).and_then(|module| {
        let points = points(&module, text)?;
        compare_at(&module, "f", &points, options, relative(text))
    });
    match compared {
        Ok(Some(_)) => Verdict::Agrees(Compared::default()),
        Ok(None) => Verdict::Unusable,
        Err(verdict) => verdict,
    }
}

/// Compares the oracle with finite differences.
fn differences(text: &str) -> Verdict {
    let compared = module_of(text).and_then(|module| {
        let func = module.func_by_name("f").ok_or(Verdict::Unusable)?;
        differences_at(&module, func, &points(&module, text)?, steps(text))
    });
    match compared {
        Ok(compared) => Verdict::Agrees(compared),
        Err(verdict) => verdict,
    }
}

fn differences_at(
    module: &Module,
    func: Func,
    points: &[Vec<Arg>],
    steps: Steps,
) -> Result<Compared, Verdict> {
    let mut compared = Compared::default();
    for args in points {
        compared += differences::compare(module, func, args, steps).map_err(Verdict::Wrong)?;
    }
    Ok(compared)
}

fn steps(text: &str) -> Steps {
    match uses_singles(text) {
        true => Steps::SINGLE,
        false => Steps::DOUBLE,
    }
}

/// The derivatives of the derivative in one mode.
fn nested(text: &str, mode: Mode) -> Verdict {
    let compared = module_of(text).and_then(|module| {
        let func = module.func_by_name("f").ok_or(Verdict::Unusable)?;
        let Some(args) = points(&module, text)?.into_iter().next() else {
            return Err(Verdict::Unusable);
        };
        let (module, args) = second::nested(&module, func, &args, mode);
        let points = [args];
        let options = Options::default();
        match compare_at(&module, second::NAME, &points, &options, relative(text))? {
            Some(derivatives) => {
                let func = derivatives.func();
                differences_at(&derivatives.module, func, &points, steps(text))
            }
            None => Err(Verdict::Unusable),
        }
    });
    match compared {
        Ok(compared) => Verdict::Agrees(compared),
        Err(verdict) => verdict,
    }
}

/// Runs the program itself: whether it ends soon enough, or the trap it must not have.
fn plain_run(module: &Module, args: &[Arg]) -> Result<bool, String> {
    let text = |t: zymase_core::interp::Trap| t.to_string();
    let mut machine = Machine::new(module).map_err(text)?.with_step_limit(STEPS);
    let values = in_memory(&mut machine, args).map_err(text)?;
    let func = module.func_by_name("f").ok_or("no function")?;
    match machine.call(func, &values) {
        Ok(_) => Ok(true),
        Err(_) if machine.steps() >= STEPS => Ok(false),
        Err(trap) => Err(trap.to_string()),
    }
}
