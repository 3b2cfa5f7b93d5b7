//! Loops whose reverse is skipped where nothing came of them.
//!
//! `if (distance < least) least = distance;` drops what the loop before it computed more often than
//! not, and its adjoint is zero then. A zero adjoint contributes nothing, so neither does the reverse
//! of the loop, if what the loop computes leaves it in values only.

use super::tape::Layout;
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::Count;
use crate::chaos::Choice;
use crate::ir::{Block, MathFn, Op, Value};
use crate::pipeline::Options;
use crate::plan::Plan;
use crate::primal::Primal;
use std::collections::BTreeSet;

/// The reverse of a loop that runs for fewer iterations costs little.
const FEW_ITERATIONS: u64 = 8;

/// The loops with a reverse that is worth a look at the adjoints of what they computed.
pub(super) fn skipped(primal: &Primal) -> BTreeSet<Loop> {
    let loops = primal.loops.iter();
    loops.filter(|&l| is_skipped(primal, l)).collect()
}

/// Whether nothing is left over if the reverse of a loop is skipped: neither the records of loops in
/// it, of which there are new ones for each iteration, nor what somebody wants to know of adjoints.
pub(super) fn may_skip(
    options: &Options,
    primal: &Primal,
    tape: Option<(&Plan, &Layout)>,
    l: Loop,
) -> bool {
    let inner = primal.loops.iter();
    let mut inner = inner.filter(|&inner| inner != l && primal.loops.is_inside(inner, l));
    let Some((_, layout)) = tape else {
        return false;
    };
    !options.check_finite
        && !options.flips(Choice::Skip, (&primal.function.name, l))
        && inner.all(|inner| layout.arrays_freed_after(inner).is_empty())
}

fn is_skipped(primal: &Primal, l: Loop) -> bool {
    let few = match primal.trip_counts[l].count {
        Count::Constant(again) => again < FEW_ITERATIONS,
        _ => false,
    };
    let exits = primal.loops.exits(l).iter();
    let mut exits = exits.filter(|exit| primal.cfg.reaches_return(exit.to));
    let (Some(exit), None) = (exits.next(), exits.next()) else {
        return false;
    };
    !few && leaves_values_only(primal, l) && may_be_dropped(primal, exit.to)
}

/// Whether no derivative leaves a loop but by the edge that leaves it.
fn leaves_values_only(primal: &Primal, l: Loop) -> bool {
    let function = &primal.function;
    let mut inside: BTreeSet<Value> = BTreeSet::new();
    for &block in primal.loops.blocks(l) {
        inside.extend(function.block_params(block));
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            inside.extend(function.result(inst));
            let touches = |v: &Value| primal.is_active(*v) || primal.has_shadow(*v);
            let moves = match &data.op {
                Op::Store(_) | Op::Accumulate(_) | Op::MemCopy { .. } | Op::MemSet(_) => true,
                Op::Nest(_) | Op::Alloca { .. } | Op::AtomicRmw(..) | Op::CmpXchg { .. } => true,
                Op::Opaque(_) | Op::Request(_) => true,
                op => op.call().is_some(),
            };
            let result = function.result(inst);
            if moves && data.args.iter().chain(&result).any(touches) {
                return false;
            }
        }
    }
    let outside = primal.order.iter().copied();
    let mut outside = outside.filter(|&block| !primal.loops.contains(l, block));
    let leaves = outside.any(|block| {
        let mut leaves = false;
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            data.for_each_operand(|v| leaves |= inside.contains(&v) && primal.is_active(v));
        }
        leaves
    });
    !leaves
}

/// Whether all active values that a block gets may be dropped.
fn may_be_dropped(primal: &Primal, block: Block) -> bool {
    let params = primal.function.block_params(block).iter().copied();
    let active: Vec<Value> = params.filter(|&v| primal.is_active(v)).collect();
    !active.is_empty() && active.iter().all(|&v| is_dropped(primal, block, v))
}

/// Whether a value is not used in a block, other than to be chosen or not.
fn is_dropped(primal: &Primal, block: Block, value: Value) -> bool {
    use MathFn::{Fmax, Fmin, Maximum, MaximumNum, Minimum, MinimumNum};
    let function = &primal.function;
    function.block_insts(block).iter().all(|&inst| {
        let data = function.inst(inst);
        let chooses = match &data.op {
            Op::Select | Op::FCmp(_) => true,
            Op::Math(Fmin | Fmax | Minimum | Maximum | MinimumNum | MaximumNum) => true,
            _ => false,
        };
        match &data.op {
            Op::Jump(edge) => {
                let positions = 0..edge.args.len();
                let mut handed_on = positions.filter(|&i| edge.args[i] == value);
                let is_header = primal.loops.headed_by(edge.block).is_some();
                handed_on.all(|position| {
                    let param = function.block_params(edge.block)[position];
                    !is_header && is_dropped(primal, edge.block, param)
                })
            }
            _ => chooses || !data.args.contains(&value),
        }
    })
}
