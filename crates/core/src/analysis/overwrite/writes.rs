//! The reads and writes of a function, and what can come after what.

use crate::analysis::affine::{Affine, AffineValues, Wrap};
use crate::analysis::alias::Location;
use crate::analysis::cfg::Cfg;
use crate::analysis::effects::{Effects, Summary};
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::ranges::Extent;
use crate::ir::{Access, Block, Function, Inst, Module, Nest, Op, Value};
use cranelift_entity::SecondaryMap;
use std::collections::BTreeMap;

/// Some bytes that are read or written.
pub(super) struct Touch<'a> {
    pub(super) location: Location<'a>,
    /// The number of bytes as an affine form, if the location has no constant one.
    length: Option<Value>,
    /// The view that is touched as a whole; the location is then its origin.
    pub(super) view: Option<View<'a>>,
}

/// A view of a nest.
#[derive(Copy, Clone)]
pub(super) struct View<'a> {
    nest: &'a Nest,
    args: &'a [Value],
    operands: &'a [Value],
    bytes: u64,
}

impl View<'_> {
    /// Whether the two are the same elements at the same points of one nest.
    pub(super) fn is_same(&self, other: &View) -> bool {
        self.operands == other.operands
    }

    /// What the elements cover.
    pub(super) fn extent(&self, values: &AffineValues, at: Block) -> Option<Extent> {
        let integer = |value: Value| values.integer(value, Wrap::Modular, at);
        // The largest counter of each loop. A loop that never runs touches nothing, so that its
        // bound may be anything.
        let mut most: Vec<Affine> = Vec::new();
        for level in 0..self.nest.depth {
            let bound = &self.args[self.nest.bound(level)];
            let mut last = integer(bound[0]).plus(&Affine::number(-1))?;
            for (&factor, outer) in bound[1..].iter().zip(&most) {
                match integer(factor).as_number()? {
                    grows if grows > 0 => last = last.plus(&outer.scaled(grows)?)?,
                    _ => {}
                }
            }
            most.push(last);
        }
        let mut moves = Vec::new();
        for (&distance, last) in self.operands[1..].iter().zip(&most) {
            moves.push(integer(distance).times(last)?);
        }
        Some(Extent {
            origin: values.address(self.operands[0], at),
            size: Affine::number(i128::from(self.bytes)),
            moves,
        })
    }
}

impl<'a> Touch<'a> {
    pub(super) fn new(
        block: Block,
        pointer: Value,
        size: Option<u64>,
        access: Option<&'a Access>,
    ) -> Touch<'a> {
        Touch {
            location: Location {
                pointer,
                size,
                access,
                block,
            },
            length: None,
            view: None,
        }
    }

    /// All elements of a view of a nest, inputs first.
    pub(super) fn of_view(
        module: &Module,
        block: Block,
        nest: &'a Nest,
        args: &'a [Value],
        index: usize,
    ) -> Touch<'a> {
        let (access, ty) = match index.checked_sub(nest.inputs.len()) {
            None => (&nest.inputs[index], nest.body.func.ty(nest.element(index))),
            Some(output) => (&nest.outputs[output].access, nest.output_type(output)),
        };
        let operands = &args[nest.view(index)];
        let mut touch = Touch::new(block, operands[0], None, Some(access));
        touch.view = Some(View {
            nest,
            args,
            operands,
            bytes: module.layout.store_size(ty),
        });
        touch
    }

    pub(super) fn set_length(&mut self, func: &Function, length: Value) {
        match func.as_int(length).and_then(|n| u64::try_from(n).ok()) {
            Some(n) => self.location.size = Some(n),
            None => self.length = Some(length),
        }
    }

    pub(super) fn size(&self, values: &AffineValues) -> Option<Affine> {
        match (self.location.size, self.length) {
            (Some(size), _) => Some(Affine::number(i128::from(size))),
            (None, Some(length)) => {
                let wrap = Wrap::Unsigned;
                Some(values.integer(length, wrap, self.location.block))
            }
            (None, None) => None,
        }
    }
}

/// An instruction that writes or frees memory.
pub(super) struct Write<'a> {
    pub(super) block: Block,
    pub(super) index: usize,
    pub(super) inst: Inst,
    pub(super) kind: Kind<'a>,
}

/// What an instruction writes.
pub(super) enum Kind<'a> {
    Bytes(Touch<'a>),
    Call(Summary, &'a [Value]),
}

/// Every write that a return can come after.
pub(super) fn writes<'a>(
    module: &Module,
    func: &'a Function,
    cfg: &Cfg,
    effects: &Effects,
) -> Vec<Write<'a>> {
    let mut found = Vec::new();
    for &block in cfg.reverse_postorder() {
        // Where control never returns from, nobody asks what was read before.
        if !cfg.reaches_return(block) {
            continue;
        }
        for (index, &inst) in func.block_insts(block).iter().enumerate() {
            let data = func.inst(inst);
            let args = &data.args;
            let bytes = |pointer: Value, value: Value, access: &'a Access| {
                let size = size_of(module, func, value);
                Kind::Bytes(Touch::new(block, pointer, size, Some(access)))
            };
            let mut add = |kind| {
                found.push(Write {
                    block,
                    index,
                    inst,
                    kind,
                });
            };
            let kind = match &data.op {
                Op::Store(access) => bytes(args[1], args[0], access),
                Op::Accumulate(access) | Op::AtomicRmw(_, access) => {
                    bytes(args[0], args[1], access)
                }
                Op::CmpXchg { access, .. } => bytes(args[0], args[2], access),
                Op::MemCopy { dst: access, .. } | Op::MemSet(access) => {
                    let mut touch = Touch::new(block, args[0], None, Some(access));
                    touch.set_length(func, args[2]);
                    Kind::Bytes(touch)
                }
                Op::Nest(nest) => {
                    for output in 0..nest.outputs.len() {
                        let view = nest.inputs.len() + output;
                        add(Kind::Bytes(Touch::of_view(module, block, nest, args, view)));
                    }
                    continue;
                }
                _ => {
                    let (summary, pointers) = effects.inst(data);
                    if !summary.may_write() {
                        continue;
                    }
                    Kind::Call(summary, pointers)
                }
            };
            add(kind);
        }
    }
    found
}

/// How many bytes a value has in memory.
pub(super) fn size_of(module: &Module, func: &Function, value: Value) -> Option<u64> {
    let size = module.layout.store_size(func.ty(value));
    (size > 0).then_some(size)
}

/// Which blocks can come after one.
pub(super) struct Later {
    pub(super) any: SecondaryMap<Block, bool>,
    /// For each loop around the block, and for none, what is reached without its back edge or one
    /// of a loop around it.
    pub(super) same: BTreeMap<Option<Loop>, SecondaryMap<Block, bool>>,
}

impl Later {
    pub(super) fn new(cfg: &Cfg, loops: &Loops, block: Block) -> Later {
        let around: Vec<Loop> = loops.enclosing(loops.innermost(block)).collect();
        let mut same = BTreeMap::new();
        for i in 0..=around.len() {
            let forbidden: Vec<Block> = around[i..].iter().map(|&l| loops.header(l)).collect();
            same.insert(around.get(i).copied(), reach(cfg, block, &forbidden));
        }
        Later {
            any: reach(cfg, block, &[]),
            same,
        }
    }
}

fn reach(cfg: &Cfg, from: Block, forbidden: &[Block]) -> SecondaryMap<Block, bool> {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        for &next in cfg.successors(block) {
            if !forbidden.contains(&next) && !std::mem::replace(&mut seen[next], true) {
                work.push(next);
            }
        }
    }
    seen
}
