//! Slots: pieces of frame memory for the floats that loops carry.
//!
//! A region is read as if such a float were in memory. Most slots are gone when the region has been
//! settled, because the sums have moved to where they are stored; those that are left become part of
//! the function.

use super::Plan;
use crate::analysis::affine::Base;
use crate::analysis::loops::Loops;
use crate::ir::{Function, InstData, Op, Type, Value};
use std::collections::HashMap;

/// Frame memory for each float that a loop carries. It is not part of the function yet.
pub fn make(function: &mut Function, loops: &Loops) -> HashMap<Value, Value> {
    let mut slots = HashMap::new();
    for l in loops.iter() {
        for param in function.block_params(loops.header(l)).to_vec() {
            let ty = function.ty(param);
            let Some(kind) = ty.float_kind() else {
                continue;
            };
            let one = function.iconst(Type::i64(), 1);
            let op = Op::Alloca {
                ty,
                align: kind.bytes().next_power_of_two(),
            };
            let inst = function.make_inst(InstData::new(op, vec![one]), Type::ptr());
            slots.extend(function.result(inst).map(|slot| (param, slot)));
        }
    }
    slots
}

/// Makes the slots that are left in a plan part of the function.
pub fn attach(function: &mut Function, plan: &Plan) {
    let entry = function.entry();
    for base in plan.parts.bases(&plan.tree) {
        let inst = match base {
            Base::Value(slot) => function.def_inst(slot),
            Base::Symbol(_) => None,
        };
        let Some(inst) = inst else {
            continue;
        };
        let detached = matches!(function.inst(inst).op, Op::Alloca { .. })
            && function.inst_blocks()[inst].is_none();
        if detached {
            let mut insts = function.block_insts(entry).to_vec();
            insts.insert(0, inst);
            function.set_block_insts(entry, insts);
        }
    }
}
