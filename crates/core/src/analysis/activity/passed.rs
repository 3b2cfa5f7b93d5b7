//! What callees reach from the pointers that they are given.
//!
//! To a callee, all that it reaches from one argument is one memory, which has a shadow or has none.
//! Its caller may know better: an object may hold the address of active numbers beside that of
//! constants. Then what the caller makes gets a shadow, all of it, and where other memory is reached
//! that has none, the derivative of the callee decides at run time.

use super::objects::{Object, Objects};
use super::solver::Solver;
use super::{CallKind, call_kind};
use crate::analysis::effects::{Effects, call_args};
use crate::derivative::Made;
use crate::ir::{Function, Inst, Module};
use std::collections::BTreeSet;

/// What a callee reaches from a pointer.
pub(super) struct Passed {
    call: Inst,
    pub(super) reached: BTreeSet<Object>,
}

/// What the callees of a function reach that follow pointers which they find in memory.
pub(super) fn find(
    module: &Module,
    function: &Function,
    effects: &Effects,
    objects: &Objects,
) -> Vec<Passed> {
    let mut found = Vec::new();
    let insts = function.blocks().iter();
    for &call in insts.flat_map(|&block| function.block_insts(block)) {
        let data = function.inst(call);
        let (Some(called), CallKind::Defined(func)) = (data.op.call(), call_kind(module, data))
        else {
            continue;
        };
        // Who writes a rule knows what is in the shadows.
        let has_rule = module.rules_of(func).next().is_some();
        if has_rule || effects.call(called).other.is_empty() {
            continue;
        }
        for &pointer in call_args(called, data) {
            let reached = objects.reached_from(pointer);
            if reached.len() > 1 {
                found.push(Passed { call, reached });
            }
        }
    }
    found
}

impl Solver<'_> {
    /// The calls that reach memory with shadows and memory without from one argument.
    pub(super) fn mixing(&self) -> BTreeSet<Inst> {
        let has_shadow = |object: &Object| self.with_shadows.contains(object);
        let without = |object: &Object| match *object {
            Object::Local(_) | Object::Global(_) | Object::Code => false,
            Object::Argument(i) if self.key.made[i] == Made::Nothing => false,
            Object::Argument(_) | Object::Held(_) | Object::Foreign => {
                !self.has_shadow_of_own(*object)
            }
        };
        let mixing = self.passed.iter().filter(|passed| {
            passed.reached.iter().any(has_shadow) && passed.reached.iter().any(without)
        });
        mixing.map(|passed| passed.call).collect()
    }
}
