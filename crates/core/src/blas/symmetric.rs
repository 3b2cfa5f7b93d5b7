//! Adjoints of products with symmetric matrices, of which one triangle is in memory.

use super::reverse::Reverse;
use crate::ir::{BinaryOp, Value};

impl Reverse<'_, '_, '_> {
    pub(super) fn symv(&mut self) -> Option<()> {
        let names = ["uplo", "n", "alpha", "lda", "incx", "beta", "incy"];
        let [uplo, n, alpha, lda, incx, beta, incy] = self.numbers(names);
        let dy = self.shadow("y")?;
        let (one, zero, unit) = (self.e.float(1.0), self.e.float(0.0), self.e.int(1));
        if self.ops.is_active("alpha") {
            let (a, x) = (self.array("a"), self.array("x"));
            let bytes = self.e.vector_bytes(n, unit);
            let w = self.e.allocate(bytes);
            let args = [uplo, n, one, a, lda, x, incx, zero, w, unit];
            self.e.call("symv", &args);
            let product = self.e.call("dot", &[n, w, unit, dy, incy]);
            self.factor("alpha", product);
            self.e.free(w);
        }
        if self.ops.is_active("beta") {
            let y = self.array("y");
            let product = self.e.call("dot", &[n, y, incy, dy, incy]);
            self.factor("beta", product);
        }
        if let Some(da) = self.shadow("a") {
            let x = self.array("x");
            let args = [uplo, n, alpha, dy, incy, x, incx, da, lda];
            self.e.call("syr2", &args);
            self.e.repeat(n, |e, i| {
                let (x, y) = (e.element(x, i, n, incx), e.element(dy, i, n, incy));
                let (x, y) = (e.load(x), e.load(y));
                let product = e.builder.fmul(x, y);
                e.undo_diagonal(alpha, product, (da, lda), i);
            });
        }
        if let Some(dx) = self.shadow("x") {
            let a = self.array("a");
            let args = [uplo, n, alpha, a, lda, dy, incy, one, dx, incx];
            self.e.call("symv", &args);
        }
        self.e.scale_vector(n, beta, dy, incy);
        Some(())
    }

    pub(super) fn symm(&mut self) -> Option<()> {
        let names = [
            "side", "uplo", "m", "n", "alpha", "lda", "ldb", "beta", "ldc",
        ];
        let [side, uplo, m, n, alpha, lda, ldb, beta, ldc] = self.numbers(names);
        let dc = self.shadow("c")?;
        let (one, zero) = (self.e.float(1.0), self.e.float(0.0));
        if self.ops.is_active("alpha") {
            let (a, b) = (self.array("a"), self.array("b"));
            let bytes = self.e.matrix_bytes(m, n, ldc);
            let w = self.e.allocate(bytes);
            let args = [side, uplo, m, n, one, a, lda, b, ldb, zero, w, ldc];
            self.e.call("symm", &args);
            let product = self.e.inner((m, n), (w, ldc), (dc, ldc));
            self.factor("alpha", Some(product));
            self.e.free(w);
        }
        if self.ops.is_active("beta") {
            let c = self.array("c");
            let product = self.e.inner((m, n), (c, ldc), (dc, ldc));
            self.factor("beta", Some(product));
        }
        if let Some(da) = self.shadow("a") {
            let b = self.array("b");
            let left = self.e.is_flag(side, b'l', 141);
            let (plain, transposed) = (self.e.plain(), self.e.transposed());
            let trans = self.e.builder.select(left, plain, transposed);
            let size = self.e.builder.select(left, m, n);
            let inner = self.e.builder.select(left, n, m);
            let args = [
                uplo, trans, size, inner, alpha, dc, ldc, b, ldb, one, da, lda,
            ];
            self.e.call("syr2k", &args);
            // The rows of a matrix on the left meet, the columns of one on the right.
            let row_major = self.e.is_row_major();
            let across = self.e.builder.binary(BinaryOp::Xor, left, row_major);
            self.e.repeat(size, |e, i| {
                let unit = e.int(1);
                let mut line = |ld: Value| {
                    let step = e.builder.select(across, unit, ld);
                    (e.builder.mul(i, step), e.builder.select(across, ld, unit))
                };
                let ((b_at, b_inc), (c_at, c_inc)) = (line(ldb), line(ldc));
                let (b, dc) = (e.at(b, b_at), e.at(dc, c_at));
                if let Some(product) = e.call("dot", &[inner, b, b_inc, dc, c_inc]) {
                    e.undo_diagonal(alpha, product, (da, lda), i);
                }
            });
        }
        if let Some(db) = self.shadow("b") {
            let a = self.array("a");
            let args = [side, uplo, m, n, alpha, a, lda, dc, ldc, one, db, ldb];
            self.e.call("symm", &args);
        }
        self.e.scale((m, n), beta, (dc, ldc));
        Some(())
    }

    pub(super) fn syrk(&mut self) -> Option<()> {
        let names = ["uplo", "trans", "n", "alpha", "lda", "beta", "ldc"];
        let [uplo, trans, n, alpha, lda, beta, ldc] = self.numbers(names);
        let dc = self.shadow("c")?;
        let (zero, unit) = (self.e.float(0.0), self.e.int(1));
        if self.ops.is_active("a") || self.ops.is_active("alpha") {
            // A triangle whose diagonal is doubled is C̄ + C̄ᵀ to a product with a symmetric matrix.
            let a = self.array("a");
            let ((rows, columns), _) = self.ops.matrix(self.e, "a");
            let bytes = self.e.matrix_bytes(n, n, ldc);
            let both = self.e.copy(dc, bytes);
            let (two, diagonal) = (self.e.float(2.0), self.e.builder.add(ldc, unit));
            self.e.scale_vector(n, two, both, diagonal);
            let is_plain = self.e.is_plain(trans);
            let (left, right) = (self.e.flag(b'L', 141), self.e.flag(b'R', 142));
            let side = self.e.builder.select(is_plain, left, right);
            let bytes = self.e.matrix_bytes(rows, columns, lda);
            let w = self.e.allocate(bytes);
            let one = self.e.float(1.0);
            let args = [
                side, uplo, rows, columns, one, both, ldc, a, lda, zero, w, lda,
            ];
            self.e.call("symm", &args);
            if self.ops.is_active("alpha") {
                let product = self.e.inner((rows, columns), (w, lda), (a, lda));
                let half = self.e.float(0.5);
                let product = self.e.builder.fmul(half, product);
                self.factor("alpha", Some(product));
            }
            if let Some(da) = self.shadow("a") {
                self.e
                    .add_matrix((rows, columns), alpha, (w, lda), (da, lda));
            }
            self.e.free(w);
            self.e.free(both);
        }
        if self.ops.is_active("beta") {
            let c = self.array("c");
            let sum = self.e.builder.alloca(self.ops.routine.float(), 8);
            self.e.store(zero, sum);
            self.e.triangle(uplo, None, n, |e, j, start, length| {
                let (c, dc) = (e.place(c, j, ldc, start), e.place(dc, j, ldc, start));
                if let Some(part) = e.call("dot", &[length, c, unit, dc, unit]) {
                    let old = e.load(sum);
                    let new = e.builder.fadd(old, part);
                    e.store(new, sum);
                }
            });
            let product = self.e.load(sum);
            self.factor("beta", Some(product));
        }
        self.e.triangle(uplo, None, n, |e, j, start, length| {
            let dc = e.place(dc, j, ldc, start);
            e.scale_vector(length, beta, dc, unit);
        });
        Some(())
    }
}
