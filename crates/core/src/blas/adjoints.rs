//! Adjoints of subprograms. With the adjoint of `x` written x̄ and that of the result r̄:
//!
//! | subprogram | adjoints |
//! | --- | --- |
//! | dot | x̄ += r̄y, ȳ += r̄x |
//! | nrm2, asum | x̄ += r̄x/r, x̄ += r̄ sign(x) |
//! | axpy | ᾱ += x·ȳ, x̄ += αȳ |
//! | scal | ᾱ += x·x̄, x̄ = αx̄ |
//! | copy, swap | x̄ += ȳ and ȳ = 0; x̄ and ȳ are swapped |
//! | gemv, gemm | ᾱ += ȳ·Ax, β̄ += ȳ·y, Ā += αȳxᵀ, x̄ += αAᵀȳ, ȳ = βȳ, and likewise |
//! | ger | ᾱ += xᵀĀy, x̄ += αĀy, ȳ += αĀᵀx |
//! | syr, syrk | Ā += α(C̄ + C̄ᵀ)A, ᾱ += half of A·(C̄ + C̄ᵀ)A, β̄ += C̄·C, C̄ = βC̄, and likewise |
//! | syr2, syr2k | Ā += α(C̄ + C̄ᵀ)B, B̄ += α(C̄ + C̄ᵀ)A, ᾱ += A·(C̄ + C̄ᵀ)B, and likewise |
//! | symv, symm | as gemv and gemm, with ȳxᵀ + xȳᵀ in the triangle and half of it on its diagonal |
//! | trmv, trmm | Ā += the triangle of αB̄Bᵀ, ᾱ += B̄·AB, B̄ = αAᵀB̄ |
//! | trsv, trsm | W = A⁻ᵀB̄, Ā −= the triangle of WXᵀ, ᾱ += W·B, B̄ = αW |
//!
//! The equations for transposed matrices, and for those on the right, are these with the operands
//! in another order.

use super::reverse::Reverse;
use crate::ir::Value;

impl Reverse<'_, '_, '_> {
    pub(super) fn dot(&mut self, seed: Value) {
        let [n, incx, incy] = self.numbers(["n", "incx", "incy"]);
        if let Some(dx) = self.shadow("x") {
            let y = self.array("y");
            self.e.call("axpy", &[n, seed, y, incy, dx, incx]);
        }
        if let Some(dy) = self.shadow("y") {
            let x = self.array("x");
            self.e.call("axpy", &[n, seed, x, incx, dy, incy]);
        }
    }

    pub(super) fn norm(&mut self, seed: Value) -> Option<()> {
        let [n, incx] = self.numbers(["n", "incx"]);
        let n = self.e.if_positive(incx, n);
        let (x, dx) = (self.array("x"), self.shadow("x")?);
        if self.ops.routine.row.0 == "nrm2" {
            let float = self.ops.routine.float();
            let norm = self.ops.kept(self.e, self.frame, "result", float);
            let by = self.e.quotient(seed, norm);
            self.e.call("axpy", &[n, by, x, incx, dx, incx]);
            return Some(());
        }
        self.e.repeat(n, |e, i| {
            let at = e.builder.mul(i, incx);
            let (x, dx) = (e.at(x, at), e.at(dx, at));
            let x = e.load(x);
            let part = e.signed(seed, x);
            e.add_to(dx, part);
        });
        Some(())
    }

    pub(super) fn axpy(&mut self) -> Option<()> {
        let [n, alpha, incx, incy] = self.numbers(["n", "alpha", "incx", "incy"]);
        let dy = self.shadow("y")?;
        if self.ops.is_active("alpha") {
            let x = self.array("x");
            let product = self.e.call("dot", &[n, x, incx, dy, incy]);
            self.factor("alpha", product);
        }
        if let Some(dx) = self.shadow("x") {
            self.e.call("axpy", &[n, alpha, dy, incy, dx, incx]);
        }
        Some(())
    }

    pub(super) fn scal(&mut self) -> Option<()> {
        let [n, alpha, incx] = self.numbers(["n", "alpha", "incx"]);
        let n = self.e.if_positive(incx, n);
        let dx = self.shadow("x")?;
        if self.ops.is_active("alpha") {
            let x = self.array("x");
            let product = self.e.call("dot", &[n, x, incx, dx, incx]);
            self.factor("alpha", product);
        }
        self.e.scale_vector(n, alpha, dx, incx);
        Some(())
    }

    pub(super) fn moved(&mut self) {
        let [n, incx, incy] = self.numbers(["n", "incx", "incy"]);
        let swaps = self.ops.routine.row.0 == "swap";
        match (self.shadow("x"), self.shadow("y")) {
            (Some(dx), Some(dy)) if swaps => {
                self.e.call("swap", &[n, dx, incx, dy, incy]);
            }
            (Some(dx), None) if swaps => self.e.clear(n, dx, incx),
            (Some(dx), Some(dy)) => {
                let one = self.e.float(1.0);
                self.e.call("axpy", &[n, one, dy, incy, dx, incx]);
                self.e.clear(n, dy, incy);
            }
            (None, Some(dy)) => self.e.clear(n, dy, incy),
            _ => {}
        }
    }

    pub(super) fn gemv(&mut self) -> Option<()> {
        let names = ["trans", "m", "n", "alpha", "lda", "incx", "incy"];
        let [trans, m, n, alpha, lda, incx, incy] = self.numbers(names);
        let dy = self.shadow("y")?;
        let is_plain = self.e.is_plain(trans);
        let length = self.e.builder.select(is_plain, m, n);
        let one = self.e.float(1.0);
        if self.ops.is_active("alpha") {
            let (a, x) = (self.array("a"), self.array("x"));
            let (unit, zero) = (self.e.int(1), self.e.float(0.0));
            let bytes = self.e.vector_bytes(length, unit);
            let w = self.e.allocate(bytes);
            let args = [trans, m, n, one, a, lda, x, incx, zero, w, unit];
            self.e.call("gemv", &args);
            let product = self.e.call("dot", &[length, w, unit, dy, incy]);
            self.factor("alpha", product);
            self.e.free(w);
        }
        if let Some(da) = self.shadow("a") {
            let x = self.array("x");
            let b = &mut self.e.builder;
            let (left, left_inc) = (b.select(is_plain, dy, x), b.select(is_plain, incy, incx));
            let (right, right_inc) = (b.select(is_plain, x, dy), b.select(is_plain, incx, incy));
            let args = [m, n, alpha, left, left_inc, right, right_inc, da, lda];
            self.e.call("ger", &args);
        }
        if let Some(dx) = self.shadow("x") {
            let (a, flipped) = (self.array("a"), self.e.flip(trans));
            let args = [flipped, m, n, alpha, a, lda, dy, incy, one, dx, incx];
            self.e.call("gemv", &args);
        }
        self.times_beta(length)
    }

    pub(super) fn ger(&mut self) -> Option<()> {
        let names = ["m", "n", "alpha", "incx", "incy", "lda"];
        let [m, n, alpha, incx, incy, lda] = self.numbers(names);
        let da = self.shadow("a")?;
        let (one, plain, transposed) = (self.e.float(1.0), self.e.plain(), self.e.transposed());
        if self.ops.is_active("alpha") {
            let (x, y) = (self.array("x"), self.array("y"));
            let (unit, zero) = (self.e.int(1), self.e.float(0.0));
            let bytes = self.e.vector_bytes(m, unit);
            let w = self.e.allocate(bytes);
            let args = [plain, m, n, one, da, lda, y, incy, zero, w, unit];
            self.e.call("gemv", &args);
            let product = self.e.call("dot", &[m, w, unit, x, incx]);
            self.factor("alpha", product);
            self.e.free(w);
        }
        if let Some(dx) = self.shadow("x") {
            let y = self.array("y");
            let args = [plain, m, n, alpha, da, lda, y, incy, one, dx, incx];
            self.e.call("gemv", &args);
        }
        if let Some(dy) = self.shadow("y") {
            let x = self.array("x");
            let args = [transposed, m, n, alpha, da, lda, x, incx, one, dy, incy];
            self.e.call("gemv", &args);
        }
        Some(())
    }

    pub(super) fn gemm(&mut self) -> Option<()> {
        let names = [
            "transa", "transb", "m", "n", "k", "alpha", "lda", "ldb", "ldc",
        ];
        let [ta, tb, m, n, k, alpha, lda, ldb, ldc] = self.numbers(names);
        let dc = self.shadow("c")?;
        let (one, zero) = (self.e.float(1.0), self.e.float(0.0));
        let (plain_a, plain_b) = (self.e.is_plain(ta), self.e.is_plain(tb));
        let (plain, transposed) = (self.e.plain(), self.e.transposed());
        if self.ops.is_active("alpha") {
            let (a, b) = (self.array("a"), self.array("b"));
            let (_, length) = self.e.lines(m, n);
            let ld = self.e.at_least_one(length);
            let bytes = self.e.matrix_bytes(m, n, ld);
            let w = self.e.allocate(bytes);
            let args = [ta, tb, m, n, k, one, a, lda, b, ldb, zero, w, ld];
            self.e.call("gemm", &args);
            let product = self.e.inner((m, n), (w, ld), (dc, ldc));
            self.factor("alpha", Some(product));
            self.e.free(w);
        }
        if let Some(da) = self.shadow("a") {
            // C̄Bᵀ, or transposed BC̄ᵀ.
            let b = self.array("b");
            let flipped = self.e.flip(tb);
            let mut either = |x: Value, y: Value| self.e.builder.select(plain_a, x, y);
            let (left, right) = (either(plain, tb), either(flipped, transposed));
            let (rows, columns) = (either(m, k), either(k, m));
            let (first, first_ld) = (either(dc, b), either(ldc, ldb));
            let (second, second_ld) = (either(b, dc), either(ldb, ldc));
            self.e.call(
                "gemm",
                &[
                    left, right, rows, columns, n, alpha, first, first_ld, second, second_ld, one,
                    da, lda,
                ],
            );
        }
        if let Some(db) = self.shadow("b") {
            // AᵀC̄, or transposed C̄ᵀA.
            let a = self.array("a");
            let flipped = self.e.flip(ta);
            let mut either = |x: Value, y: Value| self.e.builder.select(plain_b, x, y);
            let (left, right) = (either(flipped, transposed), either(plain, ta));
            let (rows, columns) = (either(k, n), either(n, k));
            let (first, first_ld) = (either(a, dc), either(lda, ldc));
            let (second, second_ld) = (either(dc, a), either(ldc, lda));
            self.e.call(
                "gemm",
                &[
                    left, right, rows, columns, m, alpha, first, first_ld, second, second_ld, one,
                    db, ldb,
                ],
            );
        }
        self.matrix_times_beta()
    }

    /// The adjoint of a factor and of the vector that it multiplies, where the sum is.
    pub(super) fn times_beta(&mut self, length: Value) -> Option<()> {
        let [beta, incy] = self.numbers(["beta", "incy"]);
        let dy = self.shadow("y")?;
        if self.ops.is_active("beta") {
            let y = self.array("y");
            let product = self.e.call("dot", &[length, y, incy, dy, incy]);
            self.factor("beta", product);
        }
        self.e.scale_vector(length, beta, dy, incy);
        Some(())
    }

    /// As [`times_beta`](Reverse::times_beta), for a matrix.
    pub(super) fn matrix_times_beta(&mut self) -> Option<()> {
        let [m, n, beta, ldc] = self.numbers(["m", "n", "beta", "ldc"]);
        let dc = self.shadow("c")?;
        if self.ops.is_active("beta") {
            let c = self.array("c");
            let product = self.e.inner((m, n), (c, ldc), (dc, ldc));
            self.factor("beta", Some(product));
        }
        self.e.scale((m, n), beta, (dc, ldc));
        Some(())
    }
}
