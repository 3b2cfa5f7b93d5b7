//! The loops of a function as a forest.
//!
//! A loop is what a back edge (an edge to a block that dominates its start) closes; back edges to
//! one block are one loop. A cycle that can be entered in two places is no loop, and an error.

use super::cfg::Cfg;
use super::dominators::Dominators;
use crate::ir::{Block, Function};
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use std::fmt;

/// A loop of a function.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

/// The forest of loops of a function. Outer loops come before the loops inside of them.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: PrimaryMap<Loop, LoopData>,
    innermost: SecondaryMap<Block, Option<Loop>>,
}

/// A cycle that can be entered other than through one block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Irreducible {
    /// A block of the cycle, one of those it can be entered through.
    pub block: Block,
}

/// An edge that leaves a loop.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The block in the loop.
    pub from: Block,
    /// Which edge of its terminator.
    pub edge: usize,
    /// The block outside of the loop.
    pub to: Block,
}

#[derive(Clone, Debug)]
struct LoopData {
    header: Block,
    parent: Option<Loop>,
    depth: u32,
    blocks: Vec<Block>,
    latches: Vec<Block>,
    preheader: Option<Block>,
    exits: Vec<Exit>,
}

impl Loops {
    /// The loops of a function, or a block of a cycle that is none.
    pub fn new(func: &Function, cfg: &Cfg, dominators: &Dominators) -> Result<Loops, Irreducible> {
        let mut found = Vec::new();
        for &header in cfg.reverse_postorder() {
            let latches = back_edges(cfg, dominators, header)?;
            if !latches.is_empty() {
                found.push((header, latches));
            }
        }
        let mut result = Loops {
            loops: PrimaryMap::new(),
            innermost: SecondaryMap::with_capacity(func.block_count()),
        };
        // The headers are in reverse postorder, so an outer loop comes before those inside of it
        // and the last to claim a block is the innermost.
        for (header, latches) in found {
            let parent = result.innermost[header];
            let depth = parent.map_or(1, |p| result.loops[p].depth + 1);
            let blocks = body(cfg, header, &latches);
            let next = Loop::from_u32(result.loops.len() as u32);
            for &block in &blocks {
                result.innermost[block] = Some(next);
            }
            result.loops.push(LoopData {
                header,
                parent,
                depth,
                preheader: preheader(cfg, header, &blocks),
                exits: exits(cfg, &blocks),
                blocks,
                latches,
            });
        }
        Ok(result)
    }

    /// Every loop, outer ones before the loops inside of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Loop> + use<> {
        self.loops.keys()
    }

    /// How many loops there are.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Whether there are no loops.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The block through which a loop is entered.
    pub fn header(&self, l: Loop) -> Block {
        self.loops[l].header
    }

    /// The loop directly around a loop.
    pub fn parent(&self, l: Loop) -> Option<Loop> {
        self.loops[l].parent
    }

    /// How many loops a loop is in, itself included.
    pub fn depth(&self, l: Loop) -> u32 {
        self.loops[l].depth
    }

    /// The blocks of a loop, those of inner loops included, in reverse postorder.
    pub fn blocks(&self, l: Loop) -> &[Block] {
        &self.loops[l].blocks
    }

    /// The blocks with an edge back to the header.
    pub fn latches(&self, l: Loop) -> &[Block] {
        &self.loops[l].latches
    }

    /// The block outside of the loop that leads to its header and nowhere else, if it is the only
    /// one that leads there.
    pub fn preheader(&self, l: Loop) -> Option<Block> {
        self.loops[l].preheader
    }

    /// The edges that leave a loop.
    pub fn exits(&self, l: Loop) -> &[Exit] {
        &self.loops[l].exits
    }

    /// The innermost loop that a block is in.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block]
    }

    /// The loop whose header a block is.
    pub fn headed_by(&self, block: Block) -> Option<Loop> {
        let l = self.innermost(block)?;
        (self.header(l) == block).then_some(l)
    }

    /// Whether a block is in a loop or in a loop inside of it.
    pub fn contains(&self, l: Loop, block: Block) -> bool {
        self.innermost(block)
            .is_some_and(|inner| self.is_inside(inner, l))
    }

    /// Whether a loop is another or inside of it.
    pub fn is_inside(&self, inner: Loop, outer: Loop) -> bool {
        self.enclosing(Some(inner)).any(|l| l == outer)
    }

    /// A loop and those around it, from the inside out.
    pub fn enclosing(&self, innermost: Option<Loop>) -> impl Iterator<Item = Loop> + '_ {
        std::iter::successors(innermost, |&l| self.parent(l))
    }

    /// The innermost loop that both of two blocks are in.
    pub fn common(&self, a: Block, b: Block) -> Option<Loop> {
        self.enclosing(self.innermost(a))
            .find(|&l| self.contains(l, b))
    }

    /// The loops that are left on the way from one block to another, from the inside out.
    pub fn left(&self, from: Block, to: Block) -> Vec<Loop> {
        self.enclosing(self.innermost(from))
            .take_while(|&l| !self.contains(l, to))
            .collect()
    }
}

impl fmt::Display for Irreducible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the cycle through {} has two entries", self.block)
    }
}

impl std::error::Error for Irreducible {}

/// The blocks with a back edge to `header`, each once. An edge that goes back in the order to a
/// block that does not dominate its start closes a cycle with a second entry.
fn back_edges(
    cfg: &Cfg,
    dominators: &Dominators,
    header: Block,
) -> Result<Vec<Block>, Irreducible> {
    let mut latches = Vec::new();
    for &(pred, _) in cfg.predecessors(header) {
        if cfg.position(pred) < cfg.position(header) {
            continue;
        }
        if !dominators.dominates(header, pred) {
            return Err(Irreducible { block: header });
        }
        if !latches.contains(&pred) {
            latches.push(pred);
        }
    }
    Ok(latches)
}

/// The blocks from which a latch is reached without passing the header.
fn body(cfg: &Cfg, header: Block, latches: &[Block]) -> Vec<Block> {
    let mut member: SecondaryMap<Block, bool> = SecondaryMap::new();
    member[header] = true;
    let mut blocks = vec![header];
    let mut work = latches.to_vec();
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut member[block], true) {
            continue;
        }
        blocks.push(block);
        work.extend(cfg.predecessors(block).iter().map(|&(pred, _)| pred));
    }
    blocks.sort_by_key(|&block| cfg.position(block));
    blocks
}

fn preheader(cfg: &Cfg, header: Block, blocks: &[Block]) -> Option<Block> {
    let is_outside = |block| cfg.position(block) < cfg.position(header);
    debug_assert!(blocks.iter().all(|&b| !is_outside(b)));
    let mut outside = cfg
        .predecessors(header)
        .iter()
        .filter(|(pred, _)| is_outside(*pred));
    match (outside.next(), outside.next()) {
        (Some(&(pred, _)), None) if cfg.successors(pred).len() == 1 => Some(pred),
        _ => None,
    }
}

fn exits(cfg: &Cfg, blocks: &[Block]) -> Vec<Exit> {
    let mut member: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &block in blocks {
        member[block] = true;
    }
    let mut exits = Vec::new();
    for &from in blocks {
        for (edge, &to) in cfg.successors(from).iter().enumerate() {
            if !member[to] {
                exits.push(Exit { from, edge, to });
            }
        }
    }
    exits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::test_graphs::graph;

    fn check(edges: &[&[usize]], expected: &str) {
        let func = graph(edges);
        let cfg = Cfg::new(&func);
        let dominators = Dominators::new(&func, &cfg);
        let text = match Loops::new(&func, &cfg, &dominators) {
            Err(error) => error.to_string(),
            Ok(loops) => loops
                .iter()
                .map(|l| {
                    format!(
                        "{} {:?} in {:?} latches {:?} exits {} preheader {:?}",
                        loops.header(l),
                        loops.blocks(l),
                        loops.parent(l),
                        loops.latches(l),
                        loops.exits(l).len(),
                        loops.preheader(l)
                    )
                })
                .collect::<Vec<_>>()
                .join("\n"),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn nests() {
        check(&[&[1], &[]], "");
        check(
            &[&[1], &[2, 4], &[2, 3], &[1], &[]],
            "block1 [block1, block2, block3] in None latches [block3] exits 1 preheader Some(block0)\n\
             block2 [block2] in Some(loop0) latches [block2] exits 1 preheader None",
        );
        check(
            &[&[1, 2], &[3], &[3], &[3, 3, 4], &[]],
            "block3 [block3] in None latches [block3] exits 1 preheader None",
        );
    }

    #[test]
    fn a_cycle_with_two_entries() {
        check(
            &[&[1, 2], &[2], &[1, 3], &[]],
            "the cycle through block1 has two entries",
        );
    }
}
