//! Adjoints of products with symmetric matrices, of which one triangle is in memory.

use super::reverse::Reverse;
use crate::ir::{BinaryOp, Value};

impl Reverse<'_, '_, '_> {
    pub(super) fn symv(&mut self) -> Option<()> {
        let names = ["uplo", "n", "alpha", "lda", "incx", "incy"];
        let [uplo, n, alpha, lda, incx, incy] = self.numbers(names);
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
        self.times_beta(n)
    }

    pub(super) fn symm(&mut self) -> Option<()> {
        let names = ["side", "uplo", "m", "n", "alpha", "lda", "ldb", "ldc"];
        let [side, uplo, m, n, alpha, lda, ldb, ldc] = self.numbers(names);
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
        self.matrix_times_beta()
    }

    pub(super) fn syr(&mut self) -> Option<()> {
        if self.ops.is_active("x") || self.ops.is_active("alpha") {
            let (x, half) = (self.array("x"), self.e.float(0.5));
            self.vector_update(("x", "incx"), (x, "incx"), Some((x, half)))?;
        }
        Some(())
    }

    pub(super) fn syr2(&mut self) -> Option<()> {
        let one = self.e.float(1.0);
        if self.ops.is_active("x") || self.ops.is_active("alpha") {
            let y = self.array("y");
            let x = self.ops.is_active("alpha").then(|| self.array("x"));
            self.vector_update(("x", "incx"), (y, "incy"), x.map(|x| (x, one)))?;
        }
        if self.ops.is_active("y") {
            let x = self.array("x");
            self.vector_update(("y", "incy"), (x, "incx"), None)?;
        }
        Some(())
    }

    pub(super) fn syrk(&mut self) -> Option<()> {
        if self.ops.is_active("a") || self.ops.is_active("alpha") {
            let (a, half) = (self.array("a"), self.e.float(0.5));
            self.matrix_update(("a", "lda"), (a, "lda"), Some((a, half)))?;
        }
        self.triangle_times_beta()
    }

    pub(super) fn syr2k(&mut self) -> Option<()> {
        let one = self.e.float(1.0);
        if self.ops.is_active("a") || self.ops.is_active("alpha") {
            let b = self.array("b");
            let a = self.ops.is_active("alpha").then(|| self.array("a"));
            self.matrix_update(("a", "lda"), (b, "ldb"), a.map(|a| (a, one)))?;
        }
        if self.ops.is_active("b") {
            let a = self.array("a");
            self.matrix_update(("b", "ldb"), (a, "lda"), None)?;
        }
        self.triangle_times_beta()
    }

    /// The adjoint of a symmetric matrix, as one to multiply with: a triangle whose diagonal is
    /// doubled is C̄ + C̄ᵀ.
    fn both_triangles(&mut self, n: Value, adjoint: Value, ld: Value) -> Value {
        let bytes = self.e.matrix_bytes(n, n, ld);
        let both = self.e.copy(adjoint, bytes);
        let (two, unit) = (self.e.float(2.0), self.e.int(1));
        let diagonal = self.e.builder.add(ld, unit);
        self.e.scale_vector(n, two, both, diagonal);
        both
    }

    /// Adds α(Ā + Āᵀ)y to the adjoint of a vector `x` that a symmetric matrix is updated by, and a
    /// multiple of x·(Ā + Āᵀ)y to that of α.
    fn vector_update(
        &mut self,
        (x, incx): (&str, &str),
        (y, incy): (Value, &str),
        alpha_by: Option<(Value, Value)>,
    ) -> Option<()> {
        let [uplo, n, alpha, lda, incx, incy] =
            self.numbers(["uplo", "n", "alpha", "lda", incx, incy]);
        let da = self.shadow("a")?;
        let both = self.both_triangles(n, da, lda);
        let (one, zero, unit) = (self.e.float(1.0), self.e.float(0.0), self.e.int(1));
        let bytes = self.e.vector_bytes(n, unit);
        let w = self.e.allocate(bytes);
        let args = [uplo, n, one, both, lda, y, incy, zero, w, unit];
        self.e.call("symv", &args);
        if let Some((x, by)) = alpha_by.filter(|_| self.ops.is_active("alpha")) {
            let product = self.e.call("dot", &[n, w, unit, x, incx])?;
            let product = self.e.builder.fmul(by, product);
            self.factor("alpha", Some(product));
        }
        if let Some(dx) = self.shadow(x) {
            self.e.call("axpy", &[n, alpha, w, unit, dx, incx]);
        }
        self.e.free(w);
        self.e.free(both);
        Some(())
    }

    /// As [`vector_update`](Reverse::vector_update), for a matrix.
    fn matrix_update(
        &mut self,
        (a, lda): (&str, &str),
        (b, ldb): (Value, &str),
        alpha_by: Option<(Value, Value)>,
    ) -> Option<()> {
        let [uplo, trans, n, alpha, ldc, lda, ldb] =
            self.numbers(["uplo", "trans", "n", "alpha", "ldc", lda, ldb]);
        let dc = self.shadow("c")?;
        let size @ (rows, columns) = self.ops.matrix(self.e, a).0;
        let both = self.both_triangles(n, dc, ldc);
        let is_plain = self.e.is_plain(trans);
        let (left, right) = (self.e.flag(b'L', 141), self.e.flag(b'R', 142));
        let side = self.e.builder.select(is_plain, left, right);
        let bytes = self.e.matrix_bytes(rows, columns, lda);
        let w = self.e.allocate(bytes);
        let (one, zero) = (self.e.float(1.0), self.e.float(0.0));
        let args = [
            side, uplo, rows, columns, one, both, ldc, b, ldb, zero, w, lda,
        ];
        self.e.call("symm", &args);
        if let Some((a, by)) = alpha_by.filter(|_| self.ops.is_active("alpha")) {
            let product = self.e.inner(size, (w, lda), (a, lda));
            let product = self.e.builder.fmul(by, product);
            self.factor("alpha", Some(product));
        }
        if let Some(da) = self.shadow(a) {
            self.e.add_matrix(size, alpha, (w, lda), (da, lda));
        }
        self.e.free(w);
        self.e.free(both);
        Some(())
    }

    /// As [`times_beta`](Reverse::times_beta), for a symmetric matrix.
    fn triangle_times_beta(&mut self) -> Option<()> {
        let [uplo, n, beta, ldc] = self.numbers(["uplo", "n", "beta", "ldc"]);
        let (dc, unit) = (self.shadow("c")?, self.e.int(1));
        if self.ops.is_active("beta") {
            let c = self.array("c");
            let product = self.e.sum(|e, sum| {
                e.triangle(uplo, None, n, |e, j, start, length| {
                    let (c, dc) = (e.place(c, j, ldc, start), e.place(dc, j, ldc, start));
                    if let Some(part) = e.call("dot", &[length, c, unit, dc, unit]) {
                        e.add_to(sum, part);
                    }
                });
            });
            self.factor("beta", Some(product));
        }
        self.e.triangle(uplo, None, n, |e, j, start, length| {
            let dc = e.place(dc, j, ldc, start);
            e.scale_vector(length, beta, dc, unit);
        });
        Some(())
    }
}
