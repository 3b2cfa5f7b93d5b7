//! The ways through the body of a loop.

use super::{Check, Next, Reader};
use crate::ir::{Block, Edge, Inst, InstData, Op, Value};
use crate::raise::tree::{Id, Item, Node};
use crate::raise::{Analyses, Stop};
use std::collections::HashSet;

impl Reader<'_> {
    /// The way on from a block that does not test whether the loop ends.
    pub(super) fn follow(
        &mut self,
        block: Block,
        last: Inst,
        items: &mut Vec<Item>,
    ) -> Result<Next, Stop> {
        let func = self.analyses.func;
        let data = func.inst(last);
        self.loc = data.loc.or(self.loc);
        match &data.op {
            Op::Jump(edge) => self.go(block, edge, items),
            Op::Branch { then, other } => self.branch(block, data.args[0], then, other, items),
            _ => Err(self.refuse("it jumps to one of many places")),
        }
    }

    /// The way on along an edge.
    fn go(&mut self, block: Block, edge: &Edge, items: &mut Vec<Item>) -> Result<Next, Stop> {
        let loops = self.analyses.loops;
        if edge.block == loops.header(self.current) {
            return Ok(Next::End);
        }
        match loops.headed_by(edge.block) {
            Some(inner) => {
                let outside = self.current;
                let exit = self.enter(inner, block, items)?;
                self.current = outside;
                Ok(Next::Block(exit))
            }
            None => Ok(Next::Block(self.bind(edge))),
        }
    }

    fn branch(
        &mut self,
        block: Block,
        condition: Value,
        then: &Edge,
        other: &Edge,
        items: &mut Vec<Item>,
    ) -> Result<Next, Stop> {
        let analyses = self.analyses;
        let returns = |edge: &Edge| analyses.cfg.reaches_return(edge.block);
        match (returns(then), returns(other)) {
            (true, true) => {}
            (false, false) => return Err(Stop::Silent),
            (expected, _) => {
                self.checks.push(Check {
                    condition,
                    expected,
                    at: block,
                });
                return self.go(block, if expected { then } else { other }, items);
            }
        }
        if let Some((_, way)) = self.assumed.iter().find(|(known, _)| *known == condition) {
            return self.go(block, if *way { then } else { other }, items);
        }
        let fixed = !self.is_inside(condition, self.region);
        let join = self.join(block).ok_or_else(|| self.refuse("it branches"))?;
        let before = self.now;
        let mut sides = Vec::new();
        for edge in [then, other] {
            let mut inside = Vec::new();
            let given = self.side(block, edge, join, &mut inside);
            match given {
                Ok(given) => sides.push((inside, given)),
                Err(Stop::Refused(..)) if fixed => return Err(Stop::Fork(condition)),
                Err(stop) => return Err(stop),
            }
        }
        let [(yes, yes_given), (no, no_given)] = &sides[..] else {
            return Err(Stop::Silent);
        };
        // A loop that may be empty: nothing but slots is written beside it.
        let (guarded, expected) = match (yes.is_empty(), no.is_empty()) {
            (true, true) if self.now == before => (yes, true),
            (false, true) => (yes, true),
            (true, false) => (no, false),
            _ if fixed => return Err(Stop::Fork(condition)),
            _ => return Err(self.refuse("it branches")),
        };
        let slots: Vec<Value> = analyses.slots.values().copied().collect();
        let only_loops = guarded.iter().all(|item| match item {
            Item::Loop(..) => true,
            Item::Write(write) => slots.iter().any(|&slot| write.place.is_at(slot)),
        });
        // Whether a condition that changes says only that a loop is not empty is known later.
        if !guarded.is_empty() && !only_loops {
            return match fixed {
                true => Err(Stop::Fork(condition)),
                false => Err(self.refuse("it branches")),
            };
        }
        for item in guarded {
            items.push(match item {
                Item::Loop(l, conditions, inner) => {
                    let mut conditions = conditions.clone();
                    conditions.push((condition, expected));
                    Item::Loop(*l, conditions, inner.clone())
                }
                write => write.clone(),
            });
        }
        let params = analyses.func.block_params(join).to_vec();
        for ((param, &yes), &no) in params.into_iter().zip(yes_given).zip(no_given) {
            let (Some(yes), Some(no)) = (yes, no) else {
                self.spoil(param, "it is not a number that could be computed again");
                continue;
            };
            let id = match self.begins_with(items, if expected { (yes, no) } else { (no, yes) }) {
                Some(id) => id,
                None if yes == no => yes,
                None => {
                    let ty = analyses.func.ty(param);
                    let condition = self.operand(condition)?;
                    let data = InstData {
                        loc: self.loc,
                        ..InstData::new(Op::Select, Vec::new())
                    };
                    self.tree.add(Node::Op(data, ty, vec![condition, yes, no]))
                }
            };
            self.known.insert(param, id);
        }
        Ok(Next::Block(join))
    }

    /// Where a loop that does not run leaves what a slot began with, the slot is right either way.
    fn begins_with(&self, items: &[Item], (summed, unsummed): (Id, Id)) -> Option<Id> {
        let Node::Load(place, _) = self.tree.node(summed) else {
            return None;
        };
        let mut starts = items.iter().rev().filter_map(|item| match item {
            Item::Write(write) if write.place.is(place) => Some(write.value),
            _ => None,
        });
        match starts.next() {
            Some(start) => (start == unsummed).then_some(summed),
            // The sum of a loop further out goes on.
            None => matches!(self.tree.node(unsummed), Node::Load(other, _) if other.is(place))
                .then_some(summed),
        }
    }

    /// Reads one side of a branch up to the block where both meet; gives what it passes there.
    fn side(
        &mut self,
        block: Block,
        edge: &Edge,
        join: Block,
        items: &mut Vec<Item>,
    ) -> Result<Vec<Option<Id>>, Stop> {
        let (mut block, mut edge) = (block, edge.clone());
        loop {
            if edge.block == join {
                let given = edge.args.iter().map(|&arg| self.operand(arg).ok());
                return Ok(given.collect());
            }
            let next = match self.go(block, &edge, items)? {
                Next::Block(next) => next,
                Next::End => return Err(self.refuse("it branches")),
            };
            block = next;
            // After a loop, or in a block of this side, goes on to the next edge.
            loop {
                if block == join {
                    return Err(Stop::Silent);
                }
                let last = self.instructions(block, items)?;
                match &self.analyses.func.inst(last).op {
                    Op::Jump(next) => {
                        edge = next.clone();
                        break;
                    }
                    _ => match self.follow(block, last, items)? {
                        Next::Block(next) => block = next,
                        Next::End => return Err(self.refuse("it branches")),
                    },
                }
            }
        }
    }

    /// The block where both sides of a branch meet again: the first that comes after it on every
    /// way that goes on.
    fn join(&self, block: Block) -> Option<Block> {
        let mut sides = self.analyses.cfg.successors(block).iter();
        let first = self.reached(*sides.next()?);
        let second = self.reached(*sides.next()?);
        let common = first.intersection(&second).copied();
        common.min_by_key(|&block| self.analyses.cfg.position(block))
    }

    /// The blocks of the iteration that come after an edge to a block, dead ends aside.
    fn reached(&self, from: Block) -> HashSet<Block> {
        let Analyses { cfg, loops, .. } = self.analyses;
        let mut reached = HashSet::new();
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            let counts = loops.contains(self.current, block)
                && block != loops.header(self.current)
                && cfg.reaches_return(block);
            if counts && reached.insert(block) {
                open.extend(cfg.successors(block));
            }
        }
        reached
    }
}
