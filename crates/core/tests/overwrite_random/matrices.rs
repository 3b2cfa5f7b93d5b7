//! Random programs on the rows and columns of matrices whose size is an argument.
//!
//! The bounds of loops are sizes or counters of loops around, often one off, so that rows sometimes
//! meet their neighbours and sometimes do not.

use fastrand::Rng;
use zymase_core::ir::{
    Access, BinaryOp, Block, Builder, Edge, Flags, Function, InstData, IntPred, Op, Signature,
    Type, Value,
};

/// Writes a random function.
pub struct Generator<'r> {
    random: &'r mut Rng,
    bases: Vec<Value>,
    sizes: Vec<Value>,
    counters: Vec<Value>,
    last: Value,
}

impl Generator<'_> {
    pub fn function(random: &mut Rng) -> Function {
        let (ptr, i64) = (Type::ptr(), Type::i64());
        let sig = Signature::new(vec![ptr, ptr, ptr, i64, i64], Type::void());
        let mut func = Function::with_entry("f", sig);
        let arguments = func.arguments().to_vec();
        let entry = func.entry();
        let mut b = Builder::new(&mut func, entry);
        let last = b.func.fconst(Type::f64(), 1.5);
        let mut generator = Generator {
            bases: arguments[..random.usize(1..=2)].to_vec(),
            sizes: arguments[3..].to_vec(),
            counters: Vec::new(),
            random,
            last,
        };
        generator.statements(&mut b, 3);
        b.ret(None);
        func
    }

    fn statements(&mut self, b: &mut Builder, depth: usize) {
        for _ in 0..self.random.usize(1..=3) {
            match self.random.usize(0..if depth == 0 { 4 } else { 9 }) {
                0 | 1 => {
                    let at = self.element(b);
                    b.load(Type::f64(), at, Access::aligned(8));
                }
                2 | 3 => {
                    let at = self.element(b);
                    b.store(self.last, at, Access::aligned(8));
                }
                4 => self.choice(b, depth - 1),
                _ => self.counted_loop(b, depth - 1),
            }
        }
    }

    /// Arithmetic that does not wrap.
    fn binary(&mut self, b: &mut Builder, op: BinaryOp, x: Value, y: Value) -> Value {
        let mut data = InstData::new(Op::Binary(op), vec![x, y]);
        // Without the promise nothing may be concluded, which is sound as well.
        if self.random.usize(0..20) > 0 {
            data.flags = Flags::NSW;
        }
        let inst = b.func.append_inst(b.block, data, Type::i64());
        b.func.result(inst).expect("a number")
    }

    /// A counter or, seldom, a size, or a small number; maybe one more or less.
    fn index(&mut self, b: &mut Builder) -> Value {
        let value = match self.random.usize(0..10) {
            0 => self.sizes[self.random.usize(0..2)],
            1 => b.func.iconst(Type::i64(), self.random.i128(0..3)),
            _ if self.counters.is_empty() => b.func.iconst(Type::i64(), 0),
            _ => self.counters[self.random.usize(0..self.counters.len())],
        };
        match self.random.usize(0..6) {
            0 => {
                let one = b.func.iconst(Type::i64(), [1, -1][self.random.usize(0..2)]);
                self.binary(b, BinaryOp::Add, value, one)
            }
            _ => value,
        }
    }

    /// `&base[row * n + column]`
    fn element(&mut self, b: &mut Builder) -> Value {
        let base = self.bases[self.random.usize(0..self.bases.len())];
        let (row, column) = (self.index(b), self.index(b));
        let size = self.sizes[usize::from(self.random.usize(0..8) == 0)];
        let start = self.binary(b, BinaryOp::Mul, row, size);
        let index = self.binary(b, BinaryOp::Add, start, column);
        let op = Op::Address {
            offset: 0,
            scales: vec![8],
        };
        let mut data = InstData::new(op, vec![base, index]);
        if self.random.usize(0..20) > 0 {
            data.flags = Flags::INBOUNDS | Flags::NUSW;
        }
        let inst = b.func.append_inst(b.block, data, Type::ptr());
        b.func.result(inst).expect("an address")
    }

    fn choice(&mut self, b: &mut Builder, depth: usize) {
        let (x, y) = (self.index(b), self.index(b));
        let pred = [
            IntPred::Slt,
            IntPred::Sgt,
            IntPred::Sle,
            IntPred::Sge,
            IntPred::Eq,
            IntPred::Ne,
            IntPred::Ult,
            IntPred::Uge,
        ][self.random.usize(0..8)];
        let condition = b.icmp(pred, x, y);
        let [then, other, join] = [(); 3].map(|()| b.func.add_block());
        b.branch(condition, edge(then, &[]), edge(other, &[]));
        for block in [then, other] {
            b.block = block;
            self.statements(b, depth.min(1));
            b.jump(join, Vec::new());
        }
        b.block = join;
    }

    /// A loop over `start..end`, written in one of the ways in which compilers write it, and maybe
    /// left early.
    fn counted_loop(&mut self, b: &mut Builder, depth: usize) {
        let down = self.random.usize(0..5) == 0;
        let start = match self.random.bool() {
            true => b.func.iconst(Type::i64(), 0),
            false => self.index(b),
        };
        let end = match self.random.usize(0..4) {
            0 => self.index(b),
            _ => self.sizes[usize::from(self.random.usize(0..8) == 0)],
        };
        let (start, end) = if down { (end, start) } else { (start, end) };
        let goes_on = match (down, self.random.usize(0..3)) {
            (false, 0) => IntPred::Sle,
            (false, _) => IntPred::Slt,
            (true, 0) => IntPred::Sge,
            (true, _) => IntPred::Sgt,
        };
        let [header, body, after] = [(); 3].map(|()| b.func.add_block());
        let i = b.func.add_block_param(header, Type::i64());
        let guarded = self.random.usize(0..4) > 0;
        let at_top = self.random.usize(0..3) == 0;
        if guarded && !at_top {
            let runs = b.icmp(goes_on, start, end);
            let before = b.func.add_block();
            b.branch(runs, edge(before, &[]), edge(after, &[]));
            b.block = before;
        }
        b.jump(header, vec![start]);
        b.block = header;
        match at_top {
            true => {
                let more = b.icmp(goes_on, i, end);
                b.branch(more, edge(body, &[]), edge(after, &[]));
            }
            false => b.jump(body, Vec::new()),
        }
        b.block = body;
        self.counters.push(i);
        self.statements(b, depth);
        if self.random.usize(0..8) == 0 {
            let two = b.func.iconst(Type::i64(), 2);
            let leave = b.icmp(IntPred::Eq, i, two);
            let next = b.func.add_block();
            b.branch(leave, edge(after, &[]), edge(next, &[]));
            b.block = next;
            self.statements(b, 0);
        }
        self.counters.pop();
        let step = b.func.iconst(Type::i64(), if down { -1 } else { 1 });
        let next = self.binary(b, BinaryOp::Add, i, step);
        let strict = matches!(goes_on, IntPred::Slt | IntPred::Sgt);
        match (at_top, guarded && strict && self.random.bool()) {
            (true, _) => b.jump(header, vec![next]),
            // Equality does come where the loop is entered only before it.
            (false, true) => {
                let done = b.icmp(IntPred::Eq, next, end);
                b.branch(done, edge(after, &[]), edge(header, &[next]));
            }
            (false, false) => {
                let more = b.icmp(goes_on, next, end);
                b.branch(more, edge(header, &[next]), edge(after, &[]));
            }
        }
        b.block = after;
    }
}

fn edge(block: Block, args: &[Value]) -> Edge {
    Edge {
        block,
        args: args.to_vec(),
    }
}
