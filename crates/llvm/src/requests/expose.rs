//! Makes functions visible to requests in wrappers.
//!
//! A template such as `gradient(F f, double x)` passes its own parameter to a request, as the
//! function to differentiate or as an argument of it. Which function that is shows only where the
//! wrapper is called, so the wrapper is inlined there. That is done to wrappers only that nobody
//! else can call, and only if a request needs it.

use super::calls::{calls_of, sret_type};
use super::grammar::{CallKind, call_kind};
use super::operands;
use crate::PassOptions;
use crate::module::Module;
use crate::raw::value_name;
use llvm_sys::LLVMLinkage::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use zymase_core::diagnostic::Result;

/// How many wrappers may be around each other.
const DEPTH: usize = 8;

/// Inlines wrappers until every request names its function, or nothing more can be done.
pub fn expose_functions(module: &Module) -> Result<()> {
    for _ in 0..DEPTH {
        // SAFETY: the functions of a live module are live; nothing is removed during the walk.
        let wrappers = unsafe { wrappers(module)? };
        if wrappers.is_empty() {
            break;
        }
        for wrapper in wrappers {
            // SAFETY: as above.
            unsafe { inline_always(module, wrapper) };
        }
        module.run_passes("always-inline", None, PassOptions::STRUCTURE)?;
    }
    Ok(())
}

/// Functions with a request for something that only their callers know.
unsafe fn wrappers(module: &Module) -> Result<Vec<LLVMValueRef>> {
    let mut found = Vec::new();
    for function in module.functions() {
        // SAFETY: calls of a live function are live and stand in a function.
        unsafe {
            let asks = matches!(
                call_kind(&value_name(function)),
                Some(CallKind::Derivative(_))
            );
            if !asks || LLVMIsDeclaration(function) == 0 {
                continue;
            }
            for call in calls_of(function)? {
                let first = u32::from(sret_type(call, function).is_some());
                let hidden = (first..LLVMGetNumArgOperands(call))
                    .filter_map(|i| operands::parameter(LLVMGetOperand(call, i)))
                    .any(|parameter| is_function_somewhere(parameter, DEPTH));
                if hidden {
                    found.push(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
                }
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether some caller passes a function for this parameter of a function that can be inlined.
unsafe fn is_function_somewhere(parameter: LLVMValueRef, depth: usize) -> bool {
    // SAFETY: a parameter belongs to a live function, whose uses are live.
    unsafe {
        let wrapper = LLVMGetParamParent(parameter);
        if depth == 0 || !is_discardable(wrapper) {
            return false;
        }
        let Ok(calls) = calls_of(wrapper) else {
            return false;
        };
        let position = (0..).find(|&i| LLVMGetParam(wrapper, i) == parameter);
        calls.into_iter().any(|call| {
            let passed = LLVMGetOperand(call, position.unwrap_or(0));
            operands::function(passed).is_some()
                || operands::parameter(passed)
                    .is_some_and(|outer| is_function_somewhere(outer, depth - 1))
        })
    }
}

/// Whether a function may go once nothing in this module calls it.
unsafe fn is_discardable(function: LLVMValueRef) -> bool {
    // SAFETY: the caller has a live function.
    matches!(
        unsafe { LLVMGetLinkage(function) },
        LLVMInternalLinkage | LLVMPrivateLinkage | LLVMLinkOnceAnyLinkage | LLVMLinkOnceODRLinkage
    )
}

unsafe fn inline_always(module: &Module, function: LLVMValueRef) {
    let kind = |word: &str| {
        // SAFETY: LLVM reads the length that is given.
        unsafe { LLVMGetEnumAttributeKindForName(word.as_ptr().cast(), word.len()) }
    };
    let index = llvm_sys::LLVMAttributeFunctionIndex;
    // SAFETY: the function is live; removing what is not there does nothing.
    unsafe {
        for word in ["noinline", "optnone"] {
            LLVMRemoveEnumAttributeAtIndex(function, index, kind(word));
        }
        let always = LLVMCreateEnumAttribute(module.context().raw(), kind("alwaysinline"), 0);
        LLVMAddAttributeAtIndex(function, index, always);
    }
}
