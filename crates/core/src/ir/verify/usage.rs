//! Every use of a value comes after its definition on every path from the entry.
//!
//! Blocks that are not reached may use what they like, as long as it is part of the function.

use super::Verifier;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::ir::{Block, Inst, Value};
use cranelift_entity::{EntityRef, SecondaryMap};

/// Where a value is defined.
#[derive(Copy, Clone, Default)]
enum Site {
    /// Nowhere in the layout.
    #[default]
    Nowhere,
    /// In this block, before the instruction at this position.
    At(Block, usize),
    /// On the first edge of this block, to that block; whether that is the only way into it but
    /// for loops back to it.
    OnEdge(Block, Block, bool),
}

struct Uses<'c> {
    cfg: &'c Cfg,
    doms: &'c Dominators,
    sites: SecondaryMap<Value, Site>,
}

impl Verifier<'_> {
    /// Checks the uses of a function whose graph is sound.
    pub(super) fn uses(&mut self) {
        let func = self.func;
        let cfg = Cfg::new(func);
        let doms = Dominators::new(func, &cfg);
        let mut uses = Uses {
            cfg: &cfg,
            doms: &doms,
            sites: SecondaryMap::new(),
        };
        for &block in func.blocks() {
            for &param in func.block_params(block) {
                uses.sites[param] = Site::At(block, 0);
            }
            for (position, &inst) in func.block_insts(block).iter().enumerate() {
                if let Some(value) = func.result(inst) {
                    uses.sites[value] = match func.inst(inst).op.is_terminator() {
                        true => uses.edge_site(block, func.successors(block).first().copied()),
                        false => Site::At(block, position + 1),
                    };
                }
            }
        }
        for &block in func.blocks() {
            for (position, &inst) in func.block_insts(block).iter().enumerate() {
                self.uses_of(&uses, block, position, inst);
            }
        }
    }

    fn uses_of(&mut self, uses: &Uses, block: Block, position: usize, inst: Inst) {
        let func = self.func;
        let data = func.inst(inst);
        let args = data.args.iter().map(|&v| (v, false));
        let edges = data.op.edges();
        let on_edges = edges.iter().enumerate();
        let on_edges = on_edges.flat_map(|(i, edge)| edge.args.iter().map(move |&v| (v, i == 0)));
        let mut wrong: Vec<Value> = args
            .chain(on_edges)
            .filter(|&(v, _)| v.index() < func.value_count() && func.as_const(v).is_none())
            .filter(|&(v, first)| !uses.is_defined(v, block, position, first))
            .map(|(v, _)| v)
            .collect();
        wrong.dedup();
        for value in wrong {
            let name = self.value_name(value);
            let message = match uses.sites[value] {
                Site::Nowhere => format!("{name} is defined nowhere in the function"),
                Site::At(..) => format!("the definition of {name} does not dominate this use"),
                Site::OnEdge(..) => {
                    format!("{name} is defined on the first edge of its terminator only")
                }
            };
            self.error(Some(block), Some(inst), message);
        }
    }

    fn value_name(&self, value: Value) -> String {
        let names = self.names.get_or_init(|| super::Names::new(self.func));
        names.value(value)
    }
}

impl Uses<'_> {
    fn edge_site(&self, from: Block, to: Option<Block>) -> Site {
        let Some(to) = to else {
            return Site::Nowhere;
        };
        let preds = self.cfg.predecessors(to);
        let mut ways_in = preds
            .iter()
            .filter(|(pred, _)| !self.doms.dominates(to, *pred));
        let only = ways_in.all(|&way| way == (from, 0)) && !self.doms.dominates(to, from);
        Site::OnEdge(from, to, only)
    }

    /// Whether a value is defined before an instruction, or on the first edge of a terminator.
    fn is_defined(&self, value: Value, block: Block, position: usize, first_edge: bool) -> bool {
        let reached = self.cfg.is_reachable(block);
        match self.sites[value] {
            Site::Nowhere => false,
            _ if !reached => true,
            Site::At(def, from) if def == block => from <= position,
            Site::At(def, _) => self.doms.dominates(def, block),
            Site::OnEdge(from, _, _) if from == block && first_edge => true,
            Site::OnEdge(_, to, only) => only && self.doms.dominates(to, block),
        }
    }
}
