//! Makes functions visible to requests in wrappers.
//!
//! A template such as `gradient(F f, double x)` passes its own parameter to a request. Which
//! function that is shows only where the wrapper is called, so the wrapper is inlined there. That
//! is done to wrappers only that nobody else can call, and only if a request needs it.

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
                let position = u32::from(sret_type(call, function).is_some());
                let known = LLVMGetNumArgOperands(call) <= position
                    || operands::function(LLVMGetOperand(call, position)).is_some();
                let wrapper = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
                if !known && is_discardable(wrapper) && !LLVMGetFirstUse(wrapper).is_null() {
                    found.push(wrapper);
                }
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
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
