//! Calls of subprograms in the interface and precision of the one that is differentiated, and the
//! little arithmetic and loops around them.

use super::Routine;
use crate::ir::{
    Access, BinaryOp, Builder, Edge, FloatPred, FnFlags, Function, IntPred, Module, Op, Signature,
    Type, Value,
};
use crate::support;

/// Appends code for one subprogram.
pub(super) struct Emit<'e, 'f> {
    pub module: &'e mut Module,
    pub builder: Builder<'f>,
    pub routine: Routine,
    /// The type of integers.
    pub int: Type,
    /// The order of elements of matrices, where the interface has one.
    pub order: Option<Value>,
}

/// Row-major order, in C.
const ROW_MAJOR: i128 = 101;

impl Emit<'_, '_> {
    /// Calls another subprogram with these arguments.
    pub fn call(&mut self, name: &str, args: &[Value]) -> Option<Value> {
        let returns = matches!(name, "dot" | "nrm2" | "asum");
        let ret = match returns {
            true => self.routine.float(),
            false => Type::void(),
        };
        let mut passed: Vec<Value> = Vec::new();
        let level1 = ["dot", "nrm2", "asum", "axpy", "scal", "copy", "swap"].contains(&name);
        passed.extend(self.order.filter(|_| !level1));
        for &arg in args {
            passed.push(match self.routine.fortran {
                true => self.by_reference(arg),
                false => arg,
            });
        }
        let params = passed.iter().map(|&v| self.builder.func.ty(v)).collect();
        let sig = Signature::new(params, ret);
        let name = self.routine.sibling(name);
        let func = self.module.declare(Function::new(name, sig.clone()));
        self.builder.call(func, sig, passed)
    }

    fn by_reference(&mut self, value: Value) -> Value {
        let ty = self.builder.func.ty(value);
        if ty.is_ptr() {
            return value;
        }
        let align = self.module.layout.align(ty);
        // In the entry, because code may be in a loop.
        let here = self.builder.block;
        let entry = self.builder.func.entry();
        let one = self.builder.func.iconst(Type::i64(), 1);
        let data = crate::ir::InstData::new(Op::Alloca { ty, align }, vec![one]);
        let slot = self.builder.func.insert_inst(entry, 0, data, Type::ptr());
        self.builder.block = here;
        let Some(slot) = self.builder.func.result(slot) else {
            return value;
        };
        self.builder.store(value, slot, Access::aligned(align));
        slot
    }

    pub fn int(&mut self, n: i128) -> Value {
        self.builder.func.iconst(self.int, n)
    }

    pub fn float(&mut self, x: f64) -> Value {
        self.builder.func.fconst(self.routine.float(), x)
    }

    /// Whether a flag is this letter; in C, this number.
    pub fn is_flag(&mut self, flag: Value, letter: u8, number: i128) -> Value {
        let ty = self.builder.func.ty(flag);
        if !self.routine.fortran {
            let number = self.builder.func.iconst(ty, number);
            return self.builder.icmp(IntPred::Eq, flag, number);
        }
        let case = self.builder.func.iconst(ty, 0x20);
        let lower = self.builder.binary(BinaryOp::Or, flag, case);
        let letter = self.builder.func.iconst(ty, i128::from(letter | 0x20));
        self.builder.icmp(IntPred::Eq, lower, letter)
    }

    /// A flag: this letter or, in C, this number.
    pub fn flag(&mut self, letter: u8, number: i128) -> Value {
        match self.routine.fortran {
            true => self.builder.func.iconst(Type::int(8), i128::from(letter)),
            false => self.builder.func.iconst(Type::int(32), number),
        }
    }

    /// The flag that leaves a matrix as it is.
    pub fn plain(&mut self) -> Value {
        self.flag(b'N', 111)
    }

    /// The flag that transposes a matrix.
    pub fn transposed(&mut self) -> Value {
        self.flag(b'T', 112)
    }

    /// Whether a matrix is taken as it is.
    pub fn is_plain(&mut self, trans: Value) -> Value {
        self.is_flag(trans, b'n', 111)
    }

    /// The opposite of a flag for transposition.
    pub fn flip(&mut self, trans: Value) -> Value {
        let is_plain = self.is_plain(trans);
        let (plain, transposed) = (self.plain(), self.transposed());
        self.builder.select(is_plain, transposed, plain)
    }

    /// Whether elements of a row are side by side.
    pub fn is_row_major(&mut self) -> Value {
        match self.order {
            Some(order) => {
                let row = self
                    .builder
                    .func
                    .iconst(self.builder.func.ty(order), ROW_MAJOR);
                self.builder.icmp(IntPred::Eq, order, row)
            }
            None => self.builder.func.iconst(Type::i1(), 0),
        }
    }

    /// The lines of a matrix that lie side by side in memory: how many, and how long.
    pub fn lines(&mut self, rows: Value, columns: Value) -> (Value, Value) {
        let row_major = self.is_row_major();
        let count = self.builder.select(row_major, rows, columns);
        let length = self.builder.select(row_major, columns, rows);
        (count, length)
    }

    /// An address by elements.
    pub fn at(&mut self, array: Value, index: Value) -> Value {
        let index = support::sign_extend(&mut self.builder, index, Type::i64());
        let size = i64::from(self.routine.kind.bytes());
        self.builder.element(array, index, size)
    }

    /// Runs code for each number below a count.
    pub fn repeat(&mut self, count: Value, body: impl FnOnce(&mut Self, Value)) {
        let [head, inside, done] = [(); 3].map(|()| self.builder.func.add_block());
        let i = self.builder.func.add_block_param(head, self.int);
        let (zero, one) = (self.int(0), self.int(1));
        self.builder.jump(head, vec![zero]);
        self.builder.block = head;
        let more = self.builder.icmp(IntPred::Slt, i, count);
        let edge = |block| Edge {
            block,
            args: Vec::new(),
        };
        self.builder.branch(more, edge(inside), edge(done));
        self.builder.block = inside;
        body(self, i);
        let next = self.builder.add(i, one);
        self.builder.jump(head, vec![next]);
        self.builder.block = done;
    }

    /// The bytes from the first to the last element of a vector.
    pub fn vector_bytes(&mut self, n: Value, inc: Value) -> Value {
        let stride = self.magnitude(inc);
        let one = self.int(1);
        self.span(n, stride, one)
    }

    fn magnitude(&mut self, inc: Value) -> Value {
        let zero = self.int(0);
        let negative = self.builder.icmp(IntPred::Slt, inc, zero);
        let opposite = self.builder.sub(zero, inc);
        self.builder.select(negative, opposite, inc)
    }

    /// An increment without its sign.
    pub fn distance(&mut self, inc: Value) -> Value {
        let distance = self.magnitude(inc);
        support::sign_extend(&mut self.builder, distance, Type::i64())
    }

    /// The bytes from the first to the last element of a matrix.
    pub fn matrix_bytes(&mut self, rows: Value, columns: Value, ld: Value) -> Value {
        let (count, length) = self.lines(rows, columns);
        self.span(count, ld, length)
    }

    /// The bytes of `count` lines of `length` elements that begin `stride` elements apart.
    fn span(&mut self, count: Value, stride: Value, length: Value) -> Value {
        let long = |e: &mut Self, v| support::sign_extend(&mut e.builder, v, Type::i64());
        let (count, stride, length) = (long(self, count), long(self, stride), long(self, length));
        let b = &mut self.builder;
        let zero = b.func.iconst(Type::i64(), 0);
        let one = b.func.iconst(Type::i64(), 1);
        let size = b
            .func
            .iconst(Type::i64(), i128::from(self.routine.kind.bytes()));
        let before = b.sub(count, one);
        let before = b.mul(before, stride);
        let elements = b.add(before, length);
        let bytes = b.mul(elements, size);
        let none = b.icmp(IntPred::Slt, count, one);
        b.select(none, zero, bytes)
    }

    /// New memory.
    pub fn allocate(&mut self, bytes: Value) -> Value {
        let one = self.builder.func.iconst(Type::i64(), 1);
        let bytes = self.builder.add(bytes, one);
        let (malloc, sig) = support::malloc(self.module);
        let flags = FnFlags::MUST_SUCCEED;
        let memory = self.builder.call_with(malloc, sig, vec![bytes], flags);
        memory.unwrap_or(bytes)
    }

    /// A copy of memory.
    pub fn copy(&mut self, from: Value, bytes: Value) -> Value {
        let memory = self.allocate(bytes);
        let op = Op::MemCopy {
            overlapping: false,
            dst: Access::aligned(1),
            src: Access::aligned(1),
        };
        self.builder.effect(op, vec![memory, from, bytes]);
        memory
    }

    pub fn free(&mut self, memory: Value) {
        let (free, sig) = support::free(self.module, "free");
        self.builder.call(free, sig, vec![memory]);
    }

    /// Reads a float.
    pub fn load(&mut self, address: Value) -> Value {
        let access = Access::aligned(self.routine.kind.bytes());
        self.builder.load(self.routine.float(), address, access)
    }

    /// Writes a float.
    pub fn store(&mut self, value: Value, address: Value) {
        let access = Access::aligned(self.routine.kind.bytes());
        self.builder.store(value, address, access);
    }

    /// What code adds to a place that is zero before.
    pub fn sum(&mut self, body: impl FnOnce(&mut Self, Value)) -> Value {
        let place = (self.builder).alloca(self.routine.float(), self.routine.kind.bytes());
        let zero = self.float(0.0);
        self.store(zero, place);
        body(self, place);
        self.load(place)
    }

    /// Adds a number to that in a place.
    pub fn add_to(&mut self, place: Value, number: Value) {
        let old = self.load(place);
        let new = self.builder.fadd(old, number);
        self.store(new, place);
    }

    /// Where element `i` of a vector is; those of a negative increment begin at the end.
    pub fn element(&mut self, x: Value, i: Value, n: Value, inc: Value) -> Value {
        let (zero, one) = (self.int(0), self.int(1));
        let b = &mut self.builder;
        let negative = b.icmp(IntPred::Slt, inc, zero);
        let last = b.sub(n, one);
        let mirrored = b.sub(i, last);
        let position = b.select(negative, mirrored, i);
        let index = b.mul(position, inc);
        self.at(x, index)
    }

    /// The sum of the products of the elements of two matrices.
    pub fn inner(
        &mut self,
        (rows, columns): (Value, Value),
        (x, ldx): (Value, Value),
        (y, ldy): (Value, Value),
    ) -> Value {
        let (count, length) = self.lines(rows, columns);
        self.sum(|e, sum| {
            e.repeat(count, |e, j| {
                let (i, k) = (e.builder.mul(j, ldx), e.builder.mul(j, ldy));
                let (x, y) = (e.at(x, i), e.at(y, k));
                let one = e.int(1);
                if let Some(part) = e.call("dot", &[length, x, one, y, one]) {
                    e.add_to(sum, part);
                }
            });
        })
    }

    /// Multiplies the elements of a vector by a number. What is multiplied by zero may be anything.
    pub fn scale_vector(&mut self, n: Value, by: Value, x: Value, inc: Value) {
        let (stride, zero) = (self.absolute(inc), self.float(0.0));
        let none = self.builder.fcmp(FloatPred::Oeq, by, zero);
        self.repeat(n, |e, i| {
            let at = e.builder.mul(i, stride);
            let x = e.at(x, at);
            let old = e.load(x);
            let product = e.builder.fmul(by, old);
            let new = e.builder.select(none, zero, product);
            e.store(new, x);
        });
    }

    /// Multiplies the elements of a matrix by a number.
    pub fn scale(&mut self, (rows, columns): (Value, Value), by: Value, (x, ld): (Value, Value)) {
        let (count, length) = self.lines(rows, columns);
        self.repeat(count, |e, j| {
            let at = e.builder.mul(j, ld);
            let (x, one) = (e.at(x, at), e.int(1));
            e.scale_vector(length, by, x, one);
        });
    }

    /// Adds a multiple of a matrix to another.
    pub fn add_matrix(
        &mut self,
        (rows, columns): (Value, Value),
        by: Value,
        (x, ldx): (Value, Value),
        (y, ldy): (Value, Value),
    ) {
        let (count, length) = self.lines(rows, columns);
        self.repeat(count, |e, j| {
            let (i, k) = (e.builder.mul(j, ldx), e.builder.mul(j, ldy));
            let (x, y, one) = (e.at(x, i), e.at(y, k), e.int(1));
            e.call("axpy", &[length, by, x, one, y, one]);
        });
    }

    /// The lines of a triangle, without its diagonal if `diag` says that it is one: the number of
    /// the line, where in it the triangle begins, and how long it is there.
    pub fn triangle(
        &mut self,
        uplo: Value,
        diag: Option<Value>,
        n: Value,
        body: impl FnOnce(&mut Self, Value, Value, Value),
    ) {
        let lower = self.is_flag(uplo, b'l', 122);
        let row_major = self.is_row_major();
        // The lower triangle of a matrix by columns ends with each line, and so does the upper one
        // of a matrix by rows.
        let ends = self.builder.binary(BinaryOp::Xor, lower, row_major);
        let (zero, one) = (self.int(0), self.int(1));
        let left_out = match diag {
            Some(diag) => self.if_unit(diag, one),
            None => zero,
        };
        self.repeat(n, |e, j| {
            let b = &mut e.builder;
            let from = b.add(j, left_out);
            let start = b.select(ends, from, zero);
            let rest = b.sub(n, from);
            let next = b.add(j, one);
            let before = b.sub(next, left_out);
            let length = b.select(ends, rest, before);
            body(e, j, start, length);
        });
    }

    /// Takes a multiple of a number from an element of the diagonal of a matrix.
    pub fn undo_diagonal(
        &mut self,
        by: Value,
        number: Value,
        (matrix, ld): (Value, Value),
        i: Value,
    ) {
        let element = self.place(matrix, i, ld, i);
        let product = self.builder.fmul(by, number);
        let old = self.load(element);
        let new = self.builder.fsub(old, product);
        self.store(new, element);
    }

    /// Where a part of a line of a matrix begins.
    pub fn place(&mut self, matrix: Value, line: Value, ld: Value, start: Value) -> Value {
        let before = self.builder.mul(line, ld);
        let index = self.builder.add(before, start);
        self.at(matrix, index)
    }

    /// A part of a vector, as a subprogram takes it: that of a negative increment begins with its
    /// last element.
    pub fn part(
        &mut self,
        (x, n, inc): (Value, Value, Value),
        start: Value,
        length: Value,
    ) -> Value {
        let (zero, one) = (self.int(0), self.int(1));
        let b = &mut self.builder;
        let end = b.add(start, length);
        let last = b.sub(end, one);
        let negative = b.icmp(IntPred::Slt, inc, zero);
        let first = b.select(negative, last, start);
        self.element(x, first, n, inc)
    }

    /// A value if the diagonal of a matrix is one, and zero if not.
    pub fn if_unit(&mut self, diag: Value, value: Value) -> Value {
        let unit = self.is_flag(diag, b'u', 132);
        let zero = self.builder.func.zero(self.builder.func.ty(value));
        self.builder.select(unit, value, zero)
    }

    /// A count if an increment is positive, and zero if not, as some subprograms want it.
    pub fn if_positive(&mut self, inc: Value, n: Value) -> Value {
        let zero = self.int(0);
        let positive = self.builder.icmp(IntPred::Sgt, inc, zero);
        self.builder.select(positive, n, zero)
    }

    /// A distance that a matrix without elements has too.
    pub fn at_least_one(&mut self, n: Value) -> Value {
        let one = self.int(1);
        let less = self.builder.icmp(IntPred::Slt, n, one);
        self.builder.select(less, one, n)
    }

    /// The size of an increment, for what happens to each element by itself.
    pub fn absolute(&mut self, inc: Value) -> Value {
        let zero = self.int(0);
        let negative = self.builder.icmp(IntPred::Slt, inc, zero);
        let opposite = self.builder.sub(zero, inc);
        self.builder.select(negative, opposite, inc)
    }

    /// Zeroes a vector.
    pub fn clear(&mut self, n: Value, x: Value, inc: Value) {
        let (stride, zero) = (self.absolute(inc), self.float(0.0));
        self.repeat(n, |e, i| {
            let at = e.builder.mul(i, stride);
            let x = e.at(x, at);
            e.store(zero, x);
        });
    }

    /// A quotient, and zero where the divisor is.
    pub fn quotient(&mut self, x: Value, y: Value) -> Value {
        let zero = self.float(0.0);
        let quotient = self.builder.fdiv(x, y);
        let none = self.builder.fcmp(FloatPred::Oeq, y, zero);
        self.builder.select(none, zero, quotient)
    }

    /// A number with the sign of another, and zero where that is.
    pub fn signed(&mut self, value: Value, sign: Value) -> Value {
        let zero = self.float(0.0);
        let negated = self.builder.fneg(value);
        let negative = self.builder.fcmp(FloatPred::Olt, sign, zero);
        let none = self.builder.fcmp(FloatPred::Oeq, sign, zero);
        let signed = self.builder.select(negative, negated, value);
        self.builder.select(none, zero, signed)
    }
}
