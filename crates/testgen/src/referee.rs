//! The referee: differentiates a function in both modes, runs the derivatives in the interpreter,
//! and compares with the interpreter on dual numbers, which knows nothing of the compiler.
//!
//! Checked are the tangents along every input, the adjoints of every input, the inner product of
//! the two along one dense direction, that the primal results and memory are those of a plain
//! run, and that nothing leaks. That nothing outside of memory is touched is the interpreter's own
//! check.

use std::fmt;
use zymase_core::diagnostic::Diagnostic;
use zymase_core::interp::{Machine, Pointer, Trap, TrapKind, Val};
use zymase_core::ir::text::print_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{
    Activity, Builder, Func, Function, Mode, Module, Op, Request, ReturnActivity, Signature,
};
use zymase_core::pipeline::{Options, Outcome, differentiate};

/// An argument of the function under test.
#[derive(Clone, Debug)]
pub enum Arg {
    /// An array of doubles with a shadow.
    Dup(Vec<f64>),
    /// An array of doubles without.
    Const(Vec<f64>),
    /// A double whose derivative is returned.
    Out(f64),
    /// An integer.
    Int(i64),
}

/// How many steps a run of a derivative may take.
const STEPS: u64 = 20_000_000;

/// The derivatives of one function.
pub struct Derivatives {
    /// The module with the derivatives in it.
    pub module: Module,
    /// What the compiler did.
    pub outcome: Outcome,
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

/// What a run leaves.
struct Run {
    /// The content of all arrays, in order.
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
        let mut module = module.clone();
        let func = module.func_by_name(name).ok_or(Failure::NoFunction)?;
        let forward = wrapper(&mut module, func, args, Mode::Forward);
        let reverse = wrapper(&mut module, func, args, Mode::Combined);
        let outcome = differentiate(&mut module, options).map_err(Failure::Refused)?;
        if let Err(errors) = verify_module(&module) {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let text = format!("{}\n{}", errors.join("\n"), print_module(&module));
            return Err(Failure::Malformed(text));
        }
        Ok(Derivatives {
            module,
            outcome,
            func,
            forward,
            reverse,
            rounds_by_chance: options.chaos.is_some(),
        })
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

        let reverse = self.run_reverse(args).map_err(trap("reverse"))?;
        unchanged("reverse", &primal, &reverse.arrays)?;
        let adjoints = adjoints(args, &reverse);
        for ((&input, run), &got) in inputs.iter().zip(&oracle).zip(&adjoints) {
            let expected = weighted(run);
            if !same(expected, got) {
                return Err(format!(
                    "reverse: input {input:?}: oracle {expected}, reverse {got}"
                ));
            }
        }
        self.inner_product(args, &inputs, &adjoints, &same)?;
        Ok(Agreement::Full)
    }

    /// ⟨w, J v⟩ by forward mode is ⟨Jᵀ w, v⟩ by reverse mode.
    fn inner_product(
        &self,
        args: &[Arg],
        inputs: &[(usize, usize)],
        adjoints: &[f64],
        same: &dyn Fn(f64, f64) -> bool,
    ) -> Result<(), String> {
        let direction = |(i, j): (usize, usize)| 0.03125 * (1 + (i * 5 + j * 3) % 7) as f64;
        let forward = self
            .run_forward(args, &direction)
            .map_err(|t| format!("forward: {t}"))?;
        let by_forward = weighted(&forward);
        let pairs = inputs.iter().zip(adjoints);
        let by_reverse: f64 = pairs
            .map(|(&input, adjoint)| direction(input) * adjoint)
            .sum();
        match same(by_forward, by_reverse) {
            true => Ok(()),
            false => Err(format!(
                "inner product: forward {by_forward}, reverse {by_reverse}"
            )),
        }
    }

    /// The derivative of the weighted sum of all outputs along every input, in order: by the
    /// oracle, by forward mode, by reverse mode.
    pub fn gradients(&self, args: &[Arg]) -> Result<[Vec<f64>; 3], Trap> {
        let (mut oracle, mut forward) = (Vec::new(), Vec::new());
        for input in inputs(args) {
            let direction = |at| f64::from(u8::from(at == input));
            oracle.push(weighted(&self.run_oracle(args, &direction)?));
            forward.push(weighted(&self.run_forward(args, &direction)?));
        }
        let reverse = adjoints(args, &self.run_reverse(args)?);
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
        let placed = place(&mut machine, args, Beside::Adjoints, &|_| 0.0).map_err(text)?;
        machine.call(self.reverse, &placed.values).map_err(text)?;
        Ok((machine.steps(), primal))
    }

    fn machine(&self) -> Result<Machine<'_>, Trap> {
        machine(&self.module)
    }

    fn run_oracle(&self, args: &[Arg], direction: Direction<'_>) -> Result<Run, Trap> {
        run_on_duals(&self.module, self.func, args, direction)
    }

    fn run_forward(&self, args: &[Arg], direction: Direction<'_>) -> Result<Run, Trap> {
        self.run_derivative(args, self.forward, Beside::Tangents, direction)
    }

    /// The adjoints of all inputs, given the weights as adjoints of the outputs.
    fn run_reverse(&self, args: &[Arg]) -> Result<Run, Trap> {
        self.run_derivative(args, self.reverse, Beside::Adjoints, &|_| 0.0)
    }

    fn run_derivative(
        &self,
        args: &[Arg],
        func: Func,
        beside: Beside,
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
        for &(at, count) in &placed.shadows {
            run.shadows.extend(machine.memory.f64s(at, count)?);
        }
        run.results = match &result {
            None => Vec::new(),
            Some(value) => match value.parts() {
                Some(parts) => parts.iter().filter_map(Val::as_f64).collect(),
                None => value.as_f64().into_iter().collect(),
            },
        };
        Ok(run)
    }
}

/// Every float that a derivative is taken with respect to: argument and element.
fn machine(module: &Module) -> Result<Machine<'_>, Trap> {
    Ok(Machine::new(module)?.with_step_limit(STEPS))
}

/// Runs a function on dual numbers.
fn run_on_duals(
    module: &Module,
    func: Func,
    args: &[Arg],
    direction: Direction<'_>,
) -> Result<Run, Trap> {
    let mut machine = machine(module)?;
    let placed = place(&mut machine, args, Beside::Nothing, direction)?;
    let result = machine.call(func, &placed.values)?;
    let mut run = placed.read(&mut machine)?;
    for &(at, count) in &placed.dups {
        run.shadows.extend(machine.memory.f64_tangents(at, count)?);
    }
    let tangent = result.and_then(|value| value.tangent());
    run.results = tangent.into_iter().collect();
    Ok(run)
}

/// What the oracle says of a function at a point: the content of all arrays afterwards, and the
/// derivative of the weighted sum of all outputs along every input.
pub fn oracle(module: &Module, func: Func, args: &[Arg]) -> Result<[Vec<f64>; 2], Trap> {
    let mut gradient = Vec::new();
    for input in inputs(args) {
        let direction = |at| f64::from(u8::from(at == input));
        gradient.push(weighted(&run_on_duals(module, func, args, &direction)?));
    }
    let arrays = run_on_duals(module, func, args, &|_| 0.0)?.arrays;
    Ok([arrays, gradient])
}

fn inputs(args: &[Arg]) -> Vec<(usize, usize)> {
    let mut inputs = Vec::new();
    for (position, arg) in args.iter().enumerate() {
        let count = match arg {
            Arg::Dup(numbers) => numbers.len(),
            Arg::Out(_) => 1,
            _ => 0,
        };
        inputs.extend((0..count).map(|element| (position, element)));
    }
    inputs
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
fn weighted(run: &Run) -> f64 {
    let arrays = run.shadows.iter().enumerate();
    let arrays: f64 = arrays.map(|(i, x)| weight(i) * x).sum();
    arrays + run.results.iter().sum::<f64>()
}

/// The adjoint of an element of an array: different for each.
fn weight(output: usize) -> f64 {
    0.5 + 0.25 * ((output * 7) % 5) as f64
}

type Direction<'a> = &'a dyn Fn((usize, usize)) -> f64;

/// What stands beside each primal argument.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Beside {
    /// Nothing; tangents are in the dual numbers.
    Nothing,
    Tangents,
    /// The weights of the outputs.
    Adjoints,
}

/// Arguments in memory.
#[derive(Default)]
struct Placed {
    values: Vec<Val>,
    arrays: Vec<(Pointer, usize)>,
    dups: Vec<(Pointer, usize)>,
    shadows: Vec<(Pointer, usize)>,
}

impl Placed {
    fn read(&self, machine: &mut Machine<'_>) -> Result<Run, Trap> {
        let mut arrays = Vec::new();
        for &(at, count) in &self.arrays {
            arrays.extend(machine.memory.f64s(at, count)?);
        }
        Ok(Run {
            arrays,
            shadows: Vec::new(),
            results: Vec::new(),
        })
    }
}

/// Puts arguments into memory.
fn place(
    machine: &mut Machine<'_>,
    args: &[Arg],
    beside: Beside,
    direction: Direction<'_>,
) -> Result<Placed, Trap> {
    let mut placed = Placed::default();
    let mut output = 0;
    for (position, arg) in args.iter().enumerate() {
        match arg {
            Arg::Dup(numbers) => {
                let count = numbers.len();
                let at = machine.memory.new_f64s(numbers)?;
                placed.values.push(Val::from(at));
                placed.arrays.push((at, count));
                placed.dups.push((at, count));
                let tangents: Vec<f64> = (0..count).map(|i| direction((position, i))).collect();
                let shadow = match beside {
                    Beside::Nothing => {
                        machine.memory.set_f64_tangents(at, &tangents)?;
                        continue;
                    }
                    Beside::Tangents => tangents,
                    Beside::Adjoints => (output..output + count).map(weight).collect(),
                };
                output += count;
                let shadow = machine.memory.new_f64s(&shadow)?;
                placed.values.push(Val::from(shadow));
                placed.shadows.push((shadow, count));
            }
            Arg::Const(numbers) => {
                let at = machine.memory.new_f64s(numbers)?;
                placed.values.push(Val::from(at));
                placed.arrays.push((at, numbers.len()));
            }
            Arg::Out(number) => {
                let tangent = direction((position, 0));
                match beside {
                    Beside::Nothing => placed.values.push(Val::dual(*number, tangent)),
                    Beside::Tangents => {
                        placed.values.extend([Val::f64(*number), Val::f64(tangent)]);
                    }
                    Beside::Adjoints => placed.values.push(Val::f64(*number)),
                }
            }
            Arg::Int(number) => placed.values.push(Val::i64(*number)),
        }
    }
    Ok(placed)
}

/// Adds a function that asks for a derivative and passes its arguments on.
pub fn wrapper(module: &mut Module, func: Func, args: &[Arg], mode: Mode) -> Func {
    let target: &Function = &module.funcs[func];
    let mut params = Vec::new();
    let mut activities = Vec::new();
    for (arg, &ty) in args.iter().zip(&target.sig.params) {
        let activity = match (arg, mode) {
            (Arg::Dup(_), _) | (Arg::Out(_), Mode::Forward) => Activity::Dup,
            (Arg::Out(_), _) => Activity::Out,
            _ => Activity::Const,
        };
        params.extend(std::iter::repeat_n(ty, 1 + activity.shadow_count(1)));
        activities.push(activity);
    }
    let ret = match target.sig.ret.is_float_like() {
        true => ReturnActivity::Active,
        false => ReturnActivity::Const,
    };
    let request = Request {
        func,
        mode,
        width: 1,
        args: activities,
        ret,
        primal_return: false,
        strong_zero: false,
        runtime_activity: false,
        tape: Default::default(),
    };
    let result = zymase_core::derivative::request_result(&request, target);
    let name = module.fresh_name(&format!("request_{}", mode.name()));
    let mut function = Function::with_entry(name, Signature::new(params, result));
    let entry = function.entry();
    let values = function.arguments().to_vec();
    let mut builder = Builder::new(&mut function, entry);
    let op = Op::Request(Box::new(request));
    let value = match result.is_void() {
        true => {
            builder.effect(op, values);
            None
        }
        false => Some(builder.value(op, values, result)),
    };
    builder.ret(value);
    module.funcs.push(function)
}
