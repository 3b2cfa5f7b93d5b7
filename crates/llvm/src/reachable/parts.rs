//! Takes single functions out of modules that lie beside native code.
//!
//! The archives of Rust's standard library carry bitcode, each in one module with thousands of
//! functions. A derivative needs few of them, and the native code stays what is linked. So a
//! function is taken with what it calls in its module, and everything else is left out; local
//! functions and constants are copied. Variables cannot be: a function that needs one which only
//! its own module knows is not taken.

use super::{declare_only, forget_notes, is_local, name_everything, set_name, targets};
use crate::ll;
use crate::module::{Module, blocks_of, instructions_of};
use crate::raw::value_name;
use llvm_sys::LLVMLinkage::*;
use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::HashSet;
use zymase_core::analysis::known::{UNIQUE, rust};

/// Reduces a module to one symbol and what that needs, ready to be linked to a private module;
/// false if the symbol cannot be taken alone. `tag` makes the names of copies unique.
pub fn extract(module: &Module, name: &str, tag: &str) -> bool {
    name_everything(module);
    forget_notes(module);
    let Some(kept) = needed(module, name) else {
        return false;
    };
    for function in module.functions().collect::<Vec<_>>() {
        if !ll::is_declaration(function) && !kept.contains(&function) {
            declare_only(module, function);
        }
    }
    for global in module.globals().collect::<Vec<_>>() {
        // SAFETY: the variables of a live module are live.
        unsafe {
            if !ll::is_declaration(global) && !kept.contains(&global) {
                LLVMSetInitializer(global, std::ptr::null_mut());
                LLVMSetLinkage(global, LLVMExternalLinkage);
            }
        }
    }
    for &symbol in &kept {
        // SAFETY: what is kept was not deleted.
        unsafe {
            LLVMSetComdat(symbol, std::ptr::null_mut());
            match is_local(symbol) {
                // The native code has the others.
                false => LLVMSetLinkage(symbol, LLVMAvailableExternallyLinkage),
                true => {
                    set_name(symbol, &format!("{}{UNIQUE}{tag}", value_name(symbol)));
                    LLVMSetLinkage(symbol, LLVMLinkOnceODRLinkage);
                }
            }
        }
    }
    delete_unused(module);
    targets::mark_address_taken(module);
    true
}

/// A symbol with all that it needs; none if it is not defined, or needs what cannot be copied.
fn needed(module: &Module, name: &str) -> Option<HashSet<LLVMValueRef>> {
    let mut globals = module.globals();
    // SAFETY: the symbols of a live module are live.
    let global = || globals.find(|&global| unsafe { value_name(global) } == name);
    let first = module.function(name).or_else(global)?;
    if ll::is_declaration(first) {
        return None;
    }
    let (mut kept, mut seen) = (HashSet::new(), HashSet::from([first]));
    let mut work = vec![first];
    while let Some(value) = work.pop() {
        let mut next: Vec<LLVMValueRef> = Vec::new();
        // SAFETY: operands of live values are live.
        unsafe {
            if ll::is_function(value) {
                if ll::is_declaration(value) || (!is_local(value) && is_left_alone(value)) {
                    continue;
                }
                kept.insert(value);
                for block in blocks_of(value) {
                    instructions_of(block).for_each(|inst| next.extend(operands_of(inst)));
                }
            } else if !LLVMIsAGlobalVariable(value).is_null() {
                if ll::is_declaration(value) {
                    continue;
                }
                match (LLVMIsGlobalConstant(value) != 0, is_local(value)) {
                    (true, _) => {
                        kept.insert(value);
                        next.push(LLVMGetInitializer(value));
                    }
                    (false, true) => return None,
                    (false, false) if value == first => return None,
                    (false, false) => {}
                }
            } else if ll::is_global_alias(value) {
                return None;
            } else {
                next.extend(operands_of(value));
            }
        }
        next.retain(|&v| ll::is_constant(v) && seen.insert(v));
        work.extend(next);
    }
    Some(kept)
}

/// Whether a function runs as it is wherever it is called, so that nobody needs its body: it never
/// returns, it allocates or frees, or its derivative, if it has one, is known by its name.
pub(super) fn is_left_alone(function: LLVMValueRef) -> bool {
    let has = |name: &str| {
        let kind = ll::attribute_kind_id(name);
        !ll::function_attribute(function, ll::FUNCTION_INDEX, kind).is_null()
    };
    let known = |name: &str| rust::inactive(name).is_some() || rust::matrix_product(name).is_some();
    has("noreturn") || is_allocator(function) || known(&ll::name(function))
}

/// Whether a function allocates or frees, by its attributes or its name.
pub(super) fn is_allocator(function: LLVMValueRef) -> bool {
    let kind = ll::attribute_kind_id("allockind");
    !ll::function_attribute(function, ll::FUNCTION_INDEX, kind).is_null()
        || rust::allocator(&ll::name(function)).is_some()
}

/// Deletes what nothing refers to, so that linking does not look at it.
fn delete_unused(module: &Module) {
    loop {
        let unused =
            |&symbol: &LLVMValueRef| ll::is_declaration(symbol) && ll::first_use(symbol).is_null();
        let functions: Vec<_> = module.functions().filter(unused).collect();
        let globals: Vec<_> = module.globals().filter(unused).collect();
        if functions.is_empty() && globals.is_empty() {
            return;
        }
        // SAFETY: nothing uses them.
        unsafe {
            functions.into_iter().for_each(|f| LLVMDeleteFunction(f));
            globals.into_iter().for_each(|g| LLVMDeleteGlobal(g));
        }
    }
}

pub(super) unsafe fn operands_of(value: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: the caller has a live user, or something without operands.
    unsafe {
        let is_user = !LLVMIsAUser(value).is_null();
        let count = if is_user {
            LLVMGetNumOperands(value).max(0) as u32
        } else {
            0
        };
        (0..count)
            .map(move |i| LLVMGetOperand(value, i))
            .filter(|v| !v.is_null())
    }
}
