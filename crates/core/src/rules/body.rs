//! Derivatives of straight-line code: the bodies of nests.
//!
//! Without branches and memory, an adjoint is a sum of values, so neither slots nor a tape are
//! needed: both modes append to the body, where all primal values are at hand.

use super::{Partial, Rule, emit, rule_for, rule_of};
use crate::ir::{Body, Builder, Flags, Inst, Op, Value};
use crate::shadow::derivative_flags;
use cranelift_entity::EntitySet;
use std::collections::HashMap;

/// The derivatives of values, one for each derivative at once.
pub type Derivatives = HashMap<Value, Vec<Value>>;

/// The values of a body that derivatives flow to from some of its parameters.
pub fn varied(body: &Body, active: impl Iterator<Item = Value>) -> EntitySet<Value> {
    let func = &body.func;
    let mut varied: EntitySet<Value> = EntitySet::new();
    for param in active.filter(|&param| func.ty(param).float_kind().is_some()) {
        varied.insert(param);
    }
    for &inst in body.insts() {
        let data = func.inst(inst);
        let operands = data.args.iter().enumerate();
        let mut operands = operands.filter(|(_, v)| varied.contains(**v));
        let flows = match rule_for(&data.op) {
            Some(rule) => operands.any(|(i, _)| *rule.partial(i) != Partial::Zero),
            None => operands.any(|_| true),
        };
        if let Some(result) = func.result(inst)
            && flows
            && func.ty(result).float_kind().is_some()
        {
            varied.insert(result);
        }
    }
    varied
}

/// Whether there is a rule for all that derivatives flow through.
pub fn has_rules(body: &Body, varied: &EntitySet<Value>) -> bool {
    body.insts().iter().all(|&inst| {
        let op = &body.func.inst(inst).op;
        let result = body.func.result(inst);
        let flows = result.is_some_and(|result| varied.contains(result));
        !flows || *op == Op::Select || rule_for(op).is_some()
    })
}

/// Appends the tangents of all varied values to a body that does not return yet; `tangents` has
/// those of the parameters.
pub fn tangents(
    body: &mut Body,
    varied: &EntitySet<Value>,
    tangents: &mut Derivatives,
    strong_zero: bool,
) {
    for (inst, result) in computed(body, varied) {
        let data = body.func.inst(inst).clone();
        let block = body.block();
        let mut builder = Builder::new(&mut body.func, block);
        builder.loc = data.loc;
        builder.float_flags = derivative_flags(data.flags);
        let of = |value: &Value| tangents.get(value).cloned();
        let of_operands: Vec<_> = data.args.iter().map(of).collect();
        let sums = match rule_of(builder.func, &data) {
            Some(rule) => emit::tangents(
                &mut builder,
                rule,
                &data.args,
                result,
                &of_operands,
                strong_zero,
            ),
            None => {
                let zero = builder.func.zero(builder.func.ty(result));
                let width = of_operands.iter().flatten().map(Vec::len).max();
                let part = |i: usize, k: usize| of_operands[i].as_ref().map_or(zero, |t| t[k]);
                let choose = |k| builder.select(data.args[0], part(1, k), part(2, k));
                Some((0..width.unwrap_or(0)).map(choose).collect())
            }
        };
        if let Some(sums) = sums {
            tangents.insert(result, sums);
        }
    }
}

/// Appends the adjoints of all varied values to a body that does not return yet; `adjoints` has
/// those of the results.
pub fn adjoints(
    body: &mut Body,
    varied: &EntitySet<Value>,
    adjoints: &mut Derivatives,
    strong_zero: bool,
) {
    for (inst, result) in computed(body, varied).into_iter().rev() {
        let Some(of_result) = adjoints.get(&result).cloned() else {
            continue;
        };
        let data = body.func.inst(inst).clone();
        let block = body.block();
        let mut builder = Builder::new(&mut body.func, block);
        builder.loc = data.loc;
        for (i, &operand) in data.args.iter().enumerate() {
            if !varied.contains(operand) {
                continue;
            }
            builder.float_flags = derivative_flags(data.flags);
            let ty = builder.func.ty(operand);
            let terms = match rule_of(builder.func, &data) {
                Some(Rule::Cast) => {
                    let convert = |&d: &Value| emit::convert(&mut builder, d, ty);
                    Some(of_result.iter().map(convert).collect())
                }
                Some(rule) => rule.partial(i).contributions(
                    &mut builder,
                    &of_result,
                    strong_zero,
                    &mut |_, primal| match primal {
                        super::Primal::Operand(n) => data.args[n],
                        super::Primal::Result => result,
                        super::Primal::Computed(value) => value,
                    },
                ),
                None => {
                    let zero = builder.func.zero(ty);
                    let chosen = |&d: &Value| match i {
                        1 => builder.select(data.args[0], d, zero),
                        _ => builder.select(data.args[0], zero, d),
                    };
                    Some(of_result.iter().map(chosen).collect())
                }
            };
            if let Some(terms) = terms {
                add(&mut builder, adjoints, operand, terms);
            }
        }
    }
}

/// Adds contributions to the adjoints of a value.
pub fn add(builder: &mut Builder<'_>, adjoints: &mut Derivatives, value: Value, terms: Vec<Value>) {
    let sums = sum(builder, adjoints.remove(&value), terms);
    adjoints.insert(value, sums);
}

/// Adjoints with contributions added to those that are known.
pub fn sum(builder: &mut Builder<'_>, known: Option<Vec<Value>>, terms: Vec<Value>) -> Vec<Value> {
    let Some(known) = known else {
        return terms;
    };
    builder.float_flags = Flags::ADJOINT_SUM;
    let pairs = known.into_iter().zip(terms);
    pairs.map(|(x, y)| builder.fadd(x, y)).collect()
}

/// The instructions whose results are varied.
fn computed(body: &Body, varied: &EntitySet<Value>) -> Vec<(Inst, Value)> {
    let insts = body.insts().iter();
    let results = insts.filter_map(|&inst| Some((inst, body.func.result(inst)?)));
    results
        .filter(|(_, value)| varied.contains(*value))
        .collect()
}
