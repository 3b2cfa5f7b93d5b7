//! What is at each byte: an integer, a pointer to something, or which float.
//!
//! LLVM's types say this for loads and stores of floats and pointers. They do not where a program
//! moves floats as integers (struct copies, unions, small arrays in registers) or moves memory
//! whose type the instruction does not name (memcpy). There, every other use of the same bytes is
//! evidence, and this analysis carries it along: from a pointer to what is computed from it and
//! back, through loads, stores, copies, phis and calls, until nothing new is learned.
//!
//! A fact comes from an instruction that works on a float or a pointer, from integer arithmetic,
//! from an alias class with a telling name, from a hint in the program, or from the caller. An access at a variable index
//! speaks for every element of its stride; an access at a fixed offset counts before such a fact.
//! Where facts disagree the answer is *conflict*, and where there is none it is *unknown*: what
//! needs the type then refuses the program.

mod advancing;
mod bytes;
mod factor;
mod hint;
mod shape;
mod summaries;

pub use bytes::known_byte;
pub use hint::Hint;
pub use shape::{Cell, Piece, Shape, gcd};

use crate::ir::{
    BinaryOp, Callee, CastOp, Constant, Edge, FloatKind, Func, Function, Inst, Module, Nest, Op,
    Type, Value, ValueDef,
};
use bytes::is_flag_mask;
use cranelift_entity::{EntitySet, SecondaryMap};
use factor::factor;
use std::sync::Arc;
use summaries::{Summaries, returned_values};

/// The types of a function's values, byte by byte.
#[derive(Clone, Debug)]
pub struct Types {
    /// For a pointer (or vector of pointers) what is behind it, otherwise the bytes themselves.
    shapes: SecondaryMap<Value, Shape>,
}

impl Types {
    /// Analyses a function, given what the caller knows of its arguments and, after them, of its
    /// result.
    pub fn new(module: &Module, function: &Function, known: &[Shape]) -> Types {
        Types::with_summaries(module, function, known, &mut Summaries::default())
    }

    fn with_summaries(
        module: &Module,
        function: &Function,
        known: &[Shape],
        summaries: &mut Summaries,
    ) -> Types {
        let mut solver = Solver {
            module,
            function,
            shapes: SecondaryMap::new(),
            advancing: advancing::advancing(function),
            changed: false,
            clock: 1,
            changed_at: SecondaryMap::new(),
            seen_at: SecondaryMap::new(),
            repeated: false,
            in_context: false,
            summaries,
        };
        for (&argument, shape) in function.arguments().iter().zip(known) {
            solver.learn(argument, shape);
        }
        if let Some(shape) = known.get(function.arguments().len()) {
            for value in returned_values(function) {
                solver.learn(value, shape);
            }
        }
        // First what was seen at fixed offsets, because it counts before what repeats and must not
        // come too late: a copy makes what repeats a fact about fixed offsets. Then all that the
        // function and its callees say by themselves. Then what callees say given what this
        // function knows: that hardly changes any more by then, so there are few contexts to
        // analyse callees in.
        for (repeated, in_context, most_rounds) in
            [(false, false, 64), (true, false, 64), (true, true, 8)]
        {
            solver.repeated = repeated;
            solver.in_context = in_context;
            solver.seen_at.clear();
            // Every round carries each fact over at least one instruction; loops close in a few
            // more.
            for _ in 0..most_rounds {
                solver.changed = false;
                solver.round();
                if !solver.changed {
                    break;
                }
            }
        }
        Types {
            shapes: solver.shapes,
        }
    }

    /// What is behind a pointer, or the content of a value of another type.
    pub fn shape(&self, value: Value) -> &Shape {
        &self.shapes[value]
    }

    /// The scalars that a value consists of, with byte offsets.
    pub fn pieces(&self, module: &Module, function: &Function, value: Value) -> Vec<(i64, Piece)> {
        let ty = function.ty(value);
        let mut pieces = Vec::new();
        for (offset, scalar) in module.layout.scalars(ty) {
            let offset = offset as i64;
            match scalar.float_kind() {
                Some(kind) => pieces.push((offset, Piece::Float(kind))),
                None if scalar.is_ptr() => pieces.push((offset, Piece::Ptr)),
                None => {
                    let bytes = module.layout.store_size(scalar) as i64;
                    let inner = self.shapes[value].pieces(offset, bytes);
                    pieces.extend(inner.into_iter().map(|(at, p)| (offset + at, p)));
                }
            }
        }
        pieces
    }

    /// The scalars in `len` bytes of memory behind a pointer.
    pub fn memory_pieces(&self, pointer: Value, len: i64) -> Vec<(i64, Piece)> {
        self.shapes[pointer].pieces(0, len)
    }
}

struct Solver<'a> {
    module: &'a Module,
    function: &'a Function,
    shapes: SecondaryMap<Value, Shape>,
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
    repeated: bool,
    /// Whether callees are told what this function knows.
    in_context: bool,
    summaries: &'a mut Summaries,
}

impl Solver<'_> {
    fn learn(&mut self, value: Value, shape: &Shape) {
        // Nothing is learned about constants: one `0` stands in many places.
        if !matches!(self.function.def(value), ValueDef::Const(c) if !is_address(c)) {
            let changed = self.shapes[value].merge(shape);
            if changed {
                self.changed = true;
                self.changed_at[value] = self.clock;
            }
        }
    }

    fn learn_bytes(&mut self, value: Value, cell: &Cell) {
        let size = self.size(self.function.ty(value));
        let mut shape = Shape::default();
        for offset in 0..size {
            shape.insert(offset, cell.clone());
        }
        self.learn(value, &shape);
    }

    fn unify(&mut self, a: Value, b: Value) {
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

    fn size(&self, ty: Type) -> i64 {
        self.module.layout.store_size(ty) as i64
    }

    fn round(&mut self) {
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
    fn has_news(&self, inst: Inst) -> bool {
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

    fn edge(&mut self, edge: &Edge) {
        let params = self.function.block_params(edge.block).to_vec();
        for (&param, &argument) in params.iter().zip(&edge.args) {
            self.unify(param, argument);
        }
    }

    fn transfer(&mut self, inst: Inst) {
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
            (Op::Nest(nest), _) => self.nest(nest, &data.args),
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

    /// `result = base + offset + k·stride` for an unknown k.
    fn address(&mut self, base: Value, offset: i64, stride: i64, result: Value) {
        let there = self.shapes[base].shifted(offset);
        let back = self.shapes[result].clone();
        if stride == 0 {
            self.learn(result, &there);
            self.learn(base, &back.shifted(-offset));
        } else {
            self.learn(result, &there.indexed(stride));
            self.learn(base, &back.unindexed(stride).shifted(-offset));
        }
    }

    /// A value that is loaded from or stored behind a pointer.
    fn memory(&mut self, pointer: Value, value: Value) {
        let ty = self.function.ty(value);
        if !self.function.ty(pointer).is_ptr()
            || matches!(ty.kind(), crate::ir::TypeKind::Opaque(_))
        {
            return;
        }
        let content = self.content(value);
        self.learn(pointer, &content);
        let behind = self.moved(pointer, self.size(ty));
        self.learn_content(value, &behind);
    }

    /// What the views of a nest say of memory. Distances of which nothing is known say nothing.
    fn nest(&mut self, nest: &Nest, args: &[Value]) {
        let elements = (0..nest.inputs.len()).map(|i| nest.body.func.ty(nest.element(i)));
        let results = (0..nest.outputs.len()).map(|i| nest.output_type(i));
        for (view, ty) in elements.chain(results).enumerate() {
            let Some(kind) = ty.float_kind() else {
                continue;
            };
            let operands = &args[nest.view(view)];
            let element = Shape::cell(0, Cell::Float(kind));
            let distances = operands[1..]
                .iter()
                .map(|&v| match self.function.as_int(v) {
                    Some(0) => 0,
                    _ => factor(self.function, v),
                });
            let known = distances.filter(|distance| distance % i64::from(kind.bytes()) == 0);
            let shape = match known.fold(0, gcd) {
                0 => element,
                stride => element.unindexed(stride),
            };
            self.learn(operands[0], &shape);
        }
    }

    /// What is known of memory that is moved as a whole.
    fn moved(&self, pointer: Value, len: i64) -> Shape {
        match self.repeated {
            true => self.shapes[pointer].cut(len),
            false => self.shapes[pointer].seen(len),
        }
    }

    /// The bytes of a value as a shape.
    fn content(&self, value: Value) -> Shape {
        let ty = self.function.ty(value);
        let mut shape = Shape::default();
        for (offset, scalar) in self.module.layout.scalars(ty) {
            let offset = offset as i64;
            if let Some(kind) = scalar.float_kind() {
                shape.insert(offset, Cell::Float(kind));
            } else if scalar.is_ptr() {
                let inner = if ty.is_ptr() || ty.lanes().is_some() {
                    Arc::new(self.shapes[value].clone())
                } else {
                    match self.shapes[value].get(offset) {
                        Some(Cell::Ptr(inner)) => inner.clone(),
                        _ => Arc::default(),
                    }
                };
                shape.insert(offset, Cell::Ptr(inner));
            } else {
                let size = self.size(scalar);
                shape.merge(
                    &self.shapes[value]
                        .shifted(offset)
                        .cut(size)
                        .shifted(-offset),
                );
            }
        }
        shape
    }

    /// Learns the bytes of a value.
    fn learn_content(&mut self, value: Value, content: &Shape) {
        let ty = self.function.ty(value);
        if ty.scalar().is_ptr() {
            if let Some(Cell::Ptr(inner)) = content.get(0) {
                self.learn(value, inner);
            }
            return;
        }
        self.learn(value, content);
    }

    /// `part` stands at `offset` in `whole`.
    fn part(&mut self, whole: Value, offset: i64, part: Value) {
        let size = self.size(self.function.ty(part));
        let inner = self.content(whole).shifted(offset).cut(size);
        self.learn_content(part, &inner);
        let outer = self.content(part).shifted(-offset);
        self.learn_content(whole, &outer);
    }

    /// The bytes of two values are equal outside of a range.
    fn others(&mut self, a: Value, b: Value, offset: i64, size: i64) {
        for (from, to) in [(a, b), (b, a)] {
            let whole = self.size(self.function.ty(from));
            let content = self.content(from);
            let mut outside = content.cut(offset);
            outside.merge(
                &content
                    .shifted(offset + size)
                    .cut(whole - offset - size)
                    .shifted(-offset - size),
            );
            self.learn_content(to, &outside);
        }
    }

    fn lane_offset(&self, vector: Value, index: Value) -> Option<i64> {
        let index = self.function.as_int(index)?;
        let ty = self.function.ty(vector);
        Some(self.module.layout.part_offset(ty, index as u64) as i64)
    }

    fn shuffle(&mut self, mask: &[i32], args: &[Value], result: Value) {
        let function = self.function;
        if function.ty(result).scalar().is_ptr() {
            self.unify(args[0], result);
            self.unify(args[1], result);
            return;
        }
        let lane = self.size(function.ty(result).scalar());
        let lanes = function.ty(args[0]).part_count() as i32;
        for (to, &from) in mask.iter().enumerate() {
            if from < 0 {
                continue;
            }
            let (source, from) = match from < lanes {
                true => (args[0], from),
                false => (args[1], from - lanes),
            };
            let (from, to) = (i64::from(from) * lane, to as i64 * lane);
            let shape = self.shapes[source].shifted(from).cut(lane).shifted(-to);
            self.learn(result, &shape);
            let shape = self.shapes[result].shifted(to).cut(lane).shifted(-from);
            self.learn(source, &shape);
        }
    }

    fn copy(&mut self, args: &[Value]) {
        let (to, from) = (args[0], args[1]);
        for (a, b) in [(to, from), (from, to)] {
            let shape = match self.function.as_int(args[2]) {
                Some(len) if len <= 4096 => self.moved(a, len as i64),
                _ => self.shapes[a].clone(),
            };
            self.learn(b, &shape);
        }
        self.learn_bytes(args[2], &Cell::Int);
    }

    fn cast(&mut self, op: CastOp, from: Value, to: Value) {
        match op {
            CastOp::Bitcast => {
                let content = self.content(from);
                self.learn_content(to, &content);
                let content = self.content(to);
                self.learn_content(from, &content);
            }
            CastOp::Trunc | CastOp::ZExt => {
                let (small, large) = if op == CastOp::Trunc {
                    (to, from)
                } else {
                    (from, to)
                };
                if self.function.ty(small).is_int() {
                    let size = self.size(self.function.ty(small));
                    let shape = self.shapes[large].cut(size);
                    self.learn(small, &shape);
                    let shape = self.shapes[small].cut(size);
                    self.learn(large, &shape);
                }
            }
            CastOp::SExt | CastOp::SiToFp | CastOp::UiToFp => self.learn_bytes(from, &Cell::Int),
            CastOp::FpToSi | CastOp::FpToUi => self.learn_bytes(to, &Cell::Int),
            CastOp::PtrToInt => {
                let inner = self.shapes[from].clone();
                self.learn(to, &Shape::cell(0, Cell::Ptr(Arc::new(inner))));
            }
            CastOp::IntToPtr => {
                if let Some(Cell::Ptr(inner)) = self.shapes[from].get(0).cloned() {
                    self.learn(to, &inner);
                }
                let inner = self.shapes[to].clone();
                self.learn(from, &Shape::cell(0, Cell::Ptr(Arc::new(inner))));
            }
            CastOp::AddrSpaceCast => self.unify(from, to),
            CastOp::FpTrunc | CastOp::FpExt => {}
        }
    }

    fn binary(&mut self, op: BinaryOp, args: &[Value], result: Value) {
        use BinaryOp::*;
        match op {
            Shl | LShr => {
                let Some(bits) = self.function.as_int(args[1]) else {
                    return;
                };
                let size = self.size(self.function.ty(result));
                if bits % 8 != 0 || bits < 0 || !self.function.ty(result).is_int() {
                    return;
                }
                let bytes = bits as i64 / 8;
                let (low, high) = if op == LShr {
                    (result, args[0])
                } else {
                    (args[0], result)
                };
                let shape = self.shapes[high].shifted(bytes).cut(size - bytes);
                self.learn(low, &shape);
                let shape = self.shapes[low].cut(size - bytes).shifted(-bytes);
                self.learn(high, &shape);
            }
            // The bits of floats may be put together, taken apart and have their sign changed
            // this way, so these prove nothing by themselves.
            And | Or | Xor => {
                let mask = args.iter().find_map(|&v| self.function.as_int(v));
                if mask.is_some_and(|mask| is_flag_mask(op, mask, self.function.ty(result))) {
                    self.learn_bytes(args[0], &Cell::Int);
                    self.learn_bytes(args[1], &Cell::Int);
                    self.learn_bytes(result, &Cell::Int);
                } else {
                    self.bitwise(op, args, result);
                }
            }
            Add | Sub | Mul | UDiv | SDiv | URem | SRem | AShr => {
                let operands = [args[0], args[1], result];
                let address = |v: &Value| matches!(self.shapes[*v].get(0), Some(Cell::Ptr(_)));
                if !operands.iter().any(address) {
                    operands
                        .iter()
                        .for_each(|&v| self.learn_bytes(v, &Cell::Int));
                }
            }
            FAdd | FSub | FMul | FDiv | FRem => {}
        }
    }

    /// Where one operand is known to be zero, a byte of the result is that of the other.
    fn bitwise(&mut self, op: BinaryOp, args: &[Value], result: Value) {
        let size = self.size(self.function.ty(result));
        for (x, y) in [(args[0], args[1]), (args[1], args[0])] {
            for byte in 0..size {
                let kept = match (op, known_byte(self.function, y, byte, 0)) {
                    (BinaryOp::And, Some(mask)) => mask == 0xff,
                    (_, Some(bits)) => bits == 0,
                    _ => false,
                };
                if !kept {
                    continue;
                }
                for (from, to) in [(x, result), (result, x)] {
                    if let Some(cell) = self.shapes[from].get(byte).cloned()
                        && cell.bytes() + byte <= size
                    {
                        let whole = (byte..byte + cell.bytes()).all(|b| {
                            known_byte(self.function, y, b, 0)
                                == known_byte(self.function, y, byte, 0)
                        });
                        if whole {
                            self.learn(to, &Shape::cell(byte, cell));
                        }
                    }
                }
            }
        }
    }

    fn call(&mut self, func: Func, args: &[Value], result: Option<Value>) {
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

    /// What the name of an alias class says about an access of this type.
    fn tagged(&mut self, tbaa: Option<crate::ir::Tbaa>, pointer: Value, ty: Type) {
        let Some(tbaa) = tbaa else { return };
        let size = self.size(ty);
        if !ty.is_int_like() || !self.function.ty(pointer).is_ptr() {
            return;
        }
        let name = self.module.tbaa[tbaa].name.as_str();
        let cell = match name {
            "float" => Cell::Float(FloatKind::F32),
            "double" => Cell::Float(FloatKind::F64),
            "bool" | "_Bool" | "short" | "int" | "long" | "long long" | "__int128" => Cell::Int,
            _ => return,
        };
        let mut shape = Shape::default();
        for offset in (0..size).step_by(cell.bytes() as usize) {
            if offset + cell.bytes() <= size {
                shape.insert(offset, cell.clone());
            }
        }
        self.learn(pointer, &shape);
    }
}

fn is_address(constant: &Constant) -> bool {
    matches!(constant, Constant::Address(..))
}
