//! Memory that stays until the reverse sweep instead of being freed where the program frees it.
//!
//! What is read of it again need not be cached; in return its bytes are in use for longer, and where
//! it is made in a loop, those of all iterations at once.

use super::Need;
use super::Reloads;
use super::min_cut::{UNKNOWN_TRIPS, weight};
use crate::analysis::activity::keepable::{Group, Keepable};
use crate::analysis::affine::{AffineValues, Wrap};
use crate::analysis::known;
use crate::ir::{Callee, Inst, Module, Op, Value};
use crate::primal::Primal;
use crate::reverse::{Augmented, nest};
use std::collections::BTreeSet;

/// The memory that has to stay whatever the plan is, because the derivatives of callees and nests are
/// made for memory that is intact and read it again.
pub fn kept_anyway(primal: &Primal, augmented: &Augmented) -> BTreeSet<Group> {
    let calls = augmented.calls.iter();
    let for_calls = calls.flat_map(|(&inst, call)| match call.reloads() {
        Reloads::All => primal.overwrite.kept(inst).collect::<Vec<Group>>(),
        Reloads::Behind(arguments) => arguments
            .into_iter()
            .flat_map(|argument| primal.overwrite.kept_behind(inst, argument))
            .collect(),
    });
    let func = &primal.function;
    let insts = primal.order.iter().flat_map(|&b| func.block_insts(b));
    let nests = insts.filter(|&&inst| match &func.inst(inst).op {
        Op::Nest(nest) => !nest::read_again(primal, func.inst(inst), nest).is_empty(),
        _ => false,
    });
    let for_nests = nests.flat_map(|&inst| primal.overwrite.kept(inst));
    for_calls.chain(for_nests).collect()
}

/// The memory that has to stay for a value to be read again. That of a shadow stays anyway.
pub fn kept_for(primal: &Primal, augmented: &Augmented, value: Value) -> Vec<Group> {
    let load = augmented.func.def_inst(value).filter(|&inst| {
        matches!(augmented.func.inst(inst).op, Op::Load(_))
            && !augmented.mirrors.contains_key(&inst)
    });
    let groups = load
        .into_iter()
        .flat_map(|load| primal.overwrite.kept(load));
    groups.collect()
}

/// What the reverse sweep needs to free the memory of a group.
pub fn needs_of_free(
    module: &Module,
    primal: &Primal,
    augmented: &Augmented,
    group: Group,
) -> Vec<Need> {
    let function = &primal.function;
    let mut needs = Vec::new();
    for inst in primal.keepable.allocations(group) {
        let freed = Keepable::deallocation(module, function, inst);
        let (Some(result), Some(freed)) = (function.result(inst), freed) else {
            continue;
        };
        let Some(block) = augmented.def_block(result) else {
            continue;
        };
        let args = &function.inst(inst).args;
        let others = freed.args.iter().flatten().map(|&i| args[i as usize]);
        let values = others.chain([result]);
        needs.extend(values.filter_map(|value| augmented.need(primal, value, block)));
    }
    needs
}

/// What it costs to let the memory of a group stay: its bytes on the way through the caches, each time
/// it is made, as with a tape. Memory that a combined derivative makes once only lives longer.
pub fn cost(module: &Module, primal: &Primal, augmented: &Augmented, group: Group) -> u64 {
    let values = AffineValues::new(&primal.function, &primal.cfg, &primal.loops);
    let mut total: u64 = 0;
    for inst in primal.keepable.allocations(group) {
        let block = (primal.function.result(inst)).and_then(|v| augmented.def_block(v));
        let level = block.and_then(|block| primal.loops.innermost(block));
        let cost = match level {
            None if primal.key.combined => 1,
            _ => {
                weight(primal, level).saturating_mul(expected_bytes(module, primal, &values, inst))
            }
        };
        total = total.saturating_add(cost);
    }
    total
}

/// How many bytes an allocation has, as a guess where it depends on anything. A loop over it counts as
/// short, so it has few elements, and none larger than a number.
fn expected_bytes(module: &Module, primal: &Primal, values: &AffineValues, inst: Inst) -> u64 {
    let function = &primal.function;
    let block = function.result(inst).and_then(|v| values.def_block(v));
    let sizes = size_operands(module, primal, inst);
    let guess = |&size: &Value| {
        let Some(block) = block else { return 1 };
        let form = values.integer(size, Wrap::Modular, block);
        let terms = form.terms.iter().map(|(factors, coefficient)| {
            let unknown = UNKNOWN_TRIPS.saturating_pow(factors.len() as u32);
            unknown.saturating_mul(coefficient.unsigned_abs().min(8) as u64)
        });
        let constant = form.constant.clamp(0, 1 << 40) as u64;
        terms.fold(constant, u64::saturating_add).max(1)
    };
    sizes.iter().map(guess).fold(1, u64::saturating_mul)
}

/// The size of an allocation, if it is always the same.
pub fn constant_bytes(module: &Module, primal: &Primal, inst: Inst) -> Option<u64> {
    let sizes = size_operands(module, primal, inst);
    let size = |&value: &Value| {
        let size = primal.function.as_int(value);
        size.and_then(|n| u64::try_from(n).ok())
    };
    let sizes: Option<Vec<u64>> = sizes.iter().map(size).collect();
    sizes
        .filter(|sizes| !sizes.is_empty())?
        .into_iter()
        .try_fold(1, u64::checked_mul)
}

/// The arguments of an allocation whose product is its size.
fn size_operands(module: &Module, primal: &Primal, inst: Inst) -> Vec<Value> {
    let data = primal.function.inst(inst);
    let info = match data.op.call().map(|call| call.callee) {
        Some(Callee::Direct(func)) => known::allocation(&module.funcs[func]),
        _ => None,
    };
    let positions = info.map(|info| info.size_args).unwrap_or_default();
    let sizes = positions.iter().filter_map(|&i| data.args.get(i as usize));
    sizes.copied().collect()
}
