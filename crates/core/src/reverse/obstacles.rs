//! What keeps the derivative of a nest from being made of nests. Such a nest becomes loops, unless it
//! is a product of matrices and only lacks what it has read: then it gets copies of that.

use super::nest::{read_again, reverse_products};
use crate::analysis::overwrite::{Because, Overwritten};
use crate::chaos::Choice;
use crate::ir::{Combiner, Inst, Nest, Op, Value};
use crate::pipeline::Options;
use crate::primal::Primal;
use crate::rules::body;
use crate::shadow::active_params;
use crate::simplify::copy_operands::can_copy;

/// Why a nest must become loops.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// The reason in words, up to the place of an instruction.
    pub before: &'static str,
    /// The instruction.
    pub by: Option<Inst>,
    /// What comes after its place.
    pub after: &'static str,
    /// Whether it is only that what is read again has been overwritten by then.
    is_loss: bool,
}

impl Obstacle {
    fn new(before: &'static str) -> Obstacle {
        Obstacle {
            before,
            by: None,
            after: "",
            is_loss: false,
        }
    }
}

/// The nests of a function that cannot be differentiated as they are, and why. There is no place for
/// checks and notes in a nest.
pub fn to_change(primal: &Primal, options: &Options) -> Vec<(Inst, Obstacle)> {
    let func = &primal.function;
    let insts = func.blocks().iter().flat_map(|&b| func.block_insts(b));
    let must_change = |&inst: &Inst| {
        let Op::Nest(nest) = &func.inst(inst).op else {
            return None;
        };
        let obstacle = if options.check_finite || primal.key.recording {
            Some(Obstacle::new("each operation is looked at"))
        } else if primal.key.runtime_activity {
            // Nests have no branches on whether a shadow is one.
            Some(Obstacle::new(
                "what has a derivative is found out at run time",
            ))
        } else if options.flips(Choice::ExpandNest, (&func.name, inst)) {
            Some(Obstacle::new("chance has it"))
        } else {
            obstacle(primal, inst, nest)
        };
        Some((inst, obstacle?))
    };
    insts.filter_map(must_change).collect()
}

/// The inputs of a nest that are better copied than lost, if nothing else stands in the way. What no
/// kernel computes is as good in loops.
pub fn to_copy(primal: &Primal, &(inst, obstacle): &(Inst, Obstacle)) -> Option<Vec<usize>> {
    let (func, data) = (&primal.function, primal.function.inst(inst));
    let Op::Nest(nest) = &data.op else {
        return None;
    };
    if !obstacle.is_loss || reverse_products(primal, data, nest) == 0 {
        return None;
    }
    let lost = lost_inputs(primal, inst, nest);
    let all = lost.iter().all(|&input| can_copy(func, data, nest, input));
    all.then_some(lost)
}

/// The inputs that the reverse of a nest reads again and that are overwritten by then.
fn lost_inputs(primal: &Primal, inst: Inst, nest: &Nest) -> Vec<usize> {
    let again = read_again(primal, primal.function.inst(inst), nest).into_iter();
    let lost = again.filter(|&i| primal.key.reverse && !primal.is_input_intact(inst, i));
    lost.collect()
}

/// What keeps the derivative of a nest, if it has one at all, from being made of nests.
fn obstacle(primal: &Primal, inst: Inst, nest: &Nest) -> Option<Obstacle> {
    let data = primal.function.inst(inst);
    let mut outputs = nest.outputs.iter().enumerate();
    // How a product, or the largest element, depends on each of its parts is a matter of the
    // others.
    let plain = outputs.all(|(i, output)| {
        !primal.has_shadow(data.args[nest.output_view(i).start])
            || matches!(output.combiner, Combiner::Store | Combiner::Sum)
    });
    // Integers that may be the bits of floats: as loops, they are looked into or refused.
    let is_float = |param: &Value| nest.body.func.ty(*param).float_kind().is_some();
    let floats = active_params(primal, data, nest).iter().all(is_float);
    let varied = body::varied(&nest.body, active_params(primal, data, nest).into_iter());
    if !plain {
        return Some(Obstacle::new("it is neither a sum nor a map"));
    }
    if !floats || !body::has_rules(&nest.body, &varied) {
        return Some(Obstacle::new("an operation has no derivative in a nest"));
    }
    let first = *lost_inputs(primal, inst, nest).first()?;
    let (before, by, after) = match primal.overwrite.input(inst, first) {
        Overwritten::Yes(Because::Inst(by)) => ("what it reads may be overwritten", Some(by), ""),
        Overwritten::Yes(Because::FrameEnds) => ("what it reads ends with the function", None, ""),
        Overwritten::Yes(Because::Caller) => ("the caller may overwrite what it reads", None, ""),
        Overwritten::Yes(Because::Observable) => ("reading its numbers is observable", None, ""),
        Overwritten::Never => ("what it reads is lost", None, ""),
        Overwritten::IfOverlap(conditions) => (
            "what it reads may be overwritten",
            conditions.first().map(|condition| condition.by),
            "if ranges overlap",
        ),
    };
    Some(Obstacle {
        before,
        by,
        after,
        is_loss: true,
    })
}
