//! One trial: a program, its derivatives, the verdict.

use crate::c::{self, Expected};
use crate::lower::lower;
use crate::referee::{Agreement, Arg, Derivatives, Failure, Tolerance, oracle};
use crate::tree::{ARRAY, Program};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use zymase_core::interp::{Machine, Val};
use zymase_core::ir::text::parse_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::pipeline::Options;

/// What came of a program.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both derivatives agree with the oracle.
    Agrees,
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

/// Differentiates a program and compares with the oracle at two points. A panic is a defect like
/// any other.
pub fn trial(program: &Program, options: &Options) -> Verdict {
    let text = lower(program);
    let quiet = Quiet::new();
    let verdict = catch_unwind(AssertUnwindSafe(|| compare(&text, options)));
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

/// How exactly derivatives of a program must agree: single precision rounds differently in each
/// mode.
fn relative(text: &str) -> f64 {
    match text.contains("f32") {
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
    Ok((!points.is_empty()).then(|| c::program(program, &points)))
}

fn compare(text: &str, options: &Options) -> Verdict {
    let module = match parse_module(text) {
        Ok(module) => module,
        Err(error) => return Verdict::Wrong(format!("generator: {error}")),
    };
    if let Err(errors) = verify_module(&module) {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Verdict::Wrong(format!("generator: {}", errors.join("\n")));
    }
    let tolerance = Tolerance {
        relative: relative(text),
        largest: LARGEST,
    };
    let mut derivatives = None;
    let mut usable = false;
    for choice in POINTS {
        let args = arguments(choice);
        match plain_run(&module, &args) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => return Verdict::Wrong(format!("generator: {error}")),
        }
        if derivatives.is_none() {
            match Derivatives::new(&module, "f", &args, options) {
                Ok(made) => derivatives = Some(made),
                Err(Failure::Refused(why)) => return Verdict::Refused(why.to_string()),
                Err(other) => return Verdict::Wrong(format!("malformed: {other}")),
            }
        }
        if let Some(derivatives) = &derivatives {
            match derivatives.compare(&args, tolerance) {
                Ok(agreement) => usable |= agreement == Agreement::Full,
                Err(error) => return Verdict::Wrong(error),
            }
        }
    }
    match usable {
        true => Verdict::Agrees,
        false => Verdict::Unusable,
    }
}

/// Runs the program itself: whether it ends soon enough, or the trap it must not have.
fn plain_run(module: &zymase_core::ir::Module, args: &[Arg]) -> Result<bool, String> {
    let text = |t: zymase_core::interp::Trap| t.to_string();
    let mut machine = Machine::new(module).map_err(text)?.with_step_limit(STEPS);
    let mut values = Vec::new();
    for arg in args {
        values.push(match arg {
            Arg::Dup(numbers) | Arg::Const(numbers) => {
                Val::from(machine.memory.new_f64s(numbers).map_err(text)?)
            }
            Arg::Out(x) => Val::f64(*x),
            Arg::Int(n) => Val::i64(*n),
        });
    }
    let func = module.func_by_name("f").ok_or("no function")?;
    match machine.call(func, &values) {
        Ok(_) => Ok(true),
        Err(_) if machine.steps() >= STEPS => Ok(false),
        Err(trap) => Err(trap.to_string()),
    }
}
