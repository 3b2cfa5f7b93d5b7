//! Sines and their like, and the angles that belong to them.

use crate::vector_math::code::{Lane, V};
use crate::vector_math::coefficients::*;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

/// π/2 in parts; the first three have 33 bits.
const HALF_PI: [f64; 4] = [
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487111665e-21,
    8.4784276603689e-32,
];

/// Numbers beyond this are left to the C library, as are infinities and NaN.
pub const MOST_TURNS: f64 = 1e6;

/// What is left of an angle when quarters of a turn are taken away, and integers that count those.
struct Turned<'c> {
    sine: V<'c>,
    cosine: V<'c>,
    quarters: V<'c>,
}

/// Turns x back, in double precision.
fn turned(x: V<'_>) -> Turned<'_> {
    let wide = match x.lane {
        Lane::F32 => x.double(),
        _ => x,
    };
    let (n, n_bits) = (wide * FRAC_2_PI).round();
    // The first product and the difference are exact.
    let first = wide.minus_times(n, HALF_PI[0]);
    let (sine, cosine) = match x.lane {
        Lane::F32 => {
            let r = first - n * HALF_PI[1];
            let z = r * r;
            let sine = r + r * z * z.polynomial(&SIN_32);
            let cosine = (1.0 - 0.5 * z) + z * z * z.polynomial(&COS_32);
            (sine, cosine)
        }
        _ => {
            let (second, lost) = first.exact_sum(-(n * HALF_PI[1]));
            let (third, more) = second.exact_sum(-(n * HALF_PI[2]));
            let low = (lost + more) - n * HALF_PI[3];
            let r = third + low;
            let low = low - (r - third);
            let z = r * r;
            let half = 0.5 * z;
            let sine = r + (r * z * z.polynomial(&SIN_64) + (low - half * low));
            let rounded = 1.0 - half;
            let rest = ((1.0 - rounded) - half) + (z * z * z.polynomial(&COS_64) - r * low);
            (sine, rounded + rest)
        }
    };
    Turned {
        sine,
        cosine,
        quarters: n_bits.bits(),
    }
}

/// The sine of x plus so many quarters of a turn.
fn sine_of(x: V<'_>, quarters: i64) -> V<'_> {
    let turned = turned(x);
    let quarter = turned.quarters.plus(quarters);
    let made = quarter.has(1).choose(turned.cosine, turned.sine);
    let made = made.flipped_if_odd(quarter.shr(1));
    match x.lane {
        Lane::F32 => made.single(),
        _ => made,
    }
}

/// The sine.
pub fn sin(x: V<'_>) -> V<'_> {
    let made = sine_of(x, 0);
    x.equals(0.0).choose(x, made)
}

/// The cosine.
pub fn cos(x: V<'_>) -> V<'_> {
    sine_of(x, 1)
}

/// The tangent, in single precision.
pub fn tan(x: V<'_>) -> V<'_> {
    let turned = turned(x);
    let odd = turned.quarters.has(1);
    let above = odd.choose(turned.cosine, turned.sine);
    let below = odd.choose(-turned.sine, turned.cosine);
    x.equals(0.0).choose(x, (above / below).single())
}

/// The inverse of the tangent.
pub fn atan<'c>(x: V<'c>) -> V<'c> {
    let (size, near, coefficients): (_, _, &[f64]) = match x.lane {
        Lane::F32 => (x.double().abs(), 0.41421356, &ATAN_SINGLE),
        _ => (x.abs(), 0.5, &ATAN_64),
    };
    // The angle is that of a slope of at most `near`, and none, an eighth or a quarter of a turn more.
    let (middle, steep) = (size.greater(near), size.greater(1.0 / near));
    let pick = |level: V<'c>, between: V<'c>, upright: V<'c>| {
        steep.choose(upright, middle.choose(between, level))
    };
    let number = |number| size.constant(number);
    let below = size + 1.0;
    let above = pick(size, size - 1.0, number(-1.0));
    let t = above / pick(number(1.0), below, size);
    let start = pick(number(0.0), number(FRAC_PI_4), number(FRAC_PI_2));
    let z = t * t;
    let curved = t * z * z.polynomial(coefficients);
    match x.lane {
        Lane::F32 => (start + (t + curved)).single().with_sign_of(x),
        _ => {
            // What rounding took from the denominator, and from the start.
            let lost = size - (below - 1.0);
            let less = pick(number(0.0), t * lost / below, number(0.0));
            let more = pick(
                number(0.0),
                number(0.5 * HALF_PI_REST),
                number(HALF_PI_REST),
            );
            let (sum, rest) = start.plus_smaller(t);
            (sum + (rest + (curved + (more - less)))).with_sign_of(x)
        }
    }
}

/// The angle whose sine is the absolute value of a number of single precision, in double precision; or,
/// where that is steep, half of what the angle lacks to a quarter of a turn. And whether it is steep.
fn arc(x: V<'_>) -> (V<'_>, V<'_>) {
    let size = x.double().abs();
    let far = size.greater(0.5);
    let z = far.choose((1.0 - size) * 0.5, size * size);
    let root = far.choose(z.sqrt(), size);
    (root + root * z * z.polynomial(&ASIN_SINGLE), far)
}

/// The inverse of the sine, in single precision.
pub fn asin(x: V<'_>) -> V<'_> {
    let (angle, far) = arc(x);
    let made = far.choose(FRAC_PI_2 - 2.0 * angle, angle);
    made.single().with_sign_of(x)
}

/// The inverse of the cosine, in single precision.
pub fn acos(x: V<'_>) -> V<'_> {
    let (angle, far) = arc(x);
    let negative = x.double().less(0.0);
    let double = 2.0 * angle;
    let outer = negative.choose(PI - double, double);
    let inner = FRAC_PI_2 - negative.choose(-angle, angle);
    far.choose(outer, inner).single()
}
