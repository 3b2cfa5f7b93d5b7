//! Operations on scalars: integer and float arithmetic and comparisons, with the promises of
//! their flags.

use super::dual;
use super::pieces::{self, Pieces};
use super::trap::{Trap, TrapKind};
use super::value::{Float, Int, Val, mask};
use crate::ir::{BinaryOp, Flags, FloatKind, FloatPred, IntPred};

/// An operation on two scalars of one type.
pub(super) fn binary(op: BinaryOp, flags: Flags, x: &Val, y: &Val) -> Result<Val, Trap> {
    match (x, y) {
        (Val::Float(x), Val::Float(y)) if op.is_float() => Ok(float_binary(op, flags, x, y)),
        (Val::Int(x), Val::Int(y)) if !op.is_float() && x.width() == y.width() => {
            int_binary(op, flags, x, y)
        }
        (_, Val::Poison) if is_division(op) => Err(Trap::poison("a division by poison")),
        (Val::Poison, _) | (_, Val::Poison) => Ok(Val::Poison),
        _ => Err(Trap::malformed(format!("{} of {x:?} and {y:?}", op.name()))),
    }
}

fn is_division(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, UDiv | SDiv | URem | SRem)
}

fn int_binary(op: BinaryOp, flags: Flags, x: &Int, y: &Int) -> Result<Val, Trap> {
    if x.is_plain() && y.is_plain() {
        return Ok(match int_value(op, flags, x, y)? {
            Some(bits) => Val::Int(Int::new(x.width(), bits)),
            None => Val::Poison,
        });
    }
    if is_division(op) && y.has_poison() {
        return Err(Trap::poison("a division by poison"));
    }
    let Some(bits) = int_value(op, flags, x, y)? else {
        return Ok(Val::Poison);
    };
    Ok(match pieces::binary(op, x, y) {
        Pieces::Tags(tags) => Val::Int(Int::tagged(x.width(), bits, *tags)),
        Pieces::Plain => Val::Int(Int::new(x.width(), bits)),
        Pieces::Poison => Val::Poison,
    })
}

/// The bits of the result, to be cut to the width; none if a promise is broken.
fn int_value(op: BinaryOp, flags: Flags, x: &Int, y: &Int) -> Result<Option<u128>, Trap> {
    let width = x.width();
    let (ux, uy, sx, sy) = (x.unsigned(), y.unsigned(), x.signed(), y.signed());
    let fits = |r: Option<i128>| r.is_some_and(|r| Int::new(width, r as u128).signed() == r);
    let fits_unsigned = |r: Option<u128>| r.is_some_and(|r| r <= mask(width));
    let kept = |flag: Flags, holds: bool| !flags.contains(flag) || holds;
    let wraps = |bits: u128, signed: Option<i128>, unsigned: Option<u128>| {
        let good = kept(Flags::NSW, fits(signed)) && kept(Flags::NUW, fits_unsigned(unsigned));
        good.then_some(bits)
    };
    let exact = |bits: u128, holds: bool| kept(Flags::EXACT, holds).then_some(bits);
    if is_division(op) && uy == 0 {
        return Err(Trap::new(TrapKind::Division, "a division by zero"));
    }
    let lowest = Int::new(width, 1 << (width - 1)).signed();
    if matches!(op, BinaryOp::SDiv | BinaryOp::SRem) && sx == lowest && sy == -1 {
        return Err(Trap::new(TrapKind::Division, "a signed division overflows"));
    }
    let shifting = matches!(op, BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr);
    if shifting && uy >= u128::from(width) {
        return Ok(None);
    }
    let by = uy as u32;
    Ok(match op {
        BinaryOp::Add => wraps(ux.wrapping_add(uy), sx.checked_add(sy), ux.checked_add(uy)),
        BinaryOp::Sub => wraps(ux.wrapping_sub(uy), sx.checked_sub(sy), ux.checked_sub(uy)),
        BinaryOp::Mul => wraps(ux.wrapping_mul(uy), sx.checked_mul(sy), ux.checked_mul(uy)),
        BinaryOp::UDiv => exact(ux / uy, ux.is_multiple_of(uy)),
        BinaryOp::SDiv => exact((sx / sy) as u128, sx % sy == 0),
        BinaryOp::URem => Some(ux % uy),
        BinaryOp::SRem => Some((sx % sy) as u128),
        BinaryOp::Shl => {
            let bits = Int::new(width, ux << by);
            let signed = kept(Flags::NSW, bits.signed() >> by == sx);
            let unsigned = kept(Flags::NUW, bits.unsigned() >> by == ux);
            (signed && unsigned).then_some(bits.unsigned())
        }
        BinaryOp::LShr => exact(ux >> by, ux & mask(by) == 0),
        BinaryOp::AShr => exact((sx >> by) as u128, ux & mask(by) == 0),
        BinaryOp::And => Some(ux & uy),
        BinaryOp::Or => kept(Flags::DISJOINT, ux & uy == 0).then_some(ux | uy),
        BinaryOp::Xor => Some(ux ^ uy),
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => {
            return Err(Trap::malformed("a float operation on integers"));
        }
    })
}

fn float_binary(op: BinaryOp, flags: Flags, x: &Float, y: &Float) -> Val {
    let (a, b) = (x.number(), y.number());
    // Computing in f64 and rounding is correct rounding for the narrower formats: they have fewer
    // than half as many digits.
    let number = match op {
        BinaryOp::FAdd => a + b,
        BinaryOp::FSub => a - b,
        BinaryOp::FMul => a * b,
        BinaryOp::FDiv => a / b,
        _ => a % b,
    };
    let tangent = if x.tangent == 0.0 && y.tangent == 0.0 {
        0.0
    } else {
        dual::binary(op, x, y, number)
    };
    let result = Float::new(x.kind, number, tangent);
    keep_promises(flags, &[x, y], result)
}

/// The result, or poison if it or an operand is what the flags promise it is not.
pub(super) fn keep_promises(flags: Flags, operands: &[&Float], result: Float) -> Val {
    if flags.intersects(Flags::NNAN | Flags::NINF) {
        let broken = |float: &Float| {
            let number = float.number();
            (flags.contains(Flags::NNAN) && number.is_nan())
                || (flags.contains(Flags::NINF) && number.is_infinite())
        };
        if operands.iter().any(|x| broken(x)) || broken(&result) {
            return Val::Poison;
        }
    }
    Val::Float(result)
}

/// The float with its sign flipped, its pattern otherwise untouched.
pub(super) fn negate(flags: Flags, x: &Val) -> Result<Val, Trap> {
    match x {
        Val::Float(x) => {
            let result = Float {
                bits: x.bits ^ sign_bit(x.kind),
                tangent: -x.tangent,
                ..*x
            };
            Ok(keep_promises(flags, &[x], result))
        }
        Val::Poison => Ok(Val::Poison),
        _ => Err(Trap::malformed(format!("fneg of {x:?}"))),
    }
}

/// The bit of the sign in a format.
pub(super) fn sign_bit(kind: FloatKind) -> u128 {
    1 << (kind.bits() - 1)
}

/// Compares two integers or two pointers.
pub(super) fn compare_ints(pred: IntPred, flags: Flags, x: &Val, y: &Val) -> Result<Val, Trap> {
    let (x, y) = match (x, y) {
        (Val::Poison, _) | (_, Val::Poison) => return Ok(Val::Poison),
        (Val::Int(x), Val::Int(y)) if x.width() == y.width() => {
            if x.has_poison() || y.has_poison() {
                return Ok(Val::Poison);
            }
            (x.clone(), y.clone())
        }
        (Val::Ptr(x), Val::Ptr(y)) => {
            let int = |address: u64| Int::new(64, u128::from(address));
            (int(x.address), int(y.address))
        }
        _ => return Err(Trap::malformed(format!("icmp of {x:?} and {y:?}"))),
    };
    let (ux, uy, sx, sy) = (x.unsigned(), y.unsigned(), x.signed(), y.signed());
    if flags.contains(Flags::SAMESIGN) && (sx < 0) != (sy < 0) {
        return Ok(Val::Poison);
    }
    Ok(Val::bool(match pred {
        IntPred::Eq => ux == uy,
        IntPred::Ne => ux != uy,
        IntPred::Ugt => ux > uy,
        IntPred::Uge => ux >= uy,
        IntPred::Ult => ux < uy,
        IntPred::Ule => ux <= uy,
        IntPred::Sgt => sx > sy,
        IntPred::Sge => sx >= sy,
        IntPred::Slt => sx < sy,
        IntPred::Sle => sx <= sy,
    }))
}

/// Compares two floats.
pub(super) fn compare_floats(pred: FloatPred, flags: Flags, x: &Val, y: &Val) -> Result<Val, Trap> {
    let (x, y) = match (x, y) {
        (Val::Poison, _) | (_, Val::Poison) => return Ok(Val::Poison),
        (Val::Float(x), Val::Float(y)) => (x, y),
        _ => return Err(Trap::malformed(format!("fcmp of {x:?} and {y:?}"))),
    };
    if keep_promises(flags, &[x], *y) == Val::Poison {
        return Ok(Val::Poison);
    }
    let (x, y) = (x.number(), y.number());
    let unordered = x.is_nan() || y.is_nan();
    Ok(Val::bool(match pred {
        FloatPred::False => false,
        FloatPred::Oeq => x == y,
        FloatPred::Ogt => x > y,
        FloatPred::Oge => x >= y,
        FloatPred::Olt => x < y,
        FloatPred::Ole => x <= y,
        FloatPred::One => !unordered && x != y,
        FloatPred::Ord => !unordered,
        FloatPred::Ueq => unordered || x == y,
        FloatPred::Ugt => unordered || x > y,
        FloatPred::Uge => unordered || x >= y,
        FloatPred::Ult => unordered || x < y,
        FloatPred::Ule => unordered || x <= y,
        FloatPred::Une => unordered || x != y,
        FloatPred::Uno => unordered,
        FloatPred::True => true,
    }))
}
