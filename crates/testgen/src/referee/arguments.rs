//! The arguments of functions under test: in memory, with what stands beside them, and in requests.

use super::Run;
use zymase_core::interp::{Machine, Pointer, Trap, Val};
use zymase_core::ir::{
    Activity, Builder, Func, Function, Mode, Module, Op, Request, ReturnActivity, Signature,
};

/// An argument of the function under test.
#[derive(Clone, Debug)]
pub enum Arg {
    /// An array of doubles with a shadow.
    Dup(Vec<f64>),
    /// An array of doubles without.
    Const(Vec<f64>),
    /// The part of an earlier array with a shadow, by its number, that begins at an element: the two
    /// arguments overlap.
    Part(usize, usize),
    /// A double whose derivative is returned.
    Out(f64),
    /// An integer.
    Int(i64),
}

/// Every float that a derivative is taken with respect to: argument and element.
pub(super) fn inputs(args: &[Arg]) -> Vec<(usize, usize)> {
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

/// A number for every input: argument and element.
pub(super) type Direction<'a> = &'a dyn Fn((usize, usize)) -> f64;

/// What stands beside each primal argument.
#[derive(Copy, Clone)]
pub(super) enum Beside<'a> {
    /// Nothing; tangents are in the dual numbers.
    Nothing,
    /// The direction.
    Tangents,
    /// The weights of the outputs.
    Adjoints(&'a dyn Fn(usize) -> f64),
}

/// Arguments in memory.
#[derive(Default)]
pub(super) struct Placed {
    pub(super) values: Vec<Val>,
    pub(super) arrays: Vec<(Pointer, usize)>,
    pub(super) dups: Vec<(Pointer, usize)>,
    pub(super) shadows: Vec<(Pointer, usize)>,
}

impl Placed {
    /// What the arrays hold.
    pub(super) fn read(&self, machine: &mut Machine<'_>) -> Result<Run, Trap> {
        let mut arrays = Vec::new();
        for &(at, count) in &self.arrays {
            arrays.extend(machine.memory.f64s(at, count)?);
        }
        Ok(Run {
            arrays,
            ..Run::default()
        })
    }
}

/// Puts arguments into memory, without anything beside them.
pub fn in_memory(machine: &mut Machine<'_>, args: &[Arg]) -> Result<Vec<Val>, Trap> {
    Ok(place(machine, args, Beside::Nothing, &|_| 0.0)?.values)
}

/// Puts arguments into memory, with what stands beside them.
pub(super) fn place(
    machine: &mut Machine<'_>,
    args: &[Arg],
    beside: Beside<'_>,
    direction: Direction<'_>,
) -> Result<Placed, Trap> {
    let mut placed = Placed::default();
    let mut output = 0;
    // Where the values of each argument begin.
    let mut starts = Vec::new();
    for (position, arg) in args.iter().enumerate() {
        starts.push(placed.values.len());
        match arg {
            &Arg::Part(of, element) => {
                let count = match beside {
                    Beside::Nothing => 1,
                    Beside::Tangents | Beside::Adjoints(_) => 2,
                };
                for i in 0..count {
                    let whole = placed.values[starts[of] + i].as_ptr();
                    let at = whole.unwrap_or(Pointer::NULL).offset(8 * element as i64);
                    placed.values.push(Val::from(at));
                }
            }
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
                    Beside::Adjoints(weight) => (output..output + count).map(weight).collect(),
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
                    Beside::Adjoints(_) => placed.values.push(Val::f64(*number)),
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
    // What is declared of an argument holds for its shadow too.
    let mut declared = Vec::new();
    for (position, (arg, &ty)) in args.iter().zip(&target.sig.params).enumerate() {
        let activity = match (arg, mode) {
            (Arg::Dup(_) | Arg::Part(..), _) | (Arg::Out(_), Mode::Forward) => Activity::Dup,
            (Arg::Out(_), _) => Activity::Out,
            _ => Activity::Const,
        };
        let count = 1 + activity.shadow_count(1);
        params.extend(std::iter::repeat_n(ty, count));
        let argument = target.arguments().get(position);
        let known = argument.and_then(|value| target.declared.get(value));
        declared.extend(std::iter::repeat_n(known.cloned(), count));
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
    let known = values.iter().copied().zip(declared);
    function.declared = known
        .filter_map(|(value, declared)| Some((value, declared?)))
        .collect();
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
