//! Type hints: calls that tell the analysis of types what memory holds.
//!
//! A hint is a call of a declared function `zymase.hint.…` that touches no memory, so optimizers
//! keep it and nothing else is disturbed by it. It says something about differentiated functions
//! only; when the types are known, all hints go.

use crate::module::{Module, blocks_of, instructions_of};
use crate::raw::{c_string, value_name};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::*;
use zymase_core::analysis::types::Hint;

/// Puts a hint before an instruction. `bytes` is how much memory it is about, none for all of it.
///
/// # Safety
/// `before` is a live instruction of the module, and `pointer` a live pointer that it may use.
pub unsafe fn insert_hint(
    module: &Module,
    before: LLVMValueRef,
    hint: Hint,
    pointer: LLVMValueRef,
    bytes: Option<i64>,
) {
    // SAFETY: as the caller promises; the types of the call are those of the function.
    unsafe {
        let context = module.context().raw();
        let long = LLVMInt64TypeInContext(context);
        let mut params = [LLVMTypeOf(pointer), long];
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), params.as_mut_ptr(), 2, 0);
        let function = match module.function(hint.symbol()) {
            Some(function) => function,
            None => declare(module, hint.symbol(), ty),
        };
        let bytes = LLVMConstInt(long, bytes.unwrap_or(-1) as u64, 1);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, before);
        let mut args = [pointer, bytes];
        let call = LLVMBuildCall2(builder, ty, function, args.as_mut_ptr(), 2, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(before));
    }
}

/// Removes all hints from a module.
pub fn erase_hints(module: &Module) {
    let is_hint = |name: &str| Hint::of_symbol(name).is_some();
    // SAFETY: the functions of a live module are live, and hints have no result that is used.
    unsafe {
        let hints: Vec<_> = module
            .functions()
            .filter(|&f| is_hint(&value_name(f)))
            .collect();
        if hints.is_empty() {
            return;
        }
        for function in module.functions() {
            for block in blocks_of(function) {
                let calls: Vec<_> = instructions_of(block)
                    .filter(|&inst| {
                        !LLVMIsACallInst(inst).is_null()
                            && hints.contains(&LLVMGetCalledValue(inst))
                    })
                    .collect();
                calls
                    .into_iter()
                    .for_each(|call| LLVMInstructionEraseFromParent(call));
            }
        }
        for hint in hints {
            if LLVMGetFirstUse(hint).is_null() {
                LLVMDeleteFunction(hint);
            }
        }
    }
}

/// Declares a function with effects that keep calls of it alive and let everything else move.
unsafe fn declare(module: &Module, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: names are copied, and the attributes exist in this version of LLVM.
    unsafe {
        let context = module.context().raw();
        let function = LLVMAddFunction(module.raw(), c_string(name).as_ptr(), ty);
        let add = |index: u32, word: &str, value: u64| {
            let kind = LLVMGetEnumAttributeKindForName(word.as_ptr().cast(), word.len());
            LLVMAddAttributeAtIndex(
                function,
                index,
                LLVMCreateEnumAttribute(context, kind, value),
            );
        };
        for word in ["nounwind", "willreturn", "nocallback", "nofree", "nosync"] {
            add(llvm_sys::LLVMAttributeFunctionIndex, word, 0);
        }
        // Inaccessible memory is at bits 2 and 3: read and written.
        add(llvm_sys::LLVMAttributeFunctionIndex, "memory", 0b11 << 2);
        // The pointer is not captured.
        add(1, "captures", 0);
        function
    }
}
