//! Two versions of a derivative: one for memory that does not overlap, one for any.
//!
//! Where a read would be intact if only some ranges of addresses were disjoint, and the ranges are
//! known when the function is entered, the derivative compares them there. All comparisons are
//! joined into one flag, so there are exactly two versions.

use crate::analysis::affine::known_first;
use crate::analysis::overwrite::Condition;
use crate::analysis::ranges::{Ends, Range, no_counter};
use crate::ir::{
    BinaryOp, Builder, Edge, Flags, Func, Function, Inst, Module, Signature, Type, Value,
};
use crate::primal::Primal;
use crate::support;
use std::collections::HashMap;

/// More comparisons than this cost more than they are likely to save. Twice as many ranges have
/// numbers of 16 bits.
const MOST_CONDITIONS: usize = 1 << 14;

/// More comparisons than this are made by a loop over a table. One by one they let the optimizer drop
/// what it knows, but it takes long for many.
const IN_CODE: usize = 32;

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
    module: &mut Module,
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

    let mut b = Builder::new(&mut func, arguments);
    let holds = match conditions.len() <= IN_CODE {
        true => compare(&mut b, conditions),
        false => compare_by_table(module, &mut b, conditions),
    };
    let to = |block| Edge {
        block,
        args: Vec::new(),
    };
    b.branch(holds, to(fast), to(slow));
    for (block, version) in [(fast, disjoint), (slow, any)] {
        let mut builder = Builder::new(&mut func, block);
        let result = builder.call(version, sig.clone(), params.clone());
        builder.ret(result);
    }
    func.become_derivative(sig.clone());
    func
}

fn compare(b: &mut Builder<'_>, conditions: &[(Inst, Condition)]) -> Value {
    let mut ends = Ends::new();
    let mut all = b.func.iconst(Type::i1(), 1);
    for (_, Condition { read, write, .. }) in conditions {
        let holds = read.materialize_disjoint(write, b, &mut ends, &no_counter);
        all = b.binary(BinaryOp::And, all, holds);
    }
    all
}

fn compare_by_table(
    module: &mut Module,
    b: &mut Builder<'_>,
    conditions: &[(Inst, Condition)],
) -> Value {
    let mut ends = Ends::new();
    let mut ranges = Vec::new();
    let mut known: HashMap<&Range, u16> = HashMap::new();
    let mut pairs = Vec::new();
    for (_, Condition { read, write, .. }) in conditions {
        pairs.push([read, write].map(|range| {
            *known.entry(range).or_insert_with(|| {
                ranges.push(range.materialize(b, &mut ends, &no_counter));
                (ranges.len() - 1) as u16
            })
        }));
    }
    support::are_apart(module, b, &ranges, &pairs)
}
