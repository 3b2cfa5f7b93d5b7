//! Mathematical functions with more than one result, or with an integer result: those of C, which
//! write through pointers, and LLVM's, which return structures.

use super::cast::float_to_int;
use super::execute::pointer;
use super::externals::Environment;
use super::lanes::lanewise;
use super::math;
use super::trap::{Trap, TrapKind};
use super::value::{Float, Val};
use crate::ir::{Flags, MathFn, Type};

/// Calls a C function by name; none if it is not one of these.
pub(super) fn c_call(
    env: &mut Environment<'_>,
    name: &str,
    args: &[Val],
) -> Result<Option<Option<Val>>, Trap> {
    let Some(Val::Float(x)) = args.first() else {
        return Ok(None);
    };
    let base = name.strip_suffix(['f', 'l']).unwrap_or(name);
    let is = |plain: &str| name == plain || base == plain;
    if let Some(round) = rounding(name).or_else(|| rounding(base)) {
        let width = env.ret.int_bits().unwrap_or(64);
        return Ok(Some(Some(rounded(round, &args[0], width)?)));
    }
    let ty = Type::float(x.kind);
    let mut put = |index: usize, ty: Type, value: &Val| {
        let missing = || Trap::new(TrapKind::BadCall, format!("too few arguments for {name}"));
        let at = pointer(args.get(index).ok_or_else(missing)?, name)?;
        env.memory.store(ty, at, value)
    };
    let x = &args[0];
    let result = if is("sincos") {
        put(1, ty, &one(MathFn::Sin, x)?)?;
        put(2, ty, &one(MathFn::Cos, x)?)?;
        None
    } else if is("frexp") {
        put(1, Type::int(32), &exponent(x, 32)?)?;
        Some(one(MathFn::Significand, x)?)
    } else if is("modf") {
        put(1, ty, &one(MathFn::Trunc, x)?)?;
        Some(fraction(x)?)
    } else if is("lgamma_r") || name == "lgammaf_r" {
        let sign = number(x)?.map_or(1, |x| libm::lgamma_r(x.number()).1);
        put(1, Type::int(32), &Val::i32(sign))?;
        Some(one(MathFn::Lgamma, x)?)
    } else {
        return Ok(None);
    };
    Ok(Some(result))
}

/// Calls an intrinsic by its name without `llvm.` and types; none if it is not one of these.
pub(super) fn intrinsic(ret: Type, name: &str, args: &[Val]) -> Result<Option<Val>, Trap> {
    if let Some(round) = rounding(name) {
        let width = ret.scalar().int_bits().unwrap_or(64);
        return lanewise(ret, args, |x| rounded(round, &x[0], width)).map(Some);
    }
    type Part = fn(&Val, u32) -> Result<Val, Trap>;
    let (first, second): (Part, Part) = match name {
        "sincos" => (|x, _| one(MathFn::Sin, x), |x, _| one(MathFn::Cos, x)),
        "frexp" => (|x, _| one(MathFn::Significand, x), exponent),
        "modf" => (|x, _| fraction(x), |x, _| one(MathFn::Trunc, x)),
        _ => return Ok(None),
    };
    let part = |index: u64, f: Part| {
        let ty = ret.part(index).unwrap_or(ret);
        let width = ty.scalar().int_bits().unwrap_or(32);
        lanewise(ty, args, |x| f(&x[0], width))
    };
    Ok(Some(Val::Aggregate(vec![
        part(0, first)?,
        part(1, second)?,
    ])))
}

fn one(function: MathFn, x: &Val) -> Result<Val, Trap> {
    math::call(function, Flags::empty(), std::slice::from_ref(x))
}

fn number(x: &Val) -> Result<Option<&Float>, Trap> {
    match x {
        Val::Float(x) => Ok(Some(x)),
        Val::Poison => Ok(None),
        other => Err(Trap::malformed(format!("a float function of {other:?}"))),
    }
}

fn exponent(x: &Val, width: u32) -> Result<Val, Trap> {
    let exponent = |x: &Float| Val::int(width, libm::frexp(x.number()).1.into());
    Ok(number(x)?.map_or(Val::Poison, exponent))
}

/// What is left of a number without its whole part, which is locally constant.
fn fraction(x: &Val) -> Result<Val, Trap> {
    let fraction = |x: &Float| {
        let number = x.number();
        let rest = match number.is_infinite() {
            true => 0.0,
            false => number - number.trunc(),
        };
        Val::float(x.kind, rest.copysign(number), x.tangent)
    };
    Ok(number(x)?.map_or(Val::Poison, fraction))
}

/// How a function that gives an integer rounds.
fn rounding(name: &str) -> Option<MathFn> {
    match name {
        "lround" | "llround" => Some(MathFn::Round),
        "lrint" | "llrint" => Some(MathFn::RoundEven),
        _ => None,
    }
}

fn rounded(function: MathFn, x: &Val, width: u32) -> Result<Val, Trap> {
    let whole = one(function, x)?;
    let int = |x: &Float| float_to_int(x.number(), width, true).unwrap_or(Val::Poison);
    Ok(number(&whole)?.map_or(Val::Poison, int))
}
