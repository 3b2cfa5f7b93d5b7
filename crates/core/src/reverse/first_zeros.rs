//! Where slots become zero for the first time.
//!
//! A slot is zero except between the first contribution to an adjoint and the place where that is
//! taken. So any block may set it to zero that every use comes after, if no path leads from a
//! contribution through that block to the place where the contribution is taken. Such a path goes
//! around a loop. If all uses are in the loop, so is the definition of the value, and a turn passes
//! that before it comes to a use. There are two exceptions, which must be zero before the loop: a
//! value that one iteration hands on to the next is used between the turns, and one of the header is
//! taken in the block that the reverse of a turn may begin with.
//!
//! Set to zero where the sweep begins, a slot would live from there to its last use, and the
//! optimizer would walk over all that lies between for each of them.

use super::gradient::Gradient;
use super::insertions::{Insertions, Place};
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::{Loop, Loops};
use crate::ir::{Block, Value};
use crate::planted::Defect;
use std::collections::HashMap;

/// Where a slot is used.
#[derive(Default)]
struct Uses {
    blocks: Vec<Block>,
    /// Blocks of the loops that the slot must be zero before.
    turns: Vec<Block>,
}

impl Gradient<'_> {
    /// Puts the instructions that set slots to zero for the first time near the uses of the slots.
    pub(super) fn place_first_zeros(&mut self) {
        let cfg = Cfg::new(&self.func);
        let dominators = Dominators::new(&self.func, &cfg);
        let loops = Loops::new(&self.func, &cfg, &dominators).ok();
        let uses = self.uses_of_slots(&cfg);
        let mut insertions = Insertions::default();
        for (slot, zero) in std::mem::take(&mut self.first_zeros) {
            let home = loops
                .as_ref()
                .and_then(|loops| before_all(&uses[&slot], &dominators, loops))
                .filter(|&block| block != self.prologue);
            match (home, self.func.def_inst(slot)) {
                (None, Some(made)) => {
                    insertions.add(self.prologue, Place::After(made), vec![zero]);
                }
                (home, _) => {
                    let block = home.unwrap_or(self.prologue);
                    insertions.add(block, Place::Start(block), vec![zero]);
                }
            }
        }
        insertions.apply(&mut self.func);
    }

    fn uses_of_slots(&self, cfg: &Cfg) -> HashMap<Value, Uses> {
        let slots = self.first_zeros.iter();
        let mut uses: HashMap<Value, Uses> =
            slots.map(|&(slot, _)| (slot, Uses::default())).collect();
        for &block in cfg.reverse_postorder() {
            for &inst in self.func.block_insts(block) {
                self.func.inst(inst).for_each_operand(|value| {
                    if let Some(Uses { blocks, .. }) = uses.get_mut(&value)
                        && blocks.last() != Some(&block)
                    {
                        blocks.push(block);
                    }
                });
            }
        }
        let (function, loops) = (&self.primal.function, &self.primal.loops);
        let broken = self.breaks(Defect::ZeroedInTurn);
        for l in loops.iter().filter(|_| !broken) {
            let header = loops.header(l);
            let latches = loops.latches(l).iter();
            let edges = latches.flat_map(|&latch| function.edges(latch));
            let back = edges.filter(|edge| edge.block == header);
            let insts = function.block_insts(header).iter();
            let values = (back.flat_map(|edge| edge.args.iter().copied()))
                .chain(function.block_params(header).iter().copied())
                .chain(insts.filter_map(|&inst| function.result(inst)));
            for slot in values.filter_map(|value| self.slots.get(&value)).flatten() {
                if let Some(Uses { turns, .. }) = uses.get_mut(slot) {
                    turns.extend(self.reversed.get(&header));
                }
            }
        }
        uses
    }
}

/// The closest block that dominates all uses, and is in no loop that one of them is not in, or
/// that the slot must be zero before.
fn before_all(uses: &Uses, dominators: &Dominators, loops: &Loops) -> Option<Block> {
    let mut blocks = uses.blocks.iter().copied();
    let first = blocks.next()?;
    let (mut home, mut around) = (first, loops.innermost(first));
    for block in blocks {
        home = dominators.common(block, home);
        around = loops.enclosing(around).find(|&l| loops.contains(l, block));
    }
    for &block in &uses.turns {
        let turns = loops.innermost(block);
        let is_outside = |&l: &Loop| turns.is_some_and(|inner| !loops.is_inside(l, inner));
        around = loops.enclosing(around).find(is_outside);
    }
    let is_around = |l| around.is_some_and(|around| loops.is_inside(around, l));
    while !loops.innermost(home).is_none_or(is_around) {
        home = dominators.idom(home)?;
    }
    Some(home)
}
