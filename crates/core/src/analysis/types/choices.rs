//! Integers that are chosen among constants: which variant an enum is, say.
//!
//! No instruction may ever say that such a number is an integer: it is returned, or stored, and
//! compared elsewhere. Constants say nothing themselves, since those of floats that are moved as
//! integers are integers too. So this counts only where nothing else is known.

use super::solver::Solver;
use super::{Cell, Piece, Shape};
use crate::ir::{CastOp, Function, Op, UnaryOp, Value};
use cranelift_entity::EntitySet;
use std::collections::BTreeMap;

impl Solver<'_> {
    /// Takes what is chosen among constants for integers, where nothing else is known of it.
    pub(super) fn learn_choices(&mut self) {
        for value in chosen(self.function) {
            let size = self.size(self.function.ty(value));
            let pieces = self.shapes[value].pieces(0, size);
            let mut shape = Shape::default();
            for (at, _) in pieces.iter().filter(|(_, piece)| *piece == Piece::Unknown) {
                shape.insert(*at, Cell::Int);
            }
            self.learn(value, &shape);
        }
    }
}

/// The integers of a function that are one of several constants wherever they are defined.
fn chosen(function: &Function) -> Vec<Value> {
    let mut sources: Vec<(Value, Vec<Value>)> = Vec::new();
    let mut params: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            for edge in data.op.edges() {
                let pairs = function.block_params(edge.block).iter().zip(&edge.args);
                for (&param, &argument) in pairs {
                    params.entry(param).or_default().push(argument);
                }
            }
            let from = match &data.op {
                Op::Select => &data.args[1..],
                Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) => &data.args[..],
                Op::Unary(UnaryOp::Freeze) => &data.args[..],
                _ => continue,
            };
            if let Some(result) = function.result(inst) {
                sources.push((result, from.to_vec()));
            }
        }
    }
    sources.extend(params);
    sources.retain(|(value, _)| function.ty(*value).is_int());
    // All of them are, until one comes from elsewhere.
    let mut found = EntitySet::new();
    for (value, _) in &sources {
        found.insert(*value);
    }
    loop {
        let is_choice = |v: &Value| {
            let truth = function.ty(*v).int_bits() == Some(1);
            truth || function.as_int(*v).is_some() || found.contains(*v)
        };
        let lost = sources.iter().filter(|(value, _)| found.contains(*value));
        let lost: Vec<Value> = lost
            .filter(|(_, from)| !from.iter().all(is_choice))
            .map(|(value, _)| *value)
            .collect();
        if lost.is_empty() {
            return found.iter().collect();
        }
        for value in lost {
            found.remove(value);
        }
    }
}
