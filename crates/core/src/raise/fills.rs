//! Writes loops where an optimizer has found that rows are filled with zero or copied.
//!
//! `for (j = 0; j < n; j++) c[i * n + j] = 0;` is one call of `memset` when it comes here. As a loop it
//! is a nest like the product that goes on from there.
//!
//! Before: a function that may be thrown away again. After: in loops, floats are set to zero and copied by
//! loops, where it is known what they are and how many; an optimizer will find out again.

use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::Loops;
use crate::ir::{
    Access, BinaryOp, Block, Body, Combiner, Flags, Function, Inst, InstData, Loc, Module,
    NestParts, Op, Output, OutputPart, Type, Value,
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
            if let Some(moved) = Moved::new(function, data)
                && let Some(ty) = element(function, loops.blocks(around), &moved)
            {
                found.push((inst, moved, ty));
            }
        }
    }
    let mut written = HashSet::new();
    for (inst, moved, ty) in found {
        let size = module.layout.size(ty);
        let Some(count) = count(function, moved.bytes, size.into()) else {
            continue;
        };
        *function.inst_mut(inst) = moved.nest(function, ty, size, count);
        written.insert(inst);
    }
    if !written.is_empty() {
        expand_nests::expand(function, |inst, _| written.contains(&inst));
    }
}

/// A call that sets memory to zero, or copies it.
struct Moved {
    to: (Value, Access),
    from: Option<(Value, Access)>,
    bytes: Value,
    loc: Option<Loc>,
}

impl Moved {
    fn new(function: &Function, data: &InstData) -> Option<Moved> {
        let loc = data.loc;
        let (to, from, bytes) = match (&data.op, &data.args[..]) {
            (Op::MemSet(access), &[to, byte, bytes]) if function.as_int(byte) == Some(0) => {
                ((to, access.clone()), None, bytes)
            }
            (
                Op::MemCopy {
                    overlapping: false,
                    dst,
                    src,
                },
                &[to, from, bytes],
            ) => ((to, dst.clone()), Some((from, src.clone())), bytes),
            _ => return None,
        };
        let accesses = [Some(&to), from.as_ref()].into_iter().flatten();
        let is_plain = accesses
            .into_iter()
            .all(|(_, access)| !access.volatile && access.atomic.is_none());
        let moved = Moved {
            to,
            from,
            bytes,
            loc,
        };
        is_plain.then_some(moved)
    }

    /// The same as a nest.
    fn nest(&self, function: &mut Function, ty: Type, size: u64, count: Value) -> InstData {
        let distance = function.iconst(Type::i64(), size.into());
        let of_element = |access: &Access| Access {
            align: access.align.min(size as u32),
            ..access.clone()
        };
        let mut parts = NestParts {
            depth: 1,
            bounds: vec![count],
            inputs: Vec::new(),
            outputs: Vec::new(),
            taken: Vec::new(),
            body: Body::new(1),
        };
        let result = match &self.from {
            Some((from, access)) => parts.add_input(ty, of_element(access), vec![*from, distance]),
            None => parts.body.func.zero(ty),
        };
        parts.outputs.push(OutputPart {
            result,
            output: Output {
                combiner: Combiner::Store,
                flags: Flags::empty(),
                access: of_element(&self.to.1),
            },
            view: vec![self.to.0, distance],
        });
        InstData {
            loc: self.loc,
            ..parts.join()
        }
    }
}

/// The float that accesses to the same memory in some blocks have, if it is one.
fn element(function: &Function, blocks: &[Block], moved: &Moved) -> Option<Type> {
    let root = |mut pointer: Value| {
        while let Some(inst) = function.def_inst(pointer)
            && let Op::Address { .. } = function.inst(inst).op
        {
            pointer = function.inst(inst).args[0];
        }
        pointer
    };
    let mut roots = vec![root(moved.to.0)];
    roots.extend(moved.from.as_ref().map(|(from, _)| root(*from)));
    let mut found = None;
    for &block in blocks {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            let (pointer, ty) = match (&data.op, &data.args[..]) {
                (Op::Load(_), &[pointer]) => {
                    (pointer, function.result(inst).map(|v| function.ty(v))?)
                }
                (Op::Store(_), &[value, pointer]) => (pointer, function.ty(value)),
                _ => continue,
            };
            if roots.contains(&root(pointer)) && found.replace(ty).is_some_and(|known| known != ty)
            {
                return None;
            }
        }
    }
    found.filter(|ty| ty.float_kind().is_some())
}

/// How many elements there are in so many bytes, where the program has multiplied.
fn count(function: &mut Function, bytes: Value, size: i128) -> Option<Value> {
    if let Some(bytes) = function.as_int(bytes) {
        return (bytes % size == 0).then(|| function.iconst(Type::i64(), bytes / size));
    }
    let inst: Inst = function.def_inst(bytes)?;
    let data = function.inst(inst);
    let by = function.as_int(*data.args.get(1)?)?;
    let factor = match data.op {
        Op::Binary(BinaryOp::Shl) if by < 32 => 1 << by,
        Op::Binary(BinaryOp::Mul) => by,
        _ => return None,
    };
    let exact = data.flags.intersects(Flags::NUW | Flags::NSW);
    (exact && factor == size).then_some(data.args[0])
}
