//! Control flow of the reverse sweep.
//!
//! The reverse of a block ends by going to the reverse of the block that control came from. Where
//! there are several, the parameter that remembers the edge decides, or the conditions that it
//! follows from are asked again, whatever the plan says. At a loop header, the counter does: it runs
//! from the last iteration, which is known where the loop was left, down to zero.
//!
//! A loop that is left from several blocks would be entered at all of them by the reverse sweep,
//! and a cycle with several entries has no derivative. So such a loop has a *hub*: the one block
//! that its reverse is entered by and that every iteration begins with. The parameter of the hub
//! says where to go on: 0 is the latch, and n the n-th of the blocks that leave the loop.

use super::decisions::{Decisions, Way};
use super::gradient::Gradient;
use crate::analysis::loops::Loop;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{BinaryOp, Block, Builder, Edge, IntPred, Op, Type, Value};
use crate::planted::Defect;
use std::collections::BTreeSet;

impl Gradient<'_> {
    /// Emits the whole reverse sweep.
    pub(super) fn run(&mut self) -> Result<()> {
        let blocks: Vec<Block> = self
            .primal
            .order
            .iter()
            .copied()
            .filter(|&block| self.primal.cfg.reaches_return(block))
            .collect();
        for &block in &blocks {
            let reversed = self.func.add_block();
            self.reversed.insert(block, reversed);
        }
        self.make_hubs();
        let mut start = None;
        for &block in blocks.iter().rev() {
            self.enter(self.reversed[&block]);
            self.at = block;
            if self.reverse_return(block) {
                start = Some(self.reversed[&block]);
            }
            for inst in self
                .primal
                .function
                .block_insts(block)
                .to_vec()
                .into_iter()
                .rev()
            {
                self.reverse(inst)?;
            }
            self.loc = None;
            self.leave(block);
        }
        let Some(start) = start else {
            return Err(Diagnostic::new(
                Code::NeverReturns,
                format!("`{}` never returns", self.primal.function.name),
                "every path through it ends in a loop without exit or in a call that does not \
                 return, so there is nothing to differentiate",
                "let the function return",
            )
            .at(&self.synthesis.module, self.primal.first_loc())
            .in_function(&self.primal.function.name));
        };
        Builder::new(&mut self.func, self.prologue).jump(start, Vec::new());
        self.place_first_zeros();
        self.check_lost()
    }

    /// The adjoint of the result is what the caller seeds.
    fn reverse_return(&mut self, block: Block) -> bool {
        let Some(inst) = self.primal.function.terminator(block) else {
            return false;
        };
        let data = self.primal.function.inst(inst).clone();
        if !matches!(data.op, Op::Return) {
            return false;
        }
        let seeds = self.seeds.clone();
        if let Some(&value) = data.args.first() {
            for (k, seed) in seeds.into_iter().enumerate() {
                self.check_seed(data.loc, seed);
                self.contribute(value, k, seed);
            }
        }
        true
    }

    /// Ends the reverse of a block.
    fn leave(&mut self, block: Block) {
        if block == self.primal.function.entry() {
            self.finish();
            return;
        }
        let params: Vec<Value> = self.primal.function.block_params(block).to_vec();
        let active: Vec<(usize, Vec<Value>)> = params
            .iter()
            .enumerate()
            .filter(|&(_, &param)| self.primal.is_active(param))
            .map(|(i, &param)| (i, param))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|(i, param)| (i, self.take_adjoints(param)))
            .collect();
        let edges = self.primal.cfg.predecessors(block).to_vec();
        if let Some(l) = self.primal.loops.headed_by(block) {
            self.leave_header(l, block, &active, &edges);
        } else if let [(from, edge)] = edges[..] {
            self.cross(block, from, edge, &active);
        } else {
            let targets: Vec<Block> = edges.iter().map(|_| self.func.add_block()).collect();
            self.choose_edge(block, &targets);
            for (&target, &(from, edge)) in targets.iter().zip(&edges) {
                self.enter(target);
                self.cross(block, from, edge, &active);
            }
        }
    }

    /// Goes to the target of the edge by which control came to a block.
    fn choose_edge(&mut self, block: Block, targets: &[Block]) {
        let came_by = self.augmented.came_by[&block];
        if !self.is_recomputed(came_by) {
            let number = self.primal_value(came_by);
            let cases = (0u128..).zip(targets.iter().map(|&block| to(block)));
            let op = Op::Switch {
                cases: cases.skip(1).collect(),
                default: to(targets[0]),
            };
            self.builder().effect(op, vec![number]);
            return;
        }
        let augmented = self.augmented;
        let Decisions(choices) = &augmented.decisions[&came_by];
        let first = self.block;
        let blocks: Vec<Block> = (0..choices.len())
            .map(|number| match number {
                0 => first,
                _ => self.func.add_block(),
            })
            .collect();
        for (choice, &chosen_at) in choices.iter().zip(&blocks) {
            if chosen_at != first {
                self.enter(chosen_at);
            }
            let condition = self.primal_value(choice.condition);
            let function = &self.primal.function;
            let Some(branch) = function.terminator(choice.at) else {
                panic!("{} does not end with the branch that it has", choice.at);
            };
            let mut op = function.inst(branch).op.clone();
            for (edge, way) in op.edges_mut().into_iter().zip(&choice.ways) {
                *edge = match *way {
                    Way::Edge(number) => to(targets[number]),
                    Way::Choice(number) => to(blocks[number]),
                    Way::Nowhere => to(targets[0]),
                };
            }
            self.builder().effect(op, vec![condition]);
        }
    }

    fn leave_header(
        &mut self,
        l: Loop,
        header: Block,
        active: &[(usize, Vec<Value>)],
        edges: &[(Block, usize)],
    ) {
        let [first, again] = [(); 2].map(|()| self.func.add_block());
        let slot = self.counter_slot(l);
        let access = self.frame_access(Type::i64());
        let short = self.breaks(Defect::LoopOneShort);
        let mut builder = self.builder();
        let counter = builder.load(Type::i64(), slot, access.clone());
        let zero = builder.func.iconst(Type::i64(), 0);
        let mut is_first = builder.icmp(IntPred::Eq, counter, zero);
        if short {
            let one = builder.func.iconst(Type::i64(), 1);
            is_first = builder.icmp(IntPred::Ule, counter, one);
        }
        builder.branch(is_first, to(first), to(again));
        for &(from, edge) in edges {
            if self.primal.loops.contains(l, from) {
                self.enter(again);
                let mut builder = self.builder();
                let one = builder.func.iconst(Type::i64(), 1);
                let before = builder.sub(counter, one);
                builder.store(before, slot, access.clone());
                self.at = from;
                self.cross(header, from, edge, active);
            } else {
                self.enter(first);
                self.at = from;
                self.release_records(l);
                self.cross(header, from, edge, active);
            }
        }
        self.at = header;
    }

    /// Crosses an edge backwards: adjoints of parameters go to the arguments, and the loops that
    /// the edge left, which may be several at once, are entered at their last iterations.
    fn cross(&mut self, block: Block, from: Block, edge: usize, active: &[(usize, Vec<Value>)]) {
        let mut left = self.primal.loops.innermost(from);
        while let Some(l) = left.filter(|&l| !self.primal.loops.contains(l, block)) {
            let counter = self.primal.canonical.counters[&self.primal.loops.header(l)];
            let last = self
                .augmented
                .last
                .get(&l)
                .map_or(counter, |last| last.value);
            let last = self.primal_value(last);
            let slot = self.counter_slot(l);
            let access = self.frame_access(Type::i64());
            self.builder().store(last, slot, access);
            left = match self.breaks(Defect::OuterCounterStale) {
                true => None,
                false => self.primal.loops.parent(l),
            };
        }
        let args = self.primal.function.edges(from)[edge].args.clone();
        for (i, adjoints) in active {
            for (k, &adjoint) in adjoints.iter().enumerate() {
                self.contribute(args[*i], k, adjoint);
            }
        }
        let mut entered = self.primal.loops.left(from, block);
        // The next iteration begins where the first one began.
        entered.extend(self.primal.loops.headed_by(block));
        entered.retain(|&l| self.primal.loops.contains(l, from));
        let way = self.way_to(from, &entered);
        match entered[..] {
            [l] if !self.primal.loops.contains(l, block) => self.enter_loop(l, from, block, way),
            _ => self.builder().jump(way.block, way.args),
        }
    }

    /// Goes to the reverse of a loop, or past it if it has nothing to do.
    fn enter_loop(&mut self, l: Loop, from: Block, left_to: Block, way: Edge) {
        let header = self.primal.loops.header(l);
        let entries = self.primal.cfg.predecessors(header).iter();
        let mut entries = entries.filter(|(from, _)| !self.primal.loops.contains(l, *from));
        let entry = entries.next().copied().filter(|_| entries.next().is_none());
        let chosen = self.chosen_from(l, from, left_to);
        let (Some(chosen), Some((before, edge))) = (chosen, entry) else {
            self.builder().jump(way.block, way.args);
            return;
        };
        let mut any = self.func.iconst(Type::i1(), 0);
        for (condition, holds) in chosen.conditions {
            let condition = self.primal_value(condition);
            let mut builder = self.builder();
            let no = builder.func.iconst(Type::i1(), 0);
            let yes = builder.func.iconst(Type::i1(), 1);
            let condition = match holds {
                true => condition,
                false => builder.select(condition, no, yes),
            };
            any = builder.binary(BinaryOp::Or, any, condition);
        }
        let past = self.func.add_block();
        self.builder().branch(any, way, to(past));
        let at = self.at;
        self.enter(past);
        for value in chosen.values {
            self.take_adjoints(value);
        }
        self.at = before;
        self.release_records(l);
        self.cross(header, before, edge, &[]);
        self.at = at;
    }

    /// Gives a hub to each loop that is left from several blocks.
    fn make_hubs(&mut self) {
        let primal = self.primal;
        for l in primal.loops.iter() {
            let exits = primal.loops.exits(l).iter();
            let exits = exits.filter(|exit| primal.cfg.reaches_return(exit.to));
            let exiting: BTreeSet<Block> = exits.map(|exit| exit.from).collect();
            if exiting.len() > 1 {
                let block = self.func.add_block();
                self.func.add_block_param(block, Type::int(32));
                let exiting = exiting.into_iter().collect();
                self.hubs.insert(l, Hub { block, exiting });
            }
        }
        for l in primal.loops.iter() {
            let Some(Hub { block, exiting }) = self.hubs.get(&l).cloned() else {
                continue;
            };
            let inside = |from: Block| {
                let around = primal.loops.enclosing(primal.loops.innermost(from));
                around.take_while(|&inner| inner != l).collect::<Vec<_>>()
            };
            let cases = (1u128..).zip(exiting);
            let cases = cases.map(|(n, from)| (n, self.way_to(from, &inside(from))));
            let cases = cases.collect();
            let default = self.way_to(primal.loops.latches(l)[0], &[]);
            let selector = self.func.block_params(block)[0];
            let op = Op::Switch { cases, default };
            Builder::new(&mut self.func, block).effect(op, vec![selector]);
        }
    }

    /// The edge by which the reverse sweep comes to the reverse of a block when it enters these
    /// loops, innermost first, at their last iterations or a loop at the iteration before.
    fn way_to(&mut self, from: Block, entered: &[Loop]) -> Edge {
        let outermost = entered.iter().rev().find_map(|l| self.hubs.get(l));
        let Some(hub) = outermost else {
            return Edge {
                block: self.reversed[&from],
                args: Vec::new(),
            };
        };
        let number = hub.exiting.iter().position(|&block| block == from);
        let (block, number) = (hub.block, number.map_or(0, |n| n + 1));
        let number = self.func.iconst(Type::int(32), number as i128);
        Edge {
            block,
            args: vec![number],
        }
    }
}

/// An edge that passes nothing.
fn to(block: Block) -> Edge {
    Edge {
        block,
        args: Vec::new(),
    }
}

/// The one entry to the reverse of a loop that is left from several blocks.
#[derive(Clone)]
pub(super) struct Hub {
    block: Block,
    exiting: Vec<Block>,
}
