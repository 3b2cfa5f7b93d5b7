//! The rules: what each instruction says about the types of its values.
//!
//! Facts go both ways between operands and results. An instruction is looked at again only if one
//! of its values has changed since.

use super::advancing::advancing;
use super::factor::factor;
use super::shape::gcd;
use super::summaries::{Summaries, returned_values};
use super::{Cell, Hint, Shape};
use crate::ir::{Callee, Constant, Edge, Func, Function, Inst, Module, Op, Type, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};

pub(super) struct Solver<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) shapes: SecondaryMap<Value, Shape>,
    /// Addresses that are made anew in each iteration from the last.
    advancing: EntitySet<Inst>,
    changed: bool,
    /// Counts the instructions looked at.
    clock: u32,
    /// When a shape last changed.
    changed_at: SecondaryMap<Value, u32>,
    /// When an instruction was last looked at: it has nothing new to say until one of its values
    /// changes.
    seen_at: SecondaryMap<Inst, u32>,
    /// Whether what repeats says something about memory that is moved.
    pub(super) repeated: bool,
    /// Whether callees are told what this function knows.
    in_context: bool,
    summaries: &'a mut Summaries,
}

impl<'a> Solver<'a> {
    pub(super) fn new(
        module: &'a Module,
        function: &'a Function,
        summaries: &'a mut Summaries,
    ) -> Solver<'a> {
        Solver {
            module,
            function,
            shapes: SecondaryMap::new(),
            advancing: advancing(function),
            changed: false,
            clock: 1,
            changed_at: SecondaryMap::new(),
            seen_at: SecondaryMap::new(),
            repeated: false,
            in_context: false,
            summaries,
        }
    }

    /// Takes note of what the caller knows of the arguments and, after them, of the result.
    pub(super) fn start(&mut self, known: &[Shape]) {
        let function = self.function;
        for (&argument, shape) in function.arguments().iter().zip(known) {
            self.learn(argument, shape);
        }
        if let Some(shape) = known.get(function.arguments().len()) {
            for value in returned_values(function) {
                self.learn(value, shape);
            }
        }
    }

    /// Learns until nothing is new.
    ///
    /// First what was seen at fixed offsets, because it counts before what repeats and must not
    /// come too late: a copy makes what repeats a fact about fixed offsets. Then all that the
    /// function and its callees say by themselves. Then what callees say given what this function
    /// knows: that hardly changes any more by then, so there are few contexts to analyse callees
    /// in.
    pub(super) fn solve(&mut self) {
        for (repeated, in_context, most_rounds) in
            [(false, false, 64), (true, false, 64), (true, true, 8)]
        {
            self.repeated = repeated;
            self.in_context = in_context;
            self.seen_at.clear();
            // Every round carries each fact over at least one instruction; loops close in a few
            // more.
            for _ in 0..most_rounds {
                self.changed = false;
                self.round();
                if !self.changed {
                    break;
                }
            }
        }
    }

    pub(super) fn learn(&mut self, value: Value, shape: &Shape) {
        // Nothing is learned about constants: one `0` stands in many places.
        if !matches!(self.function.def(value), ValueDef::Const(c) if !is_address(c)) {
            let changed = self.shapes[value].merge(shape);
            if changed {
                self.changed = true;
                self.changed_at[value] = self.clock;
            }
        }
    }

    pub(super) fn learn_bytes(&mut self, value: Value, cell: &Cell) {
        let size = self.size(self.function.ty(value));
        let mut shape = Shape::default();
        for offset in 0..size {
            shape.insert(offset, cell.clone());
        }
        self.learn(value, &shape);
    }

    pub(super) fn unify(&mut self, a: Value, b: Value) {
        if a == b {
            return;
        }
        for (from, to) in [(a, b), (b, a)] {
            // The shape is put aside and not copied: most of the time nothing is new in it.
            let shape = std::mem::take(&mut self.shapes[from]);
            self.learn(to, &shape);
            self.shapes[from] = shape;
        }
    }

    pub(super) fn size(&self, ty: Type) -> i64 {
        self.module.layout.store_size(ty) as i64
    }

    pub(super) fn round(&mut self) {
        let function = self.function;
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                if !self.has_news(inst) {
                    continue;
                }
                self.clock += 1;
                self.seen_at[inst] = self.clock;
                self.transfer(inst);
                for edge in function.inst(inst).op.edges() {
                    self.edge(edge);
                }
            }
        }
    }

    /// Whether a value of an instruction has changed since it was looked at, or by that.
    pub(super) fn has_news(&self, inst: Inst) -> bool {
        let seen = self.seen_at[inst];
        let news = |value: &Value| self.changed_at[*value] >= seen;
        let data = self.function.inst(inst);
        let result = self.function.result(inst);
        seen == 0
            || data.args.iter().chain(&result).any(news)
            || data.op.edges().iter().any(|edge| {
                let params = self.function.block_params(edge.block);
                edge.args.iter().chain(params).any(news)
            })
    }

    pub(super) fn edge(&mut self, edge: &Edge) {
        let params = self.function.block_params(edge.block).to_vec();
        for (&param, &argument) in params.iter().zip(&edge.args) {
            self.unify(param, argument);
        }
    }

    pub(super) fn transfer(&mut self, inst: Inst) {
        let function = self.function;
        let data = function.inst(inst);
        let result = function.result(inst);
        match (&data.op, result) {
            (Op::Address { offset, scales }, Some(result)) => {
                let step = match self.advancing.contains(inst) {
                    true => offset.abs(),
                    false => 0,
                };
                let terms = scales.iter().zip(&data.args[1..]);
                let stride = terms.fold(step, |g, (&scale, &index)| {
                    gcd(g, scale.saturating_mul(factor(function, index)))
                });
                self.address(data.args[0], *offset, stride, result);
                for &index in &data.args[1..] {
                    self.learn_bytes(index, &Cell::Int);
                }
            }
            (Op::Load(access), Some(result)) => {
                self.memory(data.args[0], result);
                self.tagged(access.tbaa, data.args[0], function.ty(result));
            }
            (Op::Store(access), _) => {
                self.memory(data.args[1], data.args[0]);
                self.tagged(access.tbaa, data.args[1], function.ty(data.args[0]));
            }
            (Op::Accumulate(_), _) => self.memory(data.args[0], data.args[1]),
            (Op::MemCopy { .. }, _) => self.copy(&data.args),
            (Op::Select, Some(result)) => {
                self.unify(data.args[1], result);
                self.unify(data.args[2], result);
            }
            (Op::Unary(_), Some(result)) => self.unify(data.args[0], result),
            (Op::Cast(op), Some(result)) => self.cast(*op, data.args[0], result),
            (Op::Binary(op), Some(result)) => self.binary(*op, &data.args, result),
            (Op::Extract(path), Some(result)) => {
                let whole = function.ty(data.args[0]);
                let offset = self.module.layout.path_offset(whole, path) as i64;
                self.part(data.args[0], offset, result);
            }
            (Op::Insert(path), Some(result)) => {
                let whole = function.ty(data.args[0]);
                let offset = self.module.layout.path_offset(whole, path) as i64;
                self.part(result, offset, data.args[1]);
                self.others(
                    data.args[0],
                    result,
                    offset,
                    self.size(function.ty(data.args[1])),
                );
            }
            (Op::ExtractElement, Some(result)) => {
                if let Some(offset) = self.lane_offset(data.args[0], data.args[1]) {
                    self.part(data.args[0], offset, result);
                }
            }
            (Op::InsertElement, Some(result)) => {
                if let Some(offset) = self.lane_offset(data.args[0], data.args[2]) {
                    self.part(result, offset, data.args[1]);
                    let size = self.size(function.ty(data.args[1]));
                    self.others(data.args[0], result, offset, size);
                }
            }
            (Op::Shuffle(mask), Some(result)) => self.shuffle(mask, &data.args, result),
            (Op::Call(call), result) | (Op::Invoke { call, .. }, result) => {
                if let Callee::Direct(func) = call.callee {
                    self.call(func, &data.args, result);
                }
            }
            // What is compared is of one kind.
            (Op::ICmp(_), _) => self.unify(data.args[0], data.args[1]),
            (Op::Switch { .. }, _) => self.learn_bytes(data.args[0], &Cell::Int),
            _ => {}
        }
    }

    pub(super) fn call(&mut self, func: Func, args: &[Value], result: Option<Value>) {
        let callee = &self.module.funcs[func];
        if callee.is_declaration() {
            if let (Some(hint), Some(&pointer)) = (Hint::of_symbol(&callee.name), args.first()) {
                let bytes = args.get(1).and_then(|&bytes| self.function.as_int(bytes));
                let shape = hint.shape(bytes.and_then(|n| i64::try_from(n).ok()));
                self.learn(pointer, &shape);
            }
            return;
        }
        let count = self.module.funcs[func].arguments().len();
        if args.len() != count {
            return;
        }
        let values = || args.iter().copied().chain(result);
        let known = match self.in_context {
            true => values().map(|v| self.shapes[v].clone()).collect(),
            false => Vec::new(),
        };
        let learned = self.summaries.get(self.module, func, known);
        for (value, shape) in values().zip(&learned) {
            self.learn(value, shape);
        }
    }
}

fn is_address(constant: &Constant) -> bool {
    matches!(constant, Constant::Address(..))
}
