//! The rules: what each instruction says about the types of its values.
//!
//! Facts go both ways between operands and results. An instruction is looked at again only if one
//! of its values has changed.

use super::advancing::Advancing;
use super::allocations::extents;
use super::apart::Apart;
use super::bits::Integers;
use super::factor::steps;
use super::shape::gcd;
use super::summaries::{Summaries, returned_values};
use super::{Cell, Hint, Shape};
use crate::analysis::cfg::Cfg;
use crate::analysis::known;
use crate::analysis::relocation::relocations;
use crate::ir::{
    BinaryOp, Callee, Constant, Edge, Flags, Func, Function, Inst, Module, Op, RmwOp, Type, Value,
    ValueDef,
};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{HashMap, VecDeque};

/// An instruction that still has something new to say after this many times is one of a cycle in
/// which facts grow without end.
const MOST_VISITS: u32 = 1000;
/// In how many contexts the callee of one call is analysed. By then the arguments hardly change,
/// and the last facts come to the callee anyway when its own derivative is made.
const MOST_CONTEXTS: u32 = 6;
/// The same for calls of callees that are analysed for the sake of a caller: the numbers for calls
/// inside of each other are multiplied.
const MOST_INNER_CONTEXTS: u32 = 2;

pub(super) struct Solver<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    /// Calls of which only one runs.
    alternatives: &'a [Vec<Inst>],
    pub(super) shapes: SecondaryMap<Value, Shape>,
    /// Addresses that are made anew in each iteration from the last.
    advancing: Advancing,
    /// Joins of pointers that are a fixed distance apart.
    apart: Apart,
    cfg: Cfg,
    /// The instructions that mention a value, as operand, result or on an edge: they may have
    /// something new to say when it changes.
    users: SecondaryMap<Value, Vec<Inst>>,
    /// Copies after which their source is gone.
    pub(super) relocations: EntitySet<Inst>,
    /// The size of the memory that a pointer is the beginning of, where it is known.
    extents: HashMap<Value, i64>,
    /// The instructions to look at.
    queue: VecDeque<Inst>,
    /// Calls of functions that are told what this one knows. They wait until everything else has
    /// been said, so that there are few contexts.
    waiting: VecDeque<Inst>,
    queued: EntitySet<Inst>,
    /// How often an instruction was looked at in this phase.
    visits: SecondaryMap<Inst, u32>,
    /// Whether integer arithmetic is about integers: not before all pointers are known.
    pub(super) arithmetic: bool,
    /// Whether what repeats says something about memory that is moved.
    pub(super) repeated: bool,
    /// Whether callees are told what this function knows.
    in_context: bool,
    /// Whether integers that the program declares are taken for integers.
    pub(super) tagged_integers: bool,
    summaries: &'a mut Summaries,
}

impl<'a> Solver<'a> {
    pub(super) fn new(
        module: &'a Module,
        function: &'a Function,
        alternatives: &'a [Vec<Inst>],
        summaries: &'a mut Summaries,
    ) -> Solver<'a> {
        let advancing = Advancing::new(function);
        Solver {
            module,
            function,
            alternatives,
            shapes: SecondaryMap::new(),
            apart: Apart::new(function, &advancing),
            advancing,
            cfg: Cfg::new(function),
            users: users(function),
            relocations: relocations(module, function),
            extents: extents(module, function),
            queue: VecDeque::new(),
            waiting: VecDeque::new(),
            queued: EntitySet::new(),
            visits: SecondaryMap::new(),
            arithmetic: false,
            repeated: false,
            in_context: false,
            tagged_integers: false,
            summaries,
        }
    }

    /// Takes note of what the caller knows of the arguments and, after them, of the result.
    pub(super) fn start(&mut self, known: &[Shape]) {
        let function = self.function;
        self.learn_declared();
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
    /// First without arithmetic, which is about integers unless it is known to be about addresses.
    /// Then what was seen at fixed offsets, because it counts before what repeats and must not
    /// come too late: a copy makes what repeats a fact about fixed offsets. Then all that the
    /// function and its callees say by themselves. Then what callees say given what this function
    /// knows: that hardly changes any more by then, so there are few contexts to analyse callees
    /// in. At last, bytes of which nothing is known are integers where the program calls them so.
    /// It may have copied floats there, so that counts for less than all the rest; and since a
    /// caller may know better, it is said only where `tagged_integers` asks for it.
    ///
    /// Says whether that took a reasonable time: if not, what was learned may lack the one fact
    /// that contradicts the others.
    pub(super) fn solve(&mut self, tagged_integers: bool) -> bool {
        let phases = [
            (false, false, false, false),
            (true, false, false, false),
            (true, true, false, false),
            (true, true, true, false),
            (true, true, true, true),
        ];
        phases[..if tagged_integers { 5 } else { 4 }].iter().all(
            |&(arithmetic, repeated, in_context, tagged_integers)| {
                self.arithmetic = arithmetic;
                self.repeated = repeated;
                self.in_context = in_context;
                self.tagged_integers = tagged_integers;
                if tagged_integers {
                    self.learn_integers();
                    self.learn_choices();
                }
                self.phase()
            },
        )
    }

    fn phase(&mut self) -> bool {
        let function = self.function;
        self.visits.clear();
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                self.enqueue(inst);
            }
        }
        while let Some(inst) = self.next() {
            self.queued.remove(inst);
            self.visits[inst] += 1;
            if self.visits[inst] > MOST_VISITS {
                self.queue.clear();
                self.waiting.clear();
                self.queued.clear();
                return false;
            }
            self.transfer(inst);
            for edge in function.inst(inst).op.edges() {
                self.edge(edge);
            }
        }
        true
    }

    fn next(&mut self) -> Option<Inst> {
        let next = self.queue.pop_front();
        next.or_else(|| self.waiting.pop_front())
    }

    fn enqueue(&mut self, inst: Inst) {
        if self.queued.insert(inst) {
            let asks = self.in_context && self.function.inst(inst).op.call().is_some();
            match asks {
                true => self.waiting.push_back(inst),
                false => self.queue.push_back(inst),
            }
        }
    }

    pub(super) fn learn(&mut self, value: Value, shape: &Shape) {
        // Nothing is learned about constants: one `0` stands in many places.
        if !matches!(self.function.def(value), ValueDef::Const(c) if !is_address(c)) {
            // A pointer that is taken for two at once, some bytes apart, would learn of ever more
            // bytes; where its memory ends, that ends.
            let inside = self.extents.get(&value);
            let inside = inside.and_then(|&size| shape.trimmed(size));
            let changed = self.shapes[value].merge(inside.as_ref().unwrap_or(shape));
            if changed {
                for i in 0..self.users[value].len() {
                    self.enqueue(self.users[value][i]);
                }
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

    /// What is compared is of one kind. Pointers that are compared lead into one array, and nobody
    /// knows how far apart they are: the end of it must not be taken for its first element.
    fn compared(&mut self, a: Value, b: Value) {
        let pointers = self.function.ty(a).scalar().is_ptr();
        for (from, to) in [(a, b), (b, a)] {
            let shape = match pointers {
                true => self.shapes[from].elsewhere(),
                // Integers may hold an address in one case and a count in another, and which of
                // them is compared was decided before.
                false => self.shapes[from].plain(),
            };
            self.learn(to, &shape);
        }
    }

    pub(super) fn size(&self, ty: Type) -> i64 {
        self.module.layout.store_size(ty) as i64
    }

    fn edge(&mut self, edge: &Edge) {
        let params = self.function.block_params(edge.block).to_vec();
        let goes_on = self.cfg.reaches_return(edge.block);
        for (&param, &argument) in params.iter().zip(&edge.args) {
            match self.advancing.step_from(argument, param) {
                // Where a pointer starts is only one of the places that it comes to.
                Some(step) => self.address(argument, 0, step, param),
                None if goes_on => self.join(argument, param),
                // Calls that never return are merged into one, with whatever their operands are:
                // a size here, an address there that nobody looks at.
                None => {
                    let shape = self.shapes[argument].clone();
                    self.learn(param, &shape);
                }
            }
        }
    }

    /// One of the operands of a phi or select.
    fn join(&mut self, operand: Value, result: Value) {
        let join = self.apart.join(result);
        let Some(join) = join.filter(|join| join.operands.contains(&operand)) else {
            self.unify(operand, result);
            return;
        };
        let shapes = join.operands.iter().map(|&operand| &self.shapes[operand]);
        let all = shapes
            .clone()
            .skip(1)
            .fold(None, |all: Option<Shape>, next| {
                let all = all.as_ref().unwrap_or(&self.shapes[join.operands[0]]);
                Some(all.common(next))
            });
        let anywhere = shapes.clone().map(|shape| shape.indexed(join.step));
        let said = shapes.map(Shape::as_likely);
        for shape in all
            .into_iter()
            .chain(anywhere)
            .chain(said)
            .collect::<Vec<_>>()
        {
            self.learn(result, &shape);
        }
        let shape = self.shapes[result].without_likely();
        self.learn(operand, &shape);
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
                let (mut offset, mut stride) = (*offset, step);
                for (&scale, &index) in scales.iter().zip(&data.args[1..]) {
                    let index = steps(function, index);
                    offset = offset.wrapping_add(scale.wrapping_mul(index.start));
                    stride = gcd(stride, scale.saturating_mul(index.step));
                }
                self.address(data.args[0], offset, stride, result);
                self.chosen_address(data, result);
                for &index in &data.args[1..] {
                    self.learn_bytes(index, &Cell::Int);
                }
            }
            (Op::Load(access), Some(result)) => {
                self.memory(data.args[0], result);
                self.tagged(access.tbaa, data.args[0], function.ty(result));
            }
            (Op::Store(access), _) => {
                self.stored(data.args[1], data.args[0]);
                self.tagged(access.tbaa, data.args[1], function.ty(data.args[0]));
            }
            (Op::Accumulate(_), _) => self.memory(data.args[0], data.args[1]),
            (Op::AtomicRmw(op, access), Some(result)) => {
                self.memory(data.args[0], result);
                self.memory(data.args[0], data.args[1]);
                self.tagged(access.tbaa, data.args[0], function.ty(result));
                if let RmwOp::Add | RmwOp::Sub = op {
                    self.binary(BinaryOp::Add, data.flags, &[result, data.args[1]], result);
                }
            }
            (Op::CmpXchg { access, .. }, Some(result)) => {
                self.memory(data.args[0], data.args[1]);
                self.memory(data.args[0], data.args[2]);
                // What it found comes first, then whether that was what was expected.
                self.part(result, 0, data.args[1]);
                let whole = function.ty(result);
                let flag = self.module.layout.path_offset(whole, &[1]) as i64;
                self.learn(result, &Shape::cell(flag, Cell::Int));
                self.tagged(access.tbaa, data.args[0], function.ty(data.args[1]));
            }
            (Op::MemCopy { .. }, _) => self.copy(inst, &data.args),
            (Op::Nest(nest), _) => self.nest(nest, &data.args),
            (Op::Select, Some(result)) => {
                self.join(data.args[1], result);
                self.join(data.args[2], result);
            }
            (Op::Unary(_), Some(result)) => self.unify(data.args[0], result),
            (Op::Cast(op), Some(result)) => {
                self.cast(*op, data.args[0], result);
                if data.flags.contains(Flags::NUW) {
                    self.fits(data.args[0], result);
                }
            }
            (Op::Binary(op), Some(result)) => self.binary(*op, data.flags, &data.args, result),
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
                    self.call(inst, func, &data.args, result);
                }
            }
            (Op::ICmp(pred), _) => {
                self.compared(data.args[0], data.args[1]);
                self.numbered(*pred, data.args[0], data.args[1]);
            }
            (Op::Switch { .. }, _) => self.learn_bytes(data.args[0], &Cell::Int),
            _ => {}
        }
    }

    fn call(&mut self, inst: Inst, func: Func, args: &[Value], result: Option<Value>) {
        let callee = &self.module.funcs[func];
        if known::has_no_body_to_look_into(callee) {
            if let (Some(hint), Some(&pointer)) = (Hint::of_symbol(&callee.name), args.first()) {
                let bytes = args.get(1).and_then(|&bytes| self.function.as_int(bytes));
                let shape = hint.shape(bytes.and_then(|n| i64::try_from(n).ok()));
                self.learn(pointer, &shape);
            }
            match result.zip(Integers::of_intrinsic(&callee.name)) {
                Some((result, Integers::Combined)) => self.combined(args, result),
                Some((result, Integers::Arithmetic)) => {
                    self.binary(BinaryOp::Add, Flags::empty(), args, result)
                }
                None => {}
            }
            if known::allocation(callee).is_some() {
                self.sizes(args);
            }
            return;
        }
        let count = self.module.funcs[func].arguments().len();
        let most = match self.summaries.is_asked() {
            true => MOST_INNER_CONTEXTS,
            false => MOST_CONTEXTS,
        };
        let again = self.in_context && self.visits[inst] > most;
        if args.len() != count || again {
            return;
        }
        let values = || args.iter().copied().chain(result);
        let known = match self.in_context {
            true => values().map(|v| self.shapes[v].clone()).collect(),
            false => Vec::new(),
        };
        let group = self.alternatives.iter().find(|group| group.contains(&inst));
        let learned = match group {
            Some(group) => self.agreed(group, &known),
            None => self
                .summaries
                .get(self.module, func, known, self.tagged_integers),
        };
        for (value, shape) in values().zip(&learned) {
            self.learn(value, shape);
        }
    }

    /// What calls say of which only one runs. One may find a number where another finds a pointer,
    /// in an object whose content goes with the function that is called.
    fn agreed(&mut self, group: &[Inst], known: &[Shape]) -> Vec<Shape> {
        let mut all: Option<Vec<Shape>> = None;
        for &inst in group {
            let call = self.function.inst(inst).op.call();
            let Some(Callee::Direct(func)) = call.map(|call| call.callee) else {
                continue;
            };
            let callee = &self.module.funcs[func];
            let looked_into = !known::has_no_body_to_look_into(callee);
            let said = match looked_into {
                true => {
                    let known = known.to_vec();
                    self.summaries
                        .get(self.module, func, known, self.tagged_integers)
                }
                false => Vec::new(),
            };
            all = Some(match all {
                None => said,
                Some(before) => {
                    let both = before.iter().zip(&said);
                    both.map(|(mine, theirs)| mine.common(theirs)).collect()
                }
            });
        }
        all.unwrap_or_default()
    }
}

fn is_address(constant: &Constant) -> bool {
    matches!(constant, Constant::Address(..))
}

fn users(function: &Function) -> SecondaryMap<Value, Vec<Inst>> {
    let mut users: SecondaryMap<Value, Vec<Inst>> = SecondaryMap::new();
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            let mut mentioned: Vec<Value> = data.args.clone();
            mentioned.extend(function.result(inst));
            for edge in data.op.edges() {
                mentioned.extend(&edge.args);
                mentioned.extend(function.block_params(edge.block));
            }
            for value in mentioned {
                if users[value].last() != Some(&inst) {
                    users[value].push(inst);
                }
            }
        }
    }
    users
}
