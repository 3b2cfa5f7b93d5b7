//! Constants, and the addresses that constant expressions stand for.

use super::Importer;
use crate::ll::{self, Kind, LLVMTypeKind, Opcode, Val};
use zymase_core::ir::{Constant, Symbol, TypeKind};

impl Importer {
    /// The constant in core; opaque if core has none for it.
    pub(super) fn constant(&mut self, value: Val) -> Constant {
        let ty = self.ty(ll::type_of(value));
        if matches!(ty.kind(), TypeKind::Opaque(_)) {
            return self.opaque_constant(value);
        }
        match ll::value_kind(value) {
            Kind::LLVMUndefValueValueKind => Constant::Undef,
            Kind::LLVMPoisonValueKind => Constant::Poison,
            Kind::LLVMConstantPointerNullValueKind | Kind::LLVMConstantAggregateZeroValueKind => {
                Constant::Zero
            }
            Kind::LLVMConstantIntValueKind if ty.is_int() => match int_bits(value) {
                Some(bits) => Constant::Int(bits),
                None => self.opaque_constant(value),
            },
            Kind::LLVMConstantFPValueKind if ty.float_kind().is_some() => {
                match self.float_bits(value) {
                    Some(bits) => Constant::Float(bits),
                    None => self.opaque_constant(value),
                }
            }
            Kind::LLVMConstantIntValueKind
            | Kind::LLVMConstantFPValueKind
            | Kind::LLVMConstantDataArrayValueKind
            | Kind::LLVMConstantDataVectorValueKind
            | Kind::LLVMConstantArrayValueKind
            | Kind::LLVMConstantVectorValueKind
            | Kind::LLVMConstantStructValueKind => {
                let parts = (0..ty.part_count() as u32)
                    .map(|i| match ll::aggregate_element(value, i) {
                        part if part.is_null() => self.opaque_constant(value),
                        part => self.constant(part),
                    })
                    .collect();
                Constant::Aggregate(parts)
            }
            _ => match self.address_of(value) {
                Some((symbol, offset)) => Constant::Address(symbol, offset),
                None => self.opaque_constant(value),
            },
        }
    }

    fn opaque_constant(&mut self, value: Val) -> Constant {
        Constant::Opaque(self.origins.add_value(value))
    }

    /// The symbol and offset that a constant pointer is.
    pub(super) fn address_of(&mut self, value: Val) -> Option<(Symbol, i64)> {
        if let Some(&place) = self.symbols.get(&value) {
            return Some(place);
        }
        if !ll::is_constant_expression(value)
            || ll::type_kind(ll::type_of(value)) != LLVMTypeKind::LLVMPointerTypeKind
            || ll::constant_opcode(value) != Opcode::LLVMGetElementPtr
        {
            return None;
        }
        let (symbol, base) = self.address_of(ll::operand(value, 0))?;
        let flat = self.flatten(value)?;
        let constant = flat.indices.is_empty();
        constant.then(|| (symbol, base.wrapping_add(flat.offset)))
    }

    /// The bit pattern of a constant float.
    pub(super) fn float_bits(&mut self, value: Val) -> Option<u128> {
        let bits = self.ty(ll::type_of(value)).float_kind()?.bits();
        int_bits(ll::constant_bitcast(
            value,
            ll::int_type(self.context, bits),
        ))
    }
}

/// The bits of a constant integer, zero-extended, if there are at most 128 that are not zero.
pub(super) fn int_bits(value: Val) -> Option<u128> {
    if !ll::is_constant_int(value) {
        return None;
    }
    let ty = ll::type_of(value);
    if ll::type_kind(ty) != LLVMTypeKind::LLVMIntegerTypeKind {
        return None;
    }
    match ll::int_width(ty) {
        0..=64 => Some(u128::from(ll::int_zext(value))),
        width @ 65..=128 => {
            // The C interface gives at most 64 bits, the text form all, as a signed decimal.
            let text = ll::print_value(value);
            let number: i128 = text.rsplit(' ').next()?.parse().ok()?;
            let unused = 128 - width;
            Some(((number as u128) << unused) >> unused)
        }
        // A vector that the optimizer has put into one integer is taken apart by small numbers.
        _ => ll::print_value(value).rsplit(' ').next()?.parse().ok(),
    }
}
