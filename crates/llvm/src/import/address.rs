//! Address computations, flattened to a base, an offset in bytes and scaled indices.

use super::Importer;
use crate::ll::{self, LLVMTypeKind as K, Val};

/// A flattened address computation; the base is operand 0.
pub(super) struct Flat {
    /// The constant part in bytes.
    pub offset: i64,
    /// Bytes per unit, and the index that is not constant.
    pub indices: Vec<(i64, Val)>,
}

impl Importer {
    /// Flattens a getelementptr, instruction or constant expression; none if a type in it has no
    /// fixed size.
    pub(super) fn flatten(&mut self, gep: Val) -> Option<Flat> {
        let mut flat = Flat {
            offset: 0,
            indices: Vec::new(),
        };
        let mut ty = ll::gep_type(gep);
        for position in 1..ll::operand_count(gep) {
            let index = ll::operand(gep, position);
            let kind = ll::type_kind(ty);
            if position > 1 && kind == K::LLVMStructTypeKind {
                let field = constant_index(index)? as u32;
                let offset = ll::field_offset(self.layout, ty, field);
                flat.offset = flat.offset.wrapping_add(offset as i64);
                ty = ll::field_type(ty, field);
                continue;
            }
            if position > 1 {
                // A vector's lanes follow each other without padding, as an array's elements do
                // for every type that LLVM allows here.
                ty = match kind {
                    K::LLVMArrayTypeKind | K::LLVMVectorTypeKind => ll::element_type(ty),
                    _ => return None,
                };
            }
            let scale = self.fixed_size(ty)?;
            match constant_index(index) {
                Some(n) => flat.offset = flat.offset.wrapping_add(n.wrapping_mul(scale)),
                None if scale == 0 => {}
                None => flat.indices.push((scale, index)),
            }
        }
        Some(flat)
    }

    /// The distance between elements of a type in bytes, unless it is only known at run time.
    fn fixed_size(&mut self, ty: ll::Ty) -> Option<i64> {
        if self.contains_scalable(ty) || !ll::is_sized(ty) {
            return None;
        }
        i64::try_from(ll::abi_size(self.layout, ty)).ok()
    }

    fn contains_scalable(&mut self, ty: ll::Ty) -> bool {
        match ll::type_kind(ty) {
            K::LLVMScalableVectorTypeKind | K::LLVMTargetExtTypeKind => true,
            K::LLVMArrayTypeKind => self.contains_scalable(ll::element_type(ty)),
            K::LLVMStructTypeKind => {
                (0..ll::field_count(ty)).any(|i| self.contains_scalable(ll::field_type(ty, i)))
            }
            _ => false,
        }
    }
}

/// The constant that an index is, the same in all lanes if it is a vector.
fn constant_index(index: Val) -> Option<i64> {
    if !ll::is_constant(index) {
        return None;
    }
    let ty = ll::type_of(index);
    match ll::type_kind(ty) {
        K::LLVMIntegerTypeKind if ll::int_width(ty) <= 64 => {
            ll::is_constant_int(index).then(|| ll::int_sext(index))
        }
        K::LLVMVectorTypeKind => {
            let lane = |i| match ll::aggregate_element(index, i) {
                part if part.is_null() => None,
                part => constant_index(part),
            };
            let first = lane(0)?;
            let equal = (1..ll::vector_size(ty)).all(|i| lane(i) == Some(first));
            equal.then_some(first)
        }
        _ => None,
    }
}
