//! The forward derivative of a function that has a rule for forward mode.

use super::convention::{self, Augmented, Part, Tangent, arguments, list};
use super::finite::{self, check_writes, shadow_positions};
use super::lanes::{self, Lanes, check_activities, get};
use super::like;
use super::reverse::check_repeated;
use crate::analysis::effects::{ArgEffects, Effects};
use crate::derivative::{Key, batch_values, bundle_values};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{Builder, CustomRule, Function, Module, Region, ReturnActivity, RuleKind, Type};
use crate::synthesis::Synthesis;

/// Writes the forward derivative of a function that has a rule.
pub fn forward(synthesis: &mut Synthesis, key: &Key, rule: &CustomRule) -> Result<Function> {
    if rule.kind == RuleKind::Like {
        return like::forward(synthesis, key, rule);
    }
    let module = &synthesis.module;
    let primal = &module.funcs[key.func];
    let layout = &module.layout;
    convention::check_function(primal)?;
    check_activities(key, primal)?;
    let tape = match rule.kind {
        RuleKind::SplitDerivative => Some(Tape::new(module, key, rule)?),
        _ => None,
    };
    let part = Part::new(module, rule.parts[rule.parts.len() - 1]);
    let misfit = || {
        let mut all = arguments(&primal.sig, is_differentiable);
        all.extend(tape.iter().flat_map(|tape| tape.types()));
        let (args, ret) = (list(&all), primal.sig.ret);
        let expected = match ret.is_void() {
            true => format!("({args})"),
            false => format!("({args}) -> {ret}, or -> {{{ret}, {ret}}}"),
        };
        part.misfit(&primal.name, "tangent", &expected)
    };
    // Every argument may have a shadow, integers too, or those alone that can have derivatives.
    let shadowed = [is_differentiable, |_| true].into_iter().find(|&shadowed| {
        let mut all = arguments(&primal.sig, shadowed);
        all.extend(tape.iter().flat_map(|tape| tape.types()));
        part.params() == all
    });
    let shadowed = shadowed.ok_or_else(misfit)?;
    let returned = part.returned();
    if primal.sig.ret.is_void() != returned.is_none() {
        return Err(misfit());
    }
    let places = Tangent::new(layout, returned, primal.sig.ret).ok_or_else(misfit)?;
    if key.ret != ReturnActivity::Const && places.tangent.is_none() {
        return Err(misfit());
    }
    check_repeated(module, key, &part, &arguments(&primal.sig, shadowed))?;
    let taped_result = tape
        .as_ref()
        .is_some_and(|tape| tape.places.result.is_some());
    let calls_primal =
        key.primal_needed && !primal.sig.ret.is_void() && places.result.is_none() && !taped_result;
    if calls_primal {
        check_callable(module, key, &part)?;
    }

    let mut function = Function::with_entry("", key.forward_signature(&primal.sig));
    function.local = true;
    let lanes = Lanes::new(key, &primal.sig, &function);
    let entry = function.entry();
    let mut builder = Builder::new(&mut function, entry);
    let ty = primal.sig.ret;
    let mut result = match calls_primal {
        true => {
            let args = lanes.primals(&mut builder);
            let memory = lanes::call(&mut builder, layout, &Part::new(module, key.func), args);
            memory.map(|memory| get(&mut builder, layout, memory, 0, ty, Region::User))
        }
        false => None,
    };
    let mut tangents = Vec::new();
    for k in 0..key.width as usize {
        let mut args = lanes.arguments(&mut builder, k, shadowed);
        if let Some(tape) = &tape {
            let own = lanes.arguments(&mut builder, k, Type::is_ptr);
            let memory = lanes::call(&mut builder, layout, &tape.part, own);
            for (memory, &(at, ty)) in memory.iter().cycle().zip(&tape.places.tape) {
                args.push(get(&mut builder, layout, *memory, at, ty, Region::User));
            }
            if let (None, Some(memory), Some(at)) = (result, memory, tape.places.result) {
                result = Some(get(&mut builder, layout, memory, at, ty, Region::User));
            }
        }
        let Some(memory) = lanes::call(&mut builder, layout, &part, args) else {
            continue;
        };
        let mut at = |at: u64| get(&mut builder, layout, memory, at, ty, Region::User);
        result = result.or_else(|| places.result.map(&mut at));
        tangents.extend(places.tangent.map(&mut at));
    }
    let mut parts = Vec::new();
    if key.primal_needed {
        parts.extend(result);
    }
    if key.ret != ReturnActivity::Const {
        parts.push(batch_values(&mut builder, &tangents));
    }
    let returned = bundle_values(&mut builder, &parts);
    builder.ret(returned);
    if synthesis.options.check_finite {
        let rule = finite::Rule {
            func: part.func,
            shadows: shadow_positions(&primal.sig.params, part.hidden(), shadowed),
            what: "a tangent",
        };
        check_writes(&mut synthesis.module, &mut function, rule);
    }
    Ok(function)
}

/// Whether an argument of this type can have a derivative.
fn is_differentiable(ty: Type) -> bool {
    ty.is_ptr() || ty.is_float_like()
}

/// The augmented sweep of a rule with a tape.
struct Tape {
    part: Part,
    places: Augmented,
}

impl Tape {
    fn new(module: &Module, key: &Key, rule: &CustomRule) -> Result<Tape> {
        let primal = &module.funcs[key.func];
        let part = Part::new(module, rule.parts[0]);
        let args = arguments(&primal.sig, Type::is_ptr);
        let places = Augmented::new(&module.layout, part.returned(), primal.sig.ret);
        match places.filter(|_| part.params() == args) {
            Some(places) => Ok(Tape { part, places }),
            None => {
                let expected = format!("({}), returning the tape or {{tape, result}}", list(&args));
                Err(part.misfit(&primal.name, "augmented forward sweep", &expected))
            }
        }
    }

    fn types(&self) -> impl Iterator<Item = Type> {
        self.places.tape.iter().map(|(_, ty)| *ty)
    }
}

/// If the rule gives the tangent alone, the function itself gives the result; then the two must
/// not both change memory.
fn check_callable(module: &Module, key: &Key, tangent: &Part) -> Result<()> {
    let primal = &module.funcs[key.func];
    if primal.is_declaration() {
        return Ok(());
    }
    let effects = Effects::new(module);
    let summary = effects.function(key.func);
    let writes = |i: usize| summary.arg(i).contains(ArgEffects::WRITE);
    if !(0..primal.sig.params.len()).any(writes) {
        return Ok(());
    }
    Err(Diagnostic::new(
        Code::TangentAlone,
        format!(
            "`{}` is no tangent for `{}` here",
            tangent.name, primal.name
        ),
        format!(
            "it returns only the tangent, so `{}` would have to be called for the result, and \
             that writes to memory",
            primal.name
        ),
        "return a structure of the result and its tangent",
    ))
}
