//! Expands nests to loops.
//!
//! Before: any function. After: the chosen nests are loops in the order of their points, which is
//! always legal, and gives the same bits. Blocks are split where nests stood; nothing else changes.
//!
//! For loops 0 and 1, with `before` and `after` the halves of the block that was split:
//!
//! ```text
//! before:  branch bound0 > 0, loop0(0), after
//! loop0:   branch bound1 > 0, loop1(0), next1
//! loop1:   the point; branch counter1 + 1 < bound1, loop1(counter1 + 1), next1
//! next1:   branch counter0 + 1 < bound0, loop0(counter0 + 1), after
//! ```
//!
//! An element that all points of the innermost loop combine with is read before that loop and
//! written after it, which the promises of a nest allow.

use crate::ir::{
    Block, Builder, Combiner, Edge, Flags, FloatPred, Function, Inst, InstData, IntPred, MathFn,
    Nest, Op, Output, Type, Value,
};
use std::collections::HashMap;

/// Expands every nest of a function; whether there was any.
pub fn run(func: &mut Function) -> bool {
    expand(func, |_, _| true)
}

/// Expands the nests that are chosen; whether there was any.
pub fn expand(func: &mut Function, chosen: impl Fn(Inst, &Nest) -> bool) -> bool {
    let mut open = func.blocks().to_vec();
    let mut changed = false;
    while let Some(block) = open.pop() {
        let insts = func.block_insts(block).to_vec();
        let is_chosen =
            |&inst: &Inst| matches!(&func.inst(inst).op, Op::Nest(nest) if chosen(inst, nest));
        let Some(at) = insts.iter().position(is_chosen) else {
            continue;
        };
        changed = true;
        let data = func.inst(insts[at]).clone();
        let after = func.add_block();
        func.set_block_insts(block, insts[..at].to_vec());
        func.set_block_insts(after, insts[at + 1..].to_vec());
        if let Op::Nest(nest) = &data.op {
            loops(func, block, after, nest, &data);
        }
        open.push(after);
    }
    changed
}

/// Writes the loops of a nest between the end of one block and the start of another.
fn loops(func: &mut Function, before: Block, after: Block, nest: &Nest, data: &InstData) {
    let zero = func.iconst(Type::i64(), 0);
    let (mut counters, mut bounds) = (Vec::new(), Vec::new());
    let mut starts = Vec::new();
    let mut nexts = vec![after];
    let mut block = before;
    let mut carried = None;
    for level in 0..nest.depth {
        let start = func.add_block();
        if level > 0 {
            nexts.push(func.add_block());
        }
        let counter = func.add_block_param(start, Type::i64());
        let mut builder = Builder::new(func, block);
        builder.loc = data.loc;
        let bound = linear(&mut builder, &data.args[nest.bound(level)], &counters);
        let some = builder.icmp(IntPred::Sgt, bound, zero);
        let mut enter = edge(start, vec![zero]);
        if level + 1 == nest.depth && stays(builder.func, nest, data) {
            let first = builder.func.add_block();
            let last = builder.func.add_block();
            builder.branch(some, edge(first, vec![]), edge(nexts[level], vec![]));
            builder.block = first;
            let address = place(&mut builder, &data.args[nest.output_view(0)], &counters);
            let access = nest.outputs[0].access.clone();
            let old = builder.load(nest.output_type(0), address, access);
            enter.args.push(old);
            let sum = builder.func.add_block_param(start, nest.output_type(0));
            builder.effect(Op::Jump(enter), vec![]);
            carried = Some(Carried { sum, address, last });
        } else {
            builder.branch(some, enter, edge(nexts[level], vec![]));
        }
        counters.push(counter);
        bounds.push(bound);
        starts.push(start);
        block = start;
    }
    let results = point(func, block, nest, data, &counters);
    let mut builder = Builder::new(func, block);
    builder.loc = data.loc;
    let mut again = Vec::new();
    match &carried {
        Some(carried) => {
            let output = &nest.outputs[0];
            let sum = combine(&mut builder, output, carried.sum, results[0]);
            again.push(sum);
            builder.block = carried.last;
            builder.store(sum, carried.address, output.access.clone());
            builder.jump(nexts[nest.depth - 1], vec![]);
        }
        None => write(&mut builder, nest, data, &counters, &results),
    }
    for level in (0..nest.depth).rev() {
        let mut builder = Builder::new(func, block);
        builder.loc = data.loc;
        let one = builder.func.iconst(Type::i64(), 1);
        let next = builder.add(counters[level], one);
        if let Some(inst) = builder.func.def_inst(next) {
            builder.func.add_flags(inst, Flags::NSW);
        }
        let more = builder.icmp(IntPred::Slt, next, bounds[level]);
        let again = [vec![next], std::mem::take(&mut again)].concat();
        let done = match &carried {
            Some(carried) if level + 1 == nest.depth => carried.last,
            _ => nexts[level],
        };
        builder.branch(more, edge(starts[level], again), edge(done, vec![]));
        block = nexts[level];
    }
}

/// An element that all points of the innermost loop combine with: it is kept in a register.
struct Carried {
    /// The parameter of the loop.
    sum: Value,
    /// Where it belongs.
    address: Value,
    /// The block that puts it there.
    last: Block,
}

/// Whether all points of the innermost loop combine with one element. If there are several outputs,
/// another one may combine with the same.
fn stays(func: &Function, nest: &Nest, data: &InstData) -> bool {
    let [output] = &nest.outputs[..] else {
        return false;
    };
    let view = &data.args[nest.output_view(0)];
    output.combiner != Combiner::Store && func.as_int(view[nest.depth]) == Some(0)
}

fn edge(block: Block, args: Vec<Value>) -> Edge {
    Edge { block, args }
}

/// `terms[0] + Σ terms[1 + i]·counters[i]`
fn linear(builder: &mut Builder<'_>, terms: &[Value], counters: &[Value]) -> Value {
    let mut sum = terms[0];
    for (&factor, &counter) in terms[1..].iter().zip(counters) {
        match builder.func.as_int(factor) {
            Some(0) => continue,
            Some(1) => sum = builder.add(sum, counter),
            _ => {
                let product = builder.mul(factor, counter);
                sum = builder.add(sum, product);
            }
        }
    }
    sum
}

/// The address of an element.
fn place(builder: &mut Builder<'_>, view: &[Value], counters: &[Value]) -> Value {
    let (mut scales, mut args) = (Vec::new(), vec![view[0]]);
    for (&factor, &counter) in view[1..].iter().zip(counters) {
        let known = builder.func.as_int(factor);
        match known.and_then(|n| i64::try_from(n).ok()) {
            Some(0) => {}
            Some(scale) => {
                scales.push(scale);
                args.push(counter);
            }
            None => {
                scales.push(1);
                args.push(builder.mul(factor, counter));
            }
        }
    }
    if scales.is_empty() {
        return view[0];
    }
    let ty = builder.func.ty(view[0]);
    builder.value(Op::Address { offset: 0, scales }, args, ty)
}

/// What is computed at one point: the results of the body.
fn point(
    func: &mut Function,
    block: Block,
    nest: &Nest,
    data: &InstData,
    counters: &[Value],
) -> Vec<Value> {
    let body = &nest.body.func;
    let mut builder = Builder::new(func, block);
    builder.loc = data.loc;
    let mut values: HashMap<Value, Value> = HashMap::new();
    for (level, &counter) in counters.iter().enumerate() {
        values.insert(nest.counter(level), counter);
    }
    for (i, access) in nest.inputs.iter().enumerate() {
        let element = nest.element(i);
        let address = place(&mut builder, &data.args[nest.view(i)], counters);
        let loaded = builder.load(body.ty(element), address, access.clone());
        values.insert(element, loaded);
    }
    let taken = &data.args[nest.outside()..];
    values.extend(nest.taken().iter().copied().zip(taken.iter().copied()));
    let value_of = |func: &mut Function, value: Value, values: &HashMap<Value, Value>| match body
        .as_const(value)
    {
        Some(constant) => func.constant(body.ty(value), constant.clone()),
        None => values[&value],
    };
    for &inst in nest.body.insts() {
        let mut copy = body.inst(inst).clone();
        copy.loc = copy.loc.or(data.loc);
        copy.map_operands(|value| value_of(builder.func, value, &values));
        let Some(result) = body.result(inst) else {
            continue;
        };
        let copy = builder.func.append_inst(block, copy, body.ty(result));
        values.extend(builder.func.result(copy).map(|value| (result, value)));
    }
    let results = nest.body.results().iter();
    results
        .map(|&result| value_of(builder.func, result, &values))
        .collect()
}

/// Combines the results of a point with memory.
fn write(
    builder: &mut Builder<'_>,
    nest: &Nest,
    data: &InstData,
    counters: &[Value],
    results: &[Value],
) {
    for (i, (output, &new)) in nest.outputs.iter().zip(results).enumerate() {
        let address = place(builder, &data.args[nest.output_view(i)], counters);
        let access = output.access.clone();
        if output.combiner == Combiner::Sum && output.flags.contains(Flags::REASSOC) {
            let op = Op::Accumulate(access);
            builder.inst(op, vec![address, new], Type::void(), output.flags);
            continue;
        }
        let combined = match output.combiner {
            Combiner::Store => new,
            _ => {
                let old = builder.load(nest.output_type(i), address, access.clone());
                combine(builder, output, old, new)
            }
        };
        builder.store(combined, address, access);
    }
}

/// What becomes of an element.
pub fn combine(builder: &mut Builder<'_>, output: &Output, old: Value, new: Value) -> Value {
    let before = std::mem::replace(&mut builder.float_flags, output.flags);
    let combined = match output.combiner {
        Combiner::Store => new,
        Combiner::Sum => match output.fused(builder.func, new) {
            Some([x, y]) => builder.math(MathFn::Fmuladd, vec![x, y, old]),
            None => builder.fadd(old, new),
        },
        Combiner::Product => builder.fmul(old, new),
        Combiner::Max => builder.math(MathFn::Fmax, vec![old, new]),
        Combiner::Min => builder.math(MathFn::Fmin, vec![old, new]),
        Combiner::Greater | Combiner::Less | Combiner::NotLess | Combiner::NotGreater => {
            let pred = output.combiner.choice().unwrap_or(FloatPred::False);
            let taken = builder.fcmp(pred, new, old);
            builder.select(taken, new, old)
        }
    };
    builder.float_flags = before;
    combined
}
