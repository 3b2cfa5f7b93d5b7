//! Header parameters that change by the same amount in each iteration: the reverse sweep computes
//! them from the counter.

use super::augmented::Augmented;
use crate::analysis::loops::Loop;
use crate::ir::{BinaryOp, Block, Op, Value, ValueDef};
use crate::primal::Primal;
use std::collections::HashMap;

/// `initial + counter · step`.
#[derive(Clone, PartialEq, Debug)]
pub struct Induction {
    /// The header of the loop.
    pub header: Block,
    /// The counter of the loop.
    pub counter: Value,
    /// The value in the first iteration.
    pub initial: Value,
    /// What is added in each iteration.
    pub step: Step,
}

/// What an induction adds in each iteration.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// An integer that does not change in the loop.
    Add(Value),
    /// The negative of one.
    Subtract(Value),
    /// Bytes: a constant, and multiples of integers that do not change in the loop.
    Bytes(i64, Vec<(i64, Value)>),
}

impl Induction {
    /// What it is computed from.
    pub fn operands(&self) -> Vec<Value> {
        let mut operands = vec![self.initial, self.counter];
        match &self.step {
            Step::Add(value) | Step::Subtract(value) => operands.push(*value),
            Step::Bytes(_, terms) => operands.extend(terms.iter().map(|(_, value)| *value)),
        }
        operands
    }
}

/// The inductions of all loops.
pub(super) fn inductions(primal: &Primal, augmented: &Augmented) -> HashMap<Value, Induction> {
    let mut found = HashMap::new();
    for l in primal.loops.iter() {
        let header = primal.loops.header(l);
        let counter = primal.canonical.counters[&header];
        for (position, &param) in augmented.func.block_params(header).iter().enumerate() {
            // The counter has no lanes, so a vector of integers is not computed from it.
            if param == counter || augmented.func.ty(param).scalar() != augmented.func.ty(param) {
                continue;
            }
            let arguments = incoming(primal, augmented, l, header, position);
            if let Some((initial, next)) = arguments
                && let Some(step) = step(primal, augmented, l, param, next)
            {
                let induction = Induction {
                    header,
                    counter,
                    initial,
                    step,
                };
                found.insert(param, induction);
            }
        }
    }
    found
}

/// What a header parameter gets from before the loop and from the latch.
fn incoming(
    primal: &Primal,
    augmented: &Augmented,
    l: Loop,
    header: Block,
    position: usize,
) -> Option<(Value, Value)> {
    let (mut initial, mut next) = (None, None);
    for &(from, edge) in primal.cfg.predecessors(header) {
        let value = augmented.resolve(augmented.func.edges(from).get(edge)?.args[position]);
        match primal.loops.contains(l, from) {
            true => next = Some(value),
            false => initial = Some(value),
        }
    }
    Some((initial?, next?))
}

fn step(
    primal: &Primal,
    augmented: &Augmented,
    l: Loop,
    param: Value,
    next: Value,
) -> Option<Step> {
    let invariant = |value: Value| match augmented.func.def(value) {
        ValueDef::Const(_) => true,
        _ => augmented
            .def_block(value)
            .is_some_and(|block| !primal.loops.contains(l, block)),
    };
    let data = augmented.func.inst(augmented.func.def_inst(next)?);
    let args: Vec<Value> = data.args.iter().map(|&v| augmented.resolve(v)).collect();
    match &data.op {
        Op::Binary(BinaryOp::Add) if args[0] == param && invariant(args[1]) => {
            Some(Step::Add(args[1]))
        }
        Op::Binary(BinaryOp::Add) if args[1] == param && invariant(args[0]) => {
            Some(Step::Add(args[0]))
        }
        Op::Binary(BinaryOp::Sub) if args[0] == param && invariant(args[1]) => {
            Some(Step::Subtract(args[1]))
        }
        Op::Address { offset, scales }
            if args[0] == param
                && augmented.func.ty(param).is_ptr()
                && args[1..].iter().all(|&v| invariant(v)) =>
        {
            let terms = scales.iter().copied().zip(args[1..].iter().copied());
            Some(Step::Bytes(*offset, terms.collect()))
        }
        _ => None,
    }
}
