//! Arithmetic on the bits of active floats.
//!
//! A program may look at the bits of a float as an integer, and decide by them. If it computes
//! with them and makes the outcome a float again, as some fast approximations do, a derivative
//! would have to flow that no rule describes, and the program is refused.

use super::{CallKind, call_kind};
use crate::analysis::types::{Kinds, Piece, Types};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{Callee, CastOp, Function, Inst, InstData, Module, Op, UnaryOp, Value};
use cranelift_entity::EntitySet;

/// Refuses a function that turns integers computed from the bits of active floats into something
/// that a derivative would have to flow into.
pub(super) fn check(
    module: &Module,
    function: &Function,
    types: &Types,
    active: &EntitySet<Value>,
) -> Result<()> {
    let holds_float = |value: Value| {
        let pieces = types.pieces(module, function, value);
        pieces.iter().any(|(at, piece)| match piece {
            Piece::Float(_) => true,
            // Addresses are looked at as integers too.
            Piece::Conflict => types.shape(value).kinds(*at, 1) != Kinds::PTR | Kinds::INT,
            _ => false,
        })
    };
    let mut computed: EntitySet<Value> = EntitySet::new();
    loop {
        let mut changed = false;
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                for edge in data.op.edges() {
                    let params = function.block_params(edge.block);
                    for (&param, &argument) in params.iter().zip(&edge.args) {
                        changed |= computed.contains(argument) && computed.insert(param);
                    }
                }
                let Some(result) = function.result(inst) else {
                    continue;
                };
                let arithmetic = computes(module, data);
                let begins = arithmetic
                    && !active.contains(result)
                    && data.args.iter().any(|&v| {
                        active.contains(v) && function.ty(v).is_int_like() && holds_float(v)
                    });
                let goes_on = (arithmetic || passes_on(&data.op))
                    && data.args.iter().any(|&v| computed.contains(v));
                changed |= (begins || goes_on) && computed.insert(result);
            }
        }
        if !changed {
            break;
        }
    }
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            if becomes_value(module, function, inst, &computed) {
                return Err(Diagnostic::new(
                    Code::FloatBits,
                    "cannot differentiate arithmetic on the bits of a float",
                    "an integer that was computed from the bits of an active float is used as a \
                     value here, and no rule says how a derivative flows through that",
                    "compute with floats (ldexp, frexp, copysign, sqrt, fma have derivatives), or \
                     put the trick into a function marked inactive if no derivative is meant",
                )
                .at(module, function.inst(inst).loc)
                .in_function(&function.name));
            }
        }
    }
    Ok(())
}

/// Whether an operation computes integers from integers.
fn computes(module: &Module, data: &InstData) -> bool {
    match &data.op {
        Op::Binary(op) => !op.is_float(),
        Op::Call(call) => match call.callee {
            Callee::Direct(func) => {
                module.funcs[func].name.starts_with("llvm.")
                    && matches!(call_kind(module, data), CallKind::Inactive)
            }
            Callee::Indirect => false,
        },
        _ => false,
    }
}

/// Whether the result of an operation holds bits of its operands.
pub(super) fn passes_on(op: &Op) -> bool {
    match op {
        Op::Cast(op) => matches!(op, CastOp::Trunc | CastOp::ZExt | CastOp::SExt),
        Op::Select | Op::Unary(UnaryOp::Freeze) => true,
        Op::Extract(_) | Op::Insert(_) | Op::ExtractElement => true,
        Op::InsertElement | Op::Shuffle(_) => true,
        _ => false,
    }
}

/// Whether an instruction makes a computed integer a float, or hands it on.
fn becomes_value(
    module: &Module,
    function: &Function,
    inst: Inst,
    computed: &EntitySet<Value>,
) -> bool {
    let data = function.inst(inst);
    let uses = |v: &Value| computed.contains(*v);
    match &data.op {
        Op::Cast(CastOp::Bitcast | CastOp::SiToFp | CastOp::UiToFp) => uses(&data.args[0]),
        Op::Nest(nest) => data.args[nest.outside()..].iter().any(uses),
        Op::Store(_) | Op::Return => data.args.first().is_some_and(uses),
        Op::Call(_) | Op::Invoke { .. } => {
            let inactive = matches!(call_kind(module, data), CallKind::Inactive);
            !inactive && data.args.iter().any(uses)
        }
        _ => false,
    }
}
