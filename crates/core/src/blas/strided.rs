//! Products of matrices with any strides, `C = αAB + βC`, as `dgemm` and `sgemm` of the crate
//! matrixmultiply compute them for ndarray and nalgebra.
//!
//! The equations are those of gemm. A matrix is transposed by exchanging its strides. Its elements
//! may share a place, where a stride is zero, so a product goes to memory of its own before it is
//! added to an adjoint.

use super::emit::Emit;
use super::forward::Tangents;
use super::operands::Operands;
use super::reverse::Reverse;
use crate::ir::{FloatPred, Func, Value};

/// A matrix in memory; strides are in elements.
#[derive(Copy, Clone)]
pub(super) struct Matrix {
    at: Value,
    rows: Value,
    columns: Value,
    by_row: Value,
    by_column: Value,
}

impl Matrix {
    fn transposed(self) -> Matrix {
        Matrix {
            rows: self.columns,
            columns: self.rows,
            by_row: self.by_column,
            by_column: self.by_row,
            ..self
        }
    }
}

impl Operands<'_> {
    /// The operand of this name, or a matrix of the same shape somewhere else.
    pub fn strided(&self, e: &mut Emit<'_, '_>, name: &str, at: Value) -> Matrix {
        let names = match name {
            "a" => ["m", "k", "rsa", "csa"],
            "b" => ["k", "n", "rsb", "csb"],
            _ => ["m", "n", "rsc", "csc"],
        };
        let [rows, columns, by_row, by_column] = names.map(|name| self.number(e, name));
        Matrix {
            at,
            rows,
            columns,
            by_row,
            by_column,
        }
    }
}

impl Emit<'_, '_> {
    /// `C = αAB + βC` by the function that is differentiated.
    fn product(&mut self, func: Func, by: Value, a: Matrix, b: Matrix, beta: Value, c: Matrix) {
        let mut args = vec![a.rows, a.columns, b.columns, by];
        args.extend([a.at, a.by_row, a.by_column]);
        args.extend([b.at, b.by_row, b.by_column, beta]);
        args.extend([c.at, c.by_row, c.by_column]);
        let sig = self.module.funcs[func].sig.clone();
        self.builder.call(func, sig, args);
    }

    /// New memory for a matrix, row by row.
    fn matrix(&mut self, rows: Value, columns: Value) -> Matrix {
        let elements = self.builder.mul(rows, columns);
        let size = self.int(i128::from(self.routine.kind.bytes()));
        let bytes = self.builder.mul(elements, size);
        let at = self.allocate(bytes);
        self.packed(at, rows, columns)
    }

    /// A matrix that lies row by row.
    fn packed(&mut self, at: Value, rows: Value, columns: Value) -> Matrix {
        Matrix {
            at,
            rows,
            columns,
            by_row: columns,
            by_column: self.int(1),
        }
    }

    /// Runs code for the place of each element of a matrix, and that in another of the same size.
    pub fn each(&mut self, m: Matrix, other: Matrix, body: impl FnOnce(&mut Self, Value, Value)) {
        self.repeat(m.rows, |e, i| {
            e.repeat(m.columns, |e, j| {
                let place = |e: &mut Self, m: Matrix| {
                    let (row, column) = (e.builder.mul(i, m.by_row), e.builder.mul(j, m.by_column));
                    let index = e.builder.add(row, column);
                    e.at(m.at, index)
                };
                let (x, y) = (place(e, m), place(e, other));
                body(e, x, y);
            });
        });
    }

    /// A copy of a matrix, row by row.
    pub fn pack(&mut self, from: Matrix) -> Value {
        let copy = self.matrix(from.rows, from.columns);
        self.each(from, copy, |e, from, to| {
            let x = e.load(from);
            e.store(x, to);
        });
        copy.at
    }

    /// Adds a multiple of a matrix to another.
    fn add_each(&mut self, by: Value, from: Matrix, to: Matrix) {
        self.each(from, to, |e, from, to| {
            let x = e.load(from);
            let part = e.builder.fmul(by, x);
            e.add_to(to, part);
        });
    }

    /// The sum of the products of the elements of two matrices.
    fn inner_of(&mut self, x: Matrix, y: Matrix) -> Value {
        self.sum(|e, sum| {
            e.each(x, y, |e, x, y| {
                let (x, y) = (e.load(x), e.load(y));
                let part = e.builder.fmul(x, y);
                e.add_to(sum, part);
            });
        })
    }

    /// Multiplies the elements of a matrix by a number. What is multiplied by zero may be anything.
    fn scale_each(&mut self, by: Value, m: Matrix) {
        let zero = self.float(0.0);
        let none = self.builder.fcmp(FloatPred::Oeq, by, zero);
        self.each(m, m, |e, place, _| {
            let old = e.load(place);
            let product = e.builder.fmul(by, old);
            let new = e.builder.select(none, zero, product);
            e.store(new, place);
        });
    }
}

impl Tangents<'_, '_, '_> {
    pub(super) fn strided(&mut self) -> Option<()> {
        let [beta] = self.numbers(["beta"]);
        let dc = self.shadow("c")?;
        let [c, dc] = [self.ops.param("c"), dc].map(|at| self.ops.strided(self.e, "c", at));
        self.e.scale_each(beta, dc);
        if let Some(dbeta) = self.scalar("beta") {
            self.e.add_each(dbeta, c, dc);
        }
        let one = self.e.float(1.0);
        for [by, a, b] in self.terms("a", "b") {
            let a = self.ops.strided(self.e, "a", a);
            let b = self.ops.strided(self.e, "b", b);
            self.e.product(self.ops.key.func, by, a, b, one, dc);
        }
        Some(())
    }
}

impl Reverse<'_, '_, '_> {
    pub(super) fn strided(&mut self) -> Option<()> {
        let [alpha, beta] = self.numbers(["alpha", "beta"]);
        let dc = self.shadow("c")?;
        let dc = self.ops.strided(self.e, "c", dc);
        let one = self.e.float(1.0);
        if self.ops.is_active("alpha") {
            let (a, b) = (self.matrix("a"), self.matrix("b"));
            self.with_product(one, a, b, |sweep, product| {
                let sum = sweep.e.inner_of(product, dc);
                sweep.factor("alpha", Some(sum));
            });
        }
        if let Some(da) = self.shadow("a") {
            let da = self.ops.strided(self.e, "a", da);
            let b = self.matrix("b").transposed();
            self.with_product(alpha, dc, b, |sweep, product| {
                sweep.e.add_each(one, product, da);
            });
        }
        if let Some(db) = self.shadow("b") {
            let db = self.ops.strided(self.e, "b", db);
            let a = self.matrix("a").transposed();
            self.with_product(alpha, a, dc, |sweep, product| {
                sweep.e.add_each(one, product, db);
            });
        }
        if self.ops.is_active("beta") {
            let c = self.matrix("c");
            let sum = self.e.inner_of(c, dc);
            self.factor("beta", Some(sum));
        }
        self.e.scale_each(beta, dc);
        Some(())
    }

    /// An operand as it was when the product was computed.
    fn matrix(&mut self, name: &'static str) -> Matrix {
        let at = self.array(name);
        let given = self.ops.strided(self.e, name, at);
        match self.is_copied(name) {
            true => self.e.packed(at, given.rows, given.columns),
            false => given,
        }
    }

    /// Runs code on a product that is in memory of its own.
    fn with_product(
        &mut self,
        by: Value,
        a: Matrix,
        b: Matrix,
        body: impl FnOnce(&mut Self, Matrix),
    ) {
        let zero = self.e.float(0.0);
        let product = self.e.matrix(a.rows, b.columns);
        self.e.product(self.ops.key.func, by, a, b, zero, product);
        body(self, product);
        self.e.free(product.at);
    }
}
