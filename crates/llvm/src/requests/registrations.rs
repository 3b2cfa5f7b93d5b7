//! What the program registers about functions and variables: by global variables with special
//! names, and by annotations.

use super::complaints as complain;
use super::grammar::{self, Registration};
use super::places::complain_at;
use crate::module::{Module, blocks_of, instructions_of};
use crate::raw::value_name;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use zymase_core::diagnostic::{Diagnostic, Place, Result};

/// Something that the program registers about a function or variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registered {
    /// The name of the global variable that registers, or the annotation.
    pub by: String,
    /// The name of the function or variable that it is about.
    pub about: String,
    /// What is registered.
    pub rule: Rule,
    /// Where, if that is known.
    pub place: Option<Place>,
}

impl Registered {
    /// A complaint about this registration, with its place.
    pub fn complain(&self, mut complaint: Box<Diagnostic>) -> Box<Diagnostic> {
        complaint.places = self.place.clone().into_iter().collect();
        complaint
    }
}

/// What can be registered.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No derivative flows through the function.
    Inactive,
    /// No derivative flows through the global variable, and it has no shadow.
    InactiveGlobal,
    /// The function frees nothing.
    NoFree,
    /// Zymase does not know what to do with it yet.
    Unsupported,
}

/// The registrations of a module.
pub fn registrations(module: &Module) -> Result<Vec<Registered>> {
    let mut found = Vec::new();
    for global in module.globals() {
        // SAFETY: the globals of a live module and their initializers are live.
        unsafe {
            let by = value_name(global);
            if LLVMIsDeclaration(global) != 0 {
                continue;
            }
            if by == ANNOTATIONS {
                annotations(LLVMGetInitializer(global), &mut found)?;
                continue;
            }
            let Some(kind) = grammar::registration(&by) else {
                continue;
            };
            let mut symbols = Vec::new();
            collect_symbols(LLVMGetInitializer(global), &mut symbols, 4);
            // Rules are about the first entry, the others are their parts; marks are about all.
            if kind == Registration::Unsupported {
                symbols.truncate(1);
            }
            found.extend(symbols.into_iter().map(|symbol| Registered {
                by: by.clone(),
                about: value_name(symbol),
                rule: rule(kind, symbol),
                place: None,
            }));
        }
    }
    Ok(found)
}

/// Refuses annotations of ours on local variables, parameters and fields.
pub fn refuse_annotated_values(module: &Module) -> Result<()> {
    for function in module.functions() {
        // SAFETY: the instructions of a live function are live.
        unsafe {
            for block in blocks_of(function) {
                for inst in instructions_of(block) {
                    if LLVMIsACallInst(inst).is_null() {
                        continue;
                    }
                    let name = value_name(LLVMGetCalledValue(inst));
                    let annotates = name.starts_with("llvm.var.annotation")
                        || name.starts_with("llvm.ptr.annotation");
                    if !annotates {
                        continue;
                    }
                    let text = string(LLVMGetOperand(inst, 1)).unwrap_or_default();
                    if grammar::annotation(&text).is_some() {
                        return Err(complain_at(complain::annotated_value(&text), inst));
                    }
                }
            }
        }
    }
    Ok(())
}

/// The variable in which clang keeps annotations: an array of {symbol, text, file, line, …}.
const ANNOTATIONS: &str = "llvm.global.annotations";

unsafe fn annotations(list: LLVMValueRef, found: &mut Vec<Registered>) -> Result<()> {
    // SAFETY: operands of live constants are live.
    unsafe {
        for i in 0..LLVMGetNumOperands(list).max(0) as u32 {
            let entry = LLVMGetOperand(list, i);
            if LLVMIsAConstantStruct(entry).is_null() || LLVMGetNumOperands(entry) < 4 {
                continue;
            }
            let text = string(LLVMGetOperand(entry, 1)).unwrap_or_default();
            let Some(kind) = grammar::annotation(&text) else {
                continue;
            };
            let mut symbols = Vec::new();
            collect_symbols(LLVMGetOperand(entry, 0), &mut symbols, 4);
            let Some(&symbol) = symbols.first() else {
                continue;
            };
            let about = value_name(symbol);
            let line = LLVMGetOperand(entry, 3);
            let line = match LLVMIsAConstantInt(line).is_null() {
                true => 0,
                false => LLVMConstIntGetZExtValue(line) as u32,
            };
            let place = string(LLVMGetOperand(entry, 2)).map(|file| Place {
                file,
                line,
                column: 0,
                function: about.clone(),
            });
            let registered = Registered {
                by: text,
                about,
                rule: Rule::Unsupported,
                place,
            };
            match kind {
                Ok(kind) => found.push(Registered {
                    rule: rule(kind, symbol),
                    ..registered
                }),
                Err(word) => {
                    let complaint = complain::unknown_annotation(&word, &registered.about);
                    return Err(registered.complain(complaint));
                }
            }
        }
    }
    Ok(())
}

/// The rule for a symbol; variables are inactive in their own way.
unsafe fn rule(kind: Registration, symbol: LLVMValueRef) -> Rule {
    // SAFETY: as the caller promises.
    let function = unsafe { !LLVMIsAFunction(symbol).is_null() };
    match (kind, function) {
        (Registration::InactiveFunction, true) => Rule::Inactive,
        (Registration::InactiveFunction | Registration::InactiveGlobal, false) => {
            Rule::InactiveGlobal
        }
        (Registration::NoFree, true) => Rule::NoFree,
        _ => Rule::Unsupported,
    }
}

/// The text of a constant string.
unsafe fn string(pointer: LLVMValueRef) -> Option<String> {
    // SAFETY: the bytes live as long as the constant.
    unsafe {
        let mut symbols = Vec::new();
        collect_symbols(pointer, &mut symbols, 4);
        let global = *symbols.first()?;
        if LLVMIsAGlobalVariable(global).is_null() || LLVMIsDeclaration(global) != 0 {
            return None;
        }
        let init = LLVMGetInitializer(global);
        if LLVMIsAConstantDataSequential(init).is_null() || LLVMIsConstantString(init) == 0 {
            return None;
        }
        let mut len = 0;
        let start = LLVMGetAsString(init, &mut len);
        let text = crate::raw::text(start, len);
        Some(text.trim_end_matches('\0').to_string())
    }
}

/// The functions and variables in a constant, in order.
unsafe fn collect_symbols(constant: LLVMValueRef, found: &mut Vec<LLVMValueRef>, depth: usize) {
    // SAFETY: operands of live constants are live.
    unsafe {
        if !LLVMIsAFunction(constant).is_null() || !LLVMIsAGlobalVariable(constant).is_null() {
            found.push(constant);
        } else if depth > 0 && LLVMIsAConstantInt(constant).is_null() {
            for i in 0..LLVMGetNumOperands(constant).max(0) as u32 {
                collect_symbols(LLVMGetOperand(constant, i), found, depth - 1);
            }
        }
    }
}
