//! LLVM's intrinsics on integers.

use super::lanes::lanewise;
use super::pieces;
use super::scalar;
use super::trap::{Trap, TrapKind};
use super::value::{Int, Val, mask};
use crate::ir::{BinaryOp, Flags, IntPred, Type};

/// Calls an integer intrinsic by its name without `llvm.`; none if it is not known.
pub(super) fn call(ret: Type, name: &str, args: &[Val]) -> Result<Option<Val>, Trap> {
    let base = match name.split('.').collect::<Vec<_>>()[..] {
        [first, second @ ("sat" | "with"), ..] => format!("{first}.{second}"),
        [first, ..] => first.to_string(),
        [] => return Ok(None),
    };
    let Some(count) = operand_count(&base) else {
        return Ok(None);
    };
    if args.len() < count {
        let message = format!("too few arguments for llvm.{name}");
        return Err(Trap::new(TrapKind::BadCall, message));
    }
    if base.ends_with(".with") {
        return with_overflow(ret, &base, args).map(Some);
    }
    let width = ret.scalar().int_bits().unwrap_or(32);
    lanewise(ret, args, |x| scalar_call(&base, width, x)).map(Some)
}

fn operand_count(base: &str) -> Option<usize> {
    Some(match base {
        "ctpop" | "bswap" | "bitreverse" => 1,
        "smax" | "smin" | "umax" | "umin" | "abs" | "ctlz" | "cttz" | "scmp" | "ucmp" => 2,
        "sadd.sat" | "uadd.sat" | "ssub.sat" | "usub.sat" | "sshl.sat" | "ushl.sat" => 2,
        "sadd.with" | "uadd.with" | "ssub.with" | "usub.with" | "smul.with" | "umul.with" => 2,
        "fshl" | "fshr" => 3,
        _ => return None,
    })
}

fn scalar_call(base: &str, width: u32, args: &[Val]) -> Result<Val, Trap> {
    let Val::Int(x) = &args[0] else {
        return Ok(Val::Poison);
    };
    match base {
        "smax" | "smin" | "umax" | "umin" => return choose(base, &args[0], &args[1]),
        "fshl" | "fshr" => return funnel_shift(base == "fshl", args),
        "bswap" if x.width().is_multiple_of(8) => return Ok(Val::Int(pieces::swap_bytes(x))),
        _ => {}
    }
    if x.has_poison() {
        return Ok(Val::Poison);
    }
    let y = match args.get(1) {
        Some(Val::Int(y)) if !y.has_poison() => y.clone(),
        None => Int::new(x.width(), 0),
        _ => return Ok(Val::Poison),
    };
    let int = |bits: u128| Ok(Val::Int(Int::new(width, bits)));
    let excess = 128 - x.width();
    let promised = y.unsigned() != 0;
    match base {
        "ctpop" => int(u128::from(x.unsigned().count_ones())),
        "bitreverse" => int(x.unsigned().reverse_bits() >> excess),
        "abs" if x.signed() == lowest(x.width()) && promised => Ok(Val::Poison),
        "abs" => int(x.signed().unsigned_abs()),
        "ctlz" | "cttz" if x.unsigned() == 0 && promised => Ok(Val::Poison),
        "ctlz" => int(u128::from(x.unsigned().leading_zeros() - excess)),
        "cttz" => int(u128::from(x.unsigned().trailing_zeros().min(x.width()))),
        "scmp" => int(x.signed().cmp(&y.signed()) as i128 as u128),
        "ucmp" => int(x.unsigned().cmp(&y.unsigned()) as i128 as u128),
        _ => Ok(saturating(base, x, &y)),
    }
}

fn lowest(width: u32) -> i128 {
    Int::new(width, 1 << (width - 1)).signed()
}

/// The one of two integers that an intrinsic chooses, with everything its bytes remember.
pub(super) fn choose(base: &str, x: &Val, y: &Val) -> Result<Val, Trap> {
    let pred = match base {
        "smax" => IntPred::Sgt,
        "smin" => IntPred::Slt,
        "umax" => IntPred::Ugt,
        _ => IntPred::Ult,
    };
    Ok(
        match scalar::compare_ints(pred, Flags::empty(), x, y)?.as_int() {
            Some(0) => y.clone(),
            Some(_) => x.clone(),
            None => Val::Poison,
        },
    )
}

/// Two integers in a row, shifted, and one half of the result.
fn funnel_shift(left: bool, args: &[Val]) -> Result<Val, Trap> {
    let (Val::Int(high), Val::Int(by)) = (&args[0], &args[2]) else {
        return Ok(Val::Poison);
    };
    if by.has_poison() {
        return Ok(Val::Poison);
    }
    let width = high.width();
    let amount = (by.unsigned() % u128::from(width)) as u32;
    if amount == 0 {
        return Ok(args[usize::from(!left)].clone());
    }
    let up = if left { amount } else { width - amount };
    let shifted = |op, x: &Val, by: u32| {
        let by = Val::Int(Int::new(width, u128::from(by)));
        scalar::binary(op, Flags::empty(), x, &by)
    };
    let upper = shifted(BinaryOp::Shl, &args[0], up)?;
    let lower = shifted(BinaryOp::LShr, &args[1], width - up)?;
    scalar::binary(BinaryOp::Or, Flags::empty(), &upper, &lower)
}

/// The exact result of an operation, if it fits in 128 bits, signed or not.
fn exact(base: &str, x: &Int, y: &Int) -> Option<Int> {
    let width = x.width();
    let (sx, sy, ux, uy) = (x.signed(), y.signed(), x.unsigned(), y.unsigned());
    if base.starts_with('s') {
        let result = match &base[1..4] {
            "add" => sx.checked_add(sy),
            "sub" => sx.checked_sub(sy),
            "mul" => sx.checked_mul(sy),
            _ => {
                let shifted = Int::new(width, ux << uy.min(127) as u32);
                return (shifted.signed() >> uy.min(127) as u32 == sx).then_some(shifted);
            }
        }?;
        let int = Int::new(width, result as u128);
        (int.signed() == result).then_some(int)
    } else {
        let result = match &base[1..4] {
            "add" => ux.checked_add(uy),
            "sub" => ux.checked_sub(uy),
            "mul" => ux.checked_mul(uy),
            _ => {
                let shifted = Int::new(width, ux << uy.min(127) as u32);
                return (shifted.unsigned() >> uy.min(127) as u32 == ux).then_some(shifted);
            }
        }?;
        (result <= mask(width)).then(|| Int::new(width, result))
    }
}

fn saturating(base: &str, x: &Int, y: &Int) -> Val {
    let width = x.width();
    if &base[1..4] == "shl" && y.unsigned() >= u128::from(width) {
        return Val::Poison;
    }
    if let Some(result) = exact(base, x, y) {
        return Val::Int(result);
    }
    let bits = match base {
        "uadd.sat" | "ushl.sat" => mask(width),
        "usub.sat" => 0,
        // A signed result leaves the range on the side of the first operand.
        _ if x.signed() < 0 => 1 << (width - 1),
        _ => mask(width - 1),
    };
    Val::Int(Int::new(width, bits))
}

fn with_overflow(ret: Type, base: &str, args: &[Val]) -> Result<Val, Trap> {
    let op = match &base[1..4] {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        _ => BinaryOp::Mul,
    };
    let ty = ret.part(0).unwrap_or(ret);
    let wrapped = lanewise(ty, args, |x| {
        scalar::binary(op, Flags::empty(), &x[0], &x[1])
    })?;
    let overflowed = lanewise(ty, args, |x| {
        Ok(match (&x[0], &x[1]) {
            (Val::Int(x), Val::Int(y)) if !x.has_poison() && !y.has_poison() => {
                Val::bool(exact(base, x, y).is_none())
            }
            _ => Val::Poison,
        })
    })?;
    Ok(Val::Aggregate(vec![wrapped, overflowed]))
}
