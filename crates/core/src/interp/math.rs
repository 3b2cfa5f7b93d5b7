//! The values of the mathematical functions, computed in `f64`.

use super::dual;
use super::scalar::{keep_promises, sign_bit};
use super::trap::Trap;
use super::value::{Float, Val};
use crate::ir::{Flags, FloatKind, MathFn, MathParam};

/// A mathematical function of scalars.
pub(super) fn call(function: MathFn, flags: Flags, args: &[Val]) -> Result<Val, Trap> {
    let mut floats: Vec<&Float> = Vec::with_capacity(3);
    let mut order = 0;
    if args.len() != function.params().len() {
        let name = function.name();
        return Err(Trap::malformed(format!(
            "{name} of {} operands",
            args.len()
        )));
    }
    for (param, arg) in function.params().iter().zip(args) {
        match (param, arg) {
            (_, Val::Poison) => return Ok(Val::Poison),
            (MathParam::Float, Val::Float(x)) => floats.push(x),
            (MathParam::Int, Val::Int(n)) if n.has_poison() => return Ok(Val::Poison),
            (MathParam::Int, Val::Int(n)) => {
                order = n.signed().clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            }
            _ => {
                let name = function.name();
                return Err(Trap::malformed(format!("{name} of {arg:?}")));
            }
        }
    }
    let Some(&first) = floats.first() else {
        return Err(Trap::malformed("a mathematical function without a float"));
    };
    let numbers: Vec<f64> = floats.iter().map(|x| x.number()).collect();
    let mut result = match exact_pattern(function, &floats) {
        Some(bits) => Float { bits, ..*first },
        None if matches!(function, MathFn::Fma | MathFn::Fmuladd) => {
            let number = fused(first.kind, numbers[0], numbers[1], numbers[2]);
            Float::new(first.kind, number, 0.0)
        }
        None => Float::new(first.kind, value(function, &numbers, order), 0.0),
    };
    result.tangent = 0.0;
    if floats.iter().any(|x| x.tangent != 0.0) {
        // The partial derivatives are taken at the unrounded value.
        let value = value(function, &numbers, order);
        for (i, x) in floats.iter().enumerate() {
            if x.tangent != 0.0 {
                let partial = dual::partial(function, &numbers, order, value, i);
                result.tangent += dual::product(partial, x.tangent);
            }
        }
    }
    Ok(keep_promises(flags, &floats, result))
}

/// The functions that only touch the sign bit keep every other bit.
fn exact_pattern(function: MathFn, args: &[&Float]) -> Option<u128> {
    let x = args.first()?;
    let sign = sign_bit(x.kind);
    match function {
        MathFn::Fabs => Some(x.bits & !sign),
        MathFn::Copysign => Some(x.bits & !sign | args.get(1)?.bits & sign),
        _ => None,
    }
}

/// The value at numbers; `n` is the integer operand of those that have one.
pub(super) fn value(function: MathFn, args: &[f64], n: i32) -> f64 {
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(0.0);
    let z = args.get(2).copied().unwrap_or(0.0);
    match function {
        MathFn::Sqrt => x.sqrt(),
        MathFn::Cbrt => x.cbrt(),
        MathFn::Hypot => x.hypot(y),
        MathFn::Exp => x.exp(),
        MathFn::Exp2 => x.exp2(),
        MathFn::Exp10 => libm::exp10(x),
        MathFn::Expm1 => x.exp_m1(),
        MathFn::Log => x.ln(),
        MathFn::Log2 => x.log2(),
        MathFn::Log10 => x.log10(),
        MathFn::Log1p => x.ln_1p(),
        MathFn::Logb => logb(x),
        MathFn::Pow => x.powf(y),
        MathFn::Powi => x.powi(n),
        MathFn::Fabs => x.abs(),
        MathFn::Copysign => x.copysign(y),
        MathFn::Fma | MathFn::Fmuladd => x.mul_add(y, z),
        MathFn::Fmin => x.min(y),
        MathFn::Fmax => x.max(y),
        MathFn::Minimum => propagate(x, y, ordered_min),
        MathFn::Maximum => propagate(x, y, ordered_max),
        MathFn::MinimumNum => ignore_nan(x, y, ordered_min),
        MathFn::MaximumNum => ignore_nan(x, y, ordered_max),
        MathFn::Fdim => libm::fdim(x, y),
        MathFn::Floor => x.floor(),
        MathFn::Ceil => x.ceil(),
        MathFn::Trunc => x.trunc(),
        MathFn::Round => x.round(),
        MathFn::RoundEven | MathFn::Rint | MathFn::Nearbyint => x.round_ties_even(),
        MathFn::Fmod => x % y,
        MathFn::Remainder => libm::remainder(x, y),
        MathFn::Ldexp => libm::ldexp(x, n),
        MathFn::Significand => libm::frexp(x).0,
        MathFn::Sin => x.sin(),
        MathFn::Cos => x.cos(),
        MathFn::Tan => x.tan(),
        MathFn::Asin => x.asin(),
        MathFn::Acos => x.acos(),
        MathFn::Atan => x.atan(),
        MathFn::Atan2 => x.atan2(y),
        MathFn::Sinh => x.sinh(),
        MathFn::Cosh => x.cosh(),
        MathFn::Tanh => x.tanh(),
        MathFn::Asinh => libm::asinh(x),
        MathFn::Acosh => libm::acosh(x),
        MathFn::Atanh => libm::atanh(x),
        MathFn::Erf => libm::erf(x),
        MathFn::Erfc => libm::erfc(x),
        MathFn::Tgamma => libm::tgamma(x),
        MathFn::Lgamma => libm::lgamma(x),
        MathFn::Digamma => digamma(x),
        MathFn::J0 => libm::j0(x),
        MathFn::J1 => libm::j1(x),
        MathFn::Jn => libm::jn(n, x),
        MathFn::Y0 => libm::y0(x),
        MathFn::Y1 => libm::y1(x),
        MathFn::Yn => libm::yn(n, x),
    }
}

/// x·y + z rounded once to the format.
fn fused(kind: FloatKind, x: f64, y: f64, z: f64) -> f64 {
    if !matches!(kind, FloatKind::F16 | FloatKind::Bf16 | FloatKind::F32) {
        return x.mul_add(y, z);
    }
    // The product is exact. The sum is rounded to odd, so that rounding it again is correct.
    let product = x * y;
    let sum = product + z;
    let back = sum - product;
    let error = (product - (sum - back)) + (z - back);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    }
}

fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        f64::from(libm::ilogb(x))
    } else {
        x * x
    }
}

fn ordered_min(x: f64, y: f64) -> f64 {
    if x < y || (x == y && x.is_sign_negative()) {
        x
    } else {
        y
    }
}

fn ordered_max(x: f64, y: f64) -> f64 {
    if x > y || (x == y && x.is_sign_positive()) {
        x
    } else {
        y
    }
}

fn propagate(x: f64, y: f64, f: fn(f64, f64) -> f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else {
        f(x, y)
    }
}

fn ignore_nan(x: f64, y: f64, f: fn(f64, f64) -> f64) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, _) => y,
        (_, true) => x,
        _ => f(x, y),
    }
}

/// The logarithmic derivative of the gamma function.
pub(super) fn digamma(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x == f64::INFINITY || x.is_nan() {
        return x;
    }
    if x <= 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        return digamma(1.0 - x) - PI / (PI * x).tan();
    }
    // Go up to where the asymptotic series is good to the last digit.
    let (mut x, mut sum) = (x, 0.0);
    while x < 12.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    // The coefficients are B₂ₖ / 2k.
    let coefficients = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
    ];
    let series = coefficients.iter().rev().fold(0.0, |acc, c| (acc + c) * s);
    sum + x.ln() - 0.5 / x - series
}

/// The derivative of [`digamma`].
pub(super) fn trigamma(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x.is_nan() {
        return x;
    }
    if x <= 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        let s = (PI * x).sin();
        return PI * PI / (s * s) - trigamma(1.0 - x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 16.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    // The coefficients are B₂ₖ.
    let coefficients = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
    ];
    let series = coefficients.iter().rev().fold(0.0, |acc, c| (acc + c) * s);
    sum + 1.0 / x + 0.5 * s + series / x
}
