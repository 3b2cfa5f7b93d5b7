//! How the reverse sweep could get a value without a tape.

use super::Why;
use super::kept::kept_for;
use crate::analysis::overwrite::{Because, Overwritten};
use crate::ir::{
    BinaryOp, Block, Callee, CastOp, Flags, FloatKind, FnFlags, Function, Inst, InstData, Module,
    Op, UnaryOp, Value, ValueDef,
};
use crate::planted::Defect;
use crate::primal::Primal;
use crate::reverse::Augmented;
use cranelift_entity::EntityRef;

/// How a value can be had again, or why not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recipe {
    /// From other values of the forward sweep, at this cost for each time.
    From(Vec<Value>, u64),
    /// It has to be cached.
    Never(Why),
}

/// What it costs to read memory.
const LOADING: u64 = 4;

/// How a value can be had again.
pub fn recipe(module: &Module, primal: &Primal, augmented: &Augmented, value: Value) -> Recipe {
    match augmented.func.def(value) {
        ValueDef::Const(_) => Recipe::From(Vec::new(), 0),
        ValueDef::Result(_) if let Some(call) = called_again(module, primal, augmented, value) => {
            Recipe::From(call.args.clone(), 1)
        }
        ValueDef::Param(..) => param(augmented, value),
        ValueDef::Result(inst) => result(primal, augmented, *inst),
    }
}

/// Why a value that has a recipe is had by it.
pub fn why_again(module: &Module, primal: &Primal, augmented: &Augmented, value: Value) -> Why {
    let inst = match augmented.func.def(value) {
        ValueDef::Const(_) => return Why::CostsLess,
        ValueDef::Param(..) if augmented.inductions.contains_key(&value) => {
            return Why::FollowsFromCounter;
        }
        ValueDef::Param(..) => return Why::FollowsFromConditions,
        ValueDef::Result(inst) => *inst,
    };
    if called_again(module, primal, augmented, value).is_some() {
        return Why::AskedFor;
    }
    match &augmented.func.inst(inst).op {
        Op::Load(_) => match primal.overwritten(read_of(augmented, inst)) {
            Overwritten::IfOverlap(conditions) => {
                Why::IntactIfChecked(conditions.first().map(|c| c.by))
            }
            _ => {
                let groups = kept_for(primal, augmented, value).into_iter();
                let mut frees = groups.flat_map(|group| primal.keepable.frees(group));
                frees.next().map_or(Why::Intact, Why::Kept)
            }
        },
        _ => Why::CostsLess,
    }
}

/// The load of the program that a load reads along with.
fn read_of(augmented: &Augmented, load: Inst) -> Inst {
    augmented.mirrors.get(&load).copied().unwrap_or(load)
}

/// The call that computes a value, if the program wants it called again rather than its result
/// cached.
pub fn called_again<'p>(
    module: &Module,
    primal: &'p Primal,
    augmented: &Augmented,
    value: Value,
) -> Option<&'p InstData> {
    let inst = augmented.func.def_inst(value)?;
    if inst.index() >= primal.function.inst_count() {
        return None;
    }
    // The augmented sweep may call a derivative in its place; the primal has the call itself.
    let data = primal.function.inst(inst);
    match data.op.call()?.callee {
        Callee::Direct(func) => {
            let flags = module.funcs[func].attrs.flags;
            flags.contains(FnFlags::RECOMPUTE).then_some(data)
        }
        Callee::Indirect => None,
    }
}

fn param(augmented: &Augmented, value: Value) -> Recipe {
    if let Some(induction) = augmented.inductions.get(&value) {
        return Recipe::From(induction.operands(), 2);
    }
    if let Some(decisions) = augmented.decisions.get(&value) {
        let conditions = decisions.conditions();
        let cost = conditions.len() as u64;
        return Recipe::From(conditions, cost);
    }
    Recipe::Never(Why::DependsOnWay)
}

fn result(primal: &Primal, augmented: &Augmented, inst: Inst) -> Recipe {
    let func = &augmented.func;
    let data = func.inst(inst);
    let again = |cost| Recipe::From(data.args.clone(), cost);
    match &data.op {
        Op::Load(_) => match primal.overwritten(read_of(augmented, inst)) {
            Overwritten::Never => again(LOADING),
            Overwritten::IfOverlap(_) if primal.key.disjoint => again(LOADING),
            Overwritten::IfOverlap(conditions) => {
                let by = conditions.first().map(|c| c.by);
                Recipe::Never(Why::OverwrittenIfOverlap(by))
            }
            Overwritten::Yes(because) => Recipe::Never(match because {
                Because::Inst(by) => Why::OverwrittenBy(by),
                Because::FrameEnds => Why::FrameEnds,
                Because::Caller => Why::CallerOverwrites,
                Because::Observable => Why::Observable,
            }),
        },
        Op::Unary(UnaryOp::Freeze) => Recipe::Never(Why::Frozen),
        // A decision is repeated exactly or not at all: the same comparison of recomputed floats
        // may come out differently.
        op if op.jumps()
            && data.args.iter().any(|&v| is_rounded(primal, func, v))
            && !primal.breaks(Defect::DecisionRecomputed) =>
        {
            Recipe::Never(Why::Decision)
        }
        Op::Unary(_)
        | Op::ICmp(_)
        | Op::FCmp(_)
        | Op::Select
        | Op::Cast(_)
        | Op::Address { .. } => again(cost(&data.op)),
        Op::Binary(_) | Op::Math(_) => again(arithmetic(primal, augmented, inst)),
        Op::ExtractElement | Op::InsertElement | Op::Shuffle(_) | Op::Extract(_) => {
            again(cost(&data.op))
        }
        Op::Insert(_) => again(cost(&data.op)),
        Op::Call(_) | Op::Invoke { .. } => Recipe::Never(Why::FromCall),
        Op::Alloca { .. } => Recipe::Never(Why::FrameAddress),
        _ => Recipe::Never(Why::Once),
    }
}

/// Whether a value is the rounded result of float arithmetic. An argument may be, where the sweeps are
/// apart: who calls the second may have computed it again.
fn is_rounded(primal: &Primal, func: &Function, value: Value) -> bool {
    let Some(inst) = func.def_inst(value) else {
        return !primal.key.combined && primal.function.arguments().contains(&value);
    };
    !matches!(
        func.inst(inst).op,
        Op::Load(_) | Op::Call(_) | Op::Extract(_) | Op::Cast(CastOp::SiToFp | CastOp::UiToFp)
    )
}

/// What arithmetic costs each time, with what it is permitted to do.
fn arithmetic(primal: &Primal, augmented: &Augmented, inst: Inst) -> u64 {
    let data = augmented.func.inst(inst);
    let level = |block: Option<Block>| block.and_then(|block| primal.loops.innermost(block));
    match &data.op {
        // By what does not change in the loop, it is a product with a reciprocal.
        Op::Binary(BinaryOp::FDiv)
            if data.flags.contains(Flags::ARCP)
                && level(augmented.block_of(inst)) != level(augmented.def_block(data.args[1])) =>
        {
            1
        }
        Op::Math(function) if data.flags.contains(Flags::AFN) && is_single(augmented, inst) => {
            math_cost(*function).min(IN_VECTORS)
        }
        op => cost(op),
    }
}

/// What a function costs that may be approximated, and so computed on vectors. In double precision there
/// may be two numbers in a vector, and it takes more steps: then to keep the result costs less.
const IN_VECTORS: u64 = 7;

fn is_single(augmented: &Augmented, inst: Inst) -> bool {
    let kind = augmented
        .func
        .result(inst)
        .map(|value| augmented.func.ty(value));
    kind.is_some_and(|ty| ty.float_kind() == Some(FloatKind::F32))
}

/// What an operation costs each time.
pub fn cost(op: &Op) -> u64 {
    match op {
        Op::Load(_) => LOADING,
        Op::Binary(BinaryOp::FDiv) => 20,
        Op::Binary(BinaryOp::UDiv | BinaryOp::SDiv) => 8,
        Op::Binary(BinaryOp::URem | BinaryOp::SRem | BinaryOp::FRem) => 12,
        Op::Math(function) => math_cost(*function),
        _ => 1,
    }
}

fn math_cost(function: crate::ir::MathFn) -> u64 {
    use crate::ir::MathFn::*;
    match function {
        Fabs | Copysign | Fma | Fmuladd | Fmin | Fmax | Minimum | Maximum | Floor | Ceil
        | Trunc | Round | RoundEven | Rint | Nearbyint | MinimumNum | MaximumNum => 1,
        Sqrt => 20,
        _ => 40,
    }
}
