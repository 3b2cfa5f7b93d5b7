//! Mathematical functions that the program has computed already.
//!
//! The reverse of a sine asks for the cosine of its operand, which a rotation has computed too. Then
//! the reverse sweep asks for that value instead of the operand.

use crate::ir::{Block, Function, MathFn, Op, Type, Value};
use crate::primal::Primal;
use std::collections::HashMap;

/// The functions of one operand that a function computes.
pub(super) struct Computed(HashMap<(MathFn, Value), Vec<(Block, Value)>>);

impl Computed {
    /// Those of a function.
    pub(super) fn of(function: &Function) -> Computed {
        let mut found: HashMap<_, Vec<_>> = HashMap::new();
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                if let (Op::Math(math), &[x], Some(y)) =
                    (&data.op, &data.args[..], function.result(inst))
                    && function.ty(x) == function.ty(y)
                    && is_precise(function.ty(y))
                {
                    found.entry((*math, x)).or_default().push((block, y));
                }
            }
        }
        Computed(found)
    }

    /// The value of a function, where every way to a block has computed it.
    pub(super) fn find(&self, primal: &Primal, at: Block, f: MathFn, x: Value) -> Option<Value> {
        let known = self.0.get(&(f, x))?.iter();
        let mut before = known.filter(|(block, _)| primal.dominators.dominates(*block, at));
        before.next().map(|&(_, value)| value)
    }
}

/// Derivatives are computed with more digits than formats of 16 bits have.
fn is_precise(ty: Type) -> bool {
    let kind = ty.scalar().float_kind();
    kind.is_some_and(|kind| kind.bits() > 16)
}
