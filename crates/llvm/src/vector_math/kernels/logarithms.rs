//! Logarithms.

use super::ln_2;
use crate::vector_math::code::{Lane, V};
use crate::vector_math::coefficients::*;
use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

/// A positive number as (1 + f) 2^k. The mantissa is from √½ to √2, so that what is taken away is small
/// next to what it is from.
struct Parts<'c> {
    f: V<'c>,
    k: V<'c>,
}

fn parts(x: V<'_>) -> Parts<'_> {
    let (smallest, mantissa) = match x.lane {
        Lane::F32 => (f64::from(f32::MIN_POSITIVE), 23),
        _ => (f64::MIN_POSITIVE, 52),
    };
    let tiny = x.less(smallest);
    let lifted = tiny.choose(x * (1u64 << mantissa) as f64, x);
    let lift = tiny.choose(x.constant(f64::from(mantissa)), x.constant(0.0));
    let Parts { f, k } = normal_parts(lifted);
    Parts { f, k: k - lift }
}

/// For numbers that are not subnormal, such as those of single precision in double precision.
fn normal_parts(x: V<'_>) -> Parts<'_> {
    let (mantissa, one, root) = match x.lane {
        Lane::F32 => (23, 0x3F80_0000, 0x3F35_04F3),
        _ => (52, 0x3FF0_0000_0000_0000, 0x3FE6_A09E_667F_3BCD_i64),
    };
    let bias = f64::from((one >> mantissa) as i32);
    let moved = x.bits().plus(one - root);
    let f = moved.and((1 << mantissa) - 1).plus(root).float() - 1.0;
    let k = moved.shr(mantissa).small_integer() - bias;
    Parts { f, k }
}

/// The logarithm of what is not positive, infinite, or NaN; otherwise what was made.
fn at_edges<'c>(x: V<'c>, made: V<'c>) -> V<'c> {
    let made = x.equals(f64::INFINITY).choose(x, made);
    let made = x.equals(0.0).choose(x.constant(f64::NEG_INFINITY), made);
    x.less(0.0)
        .either(x.is_nan())
        .choose(x.constant(f64::NAN), made)
}

/// f²/2, and what log(1 + f) is more than f - f²/2, in double precision.
fn bends(f: V<'_>) -> (V<'_>, V<'_>) {
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    (half, s * (half + z * z.polynomial(&LOG_64)))
}

/// The logarithm of (1 + f) 2^k, and a little more, in double precision.
fn sum<'c>(parts: Parts<'c>, more: Option<V<'c>>) -> V<'c> {
    let (high, low) = ln_2(Lane::F64);
    let (half, curved) = bends(parts.f);
    let small = curved + parts.k * low;
    let small = more.map_or(small, |more| small + more);
    parts.k * high - ((half - small) - parts.f)
}

/// The logarithm of (1 + f) 2^k in double precision, as precise as a result in single precision needs.
fn sum_for_single(parts: Parts<'_>) -> V<'_> {
    let Parts { f, k } = parts;
    let s = f / (2.0 + f);
    let z = s * s;
    k * LN_2 + (s + (s + s * z * z.polynomial(&LOG_SINGLE)))
}

/// The natural logarithm of a number of single precision in double precision, as precise as a result in
/// single precision needs.
pub fn log_for_single(x: V<'_>) -> V<'_> {
    at_edges(x, sum_for_single(normal_parts(x)))
}

/// The natural logarithm.
pub fn log(x: V<'_>) -> V<'_> {
    let found = parts(x);
    let made = match x.lane {
        Lane::F32 => {
            let Parts { f, k } = found;
            let (high, low) = ln_2(Lane::F32);
            let half = 0.5 * f * f;
            let curved = (f * f) * f * f.polynomial(&LOG_32);
            k * high + (f - (half - (curved + k * low)))
        }
        _ => sum(found, None),
    };
    at_edges(x, made)
}

/// The logarithm to a base of which this is the logarithm of 2 and the inverse of the natural
/// logarithm, each in two parts: the first are so short that their products are exact.
fn log_to_base<'c>(x: V<'c>, of_two: (f64, f64), scale: (f64, f64)) -> V<'c> {
    let Parts { f, k } = parts(x);
    let (half, curved) = bends(f);
    let high = (f - half).high();
    let low = ((f - high) - half) + curved;
    let (sum, lost) = (k * of_two.0).plus_smaller(high * scale.0);
    let rest = low * (scale.0 + scale.1) + high * scale.1 + k * of_two.1;
    at_edges(x, sum + (lost + rest))
}

/// The logarithm to the base 2.
pub fn log2(x: V<'_>) -> V<'_> {
    match x.lane {
        Lane::F32 => (log_for_single(x.double()) * LOG2_E).single(),
        _ => log_to_base(x, (1.0, 0.0), LOG2_E_PARTS),
    }
}

/// The logarithm to the base 10.
pub fn log10(x: V<'_>) -> V<'_> {
    match x.lane {
        Lane::F32 => (log_for_single(x.double()) * LOG10_E).single(),
        _ => log_to_base(x, LOG10_2_PARTS, LOG10_E_PARTS),
    }
}

/// The logarithm of one more.
pub fn log1p(x: V<'_>) -> V<'_> {
    let wide = match x.lane {
        Lane::F32 => x.double(),
        _ => x,
    };
    let (one_more, lost) = wide.constant(1.0).exact_sum(wide);
    let made = match x.lane {
        Lane::F32 => normal_parts(one_more),
        _ => parts(one_more),
    };
    // What rounding took matters where the sum is close to one.
    let near = made.k.equals(0.0);
    let made = Parts {
        f: near.choose(wide, made.f),
        k: made.k,
    };
    let made = match x.lane {
        Lane::F32 => at_edges(one_more, sum_for_single(made)).single(),
        _ => {
            let more = near.choose(x.constant(0.0), lost / one_more);
            at_edges(one_more, sum(made, Some(more)))
        }
    };
    x.equals(0.0).choose(x, made)
}

/// The natural logarithm of a positive number, as a number and what is missing from it: the error is
/// 2^-65 of it. With s = f/(2 + f), it is 2s + s³(⅔ + s²(⅖ + …)), of which only the last part is small
/// enough to be computed in one number.
pub fn precise_log<'c>(x: V<'c>) -> (V<'c>, V<'c>) {
    let Parts { f, k } = parts(x);
    let below = 2.0 + f;
    let below_high = below.high();
    let below_low = f - (below_high - 2.0);
    let inverse = 1.0 / below;
    let s = (f * inverse).high();
    let s_low = ((f - s * below_high) - s * below_low) * inverse;
    let square = s * s;
    let square_low = s_low * (s + s + s_low);
    let z = square + square_low;
    let z_high = z.high();
    let z_low = (square - z_high) + square_low;
    let small = z * z.polynomial(&LOG_PRECISE);
    let factor = (2.0 / 3.0 + small).high();
    let factor_low = ((2.0 / 3.0 - factor) + small) + TWO_THIRDS_REST;
    let cubic = z_high * factor;
    let cubic_rest = z_high * factor_low + z_low * (factor + factor_low);
    let cubic_high = (cubic + cubic_rest).high();
    let cubic_low = (cubic - cubic_high) + cubic_rest;
    let (high, low) = ln_2(Lane::F64);
    let (near, near_lost) = (s + s).plus_smaller(s * cubic_high);
    let (sum, lost) = (k * high).plus_smaller(near);
    let bent = s * cubic_low + s_low * (cubic_high + cubic_low);
    let rest = lost + (near_lost + ((s_low + s_low) + bent + k * low));
    let whole = sum + rest;
    (whole, (sum - whole) + rest)
}
