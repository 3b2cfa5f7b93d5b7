//! Where slots become zero for the first time.
//!
//! A slot is zero except between the first contribution to an adjoint and the place where that is
//! taken. So any block may set it to zero that every use comes after, if no path leads from a
//! contribution to that block before the contribution is taken. Such a path goes around a loop: a
//! value that one iteration hands on to the next is used between the turns, and one that is used
//! behind a loop gets its contribution before the reverse of the loop begins, which may be with a
//! block that every turn begins with.
//!
//! Set to zero where the sweep begins, a slot would live from there to its last use, and the
//! optimizer would walk over all that lies between for each of them.

use super::gradient::Gradient;
use super::insertions::{Insertions, Place};
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::Loops;
use crate::ir::{Block, Constant, Function, Op, Value, ValueDef};
use crate::planted::Defect;
use std::collections::{HashMap, HashSet};

/// Where a slot is used, in the order of the sweep.
#[derive(Default)]
struct Uses {
    blocks: Vec<Block>,
    /// Those of them in which the adjoint is taken, which leaves zero.
    takes: HashSet<Block>,
    /// Those at whose end there may be a contribution.
    holds: HashSet<Block>,
}

impl Gradient<'_> {
    /// Puts the instructions that set slots to zero for the first time near the uses of the slots.
    pub(super) fn place_first_zeros(&mut self) {
        let cfg = Cfg::new(&self.func);
        let dominators = Dominators::new(&self.func, &cfg);
        let loops = Loops::new(&self.func, &cfg, &dominators).ok();
        let uses = self.uses_of_slots(&cfg);
        let broken = self.breaks(Defect::ZeroedInTurn);
        let mut insertions = Insertions::default();
        for (slot, zero) in std::mem::take(&mut self.first_zeros) {
            let home = loops
                .as_ref()
                .and_then(|loops| before_all(&uses[&slot], &self.func, &dominators, loops, broken))
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
                let data = self.func.inst(inst);
                let zeroed = match (&data.op, &data.args[..]) {
                    (Op::Store(_), &[stored, slot]) if is_zero(&self.func, stored) => Some(slot),
                    _ => None,
                };
                data.for_each_operand(|value| {
                    let Some(uses) = uses.get_mut(&value) else {
                        return;
                    };
                    if uses.blocks.last() != Some(&block) {
                        uses.blocks.push(block);
                    }
                    if zeroed == Some(value) {
                        uses.takes.insert(block);
                        uses.holds.remove(&block);
                    } else {
                        uses.holds.insert(block);
                    }
                });
            }
        }
        uses
    }
}

fn is_zero(func: &Function, value: Value) -> bool {
    let zeros = [Constant::Zero, Constant::Float(0), Constant::Int(0)];
    matches!(func.def(value), ValueDef::Const(constant) if zeros.contains(constant))
}

/// The closest block that dominates all uses, is in no loop that one of them is not in, and is not
/// come to while the slot holds something.
fn before_all(
    uses: &Uses,
    func: &Function,
    dominators: &Dominators,
    loops: &Loops,
    broken: bool,
) -> Option<Block> {
    let mut blocks = uses.blocks.iter().copied();
    let first = blocks.next()?;
    let (mut home, mut around) = (first, loops.innermost(first));
    for block in blocks {
        home = dominators.common(block, home);
        around = loops.enclosing(around).find(|&l| loops.contains(l, block));
    }
    let is_around = |l| around.is_some_and(|around| loops.is_inside(around, l));
    while !loops.innermost(home).is_none_or(is_around) {
        home = dominators.idom(home)?;
    }
    while loops.innermost(home).is_some() && !broken && is_passed_holding(uses, func, home) {
        home = dominators.idom(home)?;
    }
    Some(home)
}

/// Whether control comes to a block when the slot may hold something.
fn is_passed_holding(uses: &Uses, func: &Function, home: Block) -> bool {
    let mut work: Vec<Block> = uses.holds.iter().copied().collect();
    let mut seen = HashSet::new();
    while let Some(block) = work.pop() {
        for edge in func.edges(block) {
            if edge.block == home {
                return true;
            }
            if seen.insert(edge.block) && !uses.takes.contains(&edge.block) {
                work.push(edge.block);
            }
        }
    }
    false
}
