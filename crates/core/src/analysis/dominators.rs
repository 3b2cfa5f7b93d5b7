//! Dominators and post-dominators.
//!
//! Both are the same computation on a graph and its reverse: immediate dominators by repeated
//! intersection along the tree in reverse postorder (Cooper, Harvey and Kennedy), which takes two
//! sweeps on reducible graphs, and a numbering of the tree that answers queries in constant time.
//! Nothing recurses.

use super::cfg::Cfg;
use crate::ir::{Block, Function, Inst, Value, ValueDef};
use cranelift_entity::{EntityRef, SecondaryMap};

/// Which blocks every path from the entry to a block goes through.
#[derive(Clone, Debug)]
pub struct Dominators {
    tree: Tree,
}

impl Dominators {
    /// The dominators of a function.
    pub fn new(func: &Function, cfg: &Cfg) -> Dominators {
        let count = func.block_count();
        let order: Vec<usize> = indices(cfg.reverse_postorder());
        let mut preds = vec![Vec::new(); count];
        for &block in cfg.reverse_postorder() {
            preds[block.index()] = cfg
                .predecessors(block)
                .iter()
                .map(|(pred, _)| pred.index())
                .collect();
        }
        Dominators {
            tree: Tree::new(&order, &preds),
        }
    }

    /// The closest block other than itself that dominates a block; none for the entry and for
    /// blocks that are not reached.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.tree.parent(block.index()).map(Block::new)
    }

    /// Whether every path from the entry to `b` goes through `a`. A block dominates itself; blocks
    /// that are not reached are dominated by nothing else.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        a == b || self.tree.is_ancestor(a.index(), b.index())
    }

    /// The closest block that dominates both of two reachable blocks.
    pub fn common(&self, a: Block, b: Block) -> Block {
        let mut block = a;
        while !self.dominates(block, b) {
            match self.idom(block) {
                Some(up) => block = up,
                None => break,
            }
        }
        block
    }

    /// Whether a value may be used at the end of a block, before its terminator. `inst_blocks` is
    /// [`Function::inst_blocks`].
    pub fn is_available(
        &self,
        func: &Function,
        inst_blocks: &SecondaryMap<Inst, Option<Block>>,
        value: Value,
        block: Block,
    ) -> bool {
        match *func.def(value) {
            ValueDef::Const(_) => true,
            ValueDef::Param(def, _) => self.dominates(def, block),
            ValueDef::Result(inst) => match inst_blocks[inst] {
                // The result of a terminator exists behind its normal edge only.
                Some(def) if func.inst(inst).op.is_terminator() => {
                    let normal = func.successors(def)[0];
                    normal != def && self.dominates(normal, block)
                }
                Some(def) => self.dominates(def, block),
                None => false,
            },
        }
    }
}

/// Which blocks every path from a block to an end of the function goes through. Ends are returns
/// and dead ends alike.
#[derive(Clone, Debug)]
pub struct PostDominators {
    tree: Tree,
    end: usize,
}

impl PostDominators {
    /// The post-dominators of a function. Blocks that run for ever have none.
    pub fn new(func: &Function, cfg: &Cfg) -> PostDominators {
        // A node behind all blocks without successors stands for the end of the function.
        let end = func.block_count();
        let mut forward = vec![Vec::new(); end + 1];
        let mut backward = vec![Vec::new(); end + 1];
        for &block in cfg.reverse_postorder() {
            let successors = cfg.successors(block);
            forward[block.index()] = indices(successors);
            if successors.is_empty() {
                forward[block.index()] = vec![end];
            }
            for &successor in &forward[block.index()] {
                backward[successor].push(block.index());
            }
        }
        let order = reverse_postorder(end, &backward);
        PostDominators {
            tree: Tree::new(&order, &forward),
            end,
        }
    }

    /// The closest block other than itself that post-dominates a block, if there is one.
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        let parent = self.tree.parent(block.index())?;
        (parent != self.end).then(|| Block::new(parent))
    }

    /// Whether every path from `b` to an end of the function goes through `a`.
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        a == b || self.tree.is_ancestor(a.index(), b.index())
    }
}

fn indices(blocks: &[Block]) -> Vec<usize> {
    blocks.iter().map(|block| block.index()).collect()
}

fn reverse_postorder(root: usize, successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.last_mut() {
        match successors[*node].get(*next) {
            Some(&successor) => {
                *next += 1;
                if !std::mem::replace(&mut seen[successor], true) {
                    stack.push((successor, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// A dominator tree over numbered nodes, with the interval of each subtree.
#[derive(Clone, Debug)]
struct Tree {
    parent: Vec<Option<usize>>,
    interval: Vec<Option<(u32, u32)>>,
}

impl Tree {
    /// The tree of the nodes in `order` (a reverse postorder, the root first).
    fn new(order: &[usize], preds: &[Vec<usize>]) -> Tree {
        let count = preds.len();
        let mut position = vec![usize::MAX; count];
        for (i, &node) in order.iter().enumerate() {
            position[node] = i;
        }
        // Immediate dominators by position; the root is its own until the end.
        let mut idom = vec![usize::MAX; order.len()];
        idom[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for i in 1..order.len() {
                let known = preds[order[i]].iter().map(|&p| position[p]);
                let new = known
                    .filter(|&p| p != usize::MAX && idom[p] != usize::MAX)
                    .reduce(|a, b| intersect(&idom, a, b));
                if let Some(new) = new
                    && idom[i] != new
                {
                    idom[i] = new;
                    changed = true;
                }
            }
        }
        let mut parent = vec![None; count];
        let mut children = vec![Vec::new(); order.len()];
        for i in 1..order.len() {
            parent[order[i]] = Some(order[idom[i]]);
            children[idom[i]].push(i);
        }
        let mut interval = vec![None; count];
        let mut clock = 0;
        let mut stack = vec![(0, 0, 0)];
        while let Some((node, next, start)) = stack.last_mut() {
            match children[*node].get(*next) {
                Some(&child) => {
                    *next += 1;
                    clock += 1;
                    stack.push((child, 0, clock));
                }
                None => {
                    interval[order[*node]] = Some((*start, clock));
                    stack.pop();
                }
            }
        }
        Tree { parent, interval }
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.parent.get(node).copied().flatten()
    }

    fn is_ancestor(&self, a: usize, b: usize) -> bool {
        match (self.interval.get(a), self.interval.get(b)) {
            (Some(Some((start, end))), Some(Some((at, _)))) => start <= at && at <= end,
            _ => false,
        }
    }
}

fn intersect(idom: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = idom[a];
        }
        while b > a {
            b = idom[b];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::test_graphs::{Random, graph, random_graph};

    fn check(edges: &[&[usize]], idoms: &[Option<usize>], ipdoms: &[Option<usize>]) {
        let func = graph(edges);
        let cfg = Cfg::new(&func);
        let dominators = Dominators::new(&func, &cfg);
        let post = PostDominators::new(&func, &cfg);
        let answer = |f: &dyn Fn(Block) -> Option<Block>| -> Vec<Option<usize>> {
            let blocks = func.blocks()[..edges.len()].iter();
            blocks.map(|&b| f(b).map(|b| b.index())).collect()
        };
        assert_eq!(answer(&|b| dominators.idom(b)), idoms);
        assert_eq!(answer(&|b| post.ipdom(b)), ipdoms);
    }

    #[test]
    fn diamond_and_loop() {
        check(
            &[&[1, 2], &[3], &[3], &[]],
            &[None, Some(0), Some(0), Some(0)],
            &[Some(3), Some(3), Some(3), None],
        );
        check(
            &[&[1], &[2, 3], &[1], &[]],
            &[None, Some(0), Some(1), Some(1)],
            &[Some(1), Some(3), Some(1), None],
        );
    }

    /// `a` dominates `b` exactly if `b` is not reached without `a`.
    #[test]
    fn random_graphs_agree_with_the_definition() {
        for seed in 0..200 {
            let mut random = Random::with_seed(seed);
            let func = random_graph(&mut random, 12);
            let cfg = Cfg::new(&func);
            let dominators = Dominators::new(&func, &cfg);
            for &a in cfg.reverse_postorder() {
                let mut seen = vec![cfg.entry()];
                let mut work = vec![cfg.entry()];
                while let Some(block) = work.pop() {
                    for &s in cfg.successors(block) {
                        if block != a && !seen.contains(&s) {
                            seen.push(s);
                            work.push(s);
                        }
                    }
                }
                for &b in cfg.reverse_postorder() {
                    let expected = a == b || a == cfg.entry() || !seen.contains(&b);
                    assert_eq!(dominators.dominates(a, b), expected, "{seed} {a} {b}");
                }
            }
        }
    }
}
