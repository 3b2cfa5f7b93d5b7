//! Loops that have nothing to do in the reverse sweep.
//!
//! What a loop computes is often dropped: of all distances, only the least counts. If all that
//! leaves a loop is what selects choose or not, and none of them has chosen it, then no adjoint comes
//! to the loop, and its reverse adds zeros. So it is run only if one of the selects has. The
//! conditions are those of the primal, not whether an adjoint is zero: that may depend on numbers,
//! and a derivative of the derivative would miss how.

use super::gradient::Gradient;
use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::loops::Loop;
use crate::ir::{Block, Inst, Op, Type, Value};
use std::collections::HashSet;

/// When a loop has something to do: the values that leave it with their adjoints, and for each of
/// them a condition and whether it must hold.
pub(super) struct Chosen {
    pub(super) values: Vec<Value>,
    pub(super) conditions: Vec<(Value, bool)>,
}

impl Gradient<'_> {
    /// When the reverse of a loop that was left by an edge has something to do; none if that is not
    /// known, or always.
    pub(super) fn chosen_from(&self, l: Loop, from: Block, to: Block) -> Option<Chosen> {
        let primal = self.primal;
        let mut exits = primal.loops.exits(l).iter();
        let only = exits.all(|e| e.from == from && e.to == to || !primal.cfg.reaches_return(e.to));
        let single = primal.cfg.predecessors(to).len() == 1;
        let nothing_else = !self.hubs.contains_key(&l) && !self.frees_in(l);
        if !only || !single || !nothing_else || !self.only_computes(l) {
            return None;
        }
        let function = &primal.function;
        let inside = |value: Value| {
            let block = self.augmented.def_block(value);
            block.is_some_and(|block| primal.loops.contains(l, block))
        };
        // What leaves the loop, under the names that it has on the way on from there.
        let (mut values, mut names) = (Vec::new(), HashSet::new());
        let mut ways = vec![to];
        let left = function
            .edges(from)
            .into_iter()
            .find(|edge| edge.block == to)?;
        for (&name, &value) in function.block_params(to).iter().zip(&left.args) {
            if primal.is_active(value) && inside(value) {
                values.push(value);
                names.insert(name);
            }
        }
        let mut next = 0;
        while let Some(&block) = ways.get(next) {
            next += 1;
            let Some(Op::Jump(edge)) = function.terminator(block).map(|t| &function.inst(t).op)
            else {
                continue;
            };
            let around = primal.loops.innermost(edge.block) == primal.loops.innermost(to);
            if !around || primal.loops.headed_by(edge.block).is_some() {
                continue;
            }
            let params = function.block_params(edge.block).iter();
            let passed = params.zip(&edge.args);
            names.extend(
                passed
                    .filter(|(_, arg)| names.contains(arg))
                    .map(|(&name, _)| name)
                    .collect::<Vec<_>>(),
            );
            ways.push(edge.block);
        }
        let leaves = |v: Value| primal.is_active(v) && (inside(v) || names.contains(&v));
        let mut near = ways.iter().flat_map(|&block| function.block_insts(block));
        let chooses = |&inst: &Inst| {
            let data = function.inst(inst);
            data.op == Op::Select && data.args.iter().any(|&v| leaves(v))
        };
        if !near.any(chooses) {
            return None;
        }
        let mut conditions = Vec::new();
        for &block in &primal.order {
            // Nothing comes back from where the program ends.
            if primal.loops.contains(l, block) || !primal.cfg.reaches_return(block) {
                continue;
            }
            let on_the_way = ways.contains(&block);
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                let used = data.args.iter().any(|&v| leaves(v));
                match (&data.op, &data.args[..]) {
                    _ if !used => {}
                    // A comparison lets no derivative through.
                    (Op::FCmp(_), _) => {}
                    (Op::Select, &[condition, yes, no])
                        if on_the_way && function.ty(condition) == Type::i1() =>
                    {
                        let operands = [(yes, true), (no, false)];
                        let chosen = operands.into_iter().filter(|&(value, _)| leaves(value));
                        conditions.extend(chosen.map(|(_, holds)| (condition, holds)));
                    }
                    _ => return None,
                }
            }
            for edge in function.edges(block) {
                let params = function.block_params(edge.block).iter();
                let mut passed = params.zip(&edge.args).filter(|(_, arg)| leaves(**arg));
                if passed.any(|(name, _)| !names.contains(name) || !on_the_way) {
                    return None;
                }
            }
        }
        let chosen = Chosen { values, conditions };
        (!chosen.conditions.is_empty()).then_some(chosen)
    }

    /// Whether memory of the tape is freed in the reverse of iterations of a loop.
    fn frees_in(&self, l: Loop) -> bool {
        let loops = &self.primal.loops;
        let inner = loops.iter().filter(|&i| i != l && loops.is_inside(i, l));
        let layout = self.tape.map(|(_, layout)| layout);
        layout.is_some_and(|layout| inner.into_iter().any(|i| layout.frees_after(i)))
    }

    /// Whether the reverse of a loop does nothing but to hand on adjoints of values.
    fn only_computes(&self, l: Loop) -> bool {
        let primal = self.primal;
        let function = &primal.function;
        let shadowed = |inst: Inst, i: usize| primal.has_shadow(function.inst(inst).args[i]);
        let mut insts = primal
            .loops
            .blocks(l)
            .iter()
            .flat_map(|&block| function.block_insts(block).iter().copied());
        insts.all(|inst| match &function.inst(inst).op {
            Op::Store(_) => !shadowed(inst, 1),
            Op::Accumulate(_) | Op::MemCopy { .. } | Op::MemSet(_) => !shadowed(inst, 0),
            Op::Nest(_) | Op::Alloca { .. } => false,
            Op::Call(_) | Op::Invoke { .. } => {
                !self.augmented.calls.contains_key(&inst)
                    && !matches!(
                        call_kind(&self.synthesis.module, function.inst(inst)),
                        CallKind::Allocation(_)
                    )
            }
            _ => true,
        })
    }
}
