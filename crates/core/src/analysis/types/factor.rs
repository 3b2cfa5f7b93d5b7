//! What integers are multiples of, and by how much they miss.
//!
//! Optimizers write a field of the element of an array as `base + 24*i + 8` in one address, or as
//! an integer `24*i + 8` that is then added; the step over memory, and where it starts, are the
//! same.

use super::shape::gcd;
use crate::ir::{BinaryOp, CastOp, Function, Op, Value};

/// A number that divides all values of an integer, as far as the instructions next to it say: 1 if
/// nothing is known.
pub fn factor(function: &Function, value: Value) -> i64 {
    let Steps { start, step } = within(function, value, DEPTH);
    gcd(start, step).clamp(1, LARGEST)
}

/// What all values of an integer are, as far as the instructions next to it say.
pub(super) fn steps(function: &Function, value: Value) -> Steps {
    within(function, value, DEPTH)
}

/// The numbers `start + k·step`; one number if the step is 0.
#[derive(Copy, Clone, Debug)]
pub(super) struct Steps {
    pub(super) start: i64,
    pub(super) step: i64,
}

/// So many instructions in a row are looked at.
const DEPTH: usize = 4;
const LARGEST: i64 = 1 << 40;
const ANY: Steps = Steps { start: 0, step: 1 };

impl Steps {
    fn new(start: Option<i64>, step: Option<i64>) -> Steps {
        match (start, step) {
            (Some(start), Some(0)) => Steps { start, step: 0 },
            (Some(start), Some(step @ 1..=LARGEST)) => Steps {
                start: start.rem_euclid(step),
                step,
            },
            _ => ANY,
        }
    }

    fn times(self, other: Steps) -> Steps {
        let cross = |a: i64, b: i64| a.checked_mul(b).map(i64::saturating_abs);
        let steps = [
            cross(self.start, other.step),
            cross(self.step, other.start),
            cross(self.step, other.step),
        ];
        let step = steps
            .into_iter()
            .try_fold(0, |all, step| Some(gcd(all, step?)));
        Steps::new(self.start.checked_mul(other.start), step)
    }
}

fn within(function: &Function, value: Value, depth: usize) -> Steps {
    if let Some(constant) = integer(function, value) {
        return Steps {
            start: constant,
            step: 0,
        };
    }
    let Some(inst) = function.def_inst(value).filter(|_| depth > 0) else {
        return ANY;
    };
    let data = function.inst(inst);
    let of = |i: usize| within(function, data.args[i], depth - 1);
    match &data.op {
        Op::Binary(BinaryOp::Mul) => of(0).times(of(1)),
        Op::Binary(BinaryOp::Shl) => match integer(function, data.args[1]) {
            Some(bits @ 0..32) => of(0).times(Steps {
                start: 1 << bits,
                step: 0,
            }),
            _ => ANY,
        },
        Op::Binary(BinaryOp::And) => match integer(function, data.args[1]) {
            Some(mask @ ..0) => Steps {
                start: 0,
                step: 1 << mask.trailing_zeros().min(40),
            },
            _ => ANY,
        },
        Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) => {
            let (a, b) = (of(0), of(1));
            let start = match op {
                BinaryOp::Add => a.start.checked_add(b.start),
                _ => a.start.checked_sub(b.start),
            };
            Steps::new(start, Some(gcd(a.step, b.step)))
        }
        // Between widths, what is divided out of 2^n remains.
        Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) => {
            let inner = of(0);
            Steps::new(Some(inner.start), Some(gcd(inner.step, LARGEST)))
        }
        _ => ANY,
    }
}

fn integer(function: &Function, value: Value) -> Option<i64> {
    i64::try_from(function.as_int(value)?).ok()
}
