//! Programs that tell how much they put on tapes, for tests of what `zymase explain` says of that.
//!
//! With the option [`count_tapes`](crate::pipeline::Options::count_tapes) every forward sweep calls
//! `zymase_count_tape(name, said, written, allocated)`, which the program defines: how many bytes the
//! report says are written, how many the instructions write that access the tape, and how many are
//! allocated. What is said is counted where the report says that it happens, once for an iteration of
//! a loop, say; what is written, where the instructions are.

use super::tape::Layout;
use crate::ir::{
    BinaryOp, Block, Builder, Constant, FnFlags, Function, Inst, IntPred, MemoryEffects, ModRef,
    Module, Op, Region, Signature, Symbol, Type, Value,
};
use crate::primal::Primal;
use crate::report::Written;
use crate::support::{self, Callable};
use crate::synthesis::Synthesis;
use cranelift_entity::EntityRef;
use std::collections::BTreeMap;

/// A call to make with some numbers, if tapes are counted.
pub(super) struct Counts(Option<Counting>);

struct Counting {
    call: Callable,
    name: Symbol,
    /// How many records a tape that grows has room for first. The numbers are then that of an iteration
    /// and the size of a record.
    growth: Option<u64>,
}

impl Counts {
    /// Notes how many bytes are allocated.
    pub fn allocation(synthesis: &mut Synthesis, primal: &Primal) -> Counts {
        Counts::new(synthesis, primal, None)
    }

    /// Notes for each iteration, with its number and the size of a record, what a tape grows by that
    /// has room for so many records first.
    pub fn growth(synthesis: &mut Synthesis, primal: &Primal, first: u64) -> Counts {
        Counts::new(synthesis, primal, Some(first))
    }

    fn new(synthesis: &mut Synthesis, primal: &Primal, growth: Option<u64>) -> Counts {
        let counting = synthesis.options.count_tapes.then(|| Counting {
            call: function(&mut synthesis.module),
            name: name(&mut synthesis.module, primal, ""),
            growth,
        });
        Counts(counting)
    }

    /// Makes the call.
    pub fn note(&self, b: &mut Builder<'_>, args: &[Value]) {
        let Some(counting) = &self.0 else { return };
        let zero = b.func.iconst(Type::i64(), 0);
        let (written, bytes) = match (counting.growth, args) {
            (Some(first), &[number, size]) => grown(b, first, number, size),
            _ => (zero, args[0]),
        };
        counting.note(b, written, written, bytes);
    }
}

impl Counting {
    fn note(&self, b: &mut Builder<'_>, said: Value, written: Value, allocated: Value) {
        let name = b
            .func
            .constant(Type::ptr(), Constant::Address(self.name, 0));
        let args = vec![name, said, written, allocated];
        b.call(self.call.0, self.call.1.clone(), args);
    }
}

/// The bytes of the address that is written when a tape begins, and those that the tape grows by: it
/// doubles when it is full.
fn grown(b: &mut Builder<'_>, first: u64, number: Value, size: Value) -> (Value, Value) {
    let [zero, one, room, address] =
        [0, 1, first, 8].map(|n| b.func.iconst(Type::i64(), i128::from(n)));
    let begins = b.icmp(IntPred::Eq, number, zero);
    let below = b.sub(number, one);
    let common = b.binary(BinaryOp::And, number, below);
    let power = b.icmp(IntPred::Eq, common, zero);
    let large = b.icmp(IntPred::Uge, number, room);
    let full = b.binary(BinaryOp::And, power, large);
    let records = b.select(full, number, zero);
    let records = b.select(begins, room, records);
    let written = b.select(begins, address, zero);
    (written, b.mul(records, size))
}

/// Counts what is said and written in each block of a forward sweep. What stays in the frame of a
/// derivative that is one function is told apart, as if it were of another function.
pub(super) fn insert(
    synthesis: &mut Synthesis,
    primal: &Primal,
    sweep: &mut Function,
    said: &[Written],
    layout: &Layout,
) {
    if !synthesis.options.count_tapes {
        return;
    }
    let module = &mut synthesis.module;
    let [tape, kept] = ["", " (kept)"].map(|what| Counting {
        call: function(module),
        name: name(module, primal, what),
        growth: None,
    });
    let mut counts: BTreeMap<(Block, bool), [u64; 3]> = BTreeMap::new();
    for part in said {
        counts.entry((part.block, part.kept)).or_default()[0] += part.bytes;
    }
    // What a derivative writes to its tape is told by itself, not by its own derivative.
    let is_new = |inst: Inst| inst.index() >= primal.function.inst_count();
    // The frame comes after primals and shadows.
    let key = &primal.key;
    let before_frame = key.primal_and_shadow_params(&primal.function.sig).len();
    let frame = sweep.arguments()[before_frame];
    for &block in sweep.blocks() {
        for &inst in sweep.block_insts(block) {
            let data = sweep.inst(inst);
            if let Op::Store(access) = &data.op
                && access.region == Region::Tape
                && is_new(inst)
            {
                let kept = primal.key.combined && is_in_frame(sweep, frame, data.args[1]);
                let bytes = module.layout.store_size(sweep.ty(data.args[0]));
                counts.entry((block, kept)).or_default()[1] += bytes;
            }
        }
    }
    if primal.key.combined {
        counts.entry((sweep.entry(), true)).or_default()[2] += layout.frame_bytes();
    }
    for ((block, is_kept), bytes) in counts {
        let mut insts = sweep.take_block_insts(block);
        let last = insts.pop();
        sweep.set_block_insts(block, insts);
        let mut b = Builder::new(sweep, block);
        let [said, written, allocated] = bytes.map(|n| b.func.iconst(Type::i64(), i128::from(n)));
        let counting = if is_kept { &kept } else { &tape };
        counting.note(&mut b, said, written, allocated);
        if let Some(last) = last {
            sweep.attach_inst(block, last);
        }
    }
}

/// Whether an address is one in the frame that a sweep is handed, and not behind an address there.
fn is_in_frame(sweep: &Function, frame: Value, mut address: Value) -> bool {
    while let Some(inst) = sweep.def_inst(address) {
        match &sweep.inst(inst).op {
            Op::Address { .. } => address = sweep.inst(inst).args[0],
            _ => return false,
        }
    }
    address == frame
}

/// What the program defines. Nothing else sees what it does.
fn function(module: &mut Module) -> Callable {
    let (ptr, long) = (Type::ptr(), Type::i64());
    let sig = Signature::new(vec![ptr, long, long, long], Type::void());
    let mut function = Function::new("zymase_count_tape", sig.clone());
    function.attrs.flags = FnFlags::INACTIVE | FnFlags::NOUNWIND;
    function.attrs.memory = MemoryEffects {
        inaccessible: ModRef::all(),
        ..MemoryEffects::NONE
    };
    (module.declare(function), sig)
}

/// The name of a function, and what about it, as text.
fn name(module: &mut Module, primal: &Primal, what: &str) -> Symbol {
    let text = format!("{}{what}\0", primal.function.name);
    Symbol::Global(support::constant_text(module, text))
}
