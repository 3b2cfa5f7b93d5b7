//! Permission to compute otherwise than it is written: in another order, and by approximations.
//!
//! How a program rounds is the user's business. Its own results in a derivative are bit for bit those
//! of the program, unless somebody has said that they need not be: by flags in the code itself
//! (`-ffast-math`), for all derivatives (`--fast`), or for a function (`#[zymase::fast]` in Rust, an
//! annotation in C). What is said in words becomes flags here, on the private clones only. They say
//! nothing of NaN and infinities: who has those is to see them.
//!
//! A function that was marked may have been inlined anywhere before we see it, so code is known by the
//! function that debug information says it is from.
//!
//! Before: requests are pinned, and [`Pins`] know who is marked. After: instructions have flags.

use crate::ll::{self, Md, Val};
use crate::module::{Module, blocks_of, instructions_of};
use crate::requests::{Pins, Rule};
use llvm_sys::debuginfo::LLVMMetadataKind as Kind;
use std::collections::{HashMap, HashSet};
use zymase_core::ir::Flags;

/// What a permission permits.
const PERMITTED: Flags = Flags::REASSOC
    .union(Flags::NSZ)
    .union(Flags::ARCP)
    .union(Flags::CONTRACT)
    .union(Flags::AFN);

/// Gives permission to all code of a module if `everywhere`, otherwise to what comes from marked
/// functions. Code that is inlined into these later is told when this is called again.
pub fn grant(module: &Module, pins: &Pins, everywhere: bool) {
    let marked = |name: &String| {
        let mut rules = pins.registered.iter().filter(|r| r.rule == Rule::Fast);
        rules.any(|registered| registered.about == *name)
    };
    let mut names = pins.fast.clone();
    let functions: Vec<Val> = module
        .functions()
        .filter(|&f| !ll::is_declaration(f) && !must_not_change(f))
        .collect();
    for &function in functions.iter().filter(|&&f| marked(&ll::name(f))) {
        names.extend(subprogram_name(module, ll::subprogram(function)));
    }
    let mut origins = Origins {
        module,
        names,
        known: HashMap::new(),
    };
    let bits = crate::fast_math_bits(PERMITTED);
    for function in functions {
        let whole = everywhere || marked(&ll::name(function));
        if !whole && origins.names.is_empty() {
            continue;
        }
        // SAFETY: the blocks and instructions of a live function are live.
        let instructions = unsafe { blocks_of(function).flat_map(|block| instructions_of(block)) };
        for inst in instructions.filter(|&inst| ll::may_have_fast_math(inst)) {
            if whole || origins.is_marked(ll::debug_location(inst)) {
                ll::set_fast_math(inst, ll::fast_math(inst) | bits);
            }
        }
    }
}

/// The name by which code of a function is known wherever it was inlined: its symbol, or its name
/// and file where that is the same as the name.
pub(crate) fn name_of_origin(module: &Module, instruction: Val) -> Option<String> {
    let location = ll::debug_location(instruction);
    let scope = (!location.is_null()).then(|| ll::location_scope(location))?;
    subprogram_name(module, scope)
}

/// Which code comes from marked functions.
struct Origins<'a> {
    module: &'a Module,
    names: HashSet<String>,
    /// What was found of scopes.
    known: HashMap<Md, bool>,
}

impl Origins<'_> {
    /// Whether one of the functions that a location is in, from the inside out, is marked.
    fn is_marked(&mut self, mut location: Md) -> bool {
        while !location.is_null() {
            let scope = ll::location_scope(location);
            let (module, names) = (self.module, &self.names);
            let is_marked = || subprogram_name(module, scope).is_some_and(|n| names.contains(&n));
            if *self.known.entry(scope).or_insert_with(is_marked) {
                return true;
            }
            location = ll::location_inlined_at(location);
        }
        false
    }
}

/// Where LLVM keeps things in nodes.
const SCOPE_OF_BLOCK: usize = 1;
const NAME: usize = 2;
const SYMBOL: usize = 3;

/// The name of the function that a scope is in, as [`name_of_origin`] says.
fn subprogram_name(module: &Module, mut scope: Md) -> Option<String> {
    let context = module.context().raw();
    while !scope.is_null() {
        let operands = ll::node_operands(ll::metadata_as_value(context, scope));
        let text = |at: usize| operands.get(at).and_then(|&v| ll::metadata_string(v));
        if matches!(ll::metadata_kind(scope), Kind::LLVMDISubprogramMetadataKind) {
            let file = || ll::file_name(ll::scope_file(scope));
            return text(SYMBOL).or_else(|| Some(format!("{} of {}", text(NAME)?, file())));
        }
        let outer = operands.get(SCOPE_OF_BLOCK).filter(|v| !v.is_null())?;
        scope = ll::as_metadata(*outer);
    }
    None
}

/// Whether the environment of float operations matters to a function, which no flags may disturb.
fn must_not_change(function: Val) -> bool {
    let strict = ll::attribute_kind_id("strictfp");
    !ll::function_attribute(function, ll::FUNCTION_INDEX, strict).is_null()
}
