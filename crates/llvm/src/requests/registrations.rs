//! What the program registers about functions and variables: by global variables with special
//! names, and by annotations.

use super::allocators::{self, Allocator};
use super::complaints as complain;
use super::grammar::{self, Registration};
use super::places::{complain_at, place_of_variable};
use super::ruled::Borrow;
use crate::module::{Module, blocks_of, instructions_of};
use crate::raw::value_name;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use zymase_core::diagnostic::{Diagnostic, Link, Place, Result};
use zymase_core::ir::{Activity, RuleKind};

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
    /// Whether what the body of the function does is not what its derivatives do.
    pub fn hides_body(&self) -> bool {
        self.is_derivative() || matches!(self.rule, Rule::Allocator(_))
    }

    /// Whether this is about the derivative of a function.
    pub fn is_derivative(&self) -> bool {
        matches!(self.rule, Rule::Derivative(..) | Rule::Like(_))
    }

    /// The names of the functions that this is about: the function itself, then those that make up
    /// its derivative, or the one that frees what it allocates.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let parts = match &self.rule {
            Rule::Derivative(_, parts, _) => parts.as_slice(),
            Rule::Allocator(allocator) => std::slice::from_ref(&allocator.free),
            _ => &[],
        };
        let names = [&self.about].into_iter().chain(parts);
        names.map(String::as_str)
    }

    /// As [`functions`](Self::functions), to change them.
    pub fn functions_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let parts = match &mut self.rule {
            Rule::Derivative(_, parts, _) => parts.as_mut_slice(),
            Rule::Allocator(allocator) => std::slice::from_mut(&mut allocator.free),
            _ => &mut [],
        };
        [&mut self.about].into_iter().chain(parts)
    }

    /// A complaint about this registration, with its place.
    pub fn complain(&self, mut complaint: Box<Diagnostic>) -> Box<Diagnostic> {
        complaint.places = self.place.clone().into_iter().collect();
        complaint
    }
}

/// What can be registered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No derivative flows through the function.
    Inactive,
    /// No derivative flows through the global variable, and it has no shadow.
    InactiveGlobal,
    /// The function frees nothing.
    NoFree,
    /// What the function returns is not cached.
    Recompute,
    /// The function may be computed otherwise than it is written.
    Fast,
    /// The derivative of the function: the names of the functions that make it up, and the
    /// activities that they handle, if not all.
    Derivative(RuleKind, Vec<String>, Option<Vec<Activity>>),
    /// The function has the derivative of this library function.
    Like(String),
    /// How the function has each of its arguments; it writes to nothing else that the program reads.
    Borrows(Vec<Borrow>),
    /// The function allocates memory that is freed by another.
    Allocator(Allocator),
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
                annotations(module, LLVMGetInitializer(global), &mut found)?;
                continue;
            }
            let Some(kind) = grammar::registration(&by) else {
                continue;
            };
            if kind == Registration::Allocator {
                let (about, allocator) = allocators::registered(global, &by)?;
                found.push(Registered {
                    by,
                    about,
                    rule: Rule::Allocator(allocator),
                    place: place_of_variable(global),
                });
                continue;
            }
            let mut symbols = Vec::new();
            collect_symbols(LLVMGetInitializer(global), &mut symbols, 4);
            if let Registration::Derivative(kind) = kind {
                found.push(derivative(by, kind, &symbols)?);
                continue;
            }
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

unsafe fn annotations(
    module: &Module,
    list: LLVMValueRef,
    found: &mut Vec<Registered>,
) -> Result<()> {
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
                link: Link::Inlined,
            });
            let registered = Registered {
                by: text,
                about,
                rule: Rule::Unsupported,
                place,
            };
            match kind {
                Ok(Registration::Derivative(kind)) => {
                    let rule = annotated_derivative(module, kind, &registered.by);
                    let rule = rule.map_err(|complaint| registered.complain(complaint))?;
                    found.push(Registered { rule, ..registered });
                }
                Ok(Registration::Allocator) => {
                    let allocator = allocators::annotated(module, symbol, &registered.by);
                    let allocator =
                        allocator.map_err(|complaint| registered.complain(complaint))?;
                    let rule = Rule::Allocator(allocator);
                    found.push(Registered { rule, ..registered });
                }
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

/// A derivative in an array: the function, what makes up its derivative, and perhaps a string with
/// the activities that are handled.
unsafe fn derivative(by: String, kind: RuleKind, symbols: &[LLVMValueRef]) -> Result<Registered> {
    // SAFETY: the symbols are live.
    let (functions, texts) = unsafe {
        let is_function = |&&symbol: &&LLVMValueRef| !LLVMIsAFunction(symbol).is_null();
        let functions: Vec<String> = symbols
            .iter()
            .take_while(is_function)
            .map(|&symbol| value_name(symbol))
            .collect();
        let texts: Option<Vec<String>> = symbols[functions.len()..]
            .iter()
            .map(|&symbol| string(symbol))
            .collect();
        (functions, texts)
    };
    let malformed = || complain::malformed_rule(&by, kind);
    let texts = texts.ok_or_else(malformed)?;
    let rule = match (kind, functions.as_slice(), texts.as_slice()) {
        (RuleKind::Like, [_], [name]) => Rule::Like(name.clone()),
        (RuleKind::Like, ..) => return Err(malformed()),
        (_, [_, parts @ ..], []) if parts.len() == kind.part_count() => {
            Rule::Derivative(kind, parts.to_vec(), None)
        }
        (_, [_, parts @ ..], [words]) if parts.len() == kind.part_count() => {
            Rule::Derivative(kind, parts.to_vec(), Some(activities(&by, words)?))
        }
        _ => return Err(malformed()),
    };
    Ok(Registered {
        about: functions[0].clone(),
        rule,
        place: None,
        by,
    })
}

/// A derivative in an annotation: `word=first,second` and perhaps `;dup,const`.
fn annotated_derivative(module: &Module, kind: RuleKind, text: &str) -> Result<Rule> {
    let value = text.split_once('=').map_or("", |(_, value)| value.trim());
    if kind == RuleKind::Like {
        return match value.is_empty() {
            true => Err(complain::malformed_rule(text, kind)),
            false => Ok(Rule::Like(value.to_string())),
        };
    }
    let (names, words) = match value.split_once(';') {
        Some((names, words)) => (names, Some(activities(text, words)?)),
        None => (value, None),
    };
    let parts: Vec<String> = names
        .split(',')
        .map(|name| name.trim().to_string())
        .collect();
    if parts.len() != kind.part_count() {
        return Err(complain::malformed_rule(text, kind));
    }
    match parts.iter().find(|name| module.function(name).is_none()) {
        Some(name) => Err(complain::missing_part(text, name)),
        None => Ok(Rule::Derivative(kind, parts, words)),
    }
}

/// The activities in a string such as "dup,const,out".
pub(super) fn activities(by: &str, words: &str) -> Result<Vec<Activity>> {
    let words = words.split(',').map(str::trim);
    words
        .map(|word| {
            let word = word.strip_prefix("enzyme_").unwrap_or(word);
            Activity::from_name(word).ok_or_else(|| complain::unknown_activity(by, word))
        })
        .collect()
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
        (Registration::Recompute, true) => Rule::Recompute,
        (Registration::Fast, true) => Rule::Fast,
        _ => Rule::Unsupported,
    }
}

/// The text of a constant string.
///
/// # Safety
/// `pointer` is a live value.
pub(super) unsafe fn string(pointer: LLVMValueRef) -> Option<String> {
    // SAFETY: the bytes live as long as the constant.
    unsafe {
        let mut symbols = Vec::new();
        if LLVMIsConstant(pointer) == 0 {
            return None;
        }
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
