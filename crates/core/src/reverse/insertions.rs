//! Instructions that are put into blocks all at once.
//!
//! The forward sweep stores every cached value right after it is computed. A block may have a hundred
//! thousand of them, and one that is written anew for each takes time with the square of that. So
//! insertions are gathered with their places and made in one walk over each block.

use crate::ir::{Block, Function, Inst};
use std::collections::{BTreeSet, HashMap};

/// Where instructions are put.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// First in the block.
    Start(Block),
    /// Right before an instruction.
    Before(Inst),
    /// Right after an instruction.
    After(Inst),
}

/// Instructions that wait to be put into blocks.
#[derive(Default, Debug)]
pub(super) struct Insertions {
    waiting: HashMap<Place, Vec<Vec<Inst>>>,
    blocks: BTreeSet<Block>,
}

impl Insertions {
    /// Has instructions, which stand in no block, put at a place of a block. At the same place, what
    /// comes later stands nearer to the start of the block.
    pub fn add(&mut self, block: Block, at: Place, insts: Vec<Inst>) {
        self.blocks.insert(block);
        self.waiting.entry(at).or_default().push(insts);
    }

    /// Puts all of them in.
    pub fn apply(&mut self, func: &mut Function) {
        for block in std::mem::take(&mut self.blocks) {
            let old = func.take_block_insts(block);
            let mut new = Vec::with_capacity(2 * old.len());
            self.take(Place::Start(block), &mut new);
            for inst in old {
                self.take(Place::Before(inst), &mut new);
                new.push(inst);
                self.take(Place::After(inst), &mut new);
            }
            func.set_block_insts(block, new);
        }
        debug_assert!(self.waiting.is_empty(), "a place is in no block");
    }

    fn take(&mut self, at: Place, to: &mut Vec<Inst>) {
        let waiting = self.waiting.remove(&at).unwrap_or_default();
        to.extend(waiting.into_iter().rev().flatten());
    }
}
