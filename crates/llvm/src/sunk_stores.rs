//! Stores to the frame that an optimizer has merged.
//!
//! Where both sides of a branch end in a store, LLVM may leave one store behind them, through a
//! choice of addresses. If these are of variables of the frame, the variables cannot become
//! registers any more, because nobody knows which one is written. What iterators of Rust return is
//! such a variable, and pointers to active numbers and to constants are in it. So each store goes
//! back to where it came from, and the passes that follow do the rest.

use crate::ll::{self, Bb, Opcode, Val};
use crate::module::{Module, blocks_of, instructions_of};
use crate::passes::PassOptions;
use llvm_sys::core::{
    LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMInsertIntoBuilder,
    LLVMPositionBuilderBefore,
};
use zymase_core::diagnostic::Result;

/// Moves merged stores back, in the whole module; whether there were any.
pub fn separate(module: &Module) -> Result<bool> {
    if find(module, |_| true).is_none() {
        return Ok(false);
    }
    // A store can only go to a block that leads nowhere else.
    module.run_passes("function(break-crit-edges)", None, PassOptions::STRUCTURE)?;
    let leads_only_here = |from| ll::successor_count(ll::terminator(from)) == 1;
    while let Some(store) = find(module, leads_only_here) {
        move_up(module, store);
    }
    Ok(true)
}

/// A store through a choice of variables that can be where these are chosen, if it may go there.
fn find(module: &Module, may_go: impl Fn(Bb) -> bool) -> Option<Val> {
    module.functions().find_map(|function| {
        // SAFETY: the function is live, and nothing is removed while it is looked through.
        unsafe { blocks_of(function) }.find_map(|block| {
            let (store, phi) = find_in(block)?;
            let mut edges = 0..ll::incoming_count(phi);
            edges
                .all(|i| may_go(ll::incoming_block(phi, i)))
                .then_some(store)
        })
    })
}

/// The store and the choice of its address.
fn find_in(block: Bb) -> Option<(Val, Val)> {
    // SAFETY: the block is live, and nothing is removed while it is looked through.
    let first = unsafe { instructions_of(block) }.find(|&inst| touches_memory(inst))?;
    if ll::opcode(first) != Opcode::LLVMStore
        || ll::is_volatile(first)
        || ll::ordering(first) != ll::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    {
        return None;
    }
    let (value, pointer) = (ll::operand(first, 0), ll::operand(first, 1));
    let is_here = |value| ll::is_instruction(value) && ll::parent_block(value) == block;
    let chosen = is_here(pointer) && ll::is_phi(pointer);
    let known_before = !is_here(value) || ll::is_phi(value);
    let is_variable = |v| ll::is_instruction(v) && ll::opcode(v) == Opcode::LLVMAlloca;
    let variables =
        |phi| (0..ll::incoming_count(phi)).all(|i| is_variable(ll::incoming_value(phi, i)));
    (chosen && known_before && variables(pointer)).then_some((first, pointer))
}

/// Whether a store cannot be moved over an instruction.
fn touches_memory(inst: Val) -> bool {
    use Opcode::*;
    let memory = [
        LLVMLoad,
        LLVMStore,
        LLVMCall,
        LLVMInvoke,
        LLVMCallBr,
        LLVMFence,
        LLVMAtomicRMW,
        LLVMAtomicCmpXchg,
        LLVMVAArg,
    ];
    memory.contains(&ll::opcode(inst)) && !ll::is_debug_intrinsic(inst)
}

fn move_up(module: &Module, store: Val) {
    let (block, pointer) = (ll::parent_block(store), ll::operand(store, 1));
    // SAFETY: the context is live, and the builder is disposed of below.
    let builder = unsafe { LLVMCreateBuilderInContext(module.context().raw()) };
    for edge in 0..ll::incoming_count(pointer) {
        let from = ll::incoming_block(pointer, edge);
        let moved = ll::clone_instruction(store);
        for operand in 0..2 {
            let value = ll::operand(store, operand);
            if ll::is_phi(value) && ll::parent_block(value) == block {
                ll::set_operand(moved, operand, incoming_from(value, from));
            }
        }
        // SAFETY: the clone is in no block yet, and what it uses is known at the end of `from`.
        unsafe {
            LLVMPositionBuilderBefore(builder, ll::terminator(from));
            LLVMInsertIntoBuilder(builder, moved);
        }
    }
    ll::erase_instruction(store);
    // SAFETY: nobody else has it.
    unsafe { LLVMDisposeBuilder(builder) };
}

fn incoming_from(phi: Val, from: Bb) -> Val {
    let edge = (0..ll::incoming_count(phi)).find(|&i| ll::incoming_block(phi, i) == from);
    ll::incoming_value(phi, edge.expect("a phi knows all blocks before it"))
}
