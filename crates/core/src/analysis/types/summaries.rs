//! What functions tell their callers about the types of their arguments and results.

use super::{Shape, Types};
use crate::ir::{Func, Function, Module, Op, Value};
use std::collections::HashMap;

/// What functions tell their callers about their arguments and, after them, their results: each
/// worked out once for each thing that callers know.
///
/// A function that only moves bytes says nothing of them by itself. If its caller reads floats
/// where it wrote, then those are floats that it got.
#[derive(Default)]
pub(super) struct Summaries {
    done: HashMap<(Func, Vec<Shape>, bool), Vec<Shape>>,
    /// The functions being worked out, one called by the other.
    open: Vec<Func>,
}

/// Calls deeper than this are taken without what their callers know.
const MAX_CONTEXT: usize = 3;

impl Summaries {
    /// What a function says, given what its caller knows; what it only calls integers counts if
    /// `tagged_integers` says so.
    pub(super) fn get(
        &mut self,
        module: &Module,
        func: Func,
        mut known: Vec<Shape>,
        tagged_integers: bool,
    ) -> Vec<Shape> {
        // A recursive call learns nothing from itself.
        if self.open.contains(&func) {
            return Vec::new();
        }
        if self.open.len() >= MAX_CONTEXT {
            known.clear();
        }
        let context = (func, known, tagged_integers);
        if let Some(summary) = self.done.get(&context) {
            return summary.clone();
        }
        self.open.push(func);
        let function = &module.funcs[func];
        let types = Types::with_summaries(module, function, &context.1, tagged_integers, self);
        self.open.pop();
        let arguments = function.arguments().iter();
        let mut summary: Vec<Shape> = arguments.map(|&v| types.shapes[v].clone()).collect();
        let mut result = Shape::default();
        for value in returned_values(function) {
            result.merge(&types.shapes[value]);
        }
        summary.push(result);
        self.done.insert(context, summary.clone());
        summary
    }
}

/// The values that a function returns.
pub(super) fn returned_values(function: &Function) -> Vec<Value> {
    let insts = function
        .blocks()
        .iter()
        .flat_map(|&b| function.block_insts(b));
    let data = insts.map(|&inst| function.inst(inst));
    let returns = data.filter(|data| matches!(data.op, Op::Return));
    returns
        .filter_map(|data| data.args.first().copied())
        .collect()
}
