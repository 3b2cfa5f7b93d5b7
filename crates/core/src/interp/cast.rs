//! Conversions of scalars. Bitcasts of whole values are in [`image`](super::image).

use super::pieces;
use super::trap::Trap;
use super::value::{Float, Int, Pointer, Val, mask};
use crate::ir::{CastOp, Flags, FloatKind, Type, TypeKind};

/// A scalar converted to a scalar type.
pub(super) fn cast(op: CastOp, flags: Flags, x: &Val, ty: Type) -> Result<Val, Trap> {
    if *x == Val::Poison {
        return Ok(Val::Poison);
    }
    Ok(match (op, x, ty.kind()) {
        (CastOp::Trunc, Val::Int(x), TypeKind::Int(width)) if *width <= x.width() => {
            truncate(flags, x, *width)
        }
        (CastOp::ZExt, Val::Int(x), TypeKind::Int(width)) if *width >= x.width() => {
            if flags.contains(Flags::NNEG) && x.signed() < 0 {
                return Ok(Val::Poison);
            }
            Val::Int(pieces::resize(x, *width))
        }
        (CastOp::SExt, Val::Int(x), TypeKind::Int(width)) if *width >= x.width() => {
            if x.has_poison() {
                return Ok(Val::Poison);
            }
            let bits = x.signed() as u128;
            match x.is_plain() {
                true => Val::Int(Int::new(*width, bits)),
                false => Val::Int(Int::tagged(*width, bits, x.tags())),
            }
        }
        (CastOp::FpTrunc | CastOp::FpExt, Val::Float(x), TypeKind::Float(kind)) => {
            Val::Float(resize_float(x, *kind))
        }
        (CastOp::FpToSi, Val::Float(x), TypeKind::Int(width)) => {
            float_to_int(x.number(), *width, true).unwrap_or(Val::Poison)
        }
        (CastOp::FpToUi, Val::Float(x), TypeKind::Int(width)) => {
            float_to_int(x.number(), *width, false).unwrap_or(Val::Poison)
        }
        (CastOp::UiToFp, Val::Int(x), TypeKind::Float(kind)) => {
            let broken = flags.contains(Flags::NNEG) && x.signed() < 0;
            if x.has_poison() || broken {
                return Ok(Val::Poison);
            }
            Val::float(*kind, int_to_float(*kind, false, x.unsigned()), 0.0)
        }
        (CastOp::SiToFp, Val::Int(x), TypeKind::Float(kind)) => {
            if x.has_poison() {
                return Ok(Val::Poison);
            }
            let signed = x.signed();
            let number = int_to_float(*kind, signed < 0, signed.unsigned_abs());
            Val::float(*kind, number, 0.0)
        }
        (CastOp::PtrToInt, Val::Ptr(x), TypeKind::Int(width)) => {
            Val::Int(Int::from_pointer(*width, *x))
        }
        (CastOp::IntToPtr, Val::Int(x), TypeKind::Ptr(_)) => {
            if x.has_poison() {
                return Ok(Val::Poison);
            }
            let wide = pieces::resize(x, 64);
            Val::Ptr(Pointer {
                object: wide.object(),
                address: wide.unsigned() as u64,
            })
        }
        (CastOp::AddrSpaceCast, Val::Ptr(x), TypeKind::Ptr(_)) => Val::Ptr(*x),
        _ => {
            let name = op.name();
            return Err(Trap::malformed(format!("{name} of {x:?} to {ty}")));
        }
    })
}

fn truncate(flags: Flags, x: &Int, width: u32) -> Val {
    let result = pieces::resize(x, width);
    let signed = flags.contains(Flags::NSW) && result.signed() != x.signed();
    let unsigned = flags.contains(Flags::NUW) && result.unsigned() != x.unsigned();
    if signed || unsigned || (result.has_poison() && width < 8) {
        return Val::Poison;
    }
    Val::Int(result)
}

/// The float in another format; between equal formats the pattern stays as it is.
fn resize_float(x: &Float, kind: FloatKind) -> Float {
    if kind == x.kind {
        return *x;
    }
    Float::new(kind, x.number(), x.tangent)
}

/// The integer part of a number if it fits.
pub(super) fn float_to_int(number: f64, width: u32, signed: bool) -> Option<Val> {
    let whole = number.trunc();
    // The bounds are powers of two, which f64 holds exactly.
    let (low, high) = if signed {
        let bound = 2f64.powi(width as i32 - 1);
        (-bound, bound)
    } else {
        (0.0, 2f64.powi(width as i32))
    };
    if !(whole >= low && whole < high) {
        return None;
    }
    let bits = if signed {
        whole as i128 as u128
    } else {
        whole as u128
    };
    Some(Val::Int(Int::new(width, bits)))
}

/// A sign and a magnitude as a number that rounds correctly to the format.
fn int_to_float(kind: FloatKind, negative: bool, magnitude: u128) -> f64 {
    let number = match kind {
        FloatKind::F64 | FloatKind::X86Fp80 | FloatKind::F128 => magnitude as f64,
        // Rounding twice could go wrong, so the first rounding is to odd: cut bits leave a trace
        // in the last place.
        _ => {
            let shift = (128 - magnitude.leading_zeros()).saturating_sub(53);
            let sticky = u128::from(magnitude & mask(shift) != 0);
            ((magnitude >> shift) | sticky) as f64 * 2f64.powi(shift as i32)
        }
    };
    if negative { -number } else { number }
}
