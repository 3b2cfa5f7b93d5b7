//! What functions tell their callers about the types of their arguments and results.

use super::{Shape, Types};
use crate::ir::{Func, Function, Module, Op, Value};
use std::collections::HashMap;

/// What functions tell their callers about their arguments and, after them, their results: each
/// worked out once for each thing that callers know.
///
/// A function that only moves bytes says nothing of them by itself. If its caller reads floats
/// where it wrote, then those are floats that it got.
///
/// They hold as long as no function of the module changes.
#[derive(Default)]
pub struct Summaries {
    /// Those that depend on nothing but the function and what its caller knows.
    lasting: HashMap<Context, Vec<Shape>>,
    /// Those that lack what a function said that was being worked out then: they serve only the
    /// function that is analysed now.
    passing: HashMap<Context, Vec<Shape>>,
    /// The functions being worked out, one called by the other.
    open: Vec<Open>,
}

/// A function, what its caller knows, whether what it only calls integers counts, and how many
/// calls there are around it, which decides how far down callees are told what callers know.
type Context = (Func, Vec<Shape>, bool, usize);

/// A function that is being worked out.
struct Open {
    func: Func,
    /// Whether something was left out because of those around it.
    lacks: bool,
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
        // A recursive call learns nothing from itself. What is on the way there lacks that; who
        // calls from outside does not.
        if let Some(at) = self.open.iter().position(|open| open.func == func) {
            self.note_lack(at + 1);
            return Vec::new();
        }
        let level = self.open.len().min(MAX_CONTEXT);
        if level == MAX_CONTEXT {
            known.clear();
        }
        let context = (func, known, tagged_integers, level);
        if let Some(summary) = self.lasting.get(&context) {
            return summary.clone();
        }
        if let Some(summary) = self.passing.get(&context) {
            let summary = summary.clone();
            self.note_lack(0);
            return summary;
        }
        self.open.push(Open { func, lacks: false });
        let function = &module.funcs[func];
        let types = Types::with_summaries(module, function, &context.1, &[], tagged_integers, self);
        let lacks = self.open.pop().is_some_and(|open| open.lacks);
        let arguments = function.arguments().iter();
        let mut summary: Vec<Shape> = arguments.map(|&v| types.shapes[v].clone()).collect();
        let mut result = Shape::default();
        for value in returned_values(function) {
            result.merge(&types.shapes[value]);
        }
        summary.push(result);
        let done = match lacks {
            true => &mut self.passing,
            false => &mut self.lasting,
        };
        // Who learns nothing but this asks with this the next time, and there is no more to say.
        let (_, known, _, _) = &context;
        if !known.is_empty() {
            let next = known.iter().zip(&summary).map(|(known, said)| {
                let mut both = known.clone();
                both.merge(said);
                both
            });
            let next = (func, next.collect(), tagged_integers, level);
            done.entry(next).or_insert_with(|| summary.clone());
        }
        done.insert(context, summary.clone());
        summary
    }

    /// Whether what is being worked out is what a function tells a caller.
    pub(super) fn is_asked(&self) -> bool {
        !self.open.is_empty()
    }

    /// Forgets what holds for one function only.
    pub(super) fn start(&mut self) {
        self.passing.clear();
    }

    /// Notes that the functions being worked out lack something, from this one inwards.
    fn note_lack(&mut self, from: usize) {
        self.open[from..]
            .iter_mut()
            .for_each(|open| open.lacks = true);
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
