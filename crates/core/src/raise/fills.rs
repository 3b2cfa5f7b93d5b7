//! Writes loops where an optimizer has found that rows are set to zero.
//!
//! `for (j = 0; j < n; j++) c[i * n + j] = 0;` is one call of `memset` when it comes here. As a loop it
//! is a nest like the product that goes on from there.
//!
//! Before: a function that may be thrown away again. After: in loops, rows of floats are set to zero by
//! loops; an optimizer will find out again. What is a row of floats is known by the program's own
//! accesses: they go from float to float, from where the row begins. Memory of a size that is a
//! constant may be a structure with other things in it, and stays what it is.

use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::Loops;
use crate::ir::{
    Access, BinaryOp, Block, Body, Combiner, Flags, Function, Inst, InstData, Module, NestParts,
    Op, Output, OutputPart, Type, Value,
};
use crate::simplify::expand_nests;
use std::collections::HashSet;

/// Writes the loops of a function.
pub fn run(module: &Module, function: &mut Function) {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let Ok(loops) = Loops::new(function, &cfg, &dominators) else {
        return;
    };
    let mut found = Vec::new();
    for &block in function.blocks() {
        let Some(around) = loops.enclosing(loops.innermost(block)).last() else {
            continue;
        };
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            let (Op::MemSet(access), &[row, byte, bytes]) = (&data.op, &data.args[..]) else {
                continue;
            };
            let is_plain = !access.volatile && access.atomic.is_none();
            if is_plain
                && function.as_int(byte) == Some(0)
                && let Some(ty) = element(module, function, loops.blocks(around), row)
                && let Some(count) = count(function, bytes, module.layout.size(ty).into())
            {
                found.push((inst, access.clone(), ty, count));
            }
        }
    }
    let mut written = HashSet::new();
    for (inst, access, ty, count) in found {
        let size = module.layout.size(ty);
        let nest = nest(function, inst, access, (ty, size), count);
        *function.inst_mut(inst) = nest;
        written.insert(inst);
    }
    if !written.is_empty() {
        expand_nests::expand(function, |inst, _| written.contains(&inst));
    }
}

/// A nest that sets as many floats to zero as a call does.
fn nest(
    function: &mut Function,
    inst: Inst,
    access: Access,
    (ty, size): (Type, u64),
    count: Value,
) -> InstData {
    let data = function.inst(inst);
    let (row, loc) = (data.args[0], data.loc);
    let distance = function.iconst(Type::i64(), size.into());
    let mut parts = NestParts {
        depth: 1,
        bounds: vec![count],
        inputs: Vec::new(),
        outputs: Vec::new(),
        taken: Vec::new(),
        body: Body::new(1),
    };
    let result = parts.body.func.zero(ty);
    let access = Access {
        align: access.align.min(size as u32),
        ..access
    };
    parts.outputs.push(OutputPart {
        result,
        output: Output {
            combiner: Combiner::Store,
            flags: Flags::empty(),
            access,
        },
        view: vec![row, distance],
    });
    InstData {
        loc,
        ..parts.join()
    }
}

/// The float that accesses to the same memory in some blocks have, if it is one, and if one of them
/// goes from float to float from where a row begins.
fn element(module: &Module, function: &Function, blocks: &[Block], row: Value) -> Option<Type> {
    let (base, start, _) = place(function, row);
    let (mut found, mut is_row) = (None, false);
    for &block in blocks {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            let (pointer, ty) = match (&data.op, &data.args[..]) {
                (Op::Load(_), &[pointer]) => (pointer, function.ty(function.result(inst)?)),
                (Op::Store(_), &[value, pointer]) => (pointer, function.ty(value)),
                _ => continue,
            };
            let (other, offset, scales) = place(function, pointer);
            if other != base {
                continue;
            }
            if found.replace(ty).is_some_and(|known| known != ty) {
                return None;
            }
            let size = module.layout.size(ty);
            is_row |= offset == start && scales.contains(&(size as i64));
        }
    }
    found.filter(|ty| is_row && ty.float_kind().is_some())
}

/// What an address is relative to, its constant part, and the distances that it is counted in.
fn place(function: &Function, mut pointer: Value) -> (Value, i64, Vec<i64>) {
    let (mut sum, mut all) = (0i64, Vec::new());
    while let Some(inst) = function.def_inst(pointer)
        && let Op::Address { offset, scales } = &function.inst(inst).op
    {
        sum = sum.wrapping_add(*offset);
        all.extend(scales);
        pointer = function.inst(inst).args[0];
    }
    (pointer, sum, all)
}

/// How many elements there are in so many bytes, where the program has multiplied.
fn count(function: &Function, bytes: Value, size: i128) -> Option<Value> {
    let data = function.inst(function.def_inst(bytes)?);
    let by = function.as_int(*data.args.get(1)?)?;
    let factor = match data.op {
        Op::Binary(BinaryOp::Shl) if (0..32).contains(&by) => 1 << by,
        Op::Binary(BinaryOp::Mul) => by,
        _ => return None,
    };
    let exact = data.flags.intersects(Flags::NUW | Flags::NSW);
    (exact && factor == size).then_some(data.args[0])
}
