//! Makes absolute values of floats whose sign bit is masked out.
//!
//! Vector code of libraries takes absolute values by `and` on the bits, and the optimizer may turn
//! the load of such a vector into one of integers, so that nothing says float before the mask.
//!
//! Before: any function. After: an `and` of all bits but the sign whose result is only seen as a
//! float of the same width is `fabs` of the bits seen as that float.

use crate::ir::{BinaryOp, CastOp, Constant, Flags, Function, Inst, InstData, MathFn, Op, Value};

/// Rewrites one function; whether anything changed.
pub fn run(function: &mut Function) -> bool {
    let mut changed = false;
    for block in function.blocks().to_vec() {
        let mut insts = Vec::new();
        for inst in function.block_insts(block).to_vec() {
            if let Some(bits) = masked(function, inst) {
                let data = function.inst(inst).clone();
                let ty = function.ty(function.result(inst).unwrap_or(bits));
                let seen = InstData {
                    args: vec![bits],
                    ..data
                };
                let seen = function.make_inst(seen, ty);
                insts.push(seen);
                let float = function.result(seen).unwrap_or(bits);
                let abs = function.inst_mut(inst);
                abs.op = Op::Math(MathFn::Fabs);
                abs.args = vec![float];
                abs.flags = Flags::empty();
                abs.origin = None;
                changed = true;
            }
            insts.push(inst);
        }
        function.set_block_insts(block, insts);
    }
    if changed {
        remove_masks(function);
    }
    changed
}

/// The bits of which an instruction sees all but the sign as a float.
fn masked(function: &Function, inst: Inst) -> Option<Value> {
    let data = function.inst(inst);
    if !matches!(data.op, Op::Cast(CastOp::Bitcast)) {
        return None;
    }
    let float = function.ty(function.result(inst)?);
    let kind = float.scalar().float_kind()?;
    let and = function.inst(function.def_inst(data.args[0])?);
    let ty = function.ty(data.args[0]);
    let fits = ty.scalar().int_bits() == Some(kind.bits()) && ty.lanes() == float.lanes();
    if !matches!(and.op, Op::Binary(BinaryOp::And)) || !fits {
        return None;
    }
    match (
        is_mask(function, and.args[0]),
        is_mask(function, and.args[1]),
    ) {
        (false, true) => Some(and.args[0]),
        (true, false) => Some(and.args[1]),
        _ => None,
    }
}

/// Whether a constant has all bits but the sign in every lane.
fn is_mask(function: &Function, value: Value) -> bool {
    let bits = function.ty(value).scalar().int_bits().unwrap_or(0);
    let is = |constant: &Constant| match constant {
        Constant::Int(n) => bits > 1 && *n == (1 << (bits - 1)) - 1,
        _ => false,
    };
    match function.as_const(value) {
        Some(Constant::Aggregate(lanes)) => lanes.iter().all(is),
        Some(constant) => is(constant),
        None => false,
    }
}

/// Takes the masks away that nobody looks at any more.
fn remove_masks(function: &mut Function) {
    let uses = function.use_counts();
    for block in function.blocks().to_vec() {
        let unused = |inst: &Inst| {
            matches!(function.inst(*inst).op, Op::Binary(BinaryOp::And))
                && function.result(*inst).is_some_and(|v| uses[v] == 0)
        };
        let insts = function.block_insts(block).iter().copied();
        let kept = insts.filter(|inst| !unused(inst)).collect();
        function.set_block_insts(block, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Signature, Type};

    fn check(mask: u128, lanes: Option<u32>, expected: bool) {
        let vector = |ty: Type| lanes.map_or(ty, |n| Type::vector(ty, n));
        let (bits, float) = (vector(Type::i64()), vector(Type::f64()));
        let mut function = Function::with_entry("f", Signature::new(vec![bits], float));
        let (entry, argument) = (function.entry(), function.arguments()[0]);
        let mask = match lanes {
            Some(n) => Constant::Aggregate(vec![Constant::Int(mask); n as usize]),
            None => Constant::Int(mask),
        };
        let mask = function.constant(bits, mask);
        let mut builder = Builder::new(&mut function, entry);
        let and = builder.value(Op::Binary(BinaryOp::And), vec![argument, mask], bits);
        let seen = builder.value(Op::Cast(CastOp::Bitcast), vec![and], float);
        builder.ret(Some(seen));
        assert_eq!(run(&mut function), expected);
        let ops = function.block_insts(entry).iter();
        let abs = |&&inst: &&Inst| matches!(function.inst(inst).op, Op::Math(MathFn::Fabs));
        assert_eq!(ops.filter(abs).count(), usize::from(expected));
        assert_eq!(function.block_insts(entry).len(), 3);
    }

    #[test]
    fn only_masks_of_the_sign() {
        let all_but_sign = u128::from(u64::MAX >> 1);
        check(all_but_sign, None, true);
        check(all_but_sign, Some(2), true);
        check(all_but_sign - 1, None, false);
        check(1 << 63, Some(2), false);
        check(u64::MAX.into(), None, false);
    }
}
