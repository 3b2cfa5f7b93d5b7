//! Constants in the text form. What a constant means depends on its type, which the text may leave
//! to the context, so the parser reads a [`Literal`] first and makes a constant of it later.

use super::names::quote_if_needed;
use crate::ir::{Constant, FloatKind, Module, Origin, Symbol, Type, TypeKind, soft};

/// A constant as written.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    /// A number: whether it is negative, and its digits.
    Number(bool, String),
    True,
    False,
    Infinity(bool),
    Nan,
    Zero,
    Undef,
    Poison,
    /// An integer where the type is none; only wrong programs have them.
    Int(String),
    /// The bit pattern of a float where the type is none.
    Float(String),
    Parts(Vec<Literal>),
    Address(Symbol, i64),
    Origin(u32),
}

/// The text of a constant of a type.
pub(super) fn constant_text(module: &Module, ty: Type, constant: &Constant) -> String {
    match (constant, ty.kind()) {
        (Constant::Int(n), TypeKind::Int(bits)) => int_text(*n, *bits),
        (Constant::Float(bits), TypeKind::Float(kind)) => float_text(*kind, *bits),
        (Constant::Int(n), _) => format!("int {n}"),
        (Constant::Float(bits), _) => format!("float {bits:#x}"),
        (Constant::Zero, TypeKind::Ptr(_)) => "null".to_string(),
        (Constant::Zero, _) => "zero".to_string(),
        (Constant::Undef, _) => "undef".to_string(),
        (Constant::Poison, _) => "poison".to_string(),
        (Constant::Aggregate(parts), _) => {
            let parts = parts.iter().enumerate().map(|(i, part)| {
                let ty = ty.part(i as u64).unwrap_or(Type::void());
                constant_text(module, ty, part)
            });
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        (Constant::Address(symbol, offset), _) => {
            let known = match *symbol {
                Symbol::Func(func) => module.funcs.is_valid(func),
                Symbol::Global(global) => module.globals.is_valid(global),
            };
            if !known {
                return "missing".to_string();
            }
            let name = quote_if_needed(module.symbol_name(*symbol));
            match offset {
                0 => format!("@{name}"),
                1.. => format!("(@{name} + {offset})"),
                _ => format!("(@{name} - {})", offset.unsigned_abs()),
            }
        }
        (Constant::Opaque(origin), _) => format!("origin {}", origin.as_u32()),
    }
}

fn int_text(n: u128, bits: u32) -> String {
    match bits {
        1 => if n == 0 { "false" } else { "true" }.to_string(),
        2..=127 if n >> (bits - 1) == 1 => format!("-{}", (1u128 << bits) - n),
        128 => (n as i128).to_string(),
        _ => n.to_string(),
    }
}

/// The shortest decimal that reads back as the same bits, or the bits.
fn float_text(kind: FloatKind, bits: u128) -> String {
    let x = soft::to_f64(kind, bits);
    if !x.is_finite() || soft::from_f64(kind, x) != bits {
        return format!("{bits:#x}");
    }
    match kind {
        FloatKind::F16 | FloatKind::Bf16 | FloatKind::F32 => format!("{:?}", x as f32),
        FloatKind::F64 | FloatKind::X86Fp80 | FloatKind::F128 => format!("{x:?}"),
    }
}

/// The constant of a type that a literal means.
pub(super) fn resolve(literal: &Literal, ty: Type) -> Result<Constant, String> {
    let mismatch = |what: &str| Err(format!("{what} is no constant of the type {ty}"));
    Ok(match (literal, ty.kind()) {
        (Literal::Number(negative, digits), TypeKind::Int(bits)) => {
            Constant::Int(resolve_int(*negative, digits, *bits)?)
        }
        (Literal::Number(negative, digits), TypeKind::Float(kind)) => {
            Constant::Float(resolve_float(*negative, digits, *kind)?)
        }
        (Literal::Number(negative, digits), _) => {
            let sign = if *negative { "-" } else { "" };
            return mismatch(&format!("the number {sign}{digits}"));
        }
        (Literal::True, TypeKind::Int(1)) => Constant::Int(1),
        (Literal::False, TypeKind::Int(1)) => Constant::Int(0),
        (Literal::True | Literal::False, _) => return mismatch("a truth value"),
        (Literal::Infinity(negative), TypeKind::Float(kind)) => {
            let sign = if *negative { -1.0 } else { 1.0 };
            Constant::Float(soft::from_f64(*kind, sign * f64::INFINITY))
        }
        (Literal::Nan, TypeKind::Float(kind)) => Constant::Float(soft::from_f64(*kind, f64::NAN)),
        (Literal::Infinity(_) | Literal::Nan, _) => return mismatch("a float"),
        (Literal::Zero, _) => Constant::Zero,
        (Literal::Undef, _) => Constant::Undef,
        (Literal::Poison, _) => Constant::Poison,
        (Literal::Int(digits), _) => Constant::Int(magnitude(digits)?),
        (Literal::Float(digits), _) => Constant::Float(magnitude(digits)?),
        (Literal::Parts(parts), _) => {
            let parts = parts
                .iter()
                .enumerate()
                .map(|(i, part)| resolve(part, ty.part(i as u64).unwrap_or(Type::void())));
            Constant::Aggregate(parts.collect::<Result<_, _>>()?)
        }
        (Literal::Address(symbol, offset), _) => Constant::Address(*symbol, *offset),
        (Literal::Origin(number), _) => Constant::Opaque(Origin::from_u32(*number)),
    })
}

/// An integer of a width: any that fits read as signed or as unsigned.
pub(super) fn resolve_int(negative: bool, digits: &str, bits: u32) -> Result<u128, String> {
    let n = magnitude(digits)?;
    let sign = if negative { "-" } else { "" };
    let too_big = Err(format!("{sign}{digits} does not fit into i{bits}"));
    if negative {
        if bits > 128 || bits == 0 || n > 1 << (bits - 1) {
            return too_big;
        }
        let mask = u128::MAX >> (128 - bits);
        Ok(n.wrapping_neg() & mask)
    } else if bits < 128 && n >> bits != 0 {
        too_big
    } else {
        Ok(n)
    }
}

fn resolve_float(negative: bool, digits: &str, kind: FloatKind) -> Result<u128, String> {
    if digits.starts_with("0x") {
        let bits = magnitude(digits)?;
        let width = kind.bits();
        if negative || width < 128 && bits >> width != 0 {
            return Err(format!("{digits} is no bit pattern of {}", kind.name()));
        }
        return Ok(bits);
    }
    let wrong = |_| format!("{digits} is no number");
    let x = match kind {
        // Rounding to double first would round twice.
        FloatKind::F16 | FloatKind::Bf16 | FloatKind::F32 => {
            f64::from(digits.parse::<f32>().map_err(wrong)?)
        }
        _ => digits.parse::<f64>().map_err(wrong)?,
    };
    Ok(soft::from_f64(kind, if negative { -x } else { x }))
}

/// A number without sign, in decimal or with `0x`.
pub(super) fn magnitude(digits: &str) -> Result<u128, String> {
    let parsed = match digits.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    parsed.map_err(|_| format!("{digits} is no integer of at most 128 bits"))
}
