//! Bit patterns of the floating-point formats, to and from `f64`.
//!
//! Core computes in `f64` where it must compute at all (constants, the interpreter); formats wider
//! than that keep their patterns exactly but lose precision when computed with.

use super::FloatKind;

/// The pattern nearest to `x`, ties to even.
pub fn from_f64(kind: FloatKind, x: f64) -> u128 {
    match kind {
        FloatKind::F64 => u128::from(x.to_bits()),
        FloatKind::F32 => u128::from((x as f32).to_bits()),
        FloatKind::F16 => narrow(x, 5, 10),
        FloatKind::Bf16 => narrow(x, 8, 7),
        FloatKind::X86Fp80 => widen_x87(x),
        FloatKind::F128 => widen_quad(x),
    }
}

/// The number of a pattern, rounded to `f64` if the format is wider.
pub fn to_f64(kind: FloatKind, bits: u128) -> f64 {
    match kind {
        FloatKind::F64 => f64::from_bits(bits as u64),
        FloatKind::F32 => f64::from(f32::from_bits(bits as u32)),
        FloatKind::F16 => decode(bits, 5, 10, false),
        FloatKind::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        FloatKind::X86Fp80 => decode(bits, 15, 64, true),
        FloatKind::F128 => decode(bits, 15, 112, false),
    }
}

/// The number decoded from a pattern of `exp` exponent bits and `man` stored mantissa bits, the
/// leading one among them if `explicit`.
fn decode(bits: u128, exp: u32, man: u32, explicit: bool) -> f64 {
    let sign = if bits >> (exp + man) & 1 == 1 {
        -1.0
    } else {
        1.0
    };
    let exponent = (bits >> man) as i32 & ((1 << exp) - 1);
    let mantissa = bits & ((1 << man) - 1);
    let bias = (1 << (exp - 1)) - 1;
    let (integer, fraction_bits) = if explicit {
        (mantissa, man - 1)
    } else if exponent == 0 {
        (mantissa, man)
    } else {
        (mantissa | 1 << man, man)
    };
    if exponent == (1 << exp) - 1 {
        let payload = if explicit {
            mantissa << 1 & ((1 << man) - 1)
        } else {
            mantissa
        };
        return if payload == 0 {
            sign * f64::INFINITY
        } else {
            f64::NAN
        };
    }
    let scale = exponent.max(1) - bias - fraction_bits as i32;
    // Two steps, because the scale of a wide format may not be a finite f64 by itself; the
    // integer is rounded to 53 bits first, which is exact rounding except for subnormal results.
    sign * scale_by(integer as f64, scale)
}

fn scale_by(mut x: f64, mut power: i32) -> f64 {
    while power > 1000 && x != 0.0 && x.is_finite() {
        x *= 2f64.powi(1000);
        power -= 1000;
    }
    while power < -1000 && x != 0.0 {
        x *= 2f64.powi(-1000);
        power += 1000;
    }
    x * 2f64.powi(power.clamp(-1000, 1000))
}

/// `x` rounded to a narrower format.
fn narrow(x: f64, exp: u32, man: u32) -> u128 {
    let bits = x.to_bits();
    let sign = u128::from(bits >> 63) << (exp + man);
    let infinity = ((1u128 << exp) - 1) << man;
    if x.is_nan() {
        return sign | infinity | 1 << (man - 1);
    }
    let magnitude = x.abs();
    let bias = (1i32 << (exp - 1)) - 1;
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    // The unit in the last place of the result decides the rounding; adding and letting the
    // carry run into the exponent handles every boundary.
    let exponent = ((bits >> 52) as i32 & 0x7ff) - 1023;
    let ulp = exponent.max(1 - bias) - man as i32;
    let scaled = scale_by(magnitude, -ulp);
    let units = round_even(scaled);
    let biased = (exponent.max(1 - bias) + bias - 1) as u128;
    let pattern = (biased << man) + units;
    sign | pattern.min(infinity)
}

fn round_even(x: f64) -> u128 {
    x.round_ties_even() as u128
}

fn parts(x: f64) -> (u128, i32, u128) {
    let bits = x.to_bits();
    let sign = u128::from(bits >> 63);
    let exponent = (bits >> 52) as i32 & 0x7ff;
    let mantissa = u128::from(bits & ((1 << 52) - 1));
    if exponent == 0 && mantissa != 0 {
        let shift = mantissa.leading_zeros() as i32 - (127 - 52);
        return (sign, 1 - shift, mantissa << shift & ((1 << 52) - 1));
    }
    (sign, exponent, mantissa)
}

fn widen_quad(x: f64) -> u128 {
    let (sign, exponent, mantissa) = parts(x);
    let biased = wide_exponent(x, exponent);
    sign << 127 | biased << 112 | mantissa << 60
}

fn widen_x87(x: f64) -> u128 {
    let (sign, exponent, mantissa) = parts(x);
    let biased = wide_exponent(x, exponent);
    let integer = u128::from(x != 0.0) << 63;
    sign << 79 | biased << 64 | integer | mantissa << 11
}

fn wide_exponent(x: f64, exponent: i32) -> u128 {
    if x == 0.0 {
        0
    } else if !x.is_finite() {
        0x7fff
    } else {
        (exponent - 1023 + 16383) as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_formats_hold_every_double() {
        let samples = [0.0, -0.0, 1.0, -2.5, 1e300, 5e-324, f64::INFINITY, 0.1];
        for kind in [FloatKind::F64, FloatKind::X86Fp80, FloatKind::F128] {
            for x in samples {
                assert_eq!(to_f64(kind, from_f64(kind, x)), x, "{kind:?} {x}");
            }
            assert!(to_f64(kind, from_f64(kind, f64::NAN)).is_nan());
        }
    }

    #[test]
    fn halves_round_as_ieee() {
        for (x, pattern) in [
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (6.0e-8, 0x0001),
            (-2.0, 0xc000),
            (1.0009765625, 0x3c01),
            (0.0, 0),
        ] {
            assert_eq!(from_f64(FloatKind::F16, x), pattern, "{x}");
        }
        assert_eq!(from_f64(FloatKind::Bf16, 1.0), 0x3f80);
        for pattern in 0..0x7c00u128 {
            let x = to_f64(FloatKind::F16, pattern);
            assert_eq!(from_f64(FloatKind::F16, x), pattern);
        }
    }
}
