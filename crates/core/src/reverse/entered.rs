//! Whether a loop is entered at all, asked before the loops around it.
//!
//! The number of iterations of a loop is computed before the outermost loop in which it is the same, so
//! that all records have their place at once. It means something only if the loop is entered: where
//! `k` counts from `i` to `n`, and a branch has made sure that `i < n`, it is `n - i`, which may be
//! anything where the branch goes the other way.

use crate::analysis::loops::Loop;
use crate::analysis::trip_count::{Count, End};
use crate::ir::{Block, Op, Value};
use crate::primal::Primal;

/// The conditions under which a loop is entered from where a loop around it is about to be, each with
/// what it must be; none if one of them is not known there.
pub(super) fn conditions(primal: &Primal, l: Loop, outer: Loop) -> Option<Vec<(Value, bool)>> {
    let mut found = Vec::new();
    if !needs_entry(&primal.trip_counts[l].count) {
        return Some(found);
    }
    let (start, mut block) = (primal.loops.preheader(outer)?, primal.loops.preheader(l)?);
    let blocks = primal.function.inst_blocks();
    while block != start {
        let before = primal.dominators.idom(block)?;
        if let Some((condition, way)) = decision(primal, before, block) {
            let func = &primal.function;
            let is_known = primal
                .dominators
                .is_available(func, &blocks, condition, start);
            if !is_known {
                return None;
            }
            found.push((condition, way));
        }
        block = before;
    }
    Some(found)
}

/// Whether a count may be far too large where the loop is not entered.
fn needs_entry(count: &Count) -> bool {
    match count {
        Count::Constant(_) => false,
        Count::AtEntry(progression) => progression.end == End::Equal,
        Count::Parts(_) | Count::Unknown => true,
    }
}

/// What must hold at the end of a block for control to come to one that it dominates. That a loop goes
/// on is none of it: its iterations are counted.
fn decision(primal: &Primal, from: Block, to: Block) -> Option<(Value, bool)> {
    let branch = primal.function.inst(primal.function.terminator(from)?);
    let Op::Branch { .. } = branch.op else {
        return None;
    };
    let [yes, no] = primal.cfg.successors(from) else {
        return None;
    };
    let lives = |block: Block| primal.cfg.reaches_return(block);
    let leaves = |block: Block| !primal.loops.left(from, block).is_empty();
    if !lives(*yes) || !lives(*no) || leaves(*yes) || leaves(*no) {
        return None;
    }
    let leads = |block: Block| primal.dominators.dominates(block, to);
    match (leads(*yes), leads(*no)) {
        (true, false) => Some((branch.args[0], true)),
        (false, true) => Some((branch.args[0], false)),
        _ => None,
    }
}
