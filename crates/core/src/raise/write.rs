//! Writes the choice of what is done when a region is about to be entered.
//!
//! Before: the loop of the region, entered through its preheader, and what was found out about it.
//! After: the preheader ends in the choice between the loop and its parts. The parts leave for where
//! the loop leaves for, with the same values. A loop that is never entered any more is still there.

use super::emit::{self, Emitter};
use super::read::Runs;
use super::{Plan, Way, slots};
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::trip_count::TripCount;
use crate::ir::{Block, Builder, Edge, Function, Type, Value};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// Writes what is done when a region is about to be entered.
pub struct Writer<'a> {
    /// How often loops run.
    pub trips: &'a SecondaryMap<Loop, TripCount>,
    /// The counters of the loops around the region.
    pub counters: HashMap<Loop, Value>,
}

impl Writer<'_> {
    /// Puts the way into a region in front of its loop.
    pub fn write(&self, function: &mut Function, loops: &Loops, l: Loop, way: &Way) {
        let Some(preheader) = loops.preheader(l) else {
            return;
        };
        let mut insts = function.block_insts(preheader).to_vec();
        let jump = insts.pop();
        function.set_block_insts(preheader, insts);
        let old = function.add_block();
        if let Some(jump) = jump {
            function.attach_inst(old, jump);
        }
        self.way(function, preheader, old, way);
    }

    fn way(&self, function: &mut Function, block: Block, old: Block, way: &Way) {
        let to = |block: Block| Edge {
            block,
            args: Vec::new(),
        };
        match way {
            Way::Keep => Builder::new(function, block).jump(old, Vec::new()),
            Way::Fork(condition, yes, no) => {
                let (then, other) = (function.add_block(), function.add_block());
                Builder::new(function, block).branch(*condition, to(then), to(other));
                self.way(function, then, old, yes);
                self.way(function, other, old, no);
            }
            Way::Raise(plan) => self.plan(function, block, old, plan),
        }
    }

    fn plan(&self, function: &mut Function, mut block: Block, old: Block, plan: &Plan) {
        let to = |block: Block| Edge {
            block,
            args: Vec::new(),
        };
        slots::attach(function, plan);
        let mut b = Builder::new(function, block);
        let around = |l: Loop| self.counters[&l];
        let counts = emit::counts(self.trips, plan, &mut b, &around);
        let count = |l: Loop| counts.get(&l).copied().unwrap_or_else(|| around(l));
        if let Some(holds) = plan.conditions.materialize(&mut b, &count) {
            let raised = b.func.add_block();
            b.branch(holds, to(raised), to(old));
            block = raised;
        }
        let mut emitter = Emitter {
            tree: &plan.tree,
            bounds: &plan.bounds,
            counts,
            counters: self.counters.clone(),
        };
        let end = emitter.units(function, block, &plan.parts.units);
        let mut b = Builder::new(function, end);
        if let Some(&count) = emitter.counts.get(&plan.region) {
            let last = match plan.runs.get(&plan.region) {
                Some(Runs::OnceMore) => {
                    let one = b.func.iconst(Type::i64(), 1);
                    b.sub(count, one)
                }
                _ => count,
            };
            emitter.counters.insert(plan.region, last);
        }
        let params = b.func.block_params(plan.exit).to_vec();
        let results = plan.tree.results.iter().zip(params);
        let results = results.map(|(result, param)| match result {
            Some(id) => emitter.value(&mut b, *id),
            None => {
                let ty = b.func.ty(param);
                b.func.zero(ty)
            }
        });
        let results = results.collect();
        b.jump(plan.exit, results);
    }
}
