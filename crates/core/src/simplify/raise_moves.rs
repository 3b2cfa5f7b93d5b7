//! Turns loops that move memory byte by byte, or word by word, into copies of whole memory.
//!
//! `for (i = 0; i < n; i++) { t = p[i]; p[i] = q[i]; q[i] = t; }` exchanges structures of any kind
//! in bytes, and a derivative cannot be moved in the bytes of a float: in reverse mode it is added
//! to what is there. As copies of `n` bytes, what is moved is known by what is at `p` and `q`.
//!
//! The copies do what the loop does unless the memory overlaps in a way that lets the loop read
//! what it has written. Then the program stops with a message.
//!
//! Before: any function, and loops of it that [`find()`] found. After: those loops move nothing, and
//! are gone if nobody wants to know how often they ran.

mod find;

pub use find::{Moves, find};

use crate::ir::{
    Access, BinaryOp, Block, Builder, Edge, FnFlags, Function, Inst, InstData, IntPred, Module, Op,
    Type, Value,
};
use crate::support;
use std::collections::HashMap;

/// Memory to exchange through is in the frame up to this many bytes.
const LARGEST_IN_FRAME: i128 = 1 << 16;

/// Rewrites the given loops of a function.
pub fn run(module: &mut Module, function: &mut Function, loops: &[Moves]) {
    for moves in loops {
        rewrite(module, function, moves);
    }
}

fn rewrite(module: &mut Module, function: &mut Function, moves: &Moves) {
    let block = moves.block;
    let insts = function.block_insts(block).to_vec();
    let loc = insts.iter().find_map(|&inst| function.inst(inst).loc);
    let is_move = |inst: &Inst| matches!(function.inst(*inst).op, Op::Load(_) | Op::Store(_));
    let others: Vec<Inst> = insts.into_iter().filter(|inst| !is_move(inst)).collect();
    function.set_block_insts(block, others);

    let [guard, overlap, copies] = [(); 3].map(|()| function.add_block());
    let count = match moves.length {
        Some(_) => None,
        None => Some(count_iterations(function, moves)),
    };
    let exit = leave_to(function, moves, guard);

    let mut builder = Builder::new(function, guard);
    builder.loc = loc;
    let width = moves.width;
    let len = match (moves.length, count) {
        (Some(find::Length::Constant(bytes)), _) => builder.func.iconst(Type::i64(), bytes.into()),
        (Some(find::Length::Times(value, 1)), _) => value,
        (Some(find::Length::Times(value, factor)), _) => {
            let factor = builder.func.iconst(Type::i64(), factor.into());
            builder.mul(value, factor)
        }
        (None, count) => {
            let width = builder.func.iconst(Type::i64(), width.into());
            let count = count.unwrap_or(width);
            builder.mul(count, width)
        }
    };
    let mut started = HashMap::new();
    let to = at_start(&mut builder, moves, moves.to, &mut started);
    let from = at_start(&mut builder, moves, moves.from, &mut started);
    let mut bad = reads_written(&mut builder, to, from, len);
    if moves.exchange {
        let other = reads_written(&mut builder, from, to, len);
        bad = builder.binary(BinaryOp::Or, bad, other);
    }
    let edge = |block| Edge {
        block,
        args: Vec::new(),
    };
    builder.branch(bad, edge(overlap), edge(copies));

    builder.block = overlap;
    let why =
        "cannot differentiate a loop that moves bytes onto bytes that it has still to move, at";
    support::stop_at(module, &mut builder, to, why);
    builder.effect(Op::Unreachable, Vec::new());

    builder.block = copies;
    let copy = |builder: &mut Builder<'_>, to: Value, from: Value| {
        let op = Op::MemCopy {
            overlapping: true,
            dst: Access::aligned(1),
            src: Access::aligned(1),
        };
        builder.effect(op, vec![to, from, len]);
    };
    if moves.exchange {
        let held = match builder.func.as_int(len) {
            Some(bytes) if bytes <= LARGEST_IN_FRAME => frame_memory(builder.func, bytes as u64),
            _ => {
                let (malloc, sig) = support::malloc(module);
                let flags = FnFlags::MUST_SUCCEED;
                let memory = builder.call_with(malloc, sig, vec![len], flags);
                memory.unwrap_or(to)
            }
        };
        copy(&mut builder, held, to);
        copy(&mut builder, to, from);
        copy(&mut builder, from, held);
        if builder
            .func
            .as_int(len)
            .is_none_or(|bytes| bytes > LARGEST_IN_FRAME)
        {
            let (free, sig) = support::free(module, "free");
            builder.call(free, sig, vec![held]);
        }
    } else {
        copy(&mut builder, to, from);
    }
    builder.jump(exit.block, exit.args);
    arrange(function, moves, &[guard, overlap, copies]);
}

/// Lets the loop lead to a block when it ends, or what comes before it if nobody looks at what the
/// loop computes. Gives the edge by which it was left.
fn leave_to(function: &mut Function, moves: &Moves, block: Block) -> Edge {
    let edge = Edge {
        block,
        args: Vec::new(),
    };
    let mut exit = edge.clone();
    if let Some(terminator) = function.terminator(moves.block) {
        for old in function.inst_mut(terminator).op.edges_mut() {
            if old.block != moves.block {
                exit = std::mem::replace(old, edge.clone());
            }
        }
    }
    if moves.is_unseen
        && moves.length.is_some()
        && let Some(terminator) = function.terminator(moves.before)
    {
        for old in function.inst_mut(terminator).op.edges_mut() {
            if old.block == moves.block {
                *old = edge.clone();
            }
        }
    }
    exit
}

/// Puts new blocks where the loop is, and takes the loop away if it is not reached any more.
fn arrange(function: &mut Function, moves: &Moves, new: &[Block]) {
    let gone = moves.is_unseen && moves.length.is_some();
    let mut layout = Vec::new();
    for &block in function.blocks() {
        if new.contains(&block) {
            continue;
        }
        if block != moves.block || !gone {
            layout.push(block);
        }
        if block == moves.block {
            layout.extend(new);
        }
    }
    function.set_layout(layout);
}

/// Whether a loop that writes `len` bytes from `to` on reads some of them at `from` later.
fn reads_written(builder: &mut Builder<'_>, to: Value, from: Value, len: Value) -> Value {
    let end = builder.element(from, len, 1);
    let behind = builder.icmp(IntPred::Ult, from, to);
    let before_end = builder.icmp(IntPred::Ult, to, end);
    builder.binary(BinaryOp::And, behind, before_end)
}

/// The value that an address of the loop has in the first iteration.
fn at_start(
    builder: &mut Builder<'_>,
    moves: &Moves,
    value: Value,
    started: &mut HashMap<Value, Value>,
) -> Value {
    if let Some(&known) = moves.starts.get(&value).or(started.get(&value)) {
        return known;
    }
    let inst = builder.func.def_inst(value);
    let Some(inst) = inst.filter(|inst| moves.insts.contains(inst)) else {
        return value;
    };
    let data = builder.func.inst(inst).clone();
    let args = data.args.iter();
    let args = args
        .map(|&v| at_start(builder, moves, v, started))
        .collect();
    let ty = builder.func.ty(value);
    let made = builder.inst(data.op, args, ty, data.flags);
    let made = builder.func.result(made).unwrap_or(value);
    started.insert(value, made);
    made
}

/// Counts the iterations of a loop, from 1 in the first.
fn count_iterations(function: &mut Function, moves: &Moves) -> Value {
    let block = moves.block;
    let counter = function.add_block_param(block, Type::i64());
    let (zero, one) = (
        function.iconst(Type::i64(), 0),
        function.iconst(Type::i64(), 1),
    );
    let data = InstData::new(Op::Binary(BinaryOp::Add), vec![counter, one]);
    let next = function.insert_inst(block, 0, data, Type::i64());
    let next = function.result(next).unwrap_or(counter);
    for (from, value) in [(moves.before, zero), (block, next)] {
        if let Some(terminator) = function.terminator(from) {
            for edge in function.inst_mut(terminator).op.edges_mut() {
                if edge.block == block {
                    edge.args.push(value);
                }
            }
        }
    }
    next
}

/// So many bytes of the frame.
fn frame_memory(function: &mut Function, bytes: u64) -> Value {
    let entry = function.entry();
    let one = function.iconst(Type::i64(), 1);
    let op = Op::Alloca {
        ty: Type::array(Type::int(8), bytes),
        align: 16,
    };
    let inst = function.insert_inst(entry, 0, InstData::new(op, vec![one]), Type::ptr());
    function.result(inst).unwrap_or(one)
}
