//! Adjoints of products with triangular matrices and of their inverses.

use super::reverse::{BEFORE_SOLVING, Reverse};
use crate::ir::{BinaryOp, Type, Value};

impl Reverse<'_, '_, '_> {
    pub(super) fn trmv(&mut self) -> Option<()> {
        let names = ["uplo", "trans", "diag", "n", "lda", "incx"];
        let [uplo, trans, diag, n, lda, incx] = self.numbers(names);
        let dx = self.shadow("x")?;
        let (a, flipped) = (self.array("a"), self.e.flip(trans));
        if let Some(da) = self.shadow("a") {
            let (x, one) = (self.array("x"), self.e.float(1.0));
            self.add_outer(one, dx, x, da);
        }
        let args = [uplo, flipped, diag, n, a, lda, dx, incx];
        self.e.call("trmv", &args);
        Some(())
    }

    pub(super) fn trmm(&mut self) -> Option<()> {
        let names = [
            "side", "uplo", "transa", "diag", "m", "n", "alpha", "lda", "ldb",
        ];
        let [side, uplo, trans, diag, m, n, alpha, lda, ldb] = self.numbers(names);
        let db = self.shadow("b")?;
        let (a, flipped, one) = (self.array("a"), self.e.flip(trans), self.e.float(1.0));
        if self.ops.is_active("alpha") {
            let b = self.array("b");
            let bytes = self.e.matrix_bytes(m, n, ldb);
            let w = self.e.copy(b, bytes);
            let args = [side, uplo, trans, diag, m, n, one, a, lda, w, ldb];
            self.e.call("trmm", &args);
            let product = self.e.inner((m, n), (w, ldb), (db, ldb));
            self.factor("alpha", Some(product));
            self.e.free(w);
        }
        if let Some(da) = self.shadow("a") {
            let b = self.array("b");
            self.add_products(alpha, db, b, da);
        }
        let args = [side, uplo, flipped, diag, m, n, alpha, a, lda, db, ldb];
        self.e.call("trmm", &args);
        Some(())
    }

    pub(super) fn trsv(&mut self) -> Option<()> {
        let names = ["uplo", "trans", "diag", "n", "lda", "incx"];
        let [uplo, trans, diag, n, lda, incx] = self.numbers(names);
        let dx = self.shadow("x")?;
        let (a, flipped) = (self.array("a"), self.e.flip(trans));
        let args = [uplo, flipped, diag, n, a, lda, dx, incx];
        self.e.call("trsv", &args);
        if let Some(da) = self.shadow("a") {
            let (x, minus) = (self.array("x"), self.e.float(-1.0));
            self.add_outer(minus, dx, x, da);
        }
        Some(())
    }

    pub(super) fn trsm(&mut self) -> Option<()> {
        let names = [
            "side", "uplo", "transa", "diag", "m", "n", "alpha", "lda", "ldb",
        ];
        let [side, uplo, trans, diag, m, n, alpha, lda, ldb] = self.numbers(names);
        let db = self.shadow("b")?;
        let (a, flipped, one) = (self.array("a"), self.e.flip(trans), self.e.float(1.0));
        let args = [side, uplo, flipped, diag, m, n, one, a, lda, db, ldb];
        self.e.call("trsm", &args);
        if self.ops.is_active("alpha") {
            let b = (self.ops).kept(self.e, self.frame, BEFORE_SOLVING, Type::ptr());
            let product = self.e.inner((m, n), (b, ldb), (db, ldb));
            self.factor("alpha", Some(product));
        }
        if let Some(da) = self.shadow("a") {
            let (x, minus) = (self.array("b"), self.e.float(-1.0));
            self.add_products(minus, db, x, da);
        }
        self.e.scale((m, n), alpha, (db, ldb));
        Some(())
    }

    /// Adds a multiple of the outer product of two vectors, the first an adjoint, to the adjoint of
    /// a triangular matrix.
    fn add_outer(&mut self, by: Value, adjoint: Value, x: Value, da: Value) {
        let names = ["uplo", "trans", "diag", "n", "lda", "incx"];
        let [uplo, trans, diag, n, lda, incx] = self.numbers(names);
        let is_plain = self.e.is_plain(trans);
        let row_major = self.e.is_row_major();
        let along = self.e.builder.binary(BinaryOp::Xor, is_plain, row_major);
        let inside = self.e.builder.select(along, adjoint, x);
        let across = self.e.builder.select(along, x, adjoint);
        let unit = self.e.int(1);
        self.e.triangle(uplo, Some(diag), n, |e, j, start, length| {
            let factor = e.element(across, j, n, incx);
            let factor = e.load(factor);
            let factor = e.builder.fmul(by, factor);
            let part = e.part((inside, n, incx), start, length);
            let line = e.place(da, j, lda, start);
            e.call("axpy", &[length, factor, part, incx, line, unit]);
        });
    }

    /// Adds a multiple of the product of two matrices, the first an adjoint, to the adjoint of a
    /// triangular matrix.
    fn add_products(&mut self, by: Value, adjoint: Value, x: Value, da: Value) {
        let names = ["side", "uplo", "transa", "diag", "m", "n", "lda", "ldb"];
        let [side, uplo, trans, diag, m, n, lda, ldb] = self.numbers(names);
        let ((size, _), _) = self.ops.matrix(self.e, "a");
        let ld = self.e.at_least_one(size);
        let bytes = self.e.matrix_bytes(size, size, ld);
        let w = self.e.allocate(bytes);
        let left = self.e.is_flag(side, b'l', 141);
        let is_plain = self.e.is_plain(trans);
        let (plain, transposed) = (self.e.plain(), self.e.transposed());
        let (zero, one, unit) = (self.e.float(0.0), self.e.float(1.0), self.e.int(1));
        let b = &mut self.e.builder;
        let flag_1 = b.select(left, plain, transposed);
        let flag_2 = b.select(left, transposed, plain);
        let inner = b.select(left, n, m);
        let differs = b.binary(BinaryOp::Xor, left, is_plain);
        let first = b.select(differs, x, adjoint);
        let second = b.select(differs, adjoint, x);
        let args = [
            flag_1, flag_2, size, size, inner, by, first, ldb, second, ldb, zero, w, ld,
        ];
        self.e.call("gemm", &args);
        self.e
            .triangle(uplo, Some(diag), size, |e, j, start, length| {
                let (w, da) = (e.place(w, j, ld, start), e.place(da, j, lda, start));
                e.call("axpy", &[length, one, w, unit, da, unit]);
            });
        self.e.free(w);
    }
}
