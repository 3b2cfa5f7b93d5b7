//! Finds loops that do nothing but move memory.

use crate::ir::{BinaryOp, Block, Edge, Function, Inst, IntPred, Op, Type, Value};
use std::collections::HashMap;

/// A loop of one block that copies memory, or exchanges it, element by element.
#[derive(Clone, Debug)]
pub struct Moves {
    /// The block that the loop is.
    pub block: Block,
    /// The block that control comes from.
    pub(super) before: Block,
    /// The instructions of the loop.
    pub(super) insts: Vec<Inst>,
    /// What its parameters are in the first iteration.
    pub(super) starts: HashMap<Value, Value>,
    /// The address that is written in an iteration.
    pub(super) to: Value,
    /// The address that is read in an iteration.
    pub(super) from: Value,
    /// Whether what was at the address that is written goes to the one that is read.
    pub(super) exchange: bool,
    /// How many bytes are moved in an iteration.
    pub(super) width: i64,
    /// How many bytes are moved, if that can be said without running the loop.
    pub(super) length: Option<Length>,
    /// Whether nothing that the loop computes is used after it.
    pub(super) is_unseen: bool,
    /// The stores of the loop.
    pub stores: Vec<Inst>,
}

/// How many bytes a loop moves.
#[derive(Copy, Clone, Debug)]
pub(super) enum Length {
    Constant(i64),
    /// A value from before the loop, times a number.
    Times(Value, i64),
}

/// The loops of a function that only move memory from one end to the other.
pub fn find(function: &Function) -> Vec<Moves> {
    let blocks = function.blocks().iter();
    blocks.filter_map(|&block| moves(function, block)).collect()
}

/// Loops that run longer than this are not run to find out how long they run.
const MOST_ITERATIONS: i64 = 1 << 16;

fn moves(function: &Function, block: Block) -> Option<Moves> {
    let insts = function.block_insts(block).to_vec();
    let &terminator = insts.last()?;
    let Op::Branch { then, other } = &function.inst(terminator).op else {
        return None;
    };
    let (again, ends_if) = match (then.block == block, other.block == block) {
        (true, false) => (then, false),
        (false, true) => (other, true),
        _ => return None,
    };
    let (before, entry) = only_entry(function, block)?;
    let found = Found {
        function,
        insts: &insts,
        steps: steps(function, block, again)?,
    };

    let mut loads: HashMap<Value, Value> = HashMap::new();
    let mut stores: Vec<(Value, Value)> = Vec::new();
    let mut store_insts = Vec::new();
    let mut ty: Option<Type> = None;
    let uses = function.use_counts();
    for &inst in &insts[..insts.len() - 1] {
        let data = function.inst(inst);
        let access = match &data.op {
            Op::Load(access) if stores.is_empty() => {
                let result = function.result(inst)?;
                if uses[result] != 1 {
                    return None;
                }
                loads.insert(result, data.args[0]);
                ty = ty.or(Some(function.ty(result)));
                access
            }
            Op::Store(access) => {
                stores.push((*loads.get(&data.args[0])?, data.args[1]));
                store_insts.push(inst);
                if Some(function.ty(data.args[0])) != ty {
                    return None;
                }
                access
            }
            Op::Address { .. } | Op::Binary(_) | Op::ICmp(_) | Op::Cast(_) => continue,
            // It tells the optimizer that accesses of one iteration are apart, and does nothing.
            Op::Opaque(opaque) if opaque.name == "llvm.experimental.noalias.scope.decl" => continue,
            _ => return None,
        };
        if access.volatile || access.atomic.is_some() {
            return None;
        }
    }
    let bits = ty?.int_bits().filter(|bits| bits % 8 == 0)?;
    let width = i64::from(bits / 8);
    let exchange = match *stores {
        [_] if loads.len() == 1 => false,
        [(a, b), (c, d)] if loads.len() == 2 && (a, b) == (d, c) => true,
        _ => return None,
    };
    let (from, to) = stores[0];
    if found.step(from)? != width || found.step(to)? != width || from == to {
        return None;
    }
    let params = function.block_params(block).iter().copied();
    let starts: HashMap<Value, Value> = params.zip(entry.args.iter().copied()).collect();
    let condition = function.inst(terminator).args[0];
    let length = found.length(condition, ends_if, &starts, width);
    Some(Moves {
        block,
        before,
        to,
        from,
        exchange,
        width,
        length,
        is_unseen: is_unseen(function, block, &insts),
        stores: store_insts,
        starts,
        insts,
    })
}

/// The one edge by which a loop is entered, and the block that it leaves.
fn only_entry(function: &Function, block: Block) -> Option<(Block, Edge)> {
    let mut entries = Vec::new();
    for &from in function.blocks() {
        if from != block {
            let edges = function.edges(from).into_iter();
            let edges = edges.filter(|edge| edge.block == block);
            entries.extend(edges.map(|edge| (from, edge.clone())));
        }
    }
    match entries.len() {
        1 => entries.pop(),
        _ => None,
    }
}

/// By how much each parameter of a loop grows in an iteration, all of them by constants.
fn steps(function: &Function, block: Block, again: &Edge) -> Option<HashMap<Value, i64>> {
    let params = function.block_params(block).iter();
    let step = |(&param, &next): (&Value, &Value)| {
        let data = function.inst(function.def_inst(next)?);
        let constant = |v: Value| i64::try_from(function.as_int(v)?).ok();
        let by = match &data.op {
            Op::Binary(BinaryOp::Add) if data.args[0] == param => constant(data.args[1])?,
            Op::Binary(BinaryOp::Sub) if data.args[0] == param => {
                constant(data.args[1])?.checked_neg()?
            }
            Op::Address { offset, scales } if data.args[0] == param && scales.is_empty() => *offset,
            _ => return None,
        };
        let ty = function.ty(param);
        (ty.is_ptr() || ty == Type::i64()).then_some((param, by))
    };
    params.zip(&again.args).map(step).collect()
}

/// Whether nothing that a block defines is used elsewhere, also not on its edges to others.
fn is_unseen(function: &Function, block: Block, insts: &[Inst]) -> bool {
    let mut own: Vec<Value> = function.block_params(block).to_vec();
    own.extend(insts.iter().filter_map(|&inst| function.result(inst)));
    let leaving = function.edges(block).into_iter();
    let mut leaving = leaving.filter(|edge| edge.block != block);
    let mut others = function.blocks().iter().filter(|other| **other != block);
    leaving.all(|edge| edge.args.iter().all(|v| !own.contains(v)))
        && others.all(|&other| {
            function.block_insts(other).iter().all(|&inst| {
                let mut used = false;
                let data = function.inst(inst);
                data.for_each_operand(|v| used |= own.contains(&v));
                !used
            })
        })
}

struct Found<'a> {
    function: &'a Function,
    insts: &'a [Inst],
    steps: HashMap<Value, i64>,
}

impl Found<'_> {
    /// By how much a value grows in an iteration, if that is the same in all.
    fn step(&self, value: Value) -> Option<i64> {
        if let Some(&step) = self.steps.get(&value) {
            return Some(step);
        }
        let inst = self.function.def_inst(value);
        let Some(inst) = inst.filter(|inst| self.insts.contains(inst)) else {
            return Some(0);
        };
        let data = self.function.inst(inst);
        match &data.op {
            Op::Address { scales, .. } => {
                let indices = scales.iter().zip(&data.args[1..]);
                let parts = indices.map(|(scale, &v)| self.step(v)?.checked_mul(*scale));
                parts.fold(self.step(data.args[0]), |sum, part| sum?.checked_add(part?))
            }
            Op::Binary(BinaryOp::Add) => {
                let (a, b) = (self.step(data.args[0])?, self.step(data.args[1])?);
                a.checked_add(b).filter(|_| self.is_wide(value))
            }
            Op::Binary(BinaryOp::Sub) => {
                let (a, b) = (self.step(data.args[0])?, self.step(data.args[1])?);
                a.checked_sub(b).filter(|_| self.is_wide(value))
            }
            Op::Binary(BinaryOp::Shl) => {
                let bits = self
                    .constant(data.args[1])
                    .filter(|bits| (0..32).contains(bits))?;
                let step = self.step(data.args[0])?;
                step.checked_mul(1 << bits).filter(|_| self.is_wide(value))
            }
            _ => None,
        }
    }

    fn is_wide(&self, value: Value) -> bool {
        self.function.ty(value) == Type::i64()
    }

    fn constant(&self, value: Value) -> Option<i64> {
        i64::try_from(self.function.as_int(value)?).ok()
    }

    /// How many bytes the loop moves, by what ends it.
    fn length(
        &self,
        condition: Value,
        ends_if: bool,
        starts: &HashMap<Value, Value>,
        width: i64,
    ) -> Option<Length> {
        let data = self.function.inst(self.function.def_inst(condition)?);
        let Op::ICmp(pred) = data.op else {
            return None;
        };
        let (counter, bound) = (data.args[0], data.args[1]);
        if !self.is_wide(counter) || self.step(bound)? != 0 {
            return None;
        }
        let step = self.step(counter)?;
        let first = self.at_start(counter, starts)?;
        if let Some(bound) = self.constant(bound) {
            for count in 1..MOST_ITERATIONS {
                let now = first.wrapping_add(step.wrapping_mul(count - 1));
                if holds(pred, now, bound) == ends_if {
                    return Some(Length::Constant(count * width));
                }
            }
            return None;
        }
        // The counter is looked at after it was counted up, and ends at the bound.
        let ends_at = matches!((pred, ends_if), (IntPred::Eq, true) | (IntPred::Ne, false));
        let counts_from_0 = first == step && step > 0 && width % step == 0;
        let known_before = self
            .function
            .def_inst(bound)
            .is_none_or(|inst| !self.insts.contains(&inst));
        let known_before = known_before && !self.steps.contains_key(&bound);
        (ends_at && counts_from_0 && known_before && self.is_wide(bound))
            .then_some(Length::Times(bound, width / step))
    }

    /// What an integer is in the first iteration, if that is a constant.
    fn at_start(&self, value: Value, starts: &HashMap<Value, Value>) -> Option<i64> {
        if let Some(&start) = starts.get(&value) {
            return self.constant(start);
        }
        if let Some(constant) = self.constant(value) {
            return Some(constant);
        }
        let inst = self.function.def_inst(value)?;
        let data = self.function.inst(inst);
        let of = |i: usize| self.at_start(data.args[i], starts);
        match &data.op {
            _ if !self.insts.contains(&inst) => None,
            Op::Binary(BinaryOp::Add) => of(0)?.checked_add(of(1)?),
            Op::Binary(BinaryOp::Sub) => of(0)?.checked_sub(of(1)?),
            _ => None,
        }
    }
}

fn holds(pred: IntPred, x: i64, y: i64) -> bool {
    let (a, b) = (x as u64, y as u64);
    match pred {
        IntPred::Eq => x == y,
        IntPred::Ne => x != y,
        IntPred::Ult => a < b,
        IntPred::Ule => a <= b,
        IntPred::Ugt => a > b,
        IntPred::Uge => a >= b,
        IntPred::Slt => x < y,
        IntPred::Sle => x <= y,
        IntPred::Sgt => x > y,
        IntPred::Sge => x >= y,
    }
}
