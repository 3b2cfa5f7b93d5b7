//! The forward sweep before its tape: the function with shadow pointers, and with a parameter at
//! each meeting of paths that tells which way control came.

use crate::ir::{Block, Function, Inst, Type, Value, ValueDef};
use crate::plan::View;
use crate::primal::Primal;
use crate::shadow::{ActiveCall, Walk};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// The function with shadow pointers.
pub struct Augmented {
    /// The function. Primal values and blocks have the numbers they have in the primal.
    pub func: Function,
    /// The shadows of pointers.
    pub shadows: HashMap<Value, Vec<Value>>,
    /// The calls that the reverse sweep reverses by a call.
    pub calls: HashMap<Inst, ActiveCall>,
    /// The parameters of the entry: primals and shadows, then the frame.
    pub params: Vec<Value>,
    /// Where paths meet outside of loop headers: the index of the edge that control came by.
    pub came_by: HashMap<Block, Value>,
    blocks: SecondaryMap<Inst, Option<Block>>,
}

impl Augmented {
    /// Takes over what the walk made and adds the parameters that remember edges.
    pub fn new(walk: Walk<'_>) -> Augmented {
        let primal = walk.primal;
        let mut augmented = Augmented {
            func: walk.func,
            shadows: walk.shadows,
            calls: walk.calls,
            params: walk.params,
            came_by: HashMap::new(),
            blocks: SecondaryMap::new(),
        };
        for &block in &primal.order {
            augmented.remember_edges(primal, block);
        }
        augmented.blocks = augmented.func.inst_blocks();
        augmented
    }

    fn remember_edges(&mut self, primal: &Primal, block: Block) {
        let edges = primal.cfg.predecessors(block);
        let is_header = primal.loops.headed_by(block).is_some();
        if edges.len() < 2 || is_header || !primal.cfg.reaches_return(block) {
            return;
        }
        let ty = Type::int(if edges.len() <= 256 { 8 } else { 32 });
        let param = self.func.add_block_param(block, ty);
        self.came_by.insert(block, param);
        for (index, &(from, edge)) in edges.iter().enumerate() {
            let number = self.func.iconst(ty, index as i128);
            if let Some(inst) = self.func.terminator(from) {
                let mut edges = self.func.inst_mut(inst).op.edges_mut();
                edges[edge].args.push(number);
            }
        }
    }

    /// The block that a value is defined in; none for constants.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.func.def(value) {
            ValueDef::Param(block, _) => Some(*block),
            ValueDef::Result(inst) => self.blocks[*inst],
            ValueDef::Const(_) => None,
        }
    }

    /// What planning needs to see.
    pub fn view(&self) -> View<'_> {
        View {
            func: &self.func,
            blocks: &self.blocks,
            params: &self.params,
        }
    }
}
