//! Calls that say by a constant how much memory a function moves.
//!
//! Generic code is compiled once for all types where that is possible: the table behind Rust's hash
//! maps moves entries whose size is an argument. What such a copy moves is known where the function
//! is called, and only if the size is. Optimizers that aim for speed inline these calls, others do
//! not; so they are marked to be inlined.

use crate::ll::{self, Val};
use crate::module::{Module, blocks_of, instructions_of};
use llvm_sys::LLVMOpcode;
use std::collections::{HashMap, HashSet};

/// The parameters, by number, that say how much each function moves.
type Sizes = HashMap<Val, HashSet<u32>>;

/// Marks the calls of a module; whether there are any that were not marked before.
pub fn mark(module: &Module) -> bool {
    let mut calls = Vec::new();
    for function in module.functions() {
        // SAFETY: the function is live, and nothing is removed from it here.
        let insts = unsafe { blocks_of(function).flat_map(|b| instructions_of(b)) };
        calls.extend(insts.filter(|&inst| ll::is_call(inst)));
    }
    let sizes = sizes(&calls);
    let kind = ll::attribute_kind_id("alwaysinline");
    let attribute = ll::enum_attribute(module.context().raw(), kind, 0);
    let mut found = false;
    for call in calls {
        let says_size = |&i: &u32| ll::is_constant_int(ll::operand(call, i));
        let callee = sizes.get(&ll::called_value(call));
        let of_function = ll::call_attributes(call, ll::FUNCTION_INDEX).into_iter();
        let marked = of_function.map(ll::attribute_kind).any(|k| k == kind);
        if callee.is_some_and(|sizes| sizes.iter().any(says_size)) && !marked {
            ll::add_call_attribute(call, ll::FUNCTION_INDEX, attribute);
            found = true;
        }
    }
    found
}

/// Callees come in any order, so this goes on until nothing is new.
fn sizes(calls: &[Val]) -> Sizes {
    let mut sizes = Sizes::new();
    let mut changed = true;
    while changed {
        changed = false;
        for &call in calls {
            let function = ll::parent_function(ll::parent_block(call));
            let lengths: Vec<u32> = match sizes.get(&ll::called_value(call)) {
                Some(sizes) => sizes.iter().copied().collect(),
                None if copies(call) => vec![2],
                None => continue,
            };
            for parameter in lengths.into_iter().flat_map(|i| factors(call, i)) {
                let may_be_inlined = !is_kept(function);
                changed |= may_be_inlined && sizes.entry(function).or_default().insert(parameter);
            }
        }
    }
    sizes
}

fn copies(call: Val) -> bool {
    let name = ll::name(ll::called_value(call));
    name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.")
}

/// Somebody wants the function to stay one.
fn is_kept(function: Val) -> bool {
    let noinline = ll::attribute_kind_id("noinline");
    !ll::function_attribute(function, ll::FUNCTION_INDEX, noinline).is_null()
}

/// The parameters that an argument of a call is a multiple of.
fn factors(call: Val, argument: u32) -> Vec<u32> {
    let function = ll::parent_function(ll::parent_block(call));
    let count = ll::param_types(ll::value_type(function)).len() as u32;
    let mut open = vec![ll::operand(call, argument)];
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        found.extend((0..count).filter(|&i| ll::param(function, i) == value));
        use LLVMOpcode::*;
        if ll::is_instruction(value)
            && let LLVMMul | LLVMShl | LLVMZExt | LLVMTrunc | LLVMFreeze | LLVMSelect | LLVMPHI =
                ll::opcode(value)
        {
            open.extend((0..ll::operand_count(value)).map(|i| ll::operand(value, i)));
        }
    }
    found
}
