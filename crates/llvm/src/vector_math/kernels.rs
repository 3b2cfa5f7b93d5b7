//! The functions: their mathematics on vectors, without branches, to less than two units in the last
//! place.
//!
//! Single precision is computed in double precision where that is simpler, except for the functions
//! that networks spend their time in: `exp`, `log`, `tanh` and `erf`. No step needs a fused product, and
//! none is harmed by one.

use super::code::{Lane, V};
use super::coefficients::*;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_E};

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

/// ln 2 in two parts; the first times any exponent is exact.
fn ln_2(lane: Lane) -> (f64, f64) {
    match lane {
        Lane::F32 => (355.0 / 512.0, -0.00021219444005469057),
        _ => (0.6931471805598903, 5.497923018708371e-14),
    }
}

fn exp_scaled(x: V<'_>) -> Scaled<'_> {
    let (high, low) = ln_2(x.lane);
    let exponent = (x * LOG2_E).round();
    let first = x.minus_times(exponent.0, high);
    let second = exponent.0 * low;
    let r = first - second;
    let (lost, coefficients): (_, &[f64]) = match x.lane {
        Lane::F32 => (None, &EXP_32),
        _ => (Some((first - r) - second), &EXP_64),
    };
    let curved = (r * r) * r.polynomial(coefficients);
    let curved = lost.map_or(curved, |lost| curved + lost);
    Scaled {
        value: 1.0 + (r + curved),
        exponent,
    }
}

/// The exponential function.
pub fn exp(x: V<'_>) -> V<'_> {
    let x = match x.lane {
        Lane::F32 => x.clamp(-104.0, 89.0),
        _ => x.clamp(-746.0, 710.0),
    };
    exp_scaled(x).all()
}

/// Two to the power of x.
pub fn exp2(x: V<'_>) -> V<'_> {
    let x = match x.lane {
        Lane::F32 => x.clamp(-151.0, 128.0),
        _ => x.clamp(-1076.0, 1024.0),
    };
    let exponent = x.round();
    let coefficients: &[f64] = match x.lane {
        Lane::F32 => &EXP_32,
        _ => &EXP_64,
    };
    let r = (x - exponent.0) * LN_2;
    let value = 1.0 + (r + (r * r) * r.polynomial(coefficients));
    Scaled { value, exponent }.all()
}

/// The exponential function less one.
pub fn expm1(x: V<'_>) -> V<'_> {
    let wide = x.double();
    let small = wide + 0.5 * wide * wide;
    let large = exp(wide) - 1.0;
    let made = wide.abs().less(1e-6).choose(small, large).single();
    x.equals(0.0).choose(x, made)
}

/// The natural logarithm.
pub fn log(x: V<'_>) -> V<'_> {
    let (smallest, lift, mantissa, one, root) = match x.lane {
        Lane::F32 => (
            f64::from(f32::MIN_POSITIVE),
            23,
            23,
            0x3F80_0000,
            0x3F35_04F3,
        ),
        _ => (
            f64::MIN_POSITIVE,
            52,
            52,
            0x3FF0_0000_0000_0000,
            0x3FE6_A09E_667F_3BCD_i64,
        ),
    };
    let bias = f64::from((one >> mantissa) as i32);
    let tiny = x.less(smallest);
    let lifted = tiny.choose(x * (1u64 << lift) as f64, x);
    // The mantissa is from √½ to √2, so that what is taken away is small next to what it is from.
    let moved = lifted.bits().plus(one - root);
    let f = moved.and((1 << mantissa) - 1).plus(root).float() - 1.0;
    let missing = tiny.choose(x.constant(bias + f64::from(lift)), x.constant(bias));
    let k = moved.shr(mantissa).small_integer() - missing;
    let (high, low) = ln_2(x.lane);
    let half = 0.5 * f * f;
    let made = match x.lane {
        Lane::F32 => {
            let curved = (f * f) * f * f.polynomial(&LOG_32);
            k * high + (f - (half - (curved + k * low)))
        }
        _ => {
            let s = f / (2.0 + f);
            let z = s * s;
            let rest = z * z.polynomial(&LOG_64);
            k * high - ((half - (s * (half + rest) + k * low)) - f)
        }
    };
    let made = x.equals(f64::INFINITY).choose(x, made);
    let made = x.equals(0.0).choose(x.constant(f64::NEG_INFINITY), made);
    x.less(0.0)
        .either(x.is_nan())
        .choose(x.constant(f64::NAN), made)
}

/// The logarithm to the base 2.
pub fn log2(x: V<'_>) -> V<'_> {
    (log(x.double()) * LOG2_E).single()
}

/// The logarithm to the base 10.
pub fn log10(x: V<'_>) -> V<'_> {
    (log(x.double()) * LOG10_E).single()
}

/// The logarithm of one more.
pub fn log1p(x: V<'_>) -> V<'_> {
    let wide = x.double();
    let small = wide - 0.5 * wide * wide;
    let large = log(1.0 + wide);
    let made = wide.abs().less(1e-6).choose(small, large).single();
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
    let power = exp_scaled(2.0 * size.clamp(0.0, most)).small();
    let far = 1.0 - 2.0 / (power + 1.0);
    size.less(0.625).choose(near, far).with_sign_of(x)
}

/// e to the power of |x| in double precision, for x of single precision.
fn wide_power(x: V<'_>) -> V<'_> {
    exp_scaled(x.double().abs().clamp(0.0, 100.0)).small()
}

/// The hyperbolic sine.
pub fn sinh(x: V<'_>) -> V<'_> {
    let size = x.double().abs();
    let near = size + size * size * size * (1.0 / 6.0);
    let power = wide_power(x);
    let far = 0.5 * (power - 1.0 / power);
    size.less(0.004).choose(near, far).single().with_sign_of(x)
}

/// The hyperbolic cosine.
pub fn cosh(x: V<'_>) -> V<'_> {
    let power = wide_power(x);
    (0.5 * (power + 1.0 / power)).single()
}

/// The error function.
pub fn erf(x: V<'_>) -> V<'_> {
    let size = x.abs();
    let z = x * x;
    let near = size + size * z.polynomial(&ERF_SMALL_32);
    let exponent = size.clamp(0.0, 4.0).polynomial(&ERF_LARGE_32);
    let far = 1.0 - exp2(exponent);
    size.less(0.9).choose(near, far).with_sign_of(x)
}

/// The inverse of the tangent.
pub fn atan(x: V<'_>) -> V<'_> {
    let size = x.double().abs();
    let steep = size.greater(1.0);
    let slope = steep.choose(1.0 / size, size);
    let middle = slope.greater(0.41421356);
    let t = middle.choose((slope - 1.0) / (slope + 1.0), slope);
    let z = t * t;
    let angle = t + t * z * z.polynomial(&ATAN_32);
    let angle = middle.choose(angle + FRAC_PI_4, angle);
    let angle = steep.choose(FRAC_PI_2 - angle, angle);
    angle.single().with_sign_of(x)
}

/// π/2 in parts; the first three have 33 bits.
const HALF_PI: [f64; 4] = [
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487111665e-21,
    8.4784276603689e-32,
];

/// Numbers beyond this are left to the C library, as are infinities and NaN.
pub const MOST_TURNS: f64 = 1e6;

/// The sine of x plus so many quarters of a turn.
fn turned(x: V<'_>, quarters: i64) -> V<'_> {
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
    let quarter = n_bits.bits().plus(quarters);
    let made = quarter.has(1).choose(cosine, sine);
    let made = made.flipped_if_odd(quarter.shr(1));
    match x.lane {
        Lane::F32 => made.single(),
        _ => made,
    }
}

/// The sine.
pub fn sin(x: V<'_>) -> V<'_> {
    let made = turned(x, 0);
    x.equals(0.0).choose(x, made)
}

/// The cosine.
pub fn cos(x: V<'_>) -> V<'_> {
    turned(x, 1)
}

/// x to the power of y.
pub fn pow<'c>(x: V<'c>, y: V<'c>) -> V<'c> {
    let (base, exponent) = (x.double(), y.double());
    let size = base.abs();
    // An infinite exponent of one would make NaN.
    let power = exp(exponent.clamp(-1e30, 1e30) * log(size));
    // Numbers this large are even.
    let bounded = exponent.clamp(-1073741824.0, 1073741824.0);
    let (whole, whole_bits) = bounded.round();
    let is_whole = (whole - bounded).equals(0.0);
    let odd = is_whole
        .choose(whole_bits, whole_bits.constant(0.0))
        .bits()
        .and(1);
    let negative = base.less(0.0).both(base.greater(f64::NEG_INFINITY));
    let root = negative.both((whole - bounded).abs().greater(0.0));
    let sign = base.bits().shr(63).both(odd);
    let made = power.flipped_if_odd(sign);
    let made = root.choose(made.constant(f64::NAN), made).single();
    let one = x.equals(1.0).either(y.equals(0.0));
    one.choose(x.constant(1.0), made)
}
