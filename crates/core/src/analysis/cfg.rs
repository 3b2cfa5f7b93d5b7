//! The control-flow graph of a function: predecessors, successors, an order, and dead ends.
//!
//! Computed once in linear time; it describes the function as it was then. Blocks that the entry
//! does not reach have no place in the order and count as predecessors of nothing.

use crate::ir::{Block, FnFlags, Function, Op};
use cranelift_entity::SecondaryMap;

/// The control-flow graph of a function with a body.
#[derive(Clone, Debug)]
pub struct Cfg {
    entry: Block,
    successors: SecondaryMap<Block, Vec<Block>>,
    predecessors: SecondaryMap<Block, Vec<(Block, usize)>>,
    order: Vec<Block>,
    position: SecondaryMap<Block, Option<u32>>,
    reaches_return: SecondaryMap<Block, bool>,
}

impl Cfg {
    /// The graph of a function, which must have a body.
    pub fn new(func: &Function) -> Cfg {
        let entry = func.entry();
        let mut successors = SecondaryMap::new();
        for &block in func.blocks() {
            successors[block] = func.successors(block);
        }
        let order = reverse_postorder(entry, &successors);
        let mut position = SecondaryMap::new();
        let mut predecessors: SecondaryMap<Block, Vec<(Block, usize)>> = SecondaryMap::new();
        for (i, &block) in order.iter().enumerate() {
            position[block] = Some(i as u32);
            for (edge, &successor) in successors[block].iter().enumerate() {
                predecessors[successor].push((block, edge));
            }
        }
        let reaches_return = blocks_that_return(func, &order, &predecessors);
        Cfg {
            entry,
            successors,
            predecessors,
            order,
            position,
            reaches_return,
        }
    }

    /// The first block.
    pub fn entry(&self) -> Block {
        self.entry
    }

    /// The blocks that the edges of a block lead to, one for each edge.
    pub fn successors(&self, block: Block) -> &[Block] {
        &self.successors[block]
    }

    /// The edges that lead to a block from reachable blocks: where each starts, and which edge of
    /// that block's terminator it is.
    pub fn predecessors(&self, block: Block) -> &[(Block, usize)] {
        &self.predecessors[block]
    }

    /// The reachable blocks in reverse postorder: every block before those it leads to, except
    /// along edges that go back.
    pub fn reverse_postorder(&self) -> &[Block] {
        &self.order
    }

    /// The place of a reachable block in the reverse postorder.
    pub fn position(&self, block: Block) -> Option<usize> {
        self.position[block].map(|p| p as usize)
    }

    /// Whether the entry leads to a block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.position[block].is_some()
    }

    /// Whether control can get from a block to a return. Blocks that end in a call that never
    /// returns, in `unreachable` or by unwinding out of the function are dead ends, and so are
    /// blocks that lead only to such blocks or run for ever.
    pub fn reaches_return(&self, block: Block) -> bool {
        self.reaches_return[block]
    }
}

fn reverse_postorder(entry: Block, successors: &SecondaryMap<Block, Vec<Block>>) -> Vec<Block> {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut order = Vec::new();
    let mut stack = vec![(entry, 0)];
    seen[entry] = true;
    while let Some((block, next)) = stack.last_mut() {
        match successors[*block].get(*next) {
            Some(&successor) => {
                *next += 1;
                if !seen[successor] {
                    seen[successor] = true;
                    stack.push((successor, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

fn blocks_that_return(
    func: &Function,
    order: &[Block],
    predecessors: &SecondaryMap<Block, Vec<(Block, usize)>>,
) -> SecondaryMap<Block, bool> {
    let mut answer: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut work: Vec<Block> = order
        .iter()
        .copied()
        .filter(|&block| {
            let last = func.terminator(block);
            last.is_some_and(|inst| func.inst(inst).op == Op::Return) && !is_cut_short(func, block)
        })
        .collect();
    while let Some(block) = work.pop() {
        if answer[block] {
            continue;
        }
        answer[block] = true;
        for &(pred, edge) in &predecessors[block] {
            let normal_edge_of_noreturn = edge == 0 && ends_in_noreturn_invoke(func, pred);
            if !answer[pred] && !is_cut_short(func, pred) && !normal_edge_of_noreturn {
                work.push(pred);
            }
        }
    }
    answer
}

/// Whether a call in the block never returns, so that its terminator is never reached.
fn is_cut_short(func: &Function, block: Block) -> bool {
    func.block_insts(block)
        .iter()
        .any(|&inst| match &func.inst(inst).op {
            Op::Call(call) => call.attrs.flags.contains(FnFlags::NORETURN),
            _ => false,
        })
}

fn ends_in_noreturn_invoke(func: &Function, block: Block) -> bool {
    func.terminator(block)
        .is_some_and(|inst| match &func.inst(inst).op {
            Op::Invoke { call, .. } => call.attrs.flags.contains(FnFlags::NORETURN),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::test_graphs::graph;

    #[test]
    fn order_predecessors_and_dead_ends() {
        // 0 → 1 → {2, 3}, 2 → 1, 3 returns; 4 is not reached; 1 has a third edge to 5, a dead end.
        let func = graph(&[&[1], &[2, 3, 5], &[1], &[], &[1], &[9]]);
        let cfg = Cfg::new(&func);
        let b = func.blocks().to_vec();
        assert_eq!(cfg.reverse_postorder()[..2], [b[0], b[1]]);
        assert_eq!(cfg.reverse_postorder().len(), 5);
        assert_eq!(cfg.predecessors(b[1]), [(b[0], 0), (b[2], 0)]);
        assert!(!cfg.is_reachable(b[4]));
        let returns: Vec<bool> = b.iter().map(|&b| cfg.reaches_return(b)).collect();
        assert_eq!(returns, [true, true, true, true, false, false]);
    }

    #[test]
    fn two_edges_to_one_block_are_two_predecessors() {
        let func = graph(&[&[1, 1], &[]]);
        let cfg = Cfg::new(&func);
        let b = func.blocks().to_vec();
        assert_eq!(cfg.predecessors(b[1]), [(b[0], 0), (b[0], 1)]);
    }
}
