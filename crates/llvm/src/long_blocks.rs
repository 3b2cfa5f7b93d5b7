//! Blocks so long that LLVM takes time that grows with the square of their length.
//!
//! The derivative of a long piece of straight code is one. Its search for vectors is left out
//! ([`crate::pipelines::finish`]), and code is generated for it in pieces: the passes that make two
//! operands of three, that allocate registers and that schedule all look through one block at a
//! time, and the first of them follows a chain of sums to its end from each of its links.
//!
//! LLVM joins blocks of which one leads only to the other, unless the address of the second is
//! taken. So that of each piece is; nothing uses it, and control falls through from piece to piece.

use crate::ll::{self, Bb, Val};
use crate::module::{Module, blocks_of, instructions_of};
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;

/// A block of more instructions than this is cut before code is generated.
const TO_CUT: usize = 4_000;

/// How many instructions a piece has.
const PIECE: usize = 1_000;

/// How many instructions the last piece has at least: a call that must be the last stays beside
/// its return.
const END: usize = 4;

/// Whether some block of a function has more instructions than `limit`.
pub fn has_block_above(function: Val, limit: usize) -> bool {
    // SAFETY: the function is live, and nothing is removed from it here.
    unsafe { blocks_of(function).any(|block| instructions_of(block).nth(limit).is_some()) }
}

/// Whether a function has more instructions than `limit`.
pub fn is_longer(function: Val, limit: usize) -> bool {
    // SAFETY: the function is live, and nothing is removed from it here.
    let mut all = unsafe { blocks_of(function).flat_map(|block| instructions_of(block)) };
    all.nth(limit).is_some()
}

/// Cuts the long blocks of all functions. To be called when no pass but the code generator follows.
pub fn cut(module: &Module) {
    for function in module.functions() {
        // SAFETY: the function is live; the blocks are collected before any is added.
        let blocks: Vec<Bb> = unsafe { blocks_of(function).collect() };
        for block in blocks {
            // SAFETY: as above.
            let instructions: Vec<Val> = unsafe { instructions_of(block).collect() };
            if instructions.len() > TO_CUT && can_be_cut(block, &instructions) {
                cut_block(module, function, block, &instructions);
            }
        }
    }
}

/// Whether nobody but branches refers to the block, and moving its instructions loses nothing: what
/// debuggers know of variables hangs on the place between two instructions.
fn can_be_cut(block: Bb, instructions: &[Val]) -> bool {
    let by_branches = users(block).into_iter().all(ll::is_terminator);
    let followed = |&inst: &Val| !ll::first_record(inst).is_null();
    by_branches && !instructions.iter().any(followed)
}

fn users(block: Bb) -> Vec<Val> {
    let mut found = Vec::new();
    let mut next = ll::first_use(ll::block_as_value(block));
    while !next.is_null() {
        found.push(ll::user(next));
        next = ll::next_use(next);
    }
    found
}

/// Moves all but the last piece into blocks of their own in front of the block, which keeps the
/// terminator: so it stays what it is to the phis of its successors.
fn cut_block(module: &Module, function: Val, block: Bb, instructions: &[Val]) {
    // Memory that is allocated in the first block is part of the frame.
    let is_alloca = |&inst: &Val| ll::opcode(inst) == LLVMOpcode::LLVMAlloca;
    let fixed = instructions
        .iter()
        .rposition(is_alloca)
        .map_or(0, |k| k + 1);
    let last = instructions.len() - END;
    let mut ends: Vec<usize> = (PIECE..last).step_by(PIECE).collect();
    ends.retain(|&end| end >= fixed && !ll::is_phi(instructions[end]));
    let leading = users(block);
    let mut pieces = Vec::new();
    let mut start = 0;
    // SAFETY: the handles are live. Each instruction is in no block when it is inserted, and every
    // block ends in one terminator when this is done.
    unsafe {
        let context = module.context().raw();
        let builder = LLVMCreateBuilderInContext(context);
        for end in ends {
            let piece = LLVMInsertBasicBlockInContext(context, block, c"".as_ptr());
            LLVMPositionBuilderAtEnd(builder, piece);
            for &inst in &instructions[start..end] {
                LLVMInstructionRemoveFromParent(inst);
                LLVMInsertIntoBuilder(builder, inst);
            }
            pieces.push(piece);
            start = end;
        }
        for (k, &piece) in pieces.iter().enumerate() {
            let next = pieces.get(k + 1).copied().unwrap_or(block);
            LLVMPositionBuilderAtEnd(builder, piece);
            LLVMBuildBr(builder, next);
            ll::block_address(function, next);
        }
        LLVMDisposeBuilder(builder);
    }
    let Some(&first) = pieces.first() else { return };
    for branch in leading {
        for k in 0..ll::successor_count(branch) {
            if ll::successor(branch, k) == block {
                ll::set_successor(branch, k, first);
            }
        }
    }
}
