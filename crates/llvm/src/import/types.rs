//! Types: structures lose their names, what core does not know becomes opaque, and sizes are
//! checked against core's layout.

use super::Importer;
use crate::ll::{self, LLVMTypeKind as K, Ty};
use zymase_core::ir::{FloatKind, Type, TypeKind};

impl Importer {
    /// The type in core.
    pub(super) fn ty(&mut self, ty: Ty) -> Type {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let read = match self.modeled(ty) {
            Some(read) => read,
            None => {
                let opaque = Type::new(TypeKind::Opaque(ll::print_type(ty)));
                self.origins.types.insert(opaque, ty);
                opaque
            }
        };
        // The first LLVM type of a structure is the one that values get at export.
        if matches!(read.kind(), TypeKind::Struct { .. }) {
            self.origins.types.entry(read).or_insert(ty);
        }
        self.types.insert(ty, read);
        self.check_layout(ty, read);
        read
    }

    fn modeled(&mut self, ty: Ty) -> Option<Type> {
        let read = match ll::type_kind(ty) {
            K::LLVMVoidTypeKind => Type::void(),
            K::LLVMIntegerTypeKind => Type::int(ll::int_width(ty)),
            K::LLVMHalfTypeKind => Type::float(FloatKind::F16),
            K::LLVMBFloatTypeKind => Type::float(FloatKind::Bf16),
            K::LLVMFloatTypeKind => Type::float(FloatKind::F32),
            K::LLVMDoubleTypeKind => Type::float(FloatKind::F64),
            K::LLVMX86_FP80TypeKind => Type::float(FloatKind::X86Fp80),
            K::LLVMFP128TypeKind => Type::float(FloatKind::F128),
            K::LLVMPointerTypeKind => Type::new(TypeKind::Ptr(ll::address_space(ty))),
            K::LLVMVectorTypeKind => {
                let element = self.part(ll::element_type(ty))?;
                Type::vector(element, ll::vector_size(ty))
            }
            K::LLVMArrayTypeKind => {
                let element = self.part(ll::element_type(ty))?;
                Type::array(element, ll::array_length(ty))
            }
            K::LLVMStructTypeKind if !ll::is_opaque_struct(ty) => {
                let fields = (0..ll::field_count(ty))
                    .map(|i| self.part(ll::field_type(ty, i)))
                    .collect::<Option<Vec<Type>>>()?;
                Type::new(TypeKind::Struct {
                    fields,
                    packed: ll::is_packed(ty),
                })
            }
            _ => return None,
        };
        Some(read)
    }

    /// The type of a part; none if it is opaque, because then the whole is.
    fn part(&mut self, ty: Ty) -> Option<Type> {
        let read = self.ty(ty);
        (!matches!(read.kind(), TypeKind::Opaque(_))).then_some(read)
    }

    fn check_layout(&mut self, ty: Ty, read: Type) {
        if matches!(read.kind(), TypeKind::Opaque(_) | TypeKind::Void) || !ll::is_sized(ty) {
            return;
        }
        let layout = &self.module.layout;
        let mut agrees = ll::abi_size(self.layout, ty) == layout.size(read)
            && ll::store_size(self.layout, ty) == layout.store_size(read)
            && ll::abi_align(self.layout, ty) == layout.align(read);
        if let TypeKind::Struct { fields, .. } = read.kind() {
            agrees &= (0..fields.len() as u32).all(|i| {
                ll::field_offset(self.layout, ty, i) == layout.part_offset(read, u64::from(i))
            });
        }
        if !agrees {
            self.refuse(
                format!("cannot lay out the type {}", ll::print_type(ty)),
                "its size or alignment on the target is none that Zymase computes with",
            );
        }
    }
}
