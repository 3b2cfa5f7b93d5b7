//! Pointers whose shadow nobody needs: those that lead to code, and to tables of it.
//!
//! Calls dispatch on the primal address, so the shadow of a pointer to a function is never used,
//! nor that of a pointer through which only such pointers are loaded: the virtual table of an
//! object, a structure of callbacks. Shadow memory may hold anything in their place, so they must
//! not be followed there.

use super::{CallKind, call_kind};
use crate::ir::{Callee, Function, InstData, Module, Op, Value};
use crate::shadow::moved_operands;
use cranelift_entity::EntitySet;

/// The values with shadows, without those whose shadow nobody needs.
pub(super) fn without(
    module: &Module,
    function: &Function,
    active: &EntitySet<Value>,
    mut shadowed: EntitySet<Value>,
) -> EntitySet<Value> {
    let mut needed: EntitySet<Value> = EntitySet::new();
    loop {
        let mut changed = false;
        let mut need = |value: Value, needed: &mut EntitySet<Value>| {
            changed |= needed.insert(value);
        };
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                let result = function.result(inst);
                let passes = result.is_none_or(|v| needed.contains(v) || active.contains(v));
                for (position, &operand) in data.args.iter().enumerate() {
                    if matters(module, data, position, passes) {
                        need(operand, &mut needed);
                    }
                }
                for edge in data.op.edges() {
                    let params = function.block_params(edge.block);
                    for (&param, &argument) in params.iter().zip(&edge.args) {
                        if needed.contains(param) || active.contains(param) {
                            need(argument, &mut needed);
                        }
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    for value in function.values() {
        if !needed.contains(value) {
            shadowed.remove(value);
        }
    }
    shadowed
}

/// Whether an instruction needs the shadow of an operand, given whether somebody needs that of its
/// result.
fn matters(module: &Module, data: &InstData, position: usize, passes: bool) -> bool {
    match &data.op {
        Op::ICmp(_) => false,
        Op::Call(call) | Op::Invoke { call, .. } if call.callee == Callee::Indirect => position > 0,
        Op::Call(_) => !matches!(call_kind(module, data), CallKind::Inactive),
        op => passes || moved_operands(op).is_none(),
    }
}
