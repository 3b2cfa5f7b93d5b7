//! Products whose result may be dropped where they are infinite.
//!
//! After optimization `b != 0 ? square(1 / b) : 0` computes the square for `b = 0` too, and a select
//! drops it. Its adjoint is zero then, and zero times infinity would spoil the gradient. The
//! [rules](crate::rules) guard what may be infinite for finite operands, such as the division, but
//! not the product of what came of that. This finds the products that need a guard as well: one of
//! their operands may be infinite for finite inputs, and there is a way on which nobody uses them.
//! Few are both, and matrix products are neither.

use crate::ir::{Block, Function, Inst, Op, Value};
use crate::primal::Primal;
use crate::rules::{Partial, Rule, rule_for};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::HashMap;

/// The instructions whose contributions must be zero where the adjoint of their result is.
pub(super) fn guarded(primal: &Primal) -> EntitySet<Inst> {
    let function = &primal.function;
    let infinite = infinite(primal);
    let droppable = droppable(primal);
    let mut guarded = EntitySet::new();
    for &block in &primal.order {
        for &inst in function.block_insts(block) {
            let operands = &function.inst(inst).args;
            if droppable.contains(inst) && operands.iter().any(|&v| infinite.contains(v)) {
                guarded.insert(inst);
            }
        }
    }
    guarded
}

/// Whether an instruction computes a float of its operands, or moves one.
fn passes_on(function: &Function, inst: Inst) -> bool {
    let op = &function.inst(inst).op;
    let moves = matches!(
        op,
        Op::Select
            | Op::ExtractElement
            | Op::InsertElement
            | Op::Shuffle(_)
            | Op::Extract(_)
            | Op::Insert(_)
            | Op::Unary(_)
            | Op::Cast(_)
    );
    moves || matches!(rule_for(op), Some(Rule::Partials(_)))
}

/// Values that may be infinite though what the function began with is finite: followed through
/// arithmetic, not through memory or around loops.
fn infinite(primal: &Primal) -> EntitySet<Value> {
    let function = &primal.function;
    let mut values = EntitySet::new();
    for &block in &primal.order {
        for &inst in function.block_insts(block) {
            let Some(result) = function.result(inst) else {
                continue;
            };
            let data = function.inst(inst);
            let begins = match rule_for(&data.op) {
                Some(Rule::Partials(formula)) => formula
                    .partials
                    .iter()
                    .any(|partial| matches!(partial, Partial::Factor(factor) if !factor.finite)),
                _ => false,
            };
            let goes_on =
                passes_on(function, inst) && data.args.iter().any(|&v| values.contains(v));
            if begins || goes_on {
                values.insert(result);
            }
        }
    }
    values
}

/// Instructions with a result that is not used on every way on from them.
pub fn droppable(primal: &Primal) -> EntitySet<Inst> {
    let function = &primal.function;
    let mut uses: HashMap<Value, Vec<(Inst, usize)>> = HashMap::new();
    // What is passed on by all edges of a block is used whatever happens.
    let mut passed: EntitySet<Value> = EntitySet::new();
    let mut blocks: SecondaryMap<Inst, Option<Block>> = SecondaryMap::new();
    for &block in &primal.order {
        for &inst in function.block_insts(block) {
            blocks[inst] = Some(block);
            let data = function.inst(inst);
            for (position, &value) in data.args.iter().enumerate() {
                uses.entry(value).or_default().push((inst, position));
            }
            let edges = data.op.edges();
            for &value in edges.iter().flat_map(|edge| &edge.args) {
                if edges.iter().all(|edge| edge.args.contains(&value)) {
                    passed.insert(value);
                }
            }
        }
    }
    let mut droppable: EntitySet<Inst> = EntitySet::new();
    for &block in primal.order.iter().rev() {
        for &inst in function.block_insts(block).iter().rev() {
            let Some(result) = function.result(inst).filter(|&v| primal.is_active(v)) else {
                continue;
            };
            let may_drop = |&(user, position): &(Inst, usize)| {
                let by = function.result(user).filter(|&v| primal.is_active(v));
                let selects = matches!(function.inst(user).op, Op::Select) && position > 0;
                let passes = passes_on(function, user);
                // What takes no derivative on does not count.
                (passes && by.is_none())
                    || matches!(function.inst(user).op, Op::FCmp(_))
                    || blocks[user] != Some(block)
                    || selects
                    || (passes && droppable.contains(user))
            };
            let uses = uses.get(&result).map_or(&[][..], Vec::as_slice);
            if !passed.contains(result) && uses.iter().all(may_drop) {
                droppable.insert(inst);
            }
        }
    }
    droppable
}
