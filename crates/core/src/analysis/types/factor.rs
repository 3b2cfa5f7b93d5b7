//! What integers are multiples of.
//!
//! Optimizers write the row of a matrix as `base + 24*i` in one address, or as an integer `24*i`
//! that is then added; the step over memory is the same.

use super::shape::gcd;
use crate::ir::{BinaryOp, CastOp, Function, Op, Value};

/// A number that divides all values of an integer, as far as the instructions next to it say: 1 if
/// nothing is known.
pub fn factor(function: &Function, value: Value) -> i64 {
    within(function, value, 4).clamp(1, 1 << 40)
}

/// The same, 0 for the constant 0, looking at so many instructions in a row.
fn within(function: &Function, value: Value, depth: usize) -> i64 {
    if let Some(constant) = integer(function, value) {
        return constant.saturating_abs();
    }
    let Some(inst) = function.def_inst(value).filter(|_| depth > 0) else {
        return 1;
    };
    let data = function.inst(inst);
    let of = |i: usize| within(function, data.args[i], depth - 1);
    match &data.op {
        Op::Binary(BinaryOp::Mul) => of(0).saturating_mul(of(1)),
        Op::Binary(BinaryOp::Shl) => match integer(function, data.args[1]) {
            Some(bits @ 0..32) => of(0).saturating_mul(1 << bits),
            _ => 1,
        },
        Op::Binary(BinaryOp::And) => match integer(function, data.args[1]) {
            Some(mask @ ..0) => 1 << mask.trailing_zeros().min(40),
            _ => 1,
        },
        Op::Binary(BinaryOp::Add | BinaryOp::Sub) => gcd(of(0), of(1)),
        // Between widths, what is divided out of 2^n remains.
        Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) => gcd(of(0), 1 << 40),
        _ => 1,
    }
}

fn integer(function: &Function, value: Value) -> Option<i64> {
    i64::try_from(function.as_int(value)?).ok()
}
