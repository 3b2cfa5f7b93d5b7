//! Which way control came to a block, from the conditions that decided it.
//!
//! Where paths meet, the reverse sweep must know which of them was taken. The number of the edge can
//! be kept, or the branches above can be taken once more: from the block that dominates the meeting
//! point, each on the condition that the program had there. A condition is only asked for where the
//! program had come to it, so whatever it depends on exists.

use crate::analysis::loops::Loop;
use crate::ir::{Block, Op, Value};
use crate::primal::Primal;
use std::collections::{HashMap, HashSet};

/// The branches that decide by which edge control comes to a block; the first comes first.
#[derive(Clone, Debug)]
pub struct Decisions(pub Vec<Choice>);

/// A branch that has a say in it.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The block that ends with the branch.
    pub at: Block,
    /// What it decides on.
    pub condition: Value,
    /// What follows from each of its edges.
    pub ways: Vec<Way>,
}

/// What follows from a decision.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// Control comes by the edge with this number.
    Edge(usize),
    /// The choice with this number decides.
    Choice(usize),
    /// Control does not come.
    Nowhere,
}

/// There are no decisions over more blocks than this: keeping the edge is cheaper then.
const MOST_BLOCKS: usize = 64;

impl Decisions {
    /// The decisions above a block, if they are all made in the iteration that the block is in.
    pub fn above(primal: &Primal, block: Block) -> Option<Decisions> {
        let top = primal.dominators.idom(block)?;
        let level = primal.loops.innermost(block);
        // The condition of another iteration would decide something else.
        if primal.loops.innermost(top) != level {
            return None;
        }
        let mut search = Search {
            primal,
            block,
            level,
            region: region(primal, top, block)?,
            ways: HashMap::new(),
            choices: Vec::new(),
        };
        let first = search.from(top)?;
        let Way::Choice(first) = first else {
            return None;
        };
        // A choice is numbered after those that it leads to, so the first one is the last.
        debug_assert_eq!(first + 1, search.choices.len());
        let last = search.choices.len() - 1;
        search.choices.reverse();
        for choice in &mut search.choices {
            for way in &mut choice.ways {
                if let Way::Choice(number) = way {
                    *number = last - *number;
                }
            }
        }
        Some(Decisions(search.choices))
    }

    /// What the decisions are made on.
    pub fn conditions(&self) -> Vec<Value> {
        self.0.iter().map(|choice| choice.condition).collect()
    }
}

/// The blocks on paths from a block to another that it dominates, both included; none if there are
/// too many.
fn region(primal: &Primal, top: Block, bottom: Block) -> Option<HashSet<Block>> {
    let mut region = HashSet::from([top, bottom]);
    let mut open = vec![bottom];
    while let Some(block) = open.pop() {
        for &(from, _) in primal.cfg.predecessors(block) {
            if region.insert(from) {
                open.push(from);
            }
        }
        if region.len() > MOST_BLOCKS {
            return None;
        }
    }
    Some(region)
}

struct Search<'a> {
    primal: &'a Primal,
    /// Where the paths meet.
    block: Block,
    /// The loop around it.
    level: Option<Loop>,
    region: HashSet<Block>,
    /// What follows from coming to a block.
    ways: HashMap<Block, Way>,
    choices: Vec<Choice>,
}

impl Search<'_> {
    /// What follows from coming to a block; none if conditions of the iteration do not say.
    fn from(&mut self, at: Block) -> Option<Way> {
        if let Some(&way) = self.ways.get(&at) {
            return Some(way);
        }
        let loops = &self.primal.loops;
        let around = loops.enclosing(loops.innermost(at));
        let inner = around.take_while(|&l| Some(l) != self.level).last();
        let way = match inner {
            Some(inner) => self.through(inner)?,
            None => self.branch(at)?,
        };
        self.ways.insert(at, way);
        Some(way)
    }

    /// What follows from an edge.
    fn along(&mut self, from: Block, edge: usize, to: Block) -> Option<Way> {
        if to == self.block {
            let edges = self.primal.cfg.predecessors(to);
            let number = edges.iter().position(|&e| e == (from, edge))?;
            return Some(Way::Edge(number));
        }
        // The next iteration, another loop and the end of the program are elsewhere.
        let next = self
            .level
            .is_some_and(|l| self.primal.loops.header(l) == to);
        let inside = self.level.is_none_or(|l| self.primal.loops.contains(l, to));
        match self.region.contains(&to) && inside && !next {
            true => self.from(to),
            false => Some(Way::Nowhere),
        }
    }

    /// A loop on the way: which iteration leaves it by which edge is not asked, so all must lead to
    /// the same.
    fn through(&mut self, l: Loop) -> Option<Way> {
        let exits = self.primal.loops.exits(l).to_vec();
        let ways: Option<Vec<Way>> = exits
            .iter()
            .map(|exit| self.along(exit.from, exit.edge, exit.to))
            .collect();
        the_only(&ways?)
    }

    fn branch(&mut self, at: Block) -> Option<Way> {
        let data = self
            .primal
            .function
            .inst(self.primal.function.terminator(at)?);
        let edges: Vec<Block> = data.op.edges().iter().map(|edge| edge.block).collect();
        let ways: Option<Vec<Way>> = edges
            .into_iter()
            .enumerate()
            .map(|(edge, to)| self.along(at, edge, to))
            .collect();
        let mut ways = ways?;
        if let Some(only) = the_only(&ways) {
            return Some(only);
        }
        if !matches!(data.op, Op::Branch { .. } | Op::Switch { .. }) {
            return None;
        }
        // Where control does not come, nothing has to be right.
        let some = ways.iter().copied().find(|&way| way != Way::Nowhere)?;
        for way in &mut ways {
            if *way == Way::Nowhere {
                *way = some;
            }
        }
        self.choices.push(Choice {
            at,
            condition: data.args[0],
            ways,
        });
        Some(Way::Choice(self.choices.len() - 1))
    }
}

/// The way that all lead to which lead anywhere, if there is one.
fn the_only(ways: &[Way]) -> Option<Way> {
    let mut real = ways.iter().copied().filter(|&way| way != Way::Nowhere);
    let first = real.next().unwrap_or(Way::Nowhere);
    real.all(|way| way == first).then_some(first)
}
