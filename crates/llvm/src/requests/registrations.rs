//! Global variables that register something about functions.

use super::grammar::{self, Registration};
use crate::module::Module;
use crate::raw::value_name;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// Something that the program registers about a function or variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registered {
    /// The name of the global variable that registers.
    pub by: String,
    /// The name of the function or variable that it is about.
    pub about: String,
    /// What is registered.
    pub rule: Rule,
}

/// What can be registered.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No derivative flows through the function.
    Inactive,
    /// The function frees nothing.
    NoFree,
    /// Zymase does not know what to do with it yet.
    Unsupported,
}

/// The registrations of a module.
pub fn registrations(module: &Module) -> Vec<Registered> {
    let mut found = Vec::new();
    for global in module.globals() {
        // SAFETY: the globals of a live module and their initializers are live.
        unsafe {
            let by = value_name(global);
            let Some(kind) = grammar::registration(&by) else {
                continue;
            };
            if LLVMIsDeclaration(global) != 0 {
                continue;
            }
            let rule = match kind {
                Registration::InactiveFunction => Rule::Inactive,
                Registration::NoFree => Rule::NoFree,
                Registration::InactiveGlobal | Registration::Unsupported => Rule::Unsupported,
            };
            let mut symbols = Vec::new();
            collect_symbols(LLVMGetInitializer(global), &mut symbols, 4);
            // Rules are about the first entry, the others are their parts; marks are about all.
            if rule == Rule::Unsupported {
                symbols.truncate(1);
            }
            found.extend(symbols.into_iter().map(|about| Registered {
                by: by.clone(),
                about,
                rule,
            }));
        }
    }
    found
}

/// The names of functions and variables in a constant, in order.
unsafe fn collect_symbols(constant: LLVMValueRef, names: &mut Vec<String>, depth: usize) {
    // SAFETY: operands of live constants are live.
    unsafe {
        if !LLVMIsAFunction(constant).is_null() || !LLVMIsAGlobalVariable(constant).is_null() {
            names.push(value_name(constant));
        } else if depth > 0 && LLVMIsAConstantInt(constant).is_null() {
            for i in 0..LLVMGetNumOperands(constant).max(0) as u32 {
                collect_symbols(LLVMGetOperand(constant, i), names, depth - 1);
            }
        }
    }
}
