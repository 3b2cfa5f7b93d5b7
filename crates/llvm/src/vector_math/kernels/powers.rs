//! Powers: the exponential function and what is made of it.

use super::ln_2;
use super::logarithms::{log_for_single, precise_log};
use crate::vector_math::code::{Lane, V};
use crate::vector_math::coefficients::*;
use std::f64::consts::{LN_2, LOG2_E};

/// A power of e or 2, as a number close to 1 and the exponent.
struct Scaled<'c> {
    value: V<'c>,
    /// The exponent, rounded, and as [`V::round`] gives it.
    exponent: (V<'c>, V<'c>),
}

impl<'c> Scaled<'c> {
    /// For exponents of normal numbers.
    fn small(self) -> V<'c> {
        self.value * self.exponent.1.power_of_two()
    }

    /// For all exponents: in two steps, of which only the second may round.
    fn all(self) -> V<'c> {
        let (half, half_bits) = (self.exponent.0 * 0.5).round();
        let rest = self.exponent.0 - half;
        let (_, rest_bits) = rest.round();
        self.value * half_bits.power_of_two() * rest_bits.power_of_two()
    }
}

/// A power of e: 2 to the power of the exponent, times one more than the sum of r and what is curved.
struct Power<'c> {
    r: V<'c>,
    curved: V<'c>,
    exponent: (V<'c>, V<'c>),
}

impl<'c> Power<'c> {
    fn scaled(self) -> Scaled<'c> {
        Scaled {
            value: 1.0 + (self.r + self.curved),
            exponent: self.exponent,
        }
    }
}

/// e to the power of x, and of what rounding took from x.
fn power_of_e<'c>(x: V<'c>, more: Option<V<'c>>) -> Power<'c> {
    let (high, low) = ln_2(x.lane);
    let exponent = (x * LOG2_E).round();
    let first = x.minus_times(exponent.0, high);
    let second = exponent.0 * low;
    let second = more.map_or(second, |more| second - more);
    let r = first - second;
    let (lost, coefficients): (_, &[f64]) = match x.lane {
        Lane::F32 => (None, &EXP_32),
        _ => (Some((first - r) - second), &EXP_64),
    };
    let curved = (r * r) * r.polynomial(coefficients);
    let curved = lost.map_or(curved, |lost| curved + lost);
    Power {
        r,
        curved,
        exponent,
    }
}

/// e to the power of x in double precision, as precise as a result in single precision needs.
fn power_for_single(x: V<'_>) -> Power<'_> {
    let exponent = (x * LOG2_E).round();
    let r = x.minus_times(exponent.0, LN_2);
    Power {
        r,
        curved: (r * r) * r.polynomial(&EXP_SINGLE),
        exponent,
    }
}

fn exp_scaled(x: V<'_>) -> Scaled<'_> {
    power_of_e(x, None).scaled()
}

/// The exponential function.
pub fn exp(x: V<'_>) -> V<'_> {
    let x = match x.lane {
        Lane::F32 => x.clamp(-104.0, 89.0),
        _ => x.clamp(-746.0, 710.0),
    };
    exp_scaled(x).all()
}

/// The exponential function in double precision, of numbers whose power is normal, as precise as a
/// result in single precision needs.
pub fn exp_for_single(x: V<'_>) -> V<'_> {
    power_for_single(x).scaled().small()
}

/// The exponential function of numbers whose power is normal.
fn exp_small(x: V<'_>) -> V<'_> {
    exp_scaled(x).small()
}

fn exp2_scaled(x: V<'_>) -> Scaled<'_> {
    let exponent = x.round();
    let coefficients: &[f64] = match x.lane {
        Lane::F32 => &EXP_32,
        _ => &EXP_64,
    };
    let r = (x - exponent.0) * LN_2;
    let value = 1.0 + (r + (r * r) * r.polynomial(coefficients));
    Scaled { value, exponent }
}

/// Two to the power of x.
pub fn exp2(x: V<'_>) -> V<'_> {
    let x = match x.lane {
        Lane::F32 => x.clamp(-151.0, 128.0),
        _ => x.clamp(-1076.0, 1024.0),
    };
    exp2_scaled(x).all()
}

/// Two to the power of numbers whose power is normal.
pub fn exp2_small(x: V<'_>) -> V<'_> {
    exp2_scaled(x).small()
}

/// The exponential function less one.
pub fn expm1(x: V<'_>) -> V<'_> {
    let power = match x.lane {
        Lane::F32 => power_for_single(x.double().clamp(-40.0, 100.0)),
        _ => power_of_e(x.clamp(-40.0, 710.0), None),
    };
    // One, in the unit of the power. Of a large power it is nothing.
    let (_, unit) = (-power.exponent.0).clamp(-100.0, 100.0).round();
    let one = unit.power_of_two();
    let rest = 1.0 - one;
    let made = match x.lane {
        Lane::F32 => {
            let value = rest + (power.r + power.curved);
            (value * power.exponent.1.power_of_two()).single()
        }
        _ => {
            let lost = (1.0 - rest) - one;
            let (sum, more) = rest.plus_smaller(power.r);
            Scaled {
                value: sum + (power.curved + (more + lost)),
                exponent: power.exponent,
            }
            .all()
        }
    };
    x.equals(0.0).choose(x, made)
}

/// The hyperbolic tangent.
pub fn tanh(x: V<'_>) -> V<'_> {
    let size = x.abs();
    let z = x * x;
    let (most, coefficients): (_, &[f64]) = match x.lane {
        Lane::F32 => (10.0, &TANH_32),
        _ => (20.0, &TANH_64),
    };
    let near = size + size * z * z.polynomial(coefficients);
    let power = exp_small(2.0 * size.clamp(0.0, most));
    let far = 1.0 - 2.0 / (power + 1.0);
    size.less(0.625).choose(near, far).with_sign_of(x)
}

/// The hyperbolic sine or cosine of |x|, by the sign of e to the power of -|x|. In double precision, and
/// for the sine of numbers that are not small.
fn hyperbolic(x: V<'_>, sign: f64) -> V<'_> {
    if x.lane == Lane::F32 {
        let power = 0.5 * exp_for_single(x.double().abs().clamp(0.0, 100.0));
        return power + sign * 0.25 / power;
    }
    let power = power_of_e(x.abs().clamp(0.0, 711.0), None);
    let (whole, lost) = x.constant(1.0).plus_smaller(power.r);
    let rest = lost + power.curved;
    // The inverse, in the unit of the power. Of a large power it is nothing.
    let (_, unit) = (-2.0 * power.exponent.0).clamp(-200.0, 0.0).round();
    let inverse = sign * unit.power_of_two() / (whole + rest);
    let (sum, lost) = whole.plus_smaller(inverse);
    Scaled {
        value: sum + (lost + rest),
        exponent: (power.exponent.0 - 1.0).round(),
    }
    .all()
}

/// The hyperbolic sine.
pub fn sinh(x: V<'_>) -> V<'_> {
    let far = hyperbolic(x, -1.0);
    let (wide, coefficients): (_, &[f64]) = match x.lane {
        Lane::F32 => (x.double(), &SINH_SINGLE),
        _ => (x, &SINH_64),
    };
    let size = wide.abs();
    let z = wide * wide;
    let near = size + size * z * z.polynomial(coefficients);
    let made = size.less(1.0).choose(near, far);
    match x.lane {
        Lane::F32 => made.single().with_sign_of(x),
        _ => made.with_sign_of(x),
    }
}

/// The hyperbolic cosine.
pub fn cosh(x: V<'_>) -> V<'_> {
    let made = hyperbolic(x, 1.0);
    match x.lane {
        Lane::F32 => made.single(),
        _ => made,
    }
}

/// x to the power of y.
pub fn pow<'c>(x: V<'c>, y: V<'c>) -> V<'c> {
    let made = match x.lane {
        Lane::F32 => {
            let (base, exponent) = (x.double(), y.double());
            // An infinite exponent of one would make NaN.
            let product = exponent.clamp(-1e30, 1e30) * log_for_single(base.abs());
            let power = exp_for_single(product.clamp(-150.0, 150.0));
            with_sign_of_power(power, base, exponent).single()
        }
        _ => with_sign_of_power(power_of_size(x.abs(), y), x, y),
    };
    let one = x.equals(1.0).either(y.equals(0.0));
    one.choose(x.constant(1.0), made)
}

/// A number that is not negative to the power of y, in double precision; one and zero aside.
fn power_of_size<'c>(size: V<'c>, y: V<'c>) -> V<'c> {
    let (log, log_rest) = precise_log(size);
    // An infinite exponent of one would make NaN; this one is as good as infinite with anything else.
    let exponent = y.clamp(-1e20, 1e20);
    let (log_high, exponent_high) = (log.high(), exponent.high());
    let first = log_high * exponent_high;
    let rest = ((log - log_high) + log_rest) * exponent_high + log * (exponent - exponent_high);
    let product = first + rest;
    let more = (first - product) + rest;
    let more = product.abs().less(1000.0).choose(more, size.constant(0.0));
    let power = power_of_e(product.clamp(-746.0, 710.0), Some(more));
    let power = power.scaled().all();
    let zero = size.equals(0.0);
    let number = |number| size.constant(number);
    let inverse = zero.choose(number(f64::INFINITY), number(0.0));
    let inverse = y.less(0.0).choose(inverse, size);
    let edge = zero.either(size.equals(f64::INFINITY));
    let made = edge.choose(inverse, power);
    y.is_nan().either(size.is_nan()).choose(size + y, made)
}

/// The power of a number, from that of its absolute value: negative for odd exponents, and NaN for
/// those that are no integers.
fn with_sign_of_power<'c>(power: V<'c>, base: V<'c>, exponent: V<'c>) -> V<'c> {
    const INTEGERS: f64 = (1_u64 << 52) as f64;
    // Numbers this large are even.
    let size = exponent.abs().clamp(0.0, 2.0 * INTEGERS);
    // The lowest bit of a number that has none behind the point, and one for each integer.
    let few = size.less(INTEGERS);
    let shifted = few.choose(size + INTEGERS, size);
    let whole = few.choose(shifted - INTEGERS, size);
    let broken = (whole - size).abs().greater(0.0);
    let odd = broken.choose(size.constant(0.0), shifted).bits().and(1);
    let negative = base.less(0.0).both(base.greater(f64::NEG_INFINITY));
    let made = power.flipped_if_odd(base.bits().shr(63).both(odd));
    negative.both(broken).choose(made.constant(f64::NAN), made)
}
