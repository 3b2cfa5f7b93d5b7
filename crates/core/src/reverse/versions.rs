//! Two versions of a derivative: one for memory that does not overlap, one for any.
//!
//! Where a read would be intact if only some ranges of addresses were disjoint, and the ranges are
//! known when the function is entered, the derivative compares them there. All comparisons are
//! joined into one flag, so there are exactly two versions.

use crate::analysis::affine::known_first;
use crate::analysis::overwrite::Condition;
use crate::analysis::ranges::Ends;
use crate::ir::{BinaryOp, Builder, Edge, Flags, Func, Function, Inst, Signature, Type};
use crate::primal::Primal;

/// More comparisons than this cost more than they are likely to save.
const MOST_CONDITIONS: usize = 2048;

/// So many comparisons are in one block: optimizers take long for blocks that are longer, and leave
/// the whole function without vectors.
const AT_ONCE: usize = 64;

/// The conditions under which more reads are intact, with such a read each; none if that is not to
/// be had.
pub fn conditions(primal: &Primal) -> Vec<(Inst, Condition)> {
    let conditions = primal.overwrite.conditions();
    match conditions.len() <= MOST_CONDITIONS {
        true => conditions,
        false => Vec::new(),
    }
}

/// A function that calls `disjoint` if all conditions hold and `any` if not.
pub fn dispatch(
    primal: &Primal,
    conditions: &[(Inst, Condition)],
    sig: &Signature,
    disjoint: Func,
    any: Func,
) -> Function {
    // The conditions are in terms of the primal's arguments, whose values a copy of the primal
    // keeps when its instructions are gone.
    let mut func = primal.function.clone();
    let arguments = func.entry();
    let first = known_first(&func, arguments);
    for block in func.blocks().to_vec() {
        func.set_block_insts(block, Vec::new());
    }
    // Here they decide, and there they may promise what does not matter.
    for &inst in &first {
        func.inst_mut(inst).flags = Flags::default();
    }
    func.set_block_insts(arguments, first);
    let entry = func.add_block();
    let params: Vec<_> = (sig.params.iter())
        .map(|&ty| func.add_block_param(entry, ty))
        .collect();
    let (fast, slow) = (func.add_block(), func.add_block());
    func.set_layout(vec![entry, arguments, fast, slow]);
    let mut position = 0;
    let mut primals = Vec::new();
    for activity in &primal.key.args {
        primals.push(params[position]);
        position += 1 + activity.shadow_count(primal.key.width);
    }
    Builder::new(&mut func, entry).jump(arguments, primals);

    let to = |block| Edge {
        block,
        args: Vec::new(),
    };
    let mut ends = Ends::new();
    let mut block = arguments;
    let parts: Vec<&[(Inst, Condition)]> = conditions.chunks(AT_ONCE).collect();
    for (i, part) in parts.iter().enumerate() {
        let mut builder = Builder::new(&mut func, block);
        let mut all = builder.func.iconst(Type::i1(), 1);
        for (_, Condition { read, write, .. }) in *part {
            let holds = read.materialize_disjoint(write, &mut builder, &mut ends);
            all = builder.binary(BinaryOp::And, all, holds);
        }
        let next = match i + 1 < parts.len() {
            true => builder.func.add_block(),
            false => fast,
        };
        builder.branch(all, to(next), to(slow));
        block = next;
    }
    if parts.is_empty() {
        Builder::new(&mut func, block).jump(fast, Vec::new());
    }
    for (block, version) in [(fast, disjoint), (slow, any)] {
        let mut builder = Builder::new(&mut func, block);
        let result = builder.call(version, sig.clone(), params.clone());
        builder.ret(result);
    }
    func.become_derivative(sig.clone());
    func
}
