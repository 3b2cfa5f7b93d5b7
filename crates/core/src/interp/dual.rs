//! Derivatives of the float operations, written by hand and used by nothing but the interpreter,
//! so that they check the compiler's own rules independently.
//!
//! Where mathematics leaves a choice: |x| has slope 0 at 0; a tie of maximum or minimum gives half
//! to each; rounding has slope 0; a tangent of zero contributes zero even where the partial
//! derivative is infinite or NaN.

use super::math::{digamma, trigamma, value};
use super::value::Float;
use crate::ir::{BinaryOp, MathFn};
use std::f64::consts::{LN_2, LN_10, PI};

/// The tangent of an arithmetic operation whose value is `r`.
pub(super) fn binary(op: BinaryOp, x: &Float, y: &Float, r: f64) -> f64 {
    let (a, b) = (x.number(), y.number());
    let (dx, dy) = match op {
        BinaryOp::FAdd => (1.0, 1.0),
        BinaryOp::FSub => (1.0, -1.0),
        BinaryOp::FMul => (b, a),
        BinaryOp::FDiv => (1.0 / b, -r / b),
        _ => (1.0, -quotient(a, b, r)),
    };
    product(dx, x.tangent) + product(dy, y.tangent)
}

/// A partial derivative times a tangent, where zero tangents win.
pub(super) fn product(partial: f64, tangent: f64) -> f64 {
    if tangent == 0.0 {
        0.0
    } else {
        partial * tangent
    }
}

/// The whole quotient that left the remainder `r`.
fn quotient(x: f64, y: f64, r: f64) -> f64 {
    ((x - r) / y).round()
}

/// The derivative of a function whose value is `r` by its float operand number `by`.
pub(super) fn partial(function: MathFn, args: &[f64], n: i32, r: f64, by: usize) -> f64 {
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(0.0);
    match function {
        MathFn::Sqrt => 0.5 / r,
        MathFn::Cbrt => 1.0 / (3.0 * r * r),
        MathFn::Hypot if r == 0.0 => 0.0,
        MathFn::Hypot => args[by] / r,
        MathFn::Exp => r,
        MathFn::Exp2 => LN_2 * r,
        MathFn::Exp10 => LN_10 * r,
        MathFn::Expm1 => x.exp(),
        MathFn::Log => 1.0 / x,
        MathFn::Log2 => 1.0 / (x * LN_2),
        MathFn::Log10 => 1.0 / (x * LN_10),
        MathFn::Log1p => 1.0 / (1.0 + x),
        MathFn::Pow => power(x, y, r, by),
        MathFn::Powi if n == 0 => 0.0,
        MathFn::Powi => f64::from(n) * x.powi(n.saturating_sub(1)),
        MathFn::Fabs if x == 0.0 => 0.0,
        MathFn::Fabs => 1f64.copysign(x),
        MathFn::Copysign if by == 1 => 0.0,
        MathFn::Copysign => 1f64.copysign(x) * 1f64.copysign(y),
        MathFn::Fma | MathFn::Fmuladd => match by {
            0 => y,
            1 => x,
            _ => 1.0,
        },
        MathFn::Fmin | MathFn::MinimumNum => share(x, y, by, false, true),
        MathFn::Fmax | MathFn::MaximumNum => share(x, y, by, true, true),
        MathFn::Minimum => share(x, y, by, false, false),
        MathFn::Maximum => share(x, y, by, true, false),
        MathFn::Fdim => {
            let slope = match x.partial_cmp(&y) {
                Some(std::cmp::Ordering::Greater) => 1.0,
                Some(std::cmp::Ordering::Equal) => 0.5,
                _ => 0.0,
            };
            if by == 0 { slope } else { -slope }
        }
        MathFn::Logb
        | MathFn::Floor
        | MathFn::Ceil
        | MathFn::Trunc
        | MathFn::Round
        | MathFn::RoundEven
        | MathFn::Rint
        | MathFn::Nearbyint => 0.0,
        MathFn::Fmod | MathFn::Remainder if by == 0 => 1.0,
        MathFn::Fmod | MathFn::Remainder => -quotient(x, y, r),
        MathFn::Ldexp => libm::ldexp(1.0, n),
        MathFn::Significand => libm::ldexp(1.0, -libm::frexp(x).1),
        MathFn::Sin => x.cos(),
        MathFn::Cos => -x.sin(),
        MathFn::Tan => 1.0 + r * r,
        MathFn::Asin => 1.0 / ((1.0 - x) * (1.0 + x)).sqrt(),
        MathFn::Acos => -1.0 / ((1.0 - x) * (1.0 + x)).sqrt(),
        MathFn::Atan => 1.0 / (1.0 + x * x),
        // The first operand is the ordinate.
        MathFn::Atan2 => {
            let radius = x.hypot(y);
            let toward = if by == 0 { y } else { -x };
            toward / radius / radius
        }
        MathFn::Sinh => x.cosh(),
        MathFn::Cosh => x.sinh(),
        MathFn::Tanh => {
            let c = x.cosh();
            1.0 / (c * c)
        }
        MathFn::Asinh => 1.0 / x.hypot(1.0),
        MathFn::Acosh => 1.0 / ((x - 1.0).sqrt() * (x + 1.0).sqrt()),
        MathFn::Atanh => 1.0 / ((1.0 - x) * (1.0 + x)),
        MathFn::Erf => 2.0 / PI.sqrt() * (-x * x).exp(),
        MathFn::Erfc => -2.0 / PI.sqrt() * (-x * x).exp(),
        MathFn::Tgamma => r * digamma(x),
        MathFn::Lgamma => digamma(x),
        MathFn::Digamma => trigamma(x),
        MathFn::J0 => -libm::j1(x),
        MathFn::Y0 => -libm::y1(x),
        MathFn::J1 => bessel_slope(MathFn::Jn, 1, x),
        MathFn::Y1 => bessel_slope(MathFn::Yn, 1, x),
        MathFn::Jn | MathFn::Yn => bessel_slope(function, n, x),
    }
}

/// The derivative of the power r = xʸ. A constant exponent of zero makes it constant in x; at
/// x = 0 it is taken as constant in y.
fn power(x: f64, y: f64, r: f64, by: usize) -> f64 {
    match by {
        0 if y == 0.0 => 0.0,
        0 => y * x.powf(y - 1.0),
        _ if x == 0.0 && y >= 0.0 => 0.0,
        _ => x.ln() * r,
    }
}

/// The share of operand `by` in the minimum or maximum of two numbers. If one is NaN, the result
/// is the one that the function chooses.
fn share(x: f64, y: f64, by: usize, largest: bool, ignores_nan: bool) -> f64 {
    if x == y {
        return 0.5;
    }
    let first = if x.is_nan() || y.is_nan() {
        x.is_nan() != ignores_nan
    } else {
        (x > y) == largest
    };
    if first == (by == 0) { 1.0 } else { 0.0 }
}

/// The derivative of a Bessel function of order n, from those of its neighbours.
fn bessel_slope(function: MathFn, n: i32, x: f64) -> f64 {
    let below = value(function, &[x], n.saturating_sub(1));
    let above = value(function, &[x], n.saturating_add(1));
    (below - above) / 2.0
}
