//! Puts sums into neighbouring shadow memory side by side.
//!
//! The reverse of `a[0] * b[0] + a[1] * b[1]` adds to the shadows of a and b by turns. Whether these
//! are the same memory nobody knows, so an optimizer that finds them in that order has to add them
//! one by one. But sums have no order: all of a and then all of b is as good, and within each the
//! addresses differ by constants, so that they are added as vectors.
//!
//! A loop that does so with many neighbours in each iteration has been unrolled by somebody. An
//! optimizer that vectorizes loops first would take the same neighbour of several iterations, from
//! places far apart; so such a loop is marked.
//!
//! Before: any function. After: between two instructions of a block that may see shadow memory, what
//! is added there comes last, by base addresses and offsets; loops with many neighbours are
//! [`Flags::WIDE`].

use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::Loops;
use crate::ir::{Access, Block, Flags, Function, Inst, Op, Region, Value};
use std::collections::HashMap;

/// Rewrites one function; whether anything changed.
pub fn run(function: &mut Function) -> bool {
    let mut changed = false;
    let mut wide = Vec::new();
    for block in function.blocks().to_vec() {
        let old = function.block_insts(block).to_vec();
        let mut new = Vec::with_capacity(old.len());
        let mut waiting = Vec::new();
        let mut neighbours = 0;
        for &inst in &old {
            let op = &function.inst(inst).op;
            match op {
                Op::Accumulate(access) if is_plain(access) && access.region == Region::Shadow => {
                    waiting.push(inst);
                    continue;
                }
                _ if may_see_shadows(op) => {
                    neighbours = flush(function, &mut waiting, &mut new).max(neighbours);
                }
                _ => {}
            }
            new.push(inst);
        }
        if new != old {
            function.set_block_insts(block, new);
            changed = true;
        }
        if neighbours >= MANY {
            wide.push(block);
        }
    }
    mark_loops(function, &wide) || changed
}

/// As many neighbours are worth a vector.
const MANY: usize = 8;

/// Marks the innermost loops that some blocks are in; whether there are any.
fn mark_loops(function: &mut Function, blocks: &[Block]) -> bool {
    if blocks.is_empty() {
        return false;
    }
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let Ok(loops) = Loops::new(function, &cfg, &dominators) else {
        return false;
    };
    let mut changed = false;
    for l in blocks.iter().filter_map(|&block| loops.innermost(block)) {
        if loops.iter().any(|inner| loops.parent(inner) == Some(l)) {
            continue;
        }
        for &latch in loops.latches(l) {
            if let Some(back) = function.terminator(latch) {
                function.add_flags(back, Flags::WIDE);
                changed = true;
            }
        }
    }
    changed
}

fn is_plain(access: &Access) -> bool {
    !access.volatile && access.atomic.is_none()
}

/// Whether an instruction may read or write shadow memory, or control may leave the block there.
fn may_see_shadows(op: &Op) -> bool {
    match op {
        Op::Load(access) | Op::Store(access) | Op::Accumulate(access) => {
            !is_plain(access)
                || !matches!(access.region, Region::Primal | Region::Frame | Region::Tape)
        }
        Op::AtomicRmw(..)
        | Op::CmpXchg { .. }
        | Op::Fence(..)
        | Op::MemCopy { .. }
        | Op::MemSet(_)
        | Op::Nest(_)
        | Op::Request(_)
        | Op::Opaque(_)
        | Op::Call(_) => true,
        op => op.is_terminator(),
    }
}

/// Sums that have waited come now, those of one base together. Bases stay in the order in which they
/// came. Says how many neighbours there are in a row.
fn flush(function: &Function, waiting: &mut Vec<Inst>, new: &mut Vec<Inst>) -> usize {
    let mut bases: HashMap<Value, usize> = HashMap::new();
    let mut keyed: Vec<((usize, i64), Inst)> = Vec::new();
    for inst in waiting.drain(..) {
        let (base, offset) = place(function, function.inst(inst).args[0]);
        let next = bases.len();
        keyed.push(((*bases.entry(base).or_insert(next), offset), inst));
    }
    keyed.sort_by_key(|(key, _)| *key);
    let (mut longest, mut row) = (0, 0);
    let mut expected = None;
    for &((base, offset), inst) in &keyed {
        let added = function.ty(function.inst(inst).args[1]).float_kind();
        let bytes = added.map_or(0, |kind| i64::from(kind.bits() / 8));
        row = if expected == Some((base, offset)) {
            row + 1
        } else {
            1
        };
        expected = Some((base, offset.wrapping_add(bytes)));
        longest = longest.max(row);
    }
    new.extend(keyed.into_iter().map(|(_, inst)| inst));
    longest
}

/// A pointer as another one and a constant number of bytes.
fn place(function: &Function, mut pointer: Value) -> (Value, i64) {
    let mut bytes = 0i64;
    while let Some(inst) = function.def_inst(pointer) {
        let data = function.inst(inst);
        match &data.op {
            Op::Address { offset, scales } if scales.is_empty() => {
                bytes = bytes.wrapping_add(*offset);
                pointer = data.args[0];
            }
            _ => break,
        }
    }
    (pointer, bytes)
}
