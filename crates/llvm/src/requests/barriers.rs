//! Barriers: functions that derivatives see as declarations, so that nothing flows through them.

use crate::ll;
use crate::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// Writes the body of a barrier: a call of `function` with the parameters, or the only parameter.
/// Nothing if the types do not allow it.
///
/// # Safety
/// `barrier` is a declaration in `module`, and `function` is live.
pub unsafe fn fill_barrier(
    module: &Module,
    barrier: LLVMValueRef,
    function: Option<LLVMValueRef>,
    count: usize,
) -> Option<()> {
    // SAFETY: the builder writes into a new block of a new function, with checked types.
    unsafe {
        let context = module.context().raw();
        let ret = LLVMGetReturnType(LLVMGlobalGetValueType(barrier));
        let mut params: Vec<LLVMValueRef> = (0..count as u32)
            .map(|i| LLVMGetParam(barrier, i))
            .collect();
        let void = LLVMGetTypeKind(ret) == llvm_sys::LLVMTypeKind::LLVMVoidTypeKind;
        let fits = match function {
            Some(function) => {
                let ty = LLVMGlobalGetValueType(function);
                let mut wanted = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
                LLVMGetParamTypes(ty, wanted.as_mut_ptr());
                let given: Vec<_> = params.iter().map(|&p| LLVMTypeOf(p)).collect();
                LLVMGetReturnType(ty) == ret && wanted == given
            }
            None => count == 1 && LLVMTypeOf(params[0]) == ret,
        };
        if !fits {
            return None;
        }
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(
            builder,
            LLVMAppendBasicBlockInContext(context, barrier, c"".as_ptr()),
        );
        let result = match function {
            Some(function) => {
                let ty = LLVMGlobalGetValueType(function);
                LLVMBuildCall2(
                    builder,
                    ty,
                    function,
                    params.as_mut_ptr(),
                    count as u32,
                    c"".as_ptr(),
                )
            }
            None => params[0],
        };
        match void {
            true => LLVMBuildRetVoid(builder),
            false => LLVMBuildRet(builder, result),
        };
        LLVMDisposeBuilder(builder);
        Some(())
    }
}

/// What attributes say of what a function does with memory, its own and that behind its parameters.
const EFFECTS: [&str; 8] = [
    "memory",
    "nofree",
    "nounwind",
    "willreturn",
    "captures",
    "readonly",
    "readnone",
    "writeonly",
];

/// Says of a barrier what is known of the function that it calls with its own parameters. Otherwise
/// it could do anything with all memory that it is given, and nothing would be intact any more.
pub fn copy_effects(function: LLVMValueRef, barrier: LLVMValueRef) {
    let kinds = EFFECTS.map(ll::attribute_kind_id);
    let params = ll::param_types(ll::value_type(function)).len() as u32;
    for index in (1..=params).chain([ll::FUNCTION_INDEX]) {
        for attribute in ll::attributes(function, index) {
            if ll::is_enum_attribute(attribute) && kinds.contains(&ll::attribute_kind(attribute)) {
                ll::add_function_attribute(barrier, index, attribute);
            }
        }
    }
}
