//! Takes definitions that a program lacks from other modules: those of the library that is given,
//! and those that Zymase brings along for the containers of C++.

use super::parts::{is_allocator, is_left_alone, operands_of};
use super::targets::{called_types, hold, marked};
use super::{Library, Wanted, forget_notes, is_local, set_name};
use crate::module::{Module, blocks_of, instructions_of};
use crate::raw::value_name;
use crate::requests::{Pinned, Pins, Registered, Rule, noted_variables, pin};
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::HashSet;
use zymase_core::analysis::known::UNIQUE;
use zymase_core::diagnostic::Result;

/// Links what the requested functions need and the program lacks, as far as the library has it.
/// Gives the names of the functions whose address is taken.
pub(super) fn take_from_library(
    private: &Module,
    pins: &mut Pins,
    library: &mut Library<'_>,
) -> Result<HashSet<String>> {
    let mut taken: HashSet<String> = marked(private).collect();
    let own = pins.requests.len();
    let mut asked = HashSet::new();
    let (mut everything, mut number) = (false, 0);
    loop {
        let reached = reached(private, pins, own, &taken);
        let mut missing: Vec<_> = reached.missing.into_iter().map(|n| (n, true)).collect();
        if everything {
            missing.extend(declared(private).into_iter().map(|name| (name, false)));
        }
        let mut found = Vec::new();
        for (name, needed) in missing {
            // What is reached changes only with what is found.
            if found.is_empty() && asked.insert((name.clone(), needed)) {
                found = library(match needed {
                    true => Wanted::Symbol(&name),
                    false => Wanted::Mentioned(&name),
                })?;
                if found.is_empty() {
                    found.extend(containers(private, &name));
                }
            }
        }
        if found.is_empty() && reached.through_pointers && !everything {
            everything = true;
            found = library(Wanted::Everything)?;
            if found.is_empty() {
                continue;
            }
        }
        if found.is_empty() {
            // Requests in other modules that no derivative of ours runs into are not ours.
            let mut position = 0;
            pins.requests.retain(|request| {
                position += 1;
                position <= own || reached.requests.contains(&request.symbol)
            });
            return Ok(taken);
        }
        for module in found {
            number += 1;
            taken.extend(marked(&module));
            let known = pins.barriers.len();
            let before = (pins.requests.len(), pins.registered.len());
            pin(&module, pins)?;
            forget_notes(&module);
            let named = pins.requests[before.0..].iter_mut().map(|r| &mut r.target);
            let about = pins.registered[before.1..].iter_mut();
            let about = about.flat_map(|registered| registered.functions_mut());
            let mut kept = Vec::new();
            for name in named.chain(about) {
                make_unique(&module, name, number);
                kept.extend(module.function(name));
            }
            // Nothing in the module may lead there but what was a request or a registration.
            hold(&module, kept, &format!("__zymase_said_{number}"));
            // The body stays: this module of the program has a barrier of its own, which nobody
            // else can call.
            let barriers = pins.barriers[known..].iter();
            let inactive = barriers.map(|barrier| Registered {
                by: barrier.clone(),
                about: barrier.clone(),
                rule: Rule::Inactive,
                place: None,
            });
            pins.registered.extend(inactive.collect::<Vec<_>>());
            private.link(module)?;
        }
    }
}

/// The symbols that are only declared, and defined in no module so far.
fn declared(private: &Module) -> Vec<String> {
    // SAFETY: the symbols of a live module are live.
    let declared = |&symbol: &LLVMValueRef| unsafe { LLVMIsDeclaration(symbol) != 0 };
    let symbols = private.functions().chain(private.globals());
    // SAFETY: as before.
    let names = symbols.filter(declared).map(|s| unsafe { value_name(s) });
    let variables = noted_variables(private);
    let open = |name: &String| !name.starts_with("llvm.") && !variables.contains(name);
    names.filter(open).collect()
}

/// The functions behind the containers of the C++ library, whose bodies are in no header, if this
/// is the name of one.
fn containers(private: &Module, name: &str) -> Option<Module> {
    const TEXT: &str = include_str!("containers/containers.ll");
    let defined = TEXT.contains(&format!("@{name}("));
    let parse = || Module::parse(private.context(), TEXT.as_bytes(), "containers.ll").ok();
    defined.then(parse).flatten()
}

/// Gives a local function a name that no other module has, because later it is found by its name.
fn make_unique(module: &Module, name: &mut String, number: usize) {
    if name.contains(UNIQUE) {
        return;
    }
    let suffix = format!("{UNIQUE}request.{number}");
    let Some(function) = module.function(name).filter(|&f| is_local(f)) else {
        // Renamed already, because more is said of it.
        if let Some(function) = module.function(&format!("{name}{suffix}")) {
            // SAFETY: the function is live.
            *name = unsafe { value_name(function) };
        }
        return;
    };
    name.push_str(&suffix);
    set_name(function, name);
}

/// What the functions to differentiate reach.
pub(super) struct Reached {
    /// Names of functions without a body, or with one that another may replace, and of variables
    /// without a definition.
    missing: Vec<String>,
    /// Names of functions that stand for requests.
    requests: HashSet<String>,
    /// Whether something that is differentiated asks for derivatives.
    nested: bool,
    /// Whether there are calls through pointers.
    through_pointers: bool,
    /// The functions that these may reach.
    pub targets: Vec<LLVMValueRef>,
    /// Functions with derivatives of their own, and the functions that make up those.
    pub with_rules: Vec<LLVMValueRef>,
}

/// Walks from the targets of the first `own` requests; a request on the way leads to its target, a
/// call through a pointer to all functions of its type whose address is taken, a function whose
/// derivative is registered to what makes that up, an allocator to what frees.
///
/// What makes up a rule is only run, and so is a function with rules for all that is asked for. What
/// these call and the module lacks is not missing: it is called where it is. But derivatives of
/// derivatives go through rules too.
pub(super) fn reached(
    private: &Module,
    pins: &Pins,
    own: usize,
    taken: &HashSet<String>,
) -> Reached {
    let found = walk(private, pins, own, taken, false);
    match found.nested {
        true => walk(private, pins, own, taken, true),
        false => found,
    }
}

/// The same; `through_rules` if all that runs is differentiated.
fn walk(
    private: &Module,
    pins: &Pins,
    own: usize,
    taken: &HashSet<String>,
    through_rules: bool,
) -> Reached {
    let mut found = Reached {
        missing: Vec::new(),
        requests: HashSet::new(),
        nested: false,
        through_pointers: false,
        targets: Vec::new(),
        with_rules: Vec::new(),
    };
    let mut candidates: Vec<LLVMValueRef> = private.functions().collect();
    // SAFETY: the functions of a live module are live.
    candidates.retain(|&f| taken.contains(&unsafe { value_name(f) }));
    let variables = noted_variables(private);
    let target = |request: &Pinned| private.function(&request.target);
    // Each with whether it is differentiated, or only run.
    let targets = pins.requests[..own].iter().filter_map(target);
    let mut work: Vec<(LLVMValueRef, bool)> = targets.map(|function| (function, true)).collect();
    let mut seen: HashSet<(LLVMValueRef, bool)> = work.iter().copied().collect();
    while let Some((value, mut differentiated)) = work.pop() {
        let mut next: Vec<(LLVMValueRef, bool)> = Vec::new();
        // SAFETY: operands of live values are live.
        unsafe {
            let is_function = !LLVMIsAFunction(value).is_null();
            let rules = pins.registered.iter().filter(|_| is_function);
            for registered in rules.filter(|r| r.hides_body() && r.about == value_name(value)) {
                let parts = registered.functions();
                let parts: Vec<_> = parts.filter_map(|name| private.function(name)).collect();
                found.with_rules.extend(&parts);
                let run = registered.is_derivative() && !through_rules;
                next.extend(parts.into_iter().map(|part| (part, differentiated && !run)));
            }
            differentiated &=
                through_rules || !is_function || !pins.is_only_run(&value_name(value));
            if !is_function {
                if !LLVMIsAGlobalVariable(value).is_null() && LLVMIsDeclaration(value) != 0 {
                    let name = value_name(value);
                    if differentiated && !variables.contains(&name) {
                        found.missing.push(name);
                    }
                }
                next.extend(operands_of(value).map(|value| (value, differentiated)));
            } else if LLVMIsDeclaration(value) != 0 {
                let name = value_name(value);
                if let Some(request) = pins.requests.iter().find(|r| r.symbol == name) {
                    next.extend(target(request).map(|function| (function, true)));
                    found.requests.insert(name);
                    found.nested |= differentiated;
                } else if differentiated
                    && !name.starts_with("llvm.")
                    && !pins.barriers.contains(&name)
                    && !is_left_alone(value)
                {
                    found.missing.push(name);
                }
            } else if !is_allocator(value) {
                let replaceable = matches!(
                    LLVMGetLinkage(value),
                    LLVMLinkage::LLVMWeakAnyLinkage | LLVMLinkage::LLVMLinkOnceAnyLinkage
                );
                if differentiated && replaceable {
                    found.missing.push(value_name(value));
                }
                for block in blocks_of(value) {
                    for inst in instructions_of(block) {
                        next.extend(operands_of(inst).map(|value| (value, differentiated)));
                    }
                }
                if differentiated {
                    let types = called_types(value);
                    found.through_pointers |= !types.is_empty();
                    candidates.retain(|&f| {
                        let fits = types.contains(&LLVMGlobalGetValueType(f));
                        if fits {
                            found.targets.push(f);
                            next.push((f, true));
                        }
                        !fits
                    });
                }
            }
            // Instructions of the same function come by themselves; only constants lead on.
            next.retain(|&(v, differentiated)| {
                !LLVMIsAConstant(v).is_null()
                    && !seen.contains(&(v, true))
                    && seen.insert((v, differentiated))
            });
        }
        work.extend(next);
    }
    found
}
