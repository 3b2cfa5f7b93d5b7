//! Gives nests copies of operands that are overwritten later.
//!
//! The reverse of a matrix product reads both matrices again. If one of them has been overwritten by
//! then, the product could be reversed as loops, which keep an element for each multiplication. A
//! copy keeps each element once, and the product stays one: the nest reads the copy, which nobody
//! writes to; that it waits for the reverse sweep to be freed is what is known of any memory.
//!
//! Before: any function. After: the chosen inputs of some nests are read from new memory, which is
//! filled right before the nest and freed right after it.

use crate::ir::{
    Access, Body, Builder, Combiner, FnFlags, Function, Inst, InstData, IntPred, Module, Nest,
    NestParts, Op, Output, OutputPart, Type, Value,
};
use crate::support;

/// Whether an input can be copied: how many elements it has along each of its loops is known where the
/// nest begins.
pub fn can_copy(function: &Function, data: &InstData, nest: &Nest, input: usize) -> bool {
    let levels = levels(function, data, nest, input);
    let is_fixed = |&level: &usize| {
        let coefficients = &data.args[nest.bound(level)][1..];
        coefficients.iter().all(|&c| function.as_int(c) == Some(0))
    };
    !levels.is_empty() && levels.iter().all(is_fixed)
}

/// The loops that an input moves along.
fn levels(function: &Function, data: &InstData, nest: &Nest, input: usize) -> Vec<usize> {
    let distances = &data.args[nest.view(input)][1..];
    let moves = |&level: &usize| function.as_int(distances[level]) != Some(0);
    (0..nest.depth).filter(moves).collect()
}

/// Lets a nest read copies of these inputs; gives the nest that does, if the function has this one.
pub fn run(
    module: &mut Module,
    function: &mut Function,
    inst: Inst,
    inputs: &[usize],
) -> Option<Inst> {
    let block = function.inst_blocks()[inst]?;
    let insts = function.block_insts(block).to_vec();
    let at = insts.iter().position(|&other| other == inst)?;
    let mut data = function.inst(inst).clone();
    let Op::Nest(mut nest) = data.op.clone() else {
        return None;
    };
    function.set_block_insts(block, insts[..at].to_vec());
    let (malloc, malloc_sig) = support::malloc(module);
    let (free, free_sig) = support::free(module, "free");
    let mut copies = Vec::new();
    for &input in inputs {
        let ty = nest.body.func.ty(nest.element(input));
        let levels = levels(function, &data, &nest, input);
        let mut b = Builder::new(function, block);
        b.loc = data.loc;
        let zero = b.func.iconst(Type::i64(), 0);
        let counts: Vec<Value> = levels
            .iter()
            .map(|&level| data.args[nest.bound(level).start])
            .collect();
        // From the inside out: how far elements of the copy are from each other along each loop.
        let mut bytes = b.func.iconst(Type::i64(), module.layout.size(ty).into());
        let mut distances = vec![bytes; levels.len()];
        for (i, &count) in counts.iter().enumerate().rev() {
            distances[i] = bytes;
            let some = b.icmp(IntPred::Sgt, count, zero);
            let count = b.select(some, count, zero);
            bytes = b.mul(bytes, count);
        }
        let flags = FnFlags::MUST_SUCCEED;
        let copy = b.call_with(malloc, malloc_sig.clone(), vec![bytes], flags)?;
        let view = nest.view(input);
        let from: Vec<Value> = std::iter::once(data.args[view.start])
            .chain(
                levels
                    .iter()
                    .map(|&level| data.args[view.start + 1 + level]),
            )
            .collect();
        let to = [&[copy], &distances[..]].concat();
        let access = Access::aligned(module.layout.align(ty).min(16));
        let fill = filled(
            b.func,
            counts,
            (from, nest.inputs[input].clone()),
            to,
            &access,
            ty,
        );
        let fill = InstData {
            loc: data.loc,
            ..fill
        };
        b.func.append_inst(block, fill, Type::void());
        data.args[view.start] = copy;
        for (&level, &distance) in levels.iter().zip(&distances) {
            data.args[view.start + 1 + level] = distance;
        }
        nest.inputs[input] = access;
        copies.push(copy);
    }
    data.op = Op::Nest(nest);
    let new = function.append_inst(block, data, Type::void());
    for copy in copies {
        Builder::new(function, block).call(free, free_sig.clone(), vec![copy]);
    }
    for &inst in &insts[at + 1..] {
        function.attach_inst(block, inst);
    }
    Some(new)
}

/// A nest that stores what it reads.
fn filled(
    function: &mut Function,
    counts: Vec<Value>,
    (from, access): (Vec<Value>, Access),
    to: Vec<Value>,
    stored: &Access,
    ty: Type,
) -> InstData {
    let zero = function.iconst(Type::i64(), 0);
    let depth = counts.len();
    let bounds = counts.into_iter().enumerate();
    let bounds = bounds.flat_map(|(level, count)| {
        let none = std::iter::repeat_n(zero, level);
        std::iter::once(count).chain(none)
    });
    let mut parts = NestParts {
        depth,
        bounds: bounds.collect(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        taken: Vec::new(),
        body: Body::new(depth),
    };
    let result = parts.add_input(ty, access, from);
    parts.outputs.push(OutputPart {
        result,
        output: Output {
            combiner: Combiner::Store,
            flags: Default::default(),
            access: stored.clone(),
        },
        view: to,
    });
    parts.join()
}
