//! What loops would be as nests, for people who want to know.
//!
//! A dot product, a product of a matrix and a vector, the largest element of a row: as loops, their
//! adjoints are as fast as any kernel, so they stay loops. Whoever asks how a program is
//! differentiated is still told what was seen.

use super::describe::describe;
use super::{Extent, Raise, run};
use crate::analysis::effects::Effects;
use crate::ir::{Func, Loc, Module, Op};

/// A loop as the nest that it would be.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The loops.
    pub extent: Extent,
    /// What they compute.
    pub shape: String,
}

/// Everything in a function that could be a nest. The function is the same afterwards.
pub fn look(module: &mut Module, func: Func, effects: &Effects) -> Vec<Seen> {
    let original = module.funcs[func].clone();
    let raised = run(module, func, effects, &|_| Raise::Always, None);
    let function = std::mem::replace(&mut module.funcs[func], original);
    let insts = function.blocks().iter();
    let insts = insts.flat_map(|&block| function.block_insts(block));
    let shape = |at: Option<Loc>, extent: &Extent| {
        let nests = insts.clone().map(|&inst| function.inst(inst));
        let mut nests = nests.filter(|data| data.loc == at && at.is_some());
        nests.find_map(|data| match &data.op {
            Op::Nest(nest) => Some(Seen {
                extent: extent.clone(),
                shape: describe(&function, nest, data),
            }),
            _ => None,
        })
    };
    let nests = raised.nests.iter();
    nests
        .filter_map(|extent| shape(extent.at, extent))
        .collect()
}
