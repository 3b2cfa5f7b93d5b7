//! Turns calls through pointers that derivatives flow through into choices among direct calls.
//!
//! The address that is called is compared with that of each function it may be, and the one that
//! it equals is called by its name; any other address stops the program with a message. After that
//! nothing is special about such a call: activity, types, effects, frames and both sweeps see
//! branches and direct calls. The choice depends on the primal address alone, so what shadow
//! memory holds in place of code pointers never matters.
//!
//! Before: any function. After: no derivative flows through a call by pointer, except through
//! those that nothing in the program can be the target of; they are refused where they are
//! differentiated.

use crate::analysis::Callees;
use crate::analysis::activity::Activity;
use crate::analysis::cfg::Cfg;
use crate::analysis::effects::{Effects, call_args};
use crate::analysis::targets::{is_dispatched, targets_of};
use crate::analysis::types::Types;
use crate::chaos::Choice;
use crate::derivative::Key;
use crate::ir::{
    Block, Builder, Call, Callee, Constant, Edge, Func, Function, Inst, InstData, IntPred, Module,
    Op, Symbol, Type, Value, ValueDef,
};
use crate::pipeline::Options;
use crate::simplify::specialize;
use crate::support;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A direct call that a call through a pointer has become one of.
#[derive(Clone, Debug)]
pub struct Dispatched {
    /// The address that was called.
    pub address: Value,
    /// The choice that it belongs to, by number: of the calls of one choice only one runs.
    pub choice: usize,
}

/// Replaces the calls through pointers that derivatives flow through in a function that is to be
/// differentiated for a key. Gives the direct calls.
pub fn run(
    module: &mut Module,
    function: &mut Function,
    key: &Key,
    effects: &Effects,
    callees: &mut Callees,
    options: &Options,
) -> HashMap<Inst, Dispatched> {
    let mut made = HashMap::new();
    let calls = active_calls(module, function, key, effects, callees, options);
    for (choice, (inst, mut targets)) in calls.into_iter().enumerate() {
        if options.chaos.is_some() {
            targets.sort_by_key(|func| {
                let about = (&function.name, inst, func);
                options.chance(Choice::Targets, about)
            });
        }
        dispatch(module, function, inst, &targets, choice, &mut made);
    }
    made
}

/// The direct calls of each choice, of which only one runs.
pub fn alternatives(dispatched: &HashMap<Inst, Dispatched>) -> Vec<Vec<Inst>> {
    let mut choices: BTreeMap<usize, Vec<Inst>> = BTreeMap::new();
    for (&inst, dispatched) in dispatched {
        choices.entry(dispatched.choice).or_default().push(inst);
    }
    choices.values_mut().for_each(|insts| insts.sort());
    choices.into_values().collect()
}

/// The calls through pointers that derivatives may flow through, with the functions they may reach.
fn active_calls(
    module: &Module,
    function: &Function,
    key: &Key,
    effects: &Effects,
    callees: &mut Callees,
    options: &Options,
) -> Vec<(Inst, Vec<Func>)> {
    let mut found = Vec::new();
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            if let Some(call) = function.inst(inst).op.call()
                && call.callee == Callee::Indirect
            {
                let mut targets = targets_of(module, call);
                targets.retain(|&func| is_dispatched(module, func));
                found.push((inst, targets));
            }
        }
    }
    found.retain(|(inst, targets)| !targets.is_empty() || is_tested(function, *inst));
    if found.is_empty() {
        return found;
    }
    let types = Types::new(module, function, &key.shapes, &[], &mut callees.types);
    callees
        .places
        .learn(module, function, effects, &mut callees.types);
    // Where the analysis cannot go on because of such a call, it can once that is dispatched.
    if let Ok(activity) = Activity::new(
        module,
        function,
        &types,
        effects,
        &callees.places,
        key,
        options,
    ) {
        found.retain(|&(inst, _)| activity.is_active_call(function, inst));
    }
    found
}

/// Whether a call runs only if its pointer is not null. Where nothing can be its target the pointer
/// is null, then: tables of virtual functions have no address for what there is nothing to do.
fn is_tested(function: &Function, inst: Inst) -> bool {
    let cfg = Cfg::new(function);
    let address = function.inst(inst).args[0];
    let null = |value| matches!(function.def(value), ValueDef::Const(Constant::Zero));
    let mut at = function.inst_blocks()[inst];
    let mut passed = HashSet::new();
    while let Some(block) = at.filter(|&block| passed.insert(block)) {
        let &[(before, way)] = cfg.predecessors(block) else {
            return false;
        };
        let end = function.terminator(before).map(|end| function.inst(end));
        if let Some(end) = end.filter(|end| matches!(end.op, Op::Branch { .. }))
            && let ValueDef::Result(test) = *function.def(end.args[0])
            && let InstData { op, args, .. } = function.inst(test)
            && let [a, b] = args[..]
            && (a == address && null(b) || b == address && null(a))
        {
            // The first way is that of a test which holds.
            return *op == Op::ICmp([IntPred::Ne, IntPred::Eq][way]);
        }
        at = Some(before);
    }
    false
}

/// Splits the block of a call and puts a chain of comparisons in between.
fn dispatch(
    module: &mut Module,
    function: &mut Function,
    inst: Inst,
    targets: &[Func],
    choice: usize,
    made: &mut HashMap<Inst, Dispatched>,
) {
    let data = function.inst(inst).clone();
    let (Some(block), Some(call)) = (function.inst_blocks()[inst], data.op.call()) else {
        return;
    };
    let (address, args) = (data.args[0], call_args(call, &data));
    let numbers: Vec<Option<i128>> = args.iter().map(|&v| function.as_int(v)).collect();
    let after = split_behind(function, block, inst);
    let mut layout = Vec::new();
    let mut builder = Builder::new(function, block);
    builder.loc = data.loc;
    for &target in targets {
        let symbol = Constant::Address(Symbol::Func(target), 0);
        let symbol = builder.func.constant(Type::ptr(), symbol);
        let same = builder.icmp(IntPred::Eq, address, symbol);
        let [this, next] = [(); 2].map(|()| builder.func.add_block());
        layout.extend([this, next]);
        let to = |block| Edge {
            block,
            args: Vec::new(),
        };
        builder.branch(same, to(this), to(next));
        builder.block = this;
        let direct = Call {
            callee: Callee::Direct(specialize::run(module, target, &numbers)),
            ..call.clone()
        };
        let direct = call_like(&mut builder, &data, direct, args, after);
        made.insert(direct, Dispatched { address, choice });
        builder.block = next;
    }
    support::stop(
        module,
        &mut builder,
        address,
        "the program does not have the code of",
    );
    builder.effect(Op::Unreachable, Vec::new());
    layout.push(after);
    place_behind(function, block, layout);
}

/// Moves blocks in the layout to where a block ends.
pub(super) fn place_behind(function: &mut Function, block: Block, moved: Vec<Block>) {
    let others = function.blocks().iter().copied();
    let mut all: Vec<Block> = others.filter(|b| !moved.contains(b)).collect();
    let position = all.iter().position(|&b| b == block).unwrap_or(0);
    all.splice(position + 1..position + 1, moved);
    function.set_layout(all);
}

/// Calls as the instruction did, or invokes if it did, and goes on with the result.
fn call_like(
    builder: &mut Builder<'_>,
    data: &InstData,
    call: Call,
    args: &[Value],
    after: Block,
) -> Inst {
    let (ret, call) = (call.sig.ret, Box::new(call));
    let Op::Invoke { unwind, .. } = &data.op else {
        let inst = builder.inst(Op::Call(call), args.to_vec(), ret, data.flags);
        let result = builder.func.result(inst);
        builder.jump(after, result.into_iter().collect());
        return inst;
    };
    let normal = Edge {
        block: after,
        args: Vec::new(),
    };
    let op = Op::Invoke {
        call,
        normal,
        unwind: unwind.clone(),
    };
    let inst = builder.inst(op, args.to_vec(), ret, data.flags);
    let result = builder.func.result(inst);
    if let Op::Invoke { normal, .. } = &mut builder.func.inst_mut(inst).op {
        normal.args.extend(result);
    }
    inst
}

/// Ends a block before an instruction. The new block has the rest of it, and a parameter for the
/// result.
pub(super) fn split_behind(function: &mut Function, block: Block, call: Inst) -> Block {
    let mut before = function.block_insts(block).to_vec();
    let at = before.iter().position(|&inst| inst == call).unwrap_or(0);
    let rest = before.split_off(at);
    function.set_block_insts(block, before);
    let after = function.add_block();
    function.set_block_insts(after, rest[1..].to_vec());
    if let Op::Invoke { normal, .. } = &function.inst(call).op {
        let normal = normal.clone();
        Builder::new(function, after).jump(normal.block, normal.args);
    }
    if let Some(result) = function.result(call) {
        let param = function.add_block_param(after, function.ty(result));
        function.replace_uses(&HashMap::from([(result, param)]));
    }
    after
}
