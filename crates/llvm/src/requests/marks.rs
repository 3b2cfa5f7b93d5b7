//! What Zymase notes in a module for its own later steps, and small questions about modules.

use super::grammar;
use crate::module::Module;
use crate::raw::{c_string, value_name};
use llvm_sys::LLVMLinkage::*;
use llvm_sys::core::*;

/// The name of the metadata that marks a module as not yet optimized.
const UNOPTIMIZED: &std::ffi::CStr = c"zymase.unoptimized";

/// Notes that a module still has to be optimized after its requests are served: their markers
/// would not have survived before.
pub fn mark_unoptimized(module: &Module) {
    // SAFETY: the context and module are live; the name is copied.
    unsafe {
        let node = LLVMMDNodeInContext2(module.context().raw(), std::ptr::null_mut(), 0);
        let value = LLVMMetadataAsValue(module.context().raw(), node);
        LLVMAddNamedMetadataOperand(module.raw(), UNOPTIMIZED.as_ptr(), value);
    }
}

/// Whether [`mark_unoptimized`] was called on a module.
pub fn is_unoptimized(module: &Module) -> bool {
    // SAFETY: the module is live.
    unsafe { LLVMGetNamedMetadataNumOperands(module.raw(), UNOPTIMIZED.as_ptr()) > 0 }
}

/// Whether anything in a module is a word to Zymase: a request, or a registration.
pub fn speaks_to_us(module: &Module) -> bool {
    // SAFETY: functions and variables of a live module are live.
    let name = |value| unsafe { value_name(value) };
    module.functions().any(|f| grammar::is_request(&name(f)))
        || module.globals().any(|g| grammar::is_registration(&name(g)))
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

/// How a module defines the function or variable of this name.
pub fn definition(module: &Module, name: &str) -> Definition {
    // SAFETY: the name is read during the call only, and the symbol is live.
    unsafe {
        let variable = LLVMGetNamedGlobal(module.raw(), c_string(name).as_ptr());
        let variable = Some(variable).filter(|variable| !variable.is_null());
        let symbol = match module.function(name).or(variable) {
            Some(symbol) if LLVMIsDeclaration(symbol) == 0 => symbol,
            _ => return Definition::None,
        };
        match LLVMGetLinkage(symbol) {
            LLVMExternalLinkage => Definition::Only,
            LLVMInternalLinkage | LLVMPrivateLinkage | LLVMAvailableExternallyLinkage => {
                Definition::None
            }
            _ => Definition::Shared,
        }
    }
}

/// Whether a module refers to a symbol of this name.
pub fn has_symbol(module: &Module, name: &str) -> bool {
    // SAFETY: the name is read during the call only.
    let variable = unsafe { LLVMGetNamedGlobal(module.raw(), c_string(name).as_ptr()) };
    !variable.is_null() || module.function(name).is_some()
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
