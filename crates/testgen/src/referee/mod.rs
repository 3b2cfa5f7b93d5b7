//! The referee: differentiates a function in both modes, runs the derivatives in the interpreter,
//! and compares with the interpreter on dual numbers, which knows nothing of the compiler.
//!
//! Checked are the tangents along every input, the adjoints of every input, the inner product of
//! the two along random directions with random weights, that the results, the memory and the global
//! variables of the primal are those of a plain run, and that nothing leaks. That nothing outside of
//! memory is touched is the interpreter's own check.
//!
//! The oracle itself is compared with finite differences ([`differences`]). A derivative of a
//! derivative is a function like any other, so the second order ([`second`]) needs little more.

mod arguments;
pub mod differences;
pub mod second;

pub use arguments::{Arg, in_memory, wrapper};

use arguments::{Beside, Direction, inputs, place};
use std::fmt;
use zymase_core::diagnostic::Diagnostic;
use zymase_core::interp::{Machine, Trap, TrapKind, Val};
use zymase_core::ir::text::print_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Func, Global, Mode, Module, Op, Symbol};
use zymase_core::pipeline::{Options, Outcome, differentiate};

/// How many steps a run of a derivative may take.
const STEPS: u64 = 20_000_000;

/// The derivatives of one function.
pub struct Derivatives {
    /// The module with the derivatives in it.
    pub module: Module,
    /// The program as it was: loops of functions that are differentiated are raised in place, and
    /// the oracle must not run what that has made of them. None where functions of the program ask
    /// for derivatives, which the oracle runs.
    program: Option<Module>,
    /// What the compiler did.
    pub outcome: Outcome,
    /// The variables of the program, which derivatives must leave as the program does.
    globals: Vec<Global>,
    func: Func,
    forward: Func,
    reverse: Func,
    /// Whether reverse sweeps round as if they were compiled otherwise.
    rounds_by_chance: bool,
}

/// Why there are no derivatives.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The module has no function of this name.
    NoFunction,
    /// The compiler says that it cannot.
    Refused(Box<Diagnostic>),
    /// The module with derivatives breaks rules of the IR.
    Malformed(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoFunction => f.write_str("no such function"),
            Failure::Refused(diagnostic) => diagnostic.fmt(f),
            Failure::Malformed(errors) => f.write_str(errors),
        }
    }
}

/// What a comparison found, unless it found a difference.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Agreement {
    /// Everything agrees.
    Full,
    /// The program is no test: a number is not finite, or too large to compare.
    Unusable,
}

/// How exactly numbers must agree.
#[derive(Copy, Clone, Debug)]
pub struct Tolerance {
    /// The difference allowed, relative to the largest derivative.
    pub relative: f64,
    /// Derivatives beyond this are not compared.
    pub largest: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance {
            relative: 1e-9,
            largest: f64::INFINITY,
        }
    }
}

/// How many pairs of a direction and weights the two modes are compared on.
const DIRECTIONS: usize = 2;

/// The adjoint of every output in an array.
type Weight<'a> = &'a dyn Fn(usize) -> f64;

/// What a run leaves.
#[derive(Default)]
struct Run {
    /// The content of all arrays, in order, and of the global variables that hold doubles.
    arrays: Vec<f64>,
    /// The content of the shadows or the tangents, in order.
    shadows: Vec<f64>,
    /// The floats of the result.
    results: Vec<f64>,
}

impl Derivatives {
    /// Differentiates a function in both modes.
    pub fn new(
        module: &Module,
        name: &str,
        args: &[Arg],
        options: &Options,
    ) -> Result<Derivatives, Failure> {
        let program = (!asks(module)).then(|| module.clone());
        let mut module = module.clone();
        let func = module.func_by_name(name).ok_or(Failure::NoFunction)?;
        let forward = wrapper(&mut module, func, args, Mode::Forward);
        let reverse = wrapper(&mut module, func, args, Mode::Combined);
        let globals = module.globals.keys().collect();
        let outcome = differentiate(&mut module, options).map_err(Failure::Refused)?;
        if let Err(errors) = verify_module(&module) {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let text = format!("{}\n{}", errors.join("\n"), print_module(&module));
            return Err(Failure::Malformed(text));
        }
        Ok(Derivatives {
            module,
            program,
            outcome,
            globals,
            func,
            forward,
            reverse,
            rounds_by_chance: options.chaos.is_some(),
        })
    }

    /// The function under test.
    pub fn func(&self) -> Func {
        self.func
    }

    /// Compares both derivatives with the oracle at a point.
    pub fn check(&self, args: &[Arg]) -> Result<(), String> {
        self.compare(args, Tolerance::default()).map(|_| ())
    }

    /// Compares both derivatives with the oracle at a point, up to a tolerance.
    pub fn compare(&self, args: &[Arg], tolerance: Tolerance) -> Result<Agreement, String> {
        let trap = |what: &'static str| move |t: Trap| format!("{what}: {t}");
        let inputs = inputs(args);
        let mut oracle = Vec::new();
        for &input in &inputs {
            let run = self.run_oracle(args, &|at| f64::from(u8::from(at == input)));
            oracle.push(run.map_err(trap("oracle"))?);
        }
        let primal = self
            .run_oracle(args, &|_| 0.0)
            .map_err(trap("primal"))?
            .arrays;
        let tangents = || {
            oracle
                .iter()
                .flat_map(|run| run.shadows.iter().chain(&run.results))
        };
        let scale = tangents().fold(0.0, |max: f64, x| max.max(x.abs()));
        let finite = tangents().chain(&primal).all(|x| x.is_finite());
        if tolerance.largest.is_finite() && !(finite && scale <= tolerance.largest) {
            return Ok(Agreement::Unusable);
        }
        let allowed = tolerance.relative * (1.0 + scale);
        let same =
            |a: f64, b: f64| (a - b).abs() <= allowed || a == b || (a.is_nan() && b.is_nan());

        for (&input, run) in inputs.iter().zip(&oracle) {
            let forward = self
                .run_forward(args, &|at| f64::from(u8::from(at == input)))
                .map_err(trap("forward"))?;
            let pairs = run.shadows.iter().zip(&forward.shadows);
            for (i, (&o, &f)) in pairs
                .chain(run.results.iter().zip(&forward.results))
                .enumerate()
            {
                if !same(o, f) {
                    return Err(format!(
                        "forward: output {i} along {input:?}: oracle {o}, forward {f}"
                    ));
                }
            }
            unchanged("forward", &primal, &forward.arrays)?;
        }

        let reverse = self.run_reverse(args, &weight).map_err(trap("reverse"))?;
        unchanged("reverse", &primal, &reverse.arrays)?;
        let adjoints = adjoints(args, &reverse);
        for ((&input, run), &got) in inputs.iter().zip(&oracle).zip(&adjoints) {
            let expected = weighted(run, &weight);
            if !same(expected, got) {
                return Err(format!(
                    "reverse: input {input:?}: oracle {expected}, reverse {got}"
                ));
            }
        }
        self.inner_products(args, &inputs, &same)?;
        Ok(Agreement::Full)
    }

    /// ⟨w, J v⟩ by forward mode is ⟨Jᵀ w, v⟩ by reverse mode, for random directions `v` and weights
    /// `w`. The weight of the result is always 1.
    fn inner_products(
        &self,
        args: &[Arg],
        inputs: &[(usize, usize)],
        same: &dyn Fn(f64, f64) -> bool,
    ) -> Result<(), String> {
        let mut rng = fastrand::Rng::with_seed(inputs.len() as u64);
        for _ in 0..DIRECTIONS {
            let mut numbers = |share: usize| -> Vec<f64> {
                let unit = 1.0 / share as f64;
                inputs
                    .iter()
                    .map(|_| unit * (rng.f64() * 2.0 - 1.0))
                    .collect()
            };
            // Sums of many are to be as exact as one of them.
            let (direction, weights) = (numbers(inputs.len()), numbers(1));
            let along = |input| {
                let at = inputs.iter().position(|&other| other == input);
                at.map_or(0.0, |at| direction[at])
            };
            let weight = |output: usize| weights.get(output).copied().unwrap_or(1.0);
            let forward = self
                .run_forward(args, &along)
                .map_err(|t| format!("forward: {t}"))?;
            let reverse = self
                .run_reverse(args, &weight)
                .map_err(|t| format!("reverse: {t}"))?;
            let by_forward = weighted(&forward, &weight);
            let pairs = direction.iter().zip(adjoints(args, &reverse));
            let by_reverse: f64 = pairs.map(|(v, adjoint)| v * adjoint).sum();
            if !same(by_forward, by_reverse) {
                return Err(format!(
                    "inner product: forward {by_forward}, reverse {by_reverse}"
                ));
            }
        }
        Ok(())
    }

    /// The derivative of the weighted sum of all outputs along every input, in order: by the
    /// oracle, by forward mode, by reverse mode.
    pub fn gradients(&self, args: &[Arg]) -> Result<[Vec<f64>; 3], Trap> {
        let (mut oracle, mut forward) = (Vec::new(), Vec::new());
        for input in inputs(args) {
            let direction = |at| f64::from(u8::from(at == input));
            oracle.push(weighted(&self.run_oracle(args, &direction)?, &weight));
            forward.push(weighted(&self.run_forward(args, &direction)?, &weight));
        }
        let reverse = adjoints(args, &self.run_reverse(args, &weight)?);
        Ok([oracle, forward, reverse])
    }

    /// The steps that a reverse-mode run takes, and those of the primal.
    pub fn steps(&self, args: &[Arg]) -> Result<(u64, u64), String> {
        let text = |t: Trap| t.to_string();
        let mut machine = self.machine().map_err(text)?;
        let placed = place(&mut machine, args, Beside::Nothing, &|_| 0.0).map_err(text)?;
        machine.call(self.func, &placed.values).map_err(text)?;
        let primal = machine.steps();
        let mut machine = self.machine().map_err(text)?;
        let placed =
            place(&mut machine, args, Beside::Adjoints(&weight), &|_| 0.0).map_err(text)?;
        machine.call(self.reverse, &placed.values).map_err(text)?;
        Ok((machine.steps(), primal))
    }

    fn machine(&self) -> Result<Machine<'_>, Trap> {
        machine(&self.module)
    }

    fn run_oracle(&self, args: &[Arg], direction: Direction<'_>) -> Result<Run, Trap> {
        let module = self.program.as_ref().unwrap_or(&self.module);
        run_on_duals(module, self.func, &self.globals, args, direction)
    }

    fn run_forward(&self, args: &[Arg], direction: Direction<'_>) -> Result<Run, Trap> {
        self.run_derivative(args, self.forward, Beside::Tangents, direction)
    }

    /// The adjoints of all inputs, given the weights as adjoints of the outputs.
    fn run_reverse(&self, args: &[Arg], weight: Weight<'_>) -> Result<Run, Trap> {
        self.run_derivative(args, self.reverse, Beside::Adjoints(weight), &|_| 0.0)
    }

    fn run_derivative(
        &self,
        args: &[Arg],
        func: Func,
        beside: Beside<'_>,
        direction: Direction<'_>,
    ) -> Result<Run, Trap> {
        let mut machine = self.machine()?;
        if self.rounds_by_chance {
            machine = machine.with_rounding_by_chance(|name| name.ends_with(".reverse"));
        }
        let placed = place(&mut machine, args, beside, direction)?;
        let before = machine.live_heap_objects();
        let result = machine.call(func, &placed.values)?;
        let after = machine.live_heap_objects();
        if after != before {
            let message = format!("{} heap objects leak", after as i64 - before as i64);
            return Err(Trap::new(TrapKind::InvalidFree, message));
        }
        let mut run = placed.read(&mut machine)?;
        run.arrays.extend(variables(&mut machine, &self.globals));
        for &(at, count) in &placed.shadows {
            run.shadows.extend(machine.memory.f64s(at, count)?);
        }
        run.results = floats(result.as_ref(), Val::as_f64);
        Ok(run)
    }
}

fn machine(module: &Module) -> Result<Machine<'_>, Trap> {
    Ok(Machine::new(module)?.with_step_limit(STEPS))
}

/// Runs a function on dual numbers.
fn run_on_duals(
    module: &Module,
    func: Func,
    globals: &[Global],
    args: &[Arg],
    direction: Direction<'_>,
) -> Result<Run, Trap> {
    let mut machine = machine(module)?;
    let placed = place(&mut machine, args, Beside::Nothing, direction)?;
    let result = machine.call(func, &placed.values)?;
    let mut run = placed.read(&mut machine)?;
    run.arrays.extend(variables(&mut machine, globals));
    for &(at, count) in &placed.dups {
        run.shadows.extend(machine.memory.f64_tangents(at, count)?);
    }
    run.results = floats(result.as_ref(), Val::tangent);
    Ok(run)
}

/// A number for each float of a result.
fn floats(result: Option<&Val>, number: fn(&Val) -> Option<f64>) -> Vec<f64> {
    match result.map(|value| (value, value.parts())) {
        None => Vec::new(),
        Some((_, Some(parts))) => parts.iter().filter_map(number).collect(),
        Some((value, None)) => number(value).into_iter().collect(),
    }
}

/// The content of those global variables that hold nothing but doubles.
fn variables(machine: &mut Machine<'_>, globals: &[Global]) -> Vec<f64> {
    let mut all = Vec::new();
    for &global in globals {
        let Some(at) = machine.address(Symbol::Global(global)).as_ptr() else {
            continue;
        };
        let size = machine.memory.object_size(at).unwrap_or_default();
        let read = machine.memory.f64s(at, (size / 8) as usize);
        all.extend(read.unwrap_or_default());
    }
    all
}

/// What the oracle says of a function at a point: what arrays and variables hold afterwards, and the
/// derivative of the weighted sum of all outputs along every input.
pub fn oracle(module: &Module, func: Func, args: &[Arg]) -> Result<[Vec<f64>; 2], Trap> {
    let globals: Vec<Global> = module.globals.keys().collect();
    let mut gradient = Vec::new();
    for input in inputs(args) {
        let direction = |at| f64::from(u8::from(at == input));
        let run = run_on_duals(module, func, &globals, args, &direction)?;
        gradient.push(weighted(&run, &weight));
    }
    let arrays = run_on_duals(module, func, &globals, args, &|_| 0.0)?.arrays;
    Ok([arrays, gradient])
}

/// Whether functions of a module ask for derivatives.
fn asks(module: &Module) -> bool {
    module.funcs.values().any(|function| {
        let insts = function.blocks().iter();
        let mut insts = insts.flat_map(|&block| function.block_insts(block));
        insts.any(|&inst| matches!(function.inst(inst).op, Op::Request(_)))
    })
}

/// The adjoints of all inputs in order: shadows, and results for `out` arguments.
fn adjoints(args: &[Arg], reverse: &Run) -> Vec<f64> {
    let mut shadows = reverse.shadows.iter().copied();
    let mut results = reverse.results.iter().copied();
    let mut adjoints = Vec::new();
    for arg in args {
        match arg {
            Arg::Dup(numbers) => adjoints.extend(shadows.by_ref().take(numbers.len())),
            Arg::Out(_) => adjoints.extend(results.next()),
            _ => {}
        }
    }
    adjoints
}

fn unchanged(mode: &str, plain: &[f64], derivative: &[f64]) -> Result<(), String> {
    for (i, (a, b)) in plain.iter().zip(derivative).enumerate() {
        if a != b && !(a.is_nan() && b.is_nan()) {
            return Err(format!(
                "{mode}: primal element {i} is {b}, a plain run leaves {a}"
            ));
        }
    }
    Ok(())
}

/// The sum of all outputs, weighted by their adjoints; that of the result is 1.
fn weighted(run: &Run, weight: Weight<'_>) -> f64 {
    let arrays = run.shadows.iter().enumerate();
    let arrays: f64 = arrays.map(|(i, x)| weight(i) * x).sum();
    arrays + run.results.iter().sum::<f64>()
}

/// The adjoint of an element of an array: different for each.
fn weight(output: usize) -> f64 {
    0.5 + 0.25 * ((output * 7) % 5) as f64
}
