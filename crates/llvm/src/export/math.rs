//! Mathematical functions: the call they were read from, LLVM's intrinsic, or the C library.

use super::Exporter;
use super::constants::NO_NAME;
use crate::known;
use crate::ll::{self, LLVMTypeKind, Ty, Val};
use crate::raw::c_string;
use llvm_sys::core::*;
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_core::ir::{FloatKind, Inst, MathFn, MathParam, Type};

impl Exporter<'_> {
    /// Writes a mathematical function of the result type `ty`.
    pub(super) fn math(
        &mut self,
        inst: Inst,
        function: MathFn,
        args: &[Val],
        ty: Type,
    ) -> Result<Val> {
        if let Some(made) = self.clone_math_call(inst, args) {
            return Ok(made);
        }
        if let Some(name) = known::intrinsic_of(function)
            && !has_no_code(function, ty)
        {
            return Ok(self.intrinsic(&name, function, args, ty));
        }
        let Some(kind) = ty.scalar().float_kind() else {
            return Err(Diagnostic::defect(
                format!("cannot compute {} of the type {ty}", function.name()),
                "it is no float",
            ));
        };
        let Some(lanes) = ty.lanes() else {
            return self.library_call(function, kind, args);
        };
        let index_ty = ll::int_type(self.origins.context, 32);
        let mut whole = ll::poison(self.origins.llvm_type(ty));
        for lane in 0..lanes {
            let index = ll::int_constant(index_ty, u128::from(lane));
            let parts: Vec<Val> =
                args.iter()
                    .map(|&arg| match ll::type_kind(ll::type_of(arg)) {
                        LLVMTypeKind::LLVMVectorTypeKind => self
                            .build(|b| unsafe { LLVMBuildExtractElement(b, arg, index, NO_NAME) }),
                        _ => arg,
                    })
                    .collect();
            let part = self.library_call(function, kind, &parts)?;
            whole =
                self.build(|b| unsafe { LLVMBuildInsertElement(b, whole, part, index, NO_NAME) });
        }
        Ok(whole)
    }

    fn intrinsic(&mut self, name: &str, function: MathFn, args: &[Val], ty: Type) -> Val {
        let mut types: Vec<Ty> = vec![self.origins.llvm_type(ty)];
        let integer = function.params().iter().position(|p| *p == MathParam::Int);
        types.extend(integer.map(|i| ll::type_of(args[i])));
        let mut args = args.to_vec();
        // SAFETY: the intrinsic exists and is overloaded on exactly these types.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let callee =
                LLVMGetIntrinsicDeclaration(self.origins.llvm, id, types.as_mut_ptr(), types.len());
            let ty = ll::value_type(callee);
            LLVMBuildCall2(
                self.builder.0,
                ty,
                callee,
                args.as_mut_ptr(),
                args.len() as u32,
                NO_NAME,
            )
        }
    }

    /// The mantissa is the first of the two results of LLVM's `frexp`.
    fn mantissa(&mut self, x: Val) -> Val {
        let name = "llvm.frexp";
        let mut types: Vec<Ty> = vec![ll::type_of(x), ll::int_type(self.origins.context, 32)];
        // SAFETY: the intrinsic exists and is overloaded on exactly these types.
        let both = unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let callee =
                LLVMGetIntrinsicDeclaration(self.origins.llvm, id, types.as_mut_ptr(), types.len());
            let ty = ll::value_type(callee);
            LLVMBuildCall2(self.builder.0, ty, callee, [x].as_mut_ptr(), 1, NO_NAME)
        };
        self.build(|b| unsafe { LLVMBuildExtractValue(b, both, 0, NO_NAME) })
    }

    /// Calls the C library on scalars; formats that C does not have go through `float`.
    fn library_call(&mut self, function: MathFn, kind: FloatKind, args: &[Val]) -> Result<Val> {
        if function == MathFn::Significand {
            return Ok(self.mantissa(args[0]));
        }
        let c_kind = match kind {
            FloatKind::F16 | FloatKind::Bf16 => FloatKind::F32,
            kind => kind,
        };
        let Some(name) = known::c_name(function, c_kind) else {
            return Err(Diagnostic::defect(
                format!("cannot call {}", function.name()),
                "no such function is in the C library or in LLVM",
            ));
        };
        let own = self.origins.llvm_type(Type::float(kind));
        let float = self.origins.llvm_type(Type::float(c_kind));
        let int = ll::int_type(self.origins.context, 32);
        let mut types = Vec::new();
        let mut passed = Vec::new();
        for (&arg, param) in args.iter().zip(function.params()) {
            let ty = match param {
                MathParam::Float => float,
                MathParam::Int => int,
            };
            types.push(ty);
            passed.push(self.build(|b| unsafe {
                match param {
                    MathParam::Float => LLVMBuildFPCast(b, arg, ty, NO_NAME),
                    MathParam::Int => LLVMBuildIntCast2(b, arg, ty, 1, NO_NAME),
                }
            }));
        }
        let ty = ll::function_type(float, &types, false);
        let name = c_string(&name);
        // SAFETY: the module is alive; LLVM copies name and arguments.
        let made = unsafe {
            let mut callee = LLVMGetNamedFunction(self.origins.llvm, name.as_ptr());
            if callee.is_null() {
                callee = LLVMAddFunction(self.origins.llvm, name.as_ptr(), ty);
            }
            LLVMBuildCall2(
                self.builder.0,
                ty,
                callee,
                passed.as_mut_ptr(),
                passed.len() as u32,
                NO_NAME,
            )
        };
        // Core's functions have no effects, `errno` included.
        for (attribute, value) in [("memory", 0), ("nounwind", 0), ("willreturn", 0)] {
            let kind = ll::attribute_kind_id(attribute);
            let attribute = ll::enum_attribute(self.origins.context, kind, value);
            ll::add_call_attribute(made, ll::FUNCTION_INDEX, attribute);
        }
        Ok(self.build(|b| unsafe { LLVMBuildFPCast(b, made, own, NO_NAME) }))
    }
}

/// Whether LLVM has an intrinsic for this type but no code for it on x86.
fn has_no_code(function: MathFn, ty: Type) -> bool {
    matches!(function, MathFn::Minimum | MathFn::Maximum)
        && matches!(
            ty.scalar().float_kind(),
            Some(FloatKind::X86Fp80 | FloatKind::F128)
        )
}
