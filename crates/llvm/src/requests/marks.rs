//! What Zymase notes in a module for its own later steps, and small questions about modules.

use super::grammar;
use crate::ll;
use crate::module::Module;
use crate::raw::{c_string, value_name};
use llvm_sys::LLVMLinkage::*;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::{HashMap, HashSet};

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
    // SAFETY: the module is live.
    let is_ours = unsafe { LLVMGetNamedMetadataNumOperands(module.raw(), OWN_DEBUG.as_ptr()) > 0 };
    if is_ours {
        strip_debug(module);
    }
}

/// Removes all debug information.
pub fn strip_debug(module: &Module) {
    // SAFETY: the module is live, and nobody holds metadata of it.
    unsafe {
        LLVMStripModuleDebugInfo(module.raw());
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

/// Whether the compiler optimized a module, if debug information says it.
pub fn was_optimized(module: &Module) -> Option<bool> {
    let unit = *module.named_metadata("llvm.dbg.cu").first()?;
    // The C interface has no other way to ask.
    Some(ll::print_value(unit).contains("isOptimized: true"))
}

/// The name of the metadata that names the program's own variables.
const VARIABLES: &std::ffi::CStr = c"zymase.variables";

/// Notes that a variable, of which this module will only have a declaration, is defined in the
/// program.
pub(crate) fn note_variable(module: &Module, name: &str) {
    let context = module.context().raw();
    let node = ll::make_node(context, &[ll::make_string(context, name)]);
    let value = ll::metadata_as_value(context, node);
    // SAFETY: the module is live; the name is copied.
    unsafe { LLVMAddNamedMetadataOperand(module.raw(), VARIABLES.as_ptr(), value) }
}

/// The names of the variables for which [`note_variable`] was called.
pub(crate) fn noted_variables(module: &Module) -> HashSet<String> {
    let nodes = module.named_metadata(&VARIABLES.to_string_lossy());
    let names = nodes.into_iter().flat_map(ll::node_operands);
    names.filter_map(ll::metadata_string).collect()
}

/// Whether anything in a module is a word to Zymase: a request, or a registration.
pub fn speaks_to_us(module: &Module) -> bool {
    // SAFETY: functions and variables of a live module are live.
    let name = |value| unsafe { value_name(value) };
    module.functions().any(|f| grammar::is_request(&name(f)))
        || module.globals().any(|g| grammar::is_registration(&name(g)))
}

/// Defines the markers that a module still mentions once its requests are served, because it keeps
/// their addresses in variables on the way. Nobody else would, and their values mean nothing.
pub fn settle_markers(module: &Module) {
    for global in module.globals().collect::<Vec<_>>() {
        // SAFETY: the variables of a live module are live, and null is a value of any type.
        unsafe {
            let known = matches!(grammar::marker(&value_name(global)), Some(Ok(_)));
            if known && LLVMIsDeclaration(global) != 0 && !LLVMGetFirstUse(global).is_null() {
                LLVMSetInitializer(global, LLVMConstNull(LLVMGlobalGetValueType(global)));
                LLVMSetLinkage(global, LLVMInternalLinkage);
            }
        }
    }
}

/// How a module defines a symbol that other modules can use.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Definition {
    /// It does not.
    None,
    /// As one of several that are the same.
    Shared,
    /// As one that another definition may replace.
    Weak,
    /// As the only one.
    Only,
}

/// How a module defines the function or variable of this name.
pub fn definition(module: &Module, name: &str) -> Definition {
    // SAFETY: the module is live; the name is read during the call only.
    unsafe {
        let symbol = match module.function(name) {
            Some(function) => function,
            None => LLVMGetNamedGlobal(module.raw(), c_string(name).as_ptr()),
        };
        match symbol.is_null() {
            true => Definition::None,
            false => definition_of(symbol),
        }
    }
}

/// All functions and variables that a module defines for others, and how.
pub fn definitions(module: &Module) -> HashMap<String, Definition> {
    let symbols = module.globals().chain(module.functions());
    // SAFETY: the symbols of a live module are live.
    let found = symbols.map(|symbol| unsafe { (value_name(symbol), definition_of(symbol)) });
    found
        .filter(|(_, kind)| *kind != Definition::None)
        .collect()
}

unsafe fn definition_of(symbol: LLVMValueRef) -> Definition {
    // SAFETY: the caller has a live symbol.
    unsafe {
        if LLVMIsDeclaration(symbol) != 0 {
            return Definition::None;
        }
        match LLVMGetLinkage(symbol) {
            LLVMExternalLinkage => Definition::Only,
            LLVMInternalLinkage | LLVMPrivateLinkage | LLVMAvailableExternallyLinkage => {
                Definition::None
            }
            LLVMWeakAnyLinkage | LLVMLinkOnceAnyLinkage => Definition::Weak,
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
