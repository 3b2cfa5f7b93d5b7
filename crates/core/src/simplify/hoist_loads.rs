//! Moves loads that find the same in every iteration of a loop to where it begins.
//!
//! Optimizers do that where they know that the loop writes elsewhere. A derivative often knows more:
//! that ranges of memory do not overlap, because it has compared them when it was called. Then the
//! reverse sweep adds up the adjoints of all iterations in a register, and adds the sum to memory
//! once, whatever else it writes to in the loop.
//!
//! Before: the loads are executed in every iteration, and what they read is not written while the
//! loop runs. After: the same meaning, and each of them stands before its loop.

use crate::ir::{Block, Function, Inst, Op};

/// Moves each load from its block to the end of another, which leads to its loop and nowhere else;
/// whether any was moved.
pub fn run(function: &mut Function, loads: &[(Inst, Block, Block)]) -> bool {
    let mut changed = false;
    for &(load, from, to) in loads {
        let leads_on = |block: Block| {
            let last = function.terminator(block);
            last.is_some_and(|last| matches!(function.inst(last).op, Op::Jump(_)))
        };
        let is_there = |block: Block| function.blocks().contains(&block);
        if !is_there(from) || !is_there(to) || !leads_on(to) {
            continue;
        }
        let mut rest = function.take_block_insts(from);
        let before = rest.len();
        rest.retain(|&inst| inst != load);
        let found = rest.len() < before;
        function.set_block_insts(from, rest);
        if found {
            let mut insts = function.take_block_insts(to);
            insts.insert(insts.len() - 1, load);
            function.set_block_insts(to, insts);
            changed = true;
        }
    }
    changed
}
