//! The types of LLVM that requests can pass, as types of core.

use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use zymase_core::ir::{FloatKind, Type, TypeKind};

/// The type of core for a type of LLVM; what core does not know is opaque.
///
/// # Safety
/// `ty` is a live type.
pub unsafe fn core_type(ty: LLVMTypeRef) -> Type {
    // SAFETY: each query fits the kind that it is made for.
    unsafe {
        let float = |kind| Type::float(kind);
        match LLVMGetTypeKind(ty) {
            LLVMVoidTypeKind => Type::void(),
            LLVMIntegerTypeKind => Type::int(LLVMGetIntTypeWidth(ty)),
            LLVMPointerTypeKind => Type::new(TypeKind::Ptr(LLVMGetPointerAddressSpace(ty))),
            LLVMHalfTypeKind => float(FloatKind::F16),
            LLVMBFloatTypeKind => float(FloatKind::Bf16),
            LLVMFloatTypeKind => float(FloatKind::F32),
            LLVMDoubleTypeKind => float(FloatKind::F64),
            LLVMX86_FP80TypeKind => float(FloatKind::X86Fp80),
            LLVMFP128TypeKind => float(FloatKind::F128),
            LLVMVectorTypeKind => {
                Type::vector(core_type(LLVMGetElementType(ty)), LLVMGetVectorSize(ty))
            }
            LLVMArrayTypeKind => {
                Type::array(core_type(LLVMGetElementType(ty)), LLVMGetArrayLength2(ty))
            }
            LLVMStructTypeKind if LLVMIsOpaqueStruct(ty) == 0 => {
                let count = LLVMCountStructElementTypes(ty);
                let fields = (0..count).map(|i| core_type(LLVMStructGetTypeAtIndex(ty, i)));
                Type::new(TypeKind::Struct {
                    fields: fields.collect(),
                    packed: LLVMIsPackedStruct(ty) != 0,
                })
            }
            _ => Type::new(TypeKind::Opaque("unknown".into())),
        }
    }
}
