//! Where the shadows of memory that a function makes end.
//!
//! A reverse sweep needs shadow memory from where the primal was freed back to where it was made.
//! If the function makes memory, nobody knows it when the function has returned, and nobody but
//! the function frees it, then the reverse of the allocation ends its shadow. All other shadows
//! are ended by whoever frees the primal, see [`delayed`](crate::reverse::delayed).

use super::objects::{Object, Objects};
use super::{CallKind, call_kind};
use crate::analysis::effects::{ArgEffects, Effects, call_args};
use crate::ir::{AllocInfo, AllocKind, Freed, Function, Inst, Module, Value};
use std::collections::BTreeSet;

/// The allocations whose reverse ends their shadows.
pub(super) fn released(
    module: &Module,
    function: &Function,
    effects: &Effects,
    objects: &Objects,
) -> BTreeSet<Inst> {
    let blocks = function.blocks().iter();
    let insts: Vec<Inst> = blocks
        .flat_map(|&block| function.block_insts(block))
        .copied()
        .collect();
    let mut released = BTreeSet::new();
    let mut frees: Vec<Value> = Vec::new();
    for &inst in &insts {
        let data = function.inst(inst);
        if data.op.call().is_none() {
            continue;
        }
        match call_kind(module, data) {
            CallKind::Allocation(info) if info.kind == AllocKind::Free => {
                frees.push(data.args[info.ptr_arg.unwrap_or(0) as usize]);
            }
            CallKind::Allocation(info)
                if deallocator(&info).is_some() && !objects.outlives(Object::Local(inst)) =>
            {
                released.insert(inst);
            }
            _ => {}
        }
    }
    let keep = |released: &mut BTreeSet<Inst>, freed: &BTreeSet<Object>| {
        for object in freed {
            if let Object::Local(inst) = object {
                released.remove(inst);
            }
        }
    };
    for &inst in &insts {
        let data = function.inst(inst);
        let Some(call) = data.op.call() else { continue };
        if let CallKind::Allocation(_) | CallKind::Inactive = call_kind(module, data) {
            continue;
        }
        let summary = effects.call(call);
        for (i, &argument) in call_args(call, data).iter().enumerate() {
            if summary.arg(i).contains(ArgEffects::FREE) {
                keep(&mut released, objects.of(argument));
            }
            if summary.frees_other {
                keep(&mut released, &objects.reached_from(argument));
            }
        }
    }
    // One that frees this or that memory must know which of both to leave alone.
    loop {
        let before = released.len();
        for &pointer in &frees {
            let freed = objects.of(pointer);
            let known = |o: &Object| matches!(o, Object::Local(inst) if released.contains(inst));
            if !freed.iter().all(known) {
                keep(&mut released, freed);
            }
        }
        if released.len() == before {
            return released;
        }
    }
}

/// How the reverse sweep can free memory that an allocation returned: as the program says, or as
/// its family is freed.
pub fn deallocator(info: &AllocInfo) -> Option<Freed> {
    if info.freed.is_some() {
        return info.freed.clone();
    }
    let (by, args) = match info.family.as_str() {
        "malloc" => ("free", vec![None]),
        "_Znwm" => ("_ZdlPv", vec![None]),
        "_Znam" => ("_ZdaPv", vec![None]),
        // What is allocated with an alignment as second argument is freed with it.
        "_ZnwmSt11align_val_t" => ("_ZdlPvSt11align_val_t", vec![None, Some(1)]),
        "_ZnamSt11align_val_t" => ("_ZdaPvSt11align_val_t", vec![None, Some(1)]),
        _ => return None,
    };
    let by = by.to_string();
    Some(Freed { by, args })
}
