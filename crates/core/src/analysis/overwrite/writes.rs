//! The reads and writes of a function, and what can come after what.

use crate::analysis::affine::{Affine, AffineValues, Wrap};
use crate::analysis::alias::Location;
use crate::analysis::cfg::Cfg;
use crate::analysis::effects::{Effects, Summary};
use crate::analysis::loops::{Loop, Loops};
use crate::ir::{Access, Block, Function, Inst, Module, Op, Value};
use cranelift_entity::SecondaryMap;
use std::collections::BTreeMap;

/// Some bytes that are read or written.
pub(super) struct Touch<'a> {
    pub(super) location: Location<'a>,
    /// The number of bytes as an affine form, if the location has no constant one.
    length: Option<Value>,
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
        }
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
                _ => {
                    let (summary, pointers) = effects.inst(data);
                    if !summary.may_write() {
                        continue;
                    }
                    Kind::Call(summary, pointers)
                }
            };
            found.push(Write {
                block,
                index,
                inst,
                kind,
            });
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
