//! What Zymase notes in a module for its own later steps, and small questions about modules.

use crate::module::Module;
use crate::raw::c_string;
use llvm_sys::LLVMLinkage::*;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;

/// The name of the metadata that marks a module as not yet optimized.
const UNOPTIMIZED: &std::ffi::CStr = c"zymase.unoptimized";

/// The name of the metadata that marks debug information as nobody's wish but ours.
const OWN_DEBUG: &std::ffi::CStr = c"zymase.own_debug";

/// Notes that a module has debug information only because derivatives need the types and lines.
pub fn mark_own_debug(module: &Module) {
    mark(module, OWN_DEBUG);
}

/// Removes debug information that [`mark_own_debug`] was called for, before code is generated.
pub fn strip_own_debug(module: &Module) {
    // SAFETY: the module is live, and nobody holds metadata of it.
    unsafe {
        if LLVMGetNamedMetadataNumOperands(module.raw(), OWN_DEBUG.as_ptr()) > 0 {
            LLVMStripModuleDebugInfo(module.raw());
        }
    }
}

/// Notes that a module still has to be optimized after its requests are served: their markers
/// would not have survived before.
pub fn mark_unoptimized(module: &Module) {
    mark(module, UNOPTIMIZED);
}

fn mark(module: &Module, name: &std::ffi::CStr) {
    // SAFETY: the context and module are live; the name is copied.
    unsafe {
        let node = LLVMMDNodeInContext2(module.context().raw(), std::ptr::null_mut(), 0);
        let value = LLVMMetadataAsValue(module.context().raw(), node);
        LLVMAddNamedMetadataOperand(module.raw(), name.as_ptr(), value);
    }
}

/// Whether [`mark_unoptimized`] was called on a module.
pub fn is_unoptimized(module: &Module) -> bool {
    // SAFETY: the module is live.
    unsafe { LLVMGetNamedMetadataNumOperands(module.raw(), UNOPTIMIZED.as_ptr()) > 0 }
}

/// How a module defines a function that other modules can call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Definition {
    /// It does not.
    None,
    /// As one of several that are the same.
    Shared,
    /// As the only one.
    Only,
}

/// How a module defines the function of this name.
pub fn definition(module: &Module, name: &str) -> Definition {
    let Some(function) = module.function(name) else {
        return Definition::None;
    };
    // SAFETY: the function is live.
    unsafe {
        if LLVMIsDeclaration(function) != 0 {
            return Definition::None;
        }
        match LLVMGetLinkage(function) {
            LLVMExternalLinkage => Definition::Only,
            LLVMInternalLinkage | LLVMPrivateLinkage | LLVMAvailableExternallyLinkage => {
                Definition::None
            }
            _ => Definition::Shared,
        }
    }
}

/// Whether a module refers to a global variable of this name.
pub fn has_variable(module: &Module, name: &str) -> bool {
    // SAFETY: the name is read during the call only.
    unsafe { !LLVMGetNamedGlobal(module.raw(), c_string(name).as_ptr()).is_null() }
}

/// Whether a function is known by name, so that no definition of it is needed: the C library's
/// mathematics and memory, or something of LLVM's own.
pub fn is_known_function(name: &str) -> bool {
    use zymase_core::ir::FloatKind::{F32, F64, X86Fp80};
    let memory = [
        "memcpy",
        "memmove",
        "memset",
        "printf",
        "puts",
        "putchar",
        "abort",
        "exit",
        "__assert_fail",
    ];
    name.starts_with("llvm.")
        || memory.contains(&name)
        || crate::known::allocation(name).is_some()
        || [F32, F64, X86Fp80]
            .iter()
            .any(|&kind| crate::known::math_function(name, kind).is_some())
}
