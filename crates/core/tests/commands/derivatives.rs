//! Commands of the file tests that print what differentiation decides and does.
//!
//! The activities of arguments are words such as `dup,const,out`. `grad` takes each with a value:
//! `grad @f dup f64[1.0,2.0] const 3 out 0.5`.

use super::value_name;
use std::fmt::Write as _;
use zymase_core::analysis::Callees;
use zymase_core::analysis::types::Types;
use zymase_core::derivative::Key;
use zymase_core::ir::text::print_function;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Function, Mode, Module, Op, Value};
use zymase_core::pipeline::{Options, Outcome, differentiate};
use zymase_core::plan::PlanKind;
use zymase_core::primal::Primal;
use zymase_testgen::referee::{Arg, Derivatives, wrapper};

/// What is behind every pointer and in every value that may hold anything: integers, vectors of
/// them and aggregates.
pub fn types(module: &Module, _: &[&str]) -> String {
    let mut out = String::new();
    for function in module.funcs.values().filter(|f| !f.is_declaration()) {
        let types = Types::new(module, function, &[], &[], &mut Callees::default().types);
        let _ = writeln!(out, "@{}", function.name);
        for value in defined(function) {
            let ty = function.ty(value);
            if ty.is_float_like() {
                continue;
            }
            let what = if ty.scalar().is_ptr() { "behind " } else { "" };
            let name = value_name(function, value);
            let _ = writeln!(out, "  {what}{name}: {}", types.shape(value));
        }
    }
    out
}

/// The active values and those with shadows, given the activities of the arguments.
pub fn activity(module: &Module, words: &[&str]) -> String {
    let request = match asked(module, words, Mode::Combined) {
        Ok((module, _)) => requested(&module),
        Err(error) => return error,
    };
    let Some(key) = request else {
        return "no request".to_string();
    };
    let effects = std::rc::Rc::new(zymase_core::analysis::effects::Effects::new(module));
    let primal = match Primal::new(
        &mut module.clone(),
        key,
        effects,
        &mut Callees::default(),
        &Options::default(),
    ) {
        Ok(primal) => primal,
        Err(error) => return error.to_string(),
    };
    let list = |wanted: &dyn Fn(Value) -> bool| {
        let values = defined(&primal.function).into_iter().filter(|&v| wanted(v));
        let names: Vec<String> = values.map(|v| value_name(&primal.function, v)).collect();
        names.join(" ")
    };
    format!(
        "active: {}\nwith shadow: {}",
        list(&|v| primal.is_active(v)),
        list(&|v| primal.has_shadow(v))
    )
}

/// The plan of reverse mode.
pub fn plan(module: &Module, words: &[&str]) -> String {
    match derived(module, words, Mode::Combined) {
        Ok((_, outcome)) => outcome.reports.iter().map(ToString::to_string).collect(),
        Err(error) => error,
    }
}

/// The text of the derivatives: `derive @f forward dup,out`.
pub fn derive(module: &Module, words: &[&str]) -> String {
    let [name, mode, rest @ ..] = words else {
        return "derive: of which function, in which mode?".to_string();
    };
    let mode = match *mode {
        "forward" => Mode::Forward,
        "reverse" => Mode::Combined,
        other => return format!("derive: there is no mode {other}"),
    };
    let words: Vec<&str> = std::iter::once(*name).chain(rest.iter().copied()).collect();
    match derived(module, &words, mode) {
        Ok((module, outcome)) => {
            let texts = outcome.added.iter().map(|&f| print_function(&module, f));
            texts.collect()
        }
        Err(error) => error,
    }
}

/// The gradient by reverse mode, by forward mode and by the interpreter on dual numbers.
pub fn grad(module: &Module, words: &[&str]) -> String {
    let Some((name, words)) = words.split_first() else {
        return "grad: of which function?".to_string();
    };
    let args: Option<Vec<Arg>> = words.chunks(2).map(argument).collect();
    let Some(args) = args else {
        return "grad: an argument is an activity and a value".to_string();
    };
    let mut out = String::new();
    for (plan, label) in [
        (PlanKind::MinCut, "reverse"),
        (PlanKind::Everything, "everything"),
    ] {
        let options = Options {
            plan,
            ..Options::default()
        };
        let name = name.trim_start_matches('@');
        let found = Derivatives::new(module, name, &args, &options).map_err(|e| e.to_string());
        let found = found.and_then(|d| d.gradients(&args).map_err(|trap| trap.to_string()));
        let [oracle, forward, reverse] = match found {
            Ok(found) => found,
            Err(error) => return error,
        };
        if plan == PlanKind::MinCut {
            let _ = writeln!(out, "oracle     {oracle:?}\nforward    {forward:?}");
        }
        let _ = writeln!(out, "{label:10} {reverse:?}");
    }
    out
}

/// Replaces all requests by derivatives, then runs a function as `run` does.
pub fn run_requests(module: &Module, words: &[&str]) -> String {
    let mut module = module.clone();
    match differentiate(&mut module, &Options::default()) {
        Ok(_) => crate::run::run(&module, words),
        Err(error) => error.to_string(),
    }
}

/// An argument of `grad`: its activity and its value.
fn argument(words: &[&str]) -> Option<Arg> {
    let [activity, value] = words else {
        return None;
    };
    let numbers = || {
        let inner = value.strip_prefix("f64[")?.strip_suffix(']')?;
        let numbers = inner.split(',').filter(|n| !n.is_empty());
        numbers
            .map(|n| n.parse().ok())
            .collect::<Option<Vec<f64>>>()
    };
    Some(match *activity {
        "dup" => Arg::Dup(numbers()?),
        "out" => Arg::Out(value.parse().ok()?),
        "const" if value.starts_with("f64[") => Arg::Const(numbers()?),
        "const" => Arg::Int(value.parse().ok()?),
        _ => return None,
    })
}

/// The module with a request in it.
fn asked(module: &Module, words: &[&str], mode: Mode) -> Result<(Module, Options), String> {
    let (name, rest) = words.split_first().ok_or("which function?")?;
    let mut module = module.clone();
    let func = module.func_by_name(name.trim_start_matches('@'));
    let func = func.ok_or_else(|| format!("there is no function {name}"))?;
    let mut args = Vec::new();
    let mut options = Options::default();
    for word in rest.iter().flat_map(|word| word.split(',')) {
        match word {
            "dup" => args.push(Arg::Dup(Vec::new())),
            "out" => args.push(Arg::Out(0.0)),
            "const" => args.push(Arg::Int(0)),
            "kernels" => options.kernels = true,
            "everything" => options.plan = PlanKind::Everything,
            other => return Err(format!("there is no activity {other}")),
        }
    }
    if args.len() != module.funcs[func].sig.params.len() {
        return Err(format!("{name} takes other arguments"));
    }
    wrapper(&mut module, func, &args, mode);
    Ok((module, options))
}

/// The key of the request that was added last.
fn requested(module: &Module) -> Option<Key> {
    let function = module.funcs.values().last()?;
    let insts = function.block_insts(function.entry()).iter();
    let ops = insts.map(|&inst| &function.inst(inst).op);
    ops.into_iter().find_map(|op| match op {
        Op::Request(request) => Some(Key::of_request(request)),
        _ => None,
    })
}

/// The module with a derivative in it, and what was decided.
pub fn derived(module: &Module, words: &[&str], mode: Mode) -> Result<(Module, Outcome), String> {
    let (mut module, options) = asked(module, words, mode)?;
    let outcome = differentiate(&mut module, &options).map_err(|e| e.to_string())?;
    match verify_module(&module) {
        Ok(()) => Ok((module, outcome)),
        Err(errors) => Err(errors.iter().map(|error| format!("{error}\n")).collect()),
    }
}

/// Every value that the function defines, in the order of its text.
fn defined(function: &Function) -> Vec<Value> {
    let mut values = Vec::new();
    for &block in function.blocks() {
        values.extend(function.block_params(block));
        let results = function.block_insts(block).iter();
        values.extend(results.filter_map(|&inst| function.result(inst)));
    }
    values
}
