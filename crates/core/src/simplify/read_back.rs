//! Reads back what has been stored.
//!
//! The reverse of `y[i] = tanh(x[i])` needs the result again. It is in `y[i]`, where it stays as long
//! as nobody overwrites it, and there is no need to keep it on a tape as well. Whether it stays is what
//! is known of every load; so there is a load behind the store, and the reverse sweep asks for that
//! instead.
//!
//! Before: any function. After: behind plain stores of floats that are dear to compute again and may be
//! asked for, there are loads from the same place.

use crate::ir::{BinaryOp, Function, Inst, InstData, Op, Value, ValueDef};

/// A value that is stored, and what is read back.
#[derive(Copy, Clone, Debug)]
pub struct Stored {
    /// The value.
    pub value: Value,
    /// The load behind its store.
    pub load: Inst,
}

/// Adds the loads.
pub fn run(function: &mut Function) -> Vec<Stored> {
    let (uses, defined_in) = (function.use_counts(), function.inst_blocks());
    let def_block = |function: &Function, value: Value| match function.def(value) {
        ValueDef::Param(block, _) => Some(*block),
        ValueDef::Result(inst) => defined_in[*inst],
        ValueDef::Const(_) => None,
    };
    let mut stored: Vec<Stored> = Vec::new();
    for block in function.blocks().to_vec() {
        let mut at = 0;
        while let Some(&inst) = function.block_insts(block).get(at) {
            at += 1;
            let data = function.inst(inst);
            let (Op::Store(access), &[value, pointer]) = (&data.op, &data.args[..]) else {
                continue;
            };
            let is_plain = !access.volatile && access.atomic.is_none();
            let is_float = function.ty(value).float_kind().is_some();
            // What is stored twice is read at one of the places.
            let is_new = stored.iter().all(|known| known.value != value);
            if !is_plain || !is_float || !is_new || !may_be_asked(function, value, uses[value]) {
                continue;
            }
            // In another block, the store may not have been come to.
            if def_block(function, value) != Some(block) {
                continue;
            }
            let load = InstData {
                loc: data.loc,
                ..InstData::new(Op::Load(access.clone()), vec![pointer])
            };
            let ty = function.ty(value);
            let load = function.insert_inst(block, at, load, ty);
            at += 1;
            stored.push(Stored { value, load });
        }
    }
    stored
}

/// Whether the reverse sweep may ask for a value, and whether to compute it again costs more than to
/// load it, if it is possible at all. Derivatives of functions and quotients ask for their results, all
/// others only for what something else is computed from.
fn may_be_asked(function: &Function, value: Value, uses: u32) -> bool {
    match function.def(value) {
        ValueDef::Param(block, _) => *block != function.entry() && uses > 1,
        ValueDef::Result(inst) => match function.inst(*inst).op {
            Op::Math(_) | Op::Binary(BinaryOp::FDiv | BinaryOp::FRem) => true,
            Op::Call(_) | Op::Load(_) => uses > 1,
            _ => false,
        },
        ValueDef::Const(_) => false,
    }
}
