//! The referee: differentiates a function in both modes, runs the derivatives in the interpreter,
//! and compares with the interpreter on dual numbers, which knows nothing of the compiler.
#![allow(dead_code)] // Each test binary uses a part of this.

use zymase_core::interp::{Machine, Pointer, Trap, Val};
use zymase_core::ir::text::print_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{
    Activity, Builder, Func, Function, Mode, Module, Op, Request, ReturnActivity, Signature, Type,
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

/// How many steps a run may take.
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
}

impl Derivatives {
    /// Differentiates a function in both modes.
    pub fn new(
        module: &Module,
        name: &str,
        args: &[Arg],
        options: &Options,
    ) -> Result<Derivatives, String> {
        let mut module = module.clone();
        let func = module.func_by_name(name).ok_or("no such function")?;
        let forward = wrapper(&mut module, func, args, Mode::Forward);
        let reverse = wrapper(&mut module, func, args, Mode::Combined);
        let outcome = differentiate(&mut module, options).map_err(|e| e.to_string())?;
        if let Err(errors) = verify_module(&module) {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err(format!("{}\n{}", errors.join("\n"), print_module(&module)));
        }
        Ok(Derivatives {
            module,
            outcome,
            func,
            forward,
            reverse,
        })
    }

    /// Compares both derivatives with the oracle at a point.
    pub fn check(&self, args: &[Arg]) -> Result<(), String> {
        let trap = |what: &'static str| move |t: Trap| format!("{what}: {t}");
        let reverse = self.run_reverse(args).map_err(trap("reverse"))?;
        let mut input = 0;
        for (position, arg) in args.iter().enumerate() {
            let count = match arg {
                Arg::Dup(numbers) => numbers.len(),
                Arg::Out(_) => 1,
                _ => 0,
            };
            for element in 0..count {
                let direction = (position, element);
                let oracle = self.run_oracle(args, direction).map_err(trap("oracle"))?;
                let forward = self.run_forward(args, direction).map_err(trap("forward"))?;
                for (i, (&o, &f)) in oracle.iter().zip(&forward).enumerate() {
                    close(o, f).map_err(|e| {
                        format!(
                            "forward: output {i} along {direction:?}: oracle {o}, forward {f}: {e}"
                        )
                    })?;
                }
                let expected: f64 = oracle.iter().enumerate().map(|(i, o)| weight(i) * o).sum();
                let scale: f64 = oracle
                    .iter()
                    .enumerate()
                    .map(|(i, o)| (weight(i) * o).abs())
                    .sum();
                let got = reverse[input];
                let difference = (expected - got).abs();
                if !(difference <= 1e-9 * (1.0 + scale) || (expected.is_nan() && got.is_nan())) {
                    return Err(format!(
                        "reverse: input {direction:?}: oracle {expected}, reverse {got}"
                    ));
                }
                input += 1;
            }
        }
        Ok(())
    }

    /// The steps that a reverse-mode run takes, and those of the primal.
    pub fn steps(&self, args: &[Arg]) -> Result<(u64, u64), String> {
        let text = |t: Trap| t.to_string();
        let mut machine = self.machine().map_err(text)?;
        let (values, _) = place(&mut machine, args, false).map_err(text)?;
        machine.call(self.func, &values).map_err(text)?;
        let primal = machine.steps();
        let mut machine = self.machine().map_err(text)?;
        let (values, _) = place(&mut machine, args, true).map_err(text)?;
        machine.call(self.reverse, &values).map_err(text)?;
        Ok((machine.steps(), primal))
    }

    fn machine(&self) -> Result<Machine<'_>, Trap> {
        Ok(Machine::new(&self.module)?.with_step_limit(STEPS))
    }

    /// Tangents of all outputs along one input: arrays in order, then the result.
    fn run_oracle(&self, args: &[Arg], direction: (usize, usize)) -> Result<Vec<f64>, Trap> {
        let mut machine = self.machine()?;
        let mut values = Vec::new();
        let mut arrays = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let here = |element: usize| f64::from(u8::from(direction == (position, element)));
            match arg {
                Arg::Dup(numbers) => {
                    let at = machine.memory.new_f64s(numbers)?;
                    let tangents: Vec<f64> = (0..numbers.len()).map(here).collect();
                    machine.memory.set_f64_tangents(at, &tangents)?;
                    values.push(Val::from(at));
                    arrays.push((at, numbers.len()));
                }
                Arg::Const(numbers) => values.push(Val::from(machine.memory.new_f64s(numbers)?)),
                Arg::Out(number) => values.push(Val::dual(*number, here(0))),
                Arg::Int(number) => values.push(Val::i64(*number)),
            }
        }
        let result = machine.call(self.func, &values)?;
        let mut outputs = Vec::new();
        for (at, count) in arrays {
            outputs.extend(machine.memory.f64_tangents(at, count)?);
        }
        outputs.extend(result.and_then(|value| value.tangent()));
        Ok(outputs)
    }

    fn run_forward(&self, args: &[Arg], direction: (usize, usize)) -> Result<Vec<f64>, Trap> {
        let mut machine = self.machine()?;
        let mut values = Vec::new();
        let mut arrays = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let here = |element: usize| f64::from(u8::from(direction == (position, element)));
            match arg {
                Arg::Dup(numbers) => {
                    let at = machine.memory.new_f64s(numbers)?;
                    let tangents: Vec<f64> = (0..numbers.len()).map(here).collect();
                    let shadow = machine.memory.new_f64s(&tangents)?;
                    values.extend([Val::from(at), Val::from(shadow)]);
                    arrays.push((shadow, numbers.len()));
                }
                Arg::Const(numbers) => values.push(Val::from(machine.memory.new_f64s(numbers)?)),
                Arg::Out(number) => values.extend([Val::f64(*number), Val::f64(here(0))]),
                Arg::Int(number) => values.push(Val::i64(*number)),
            }
        }
        let before = machine.live_heap_objects();
        let result = machine.call(self.forward, &values)?;
        leaks(before, &machine)?;
        let mut outputs = Vec::new();
        for (at, count) in arrays {
            outputs.extend(machine.memory.f64s(at, count)?);
        }
        outputs.extend(result.and_then(|value| value.as_f64()));
        Ok(outputs)
    }

    /// The adjoints of all inputs, given the weights as adjoints of the outputs.
    fn run_reverse(&self, args: &[Arg]) -> Result<Vec<f64>, Trap> {
        let mut machine = self.machine()?;
        let (values, arrays) = place(&mut machine, args, true)?;
        let before = machine.live_heap_objects();
        let result = machine.call(self.reverse, &values)?;
        leaks(before, &machine)?;
        // Derivatives of `out` arguments are in the result, in the order of the arguments.
        let outs: Vec<f64> = match &result {
            None => Vec::new(),
            Some(value) => match value.parts() {
                Some(parts) => parts.iter().filter_map(Val::as_f64).collect(),
                None => value.as_f64().into_iter().collect(),
            },
        };
        let mut outs = outs.into_iter();
        let mut arrays = arrays.into_iter();
        let mut adjoints = Vec::new();
        for arg in args {
            match arg {
                Arg::Dup(_) => {
                    if let Some((shadow, count)) = arrays.next() {
                        adjoints.extend(machine.memory.f64s(shadow, count)?);
                    }
                }
                Arg::Out(_) => adjoints.extend(outs.next()),
                _ => {}
            }
        }
        Ok(adjoints)
    }
}

fn leaks(before: usize, machine: &Machine<'_>) -> Result<(), Trap> {
    let after = machine.live_heap_objects();
    if after == before {
        return Ok(());
    }
    let message = format!("{} heap objects leak", after as i64 - before as i64);
    Err(Trap::new(
        zymase_core::interp::TrapKind::InvalidFree,
        message,
    ))
}

type Placed = (Vec<Val>, Vec<(Pointer, usize)>);

/// Puts arguments into memory, with shadows that hold the weights of the outputs.
fn place(machine: &mut Machine<'_>, args: &[Arg], shadows: bool) -> Result<Placed, Trap> {
    let mut values = Vec::new();
    let mut arrays = Vec::new();
    let mut output = 0;
    for arg in args {
        match arg {
            Arg::Dup(numbers) => {
                values.push(Val::from(machine.memory.new_f64s(numbers)?));
                if shadows {
                    let weights: Vec<f64> =
                        (0..numbers.len()).map(|i| weight(output + i)).collect();
                    output += numbers.len();
                    let shadow = machine.memory.new_f64s(&weights)?;
                    arrays.push((shadow, numbers.len()));
                    values.push(Val::from(shadow));
                }
            }
            Arg::Const(numbers) => values.push(Val::from(machine.memory.new_f64s(numbers)?)),
            Arg::Out(number) => values.push(Val::f64(*number)),
            Arg::Int(number) => values.push(Val::i64(*number)),
        }
    }
    // The seed of the result is 1, so its weight must be too.
    RESULT_OUTPUT.with(|cell| cell.set(output));
    Ok((values, arrays))
}

thread_local! {
    static RESULT_OUTPUT: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

/// The adjoint of an output: different for each, and 1 for the result.
fn weight(output: usize) -> f64 {
    if RESULT_OUTPUT.with(std::cell::Cell::get) == output {
        return 1.0;
    }
    0.5 + 0.25 * ((output * 7) % 5) as f64
}

fn close(a: f64, b: f64) -> Result<(), String> {
    let same = a == b || (a.is_nan() && b.is_nan());
    let near = (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
    if same || near {
        Ok(())
    } else {
        Err(format!("off by {}", a - b))
    }
}

/// A function that asks for a derivative and passes its arguments on.
fn wrapper(module: &mut Module, func: Func, args: &[Arg], mode: Mode) -> Func {
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
    let _ = Type::void();
    module.funcs.push(function)
}
