//! Tangents of subprograms. With the tangent of `x` written x′:
//!
//! | subprogram | tangent |
//! | --- | --- |
//! | dot | r′ = x′·y + x·y′ |
//! | nrm2, asum | r′ = x·x′/r, r′ = Σ sign(x) x′ |
//! | axpy, scal | y′ += α′x + αx′, x′ = αx′ + α′x |
//! | copy, swap | the same on tangents |
//! | gemv, gemm | y′ = βy′ + β′y + α′Ax + αA′x + αAx′, and likewise |
//! | ger | A′ += α′xyᵀ + αx′yᵀ + αxy′ᵀ |
//! | syr, syrk | C′ = βC′ + β′C + α′AAᵀ + α(A′Aᵀ + AA′ᵀ), and likewise |
//! | syr2, syr2k | C′ = βC′ + β′C + α′(ABᵀ + BAᵀ) + α(A′Bᵀ + BA′ᵀ) + α(AB′ᵀ + B′Aᵀ), and likewise |
//! | symv, symm | as gemv and gemm |
//! | trmv, trmm | B′ = α(A′B + AB′) + α′AB |
//! | trsv, trsm | X′ = A⁻¹(αB′ + α′B − A′X) |

use super::emit::Emit;
use super::operands::Operands;
use super::{Role, Routine, STRIDED};
use crate::derivative::{Key, batch_values, bundle_values};
use crate::ir::{Function, Module, ReturnActivity, Type, Value};
use crate::shadow::record;

/// Writes the forward derivative of a subprogram.
pub fn forward(module: &mut Module, key: &Key, routine: Routine) -> Function {
    let sig = module.funcs[key.func].sig.clone();
    let mut function = Function::with_entry("", key.forward_signature(&sig));
    function.local = true;
    let ops = Operands::new(routine, key, &function, None);
    let entry = function.entry();
    let mut e = super::reverse::emitter(module, &mut function, entry, &ops);
    let width = key.width as usize;
    if key.recording {
        for k in 0..width {
            note_operands(&mut e, &ops, k);
        }
    }
    let mut before = Vec::new();
    for k in 0..width {
        let (ops, e) = (&ops, &mut e);
        before.extend(Tangents { ops, e, k }.before());
    }
    let result = super::reverse::primal(&mut e, &ops);
    for k in 0..width {
        let (ops, e) = (&ops, &mut e);
        Tangents { ops, e, k }.after();
    }
    let mut parts = Vec::new();
    if key.primal_needed {
        parts.extend(result);
    }
    if key.ret != ReturnActivity::Const {
        parts.push(batch_values(&mut e.builder, &before));
    }
    let returned = bundle_values(&mut e.builder, &parts);
    e.builder.ret(returned);
    function
}

/// Tells which numbers the subprogram touches, for those who check derivatives.
fn note_operands(e: &mut Emit<'_, '_>, ops: &Operands<'_>, k: usize) {
    let routine = ops.routine;
    let size = i128::from(routine.kind.bytes());
    for (name, role) in routine.names().zip(routine.roles()) {
        let Some(shadow) = ops.shadow(name, k).filter(|_| ops.param_is_memory(name)) else {
            continue;
        };
        let one = e.builder.func.iconst(Type::i64(), size);
        if routine.is_strided() {
            let [x, dx] = [ops.param(name), shadow].map(|at| ops.strided(e, name, at));
            e.each(x, dx, |e, x, dx| {
                let place = (x, dx, k);
                record::note_numbers(e.module, &mut e.builder, place, (one, one), routine.kind);
            });
            continue;
        }
        let range = match role {
            Role::Array => (ops.bytes(e, name), ops.period(e, name)),
            _ => (one, one),
        };
        let place = (ops.param(name), shadow, k);
        record::note_numbers(e.module, &mut e.builder, place, range, routine.kind);
    }
}

/// One of several derivatives.
pub(super) struct Tangents<'r, 'e, 'f> {
    pub ops: &'r Operands<'r>,
    pub e: &'r mut Emit<'e, 'f>,
    k: usize,
}

impl Tangents<'_, '_, '_> {
    /// What happens to tangents before the subprogram runs; gives that of its result.
    fn before(&mut self) -> Option<Value> {
        match self.ops.routine.row.0 {
            "dot" => return Some(self.dot()),
            "nrm2" => return self.nrm2(),
            "asum" => return self.asum(),
            "axpy" => self.axpy()?,
            "scal" => self.scal()?,
            "copy" | "swap" => self.moved(),
            "gemv" => self.gemv()?,
            "ger" => self.ger()?,
            "gemm" => self.gemm()?,
            STRIDED => self.strided()?,
            "symv" => self.symv()?,
            "symm" => self.symm()?,
            "syr" => self.syr()?,
            "syr2" => self.syr2()?,
            "syrk" => self.syrk()?,
            "syr2k" => self.syr2k()?,
            "trmv" => self.trmv()?,
            "trmm" => self.trmm()?,
            "trsm" => self.right_side()?,
            _ => {}
        }
        None
    }

    /// What happens to tangents after a solution is known.
    fn after(&mut self) -> Option<()> {
        match self.ops.routine.row.0 {
            "trsv" => self.trsv(),
            "trsm" => self.trsm(),
            _ => None,
        }
    }

    pub(super) fn numbers<const N: usize>(&mut self, names: [&str; N]) -> [Value; N] {
        numbers(self.e, self.ops, names)
    }

    pub(super) fn shadow(&self, name: &str) -> Option<Value> {
        self.ops.shadow(name, self.k)
    }

    /// The tangent of a number that is an operand.
    pub(super) fn scalar(&mut self, name: &str) -> Option<Value> {
        let shadow = self.shadow(name)?;
        match self.ops.routine.fortran {
            true => Some(self.e.load(shadow)),
            false => Some(shadow),
        }
    }

    /// The terms of the tangent of a product of a factor and two arrays.
    pub(super) fn terms(&mut self, x: &str, y: &str) -> Vec<[Value; 3]> {
        let [alpha] = self.numbers(["alpha"]);
        let dalpha = self.scalar("alpha");
        let (dx, dy) = (self.shadow(x), self.shadow(y));
        let (x, y) = (self.ops.param(x), self.ops.param(y));
        let by_x = dx.map(|dx| [alpha, dx, y]);
        let by_y = dy.map(|dy| [alpha, x, dy]);
        let by_alpha = dalpha.map(|dalpha| [dalpha, x, y]);
        [by_x, by_y, by_alpha].into_iter().flatten().collect()
    }

    /// The tangent of a vector times a factor, where the vector of the sum is.
    fn times_beta(&mut self, length: Value) -> Option<()> {
        let [beta, incy] = self.numbers(["beta", "incy"]);
        let (y, dy) = (self.ops.param("y"), self.shadow("y")?);
        self.e.scale_vector(length, beta, dy, incy);
        if let Some(dbeta) = self.scalar("beta") {
            self.e.call("axpy", &[length, dbeta, y, incy, dy, incy]);
        }
        Some(())
    }

    /// As [`times_beta`](Tangents::times_beta), for a matrix.
    fn matrix_times_beta(&mut self) -> Option<()> {
        let [m, n, beta, ldc] = self.numbers(["m", "n", "beta", "ldc"]);
        let (c, dc) = (self.ops.param("c"), self.shadow("c")?);
        self.e.scale((m, n), beta, (dc, ldc));
        if let Some(dbeta) = self.scalar("beta") {
            self.e.add_matrix((m, n), dbeta, (c, ldc), (dc, ldc));
        }
        Some(())
    }

    /// As [`times_beta`](Tangents::times_beta), for a symmetric matrix.
    fn triangle_times_beta(&mut self) -> Option<()> {
        let [uplo, n, beta, ldc] = self.numbers(["uplo", "n", "beta", "ldc"]);
        let (c, dc) = (self.ops.param("c"), self.shadow("c")?);
        let dbeta = self.scalar("beta");
        self.e.triangle(uplo, None, n, |e, j, start, length| {
            let (c, dc) = (e.place(c, j, ldc, start), e.place(dc, j, ldc, start));
            let unit = e.int(1);
            e.scale_vector(length, beta, dc, unit);
            if let Some(dbeta) = dbeta {
                e.call("axpy", &[length, dbeta, c, unit, dc, unit]);
            }
        });
        Some(())
    }

    fn dot(&mut self) -> Value {
        let [n, incx, incy] = self.numbers(["n", "incx", "incy"]);
        let (x, y) = (self.ops.param("x"), self.ops.param("y"));
        let mut sum = self.e.float(0.0);
        for (x, y) in [(self.shadow("x"), Some(y)), (Some(x), self.shadow("y"))] {
            if let (Some(x), Some(y)) = (x, y)
                && let Some(part) = self.e.call("dot", &[n, x, incx, y, incy])
            {
                sum = self.e.builder.fadd(sum, part);
            }
        }
        sum
    }

    fn nrm2(&mut self) -> Option<Value> {
        let [n, incx] = self.numbers(["n", "incx"]);
        let n = self.e.if_positive(incx, n);
        let (x, dx) = (self.ops.param("x"), self.shadow("x")?);
        let product = self.e.call("dot", &[n, x, incx, dx, incx])?;
        let norm = self.e.call("nrm2", &[n, x, incx])?;
        Some(self.e.quotient(product, norm))
    }

    fn asum(&mut self) -> Option<Value> {
        let [n, incx] = self.numbers(["n", "incx"]);
        let n = self.e.if_positive(incx, n);
        let (x, dx) = (self.ops.param("x"), self.shadow("x")?);
        let sum = self.e.sum(|e, sum| {
            e.repeat(n, |e, i| {
                let at = e.builder.mul(i, incx);
                let (x, dx) = (e.at(x, at), e.at(dx, at));
                let (x, dx) = (e.load(x), e.load(dx));
                let part = e.signed(dx, x);
                e.add_to(sum, part);
            });
        });
        Some(sum)
    }

    fn axpy(&mut self) -> Option<()> {
        let [n, alpha, incx, incy] = self.numbers(["n", "alpha", "incx", "incy"]);
        let (x, dy) = (self.ops.param("x"), self.shadow("y")?);
        if let Some(dx) = self.shadow("x") {
            self.e.call("axpy", &[n, alpha, dx, incx, dy, incy]);
        }
        if let Some(dalpha) = self.scalar("alpha") {
            self.e.call("axpy", &[n, dalpha, x, incx, dy, incy]);
        }
        Some(())
    }

    fn scal(&mut self) -> Option<()> {
        let [n, alpha, incx] = self.numbers(["n", "alpha", "incx"]);
        let (x, dx) = (self.ops.param("x"), self.shadow("x")?);
        self.e.call("scal", &[n, alpha, dx, incx]);
        if let Some(dalpha) = self.scalar("alpha") {
            let n = self.e.if_positive(incx, n);
            self.e.call("axpy", &[n, dalpha, x, incx, dx, incx]);
        }
        Some(())
    }

    fn moved(&mut self) {
        let [n, incx, incy] = self.numbers(["n", "incx", "incy"]);
        let name = self.ops.routine.row.0;
        match (self.shadow("x"), self.shadow("y")) {
            (Some(x), Some(y)) => _ = self.e.call(name, &[n, x, incx, y, incy]),
            (None, Some(y)) => self.e.clear(n, y, incy),
            (Some(x), None) if name == "swap" => self.e.clear(n, x, incx),
            _ => {}
        }
    }

    fn gemv(&mut self) -> Option<()> {
        let [trans, m, n, lda, incx, incy] =
            self.numbers(["trans", "m", "n", "lda", "incx", "incy"]);
        let (dy, one) = (self.shadow("y")?, self.e.float(1.0));
        let is_plain = self.e.is_plain(trans);
        let length = self.e.builder.select(is_plain, m, n);
        self.times_beta(length)?;
        for [by, a, x] in self.terms("a", "x") {
            let args = [trans, m, n, by, a, lda, x, incx, one, dy, incy];
            self.e.call("gemv", &args);
        }
        Some(())
    }

    fn ger(&mut self) -> Option<()> {
        let [m, n, incx, incy, lda] = self.numbers(["m", "n", "incx", "incy", "lda"]);
        let da = self.shadow("a")?;
        for [by, x, y] in self.terms("x", "y") {
            self.e.call("ger", &[m, n, by, x, incx, y, incy, da, lda]);
        }
        Some(())
    }

    fn gemm(&mut self) -> Option<()> {
        let names = ["transa", "transb", "m", "n", "k", "lda", "ldb", "ldc"];
        let [ta, tb, m, n, k, lda, ldb, ldc] = self.numbers(names);
        let (dc, one) = (self.shadow("c")?, self.e.float(1.0));
        self.matrix_times_beta()?;
        for [by, a, b] in self.terms("a", "b") {
            let args = [ta, tb, m, n, k, by, a, lda, b, ldb, one, dc, ldc];
            self.e.call("gemm", &args);
        }
        Some(())
    }

    fn symv(&mut self) -> Option<()> {
        let [uplo, n, lda, incx, incy] = self.numbers(["uplo", "n", "lda", "incx", "incy"]);
        let (dy, one) = (self.shadow("y")?, self.e.float(1.0));
        self.times_beta(n)?;
        for [by, a, x] in self.terms("a", "x") {
            let args = [uplo, n, by, a, lda, x, incx, one, dy, incy];
            self.e.call("symv", &args);
        }
        Some(())
    }

    fn symm(&mut self) -> Option<()> {
        let [side, uplo, m, n, lda, ldb, ldc] =
            self.numbers(["side", "uplo", "m", "n", "lda", "ldb", "ldc"]);
        let (dc, one) = (self.shadow("c")?, self.e.float(1.0));
        self.matrix_times_beta()?;
        for [by, a, b] in self.terms("a", "b") {
            let args = [side, uplo, m, n, by, a, lda, b, ldb, one, dc, ldc];
            self.e.call("symm", &args);
        }
        Some(())
    }

    fn syr(&mut self) -> Option<()> {
        let [uplo, n, alpha, incx, lda] = self.numbers(["uplo", "n", "alpha", "incx", "lda"]);
        let (x, da) = (self.ops.param("x"), self.shadow("a")?);
        if let Some(dx) = self.shadow("x") {
            let args = [uplo, n, alpha, dx, incx, x, incx, da, lda];
            self.e.call("syr2", &args);
        }
        if let Some(dalpha) = self.scalar("alpha") {
            self.e.call("syr", &[uplo, n, dalpha, x, incx, da, lda]);
        }
        Some(())
    }

    fn syr2(&mut self) -> Option<()> {
        let [uplo, n, incx, incy, lda] = self.numbers(["uplo", "n", "incx", "incy", "lda"]);
        let da = self.shadow("a")?;
        for [by, x, y] in self.terms("x", "y") {
            let args = [uplo, n, by, x, incx, y, incy, da, lda];
            self.e.call("syr2", &args);
        }
        Some(())
    }

    fn syrk(&mut self) -> Option<()> {
        let [uplo, trans, n, k, alpha, lda, ldc] =
            self.numbers(["uplo", "trans", "n", "k", "alpha", "lda", "ldc"]);
        let (a, dc, one) = (self.ops.param("a"), self.shadow("c")?, self.e.float(1.0));
        self.triangle_times_beta()?;
        if let Some(da) = self.shadow("a") {
            let args = [uplo, trans, n, k, alpha, da, lda, a, lda, one, dc, ldc];
            self.e.call("syr2k", &args);
        }
        if let Some(dalpha) = self.scalar("alpha") {
            let args = [uplo, trans, n, k, dalpha, a, lda, one, dc, ldc];
            self.e.call("syrk", &args);
        }
        Some(())
    }

    fn syr2k(&mut self) -> Option<()> {
        let [uplo, trans, n, k, lda, ldb, ldc] =
            self.numbers(["uplo", "trans", "n", "k", "lda", "ldb", "ldc"]);
        let (dc, one) = (self.shadow("c")?, self.e.float(1.0));
        self.triangle_times_beta()?;
        for [by, a, b] in self.terms("a", "b") {
            let args = [uplo, trans, n, k, by, a, lda, b, ldb, one, dc, ldc];
            self.e.call("syr2k", &args);
        }
        Some(())
    }

    fn trmv(&mut self) -> Option<()> {
        let [uplo, trans, diag, n, lda, incx] =
            self.numbers(["uplo", "trans", "diag", "n", "lda", "incx"]);
        let (a, dx) = (self.ops.param("a"), self.shadow("x")?);
        let args = [uplo, trans, diag, n, a, lda, dx, incx];
        self.e.call("trmv", &args);
        let one = self.e.float(1.0);
        self.vector_times_tangent(one)
    }

    fn trsv(&mut self) -> Option<()> {
        let [uplo, trans, diag, n, lda, incx] =
            self.numbers(["uplo", "trans", "diag", "n", "lda", "incx"]);
        let (a, dx) = (self.ops.param("a"), self.shadow("x")?);
        let minus = self.e.float(-1.0);
        self.vector_times_tangent(minus);
        let args = [uplo, trans, diag, n, a, lda, dx, incx];
        self.e.call("trsv", &args);
        Some(())
    }

    /// Adds a multiple of the product of the tangent of a triangular matrix and a vector to the
    /// tangent of the vector. The ones of a diagonal that is not in memory have no tangent.
    fn vector_times_tangent(&mut self, by: Value) -> Option<()> {
        let [uplo, trans, diag, n, lda, incx] =
            self.numbers(["uplo", "trans", "diag", "n", "lda", "incx"]);
        let (x, dx, da) = (self.ops.param("x"), self.shadow("x")?, self.shadow("a")?);
        let unit = self.e.int(1);
        let bytes = self.e.vector_bytes(n, unit);
        let w = self.e.allocate(bytes);
        self.e.call("copy", &[n, x, incx, w, unit]);
        let args = [uplo, trans, diag, n, da, lda, w, unit];
        self.e.call("trmv", &args);
        self.e.call("axpy", &[n, by, w, unit, dx, incx]);
        let opposite = self.e.builder.fneg(by);
        let extra = self.e.if_unit(diag, opposite);
        self.e.call("axpy", &[n, extra, x, incx, dx, incx]);
        self.e.free(w);
        Some(())
    }

    fn trmm(&mut self) -> Option<()> {
        let names = [
            "side", "uplo", "transa", "diag", "m", "n", "alpha", "lda", "ldb",
        ];
        let [side, uplo, trans, diag, m, n, alpha, lda, ldb] = self.numbers(names);
        let (a, b, db) = (self.ops.param("a"), self.ops.param("b"), self.shadow("b")?);
        let args = [side, uplo, trans, diag, m, n, alpha, a, lda, db, ldb];
        self.e.call("trmm", &args);
        self.matrix_times_tangent(alpha);
        if let Some(dalpha) = self.scalar("alpha") {
            let bytes = self.e.matrix_bytes(m, n, ldb);
            let (w, one) = (self.e.copy(b, bytes), self.e.float(1.0));
            let args = [side, uplo, trans, diag, m, n, dalpha, a, lda, w, ldb];
            self.e.call("trmm", &args);
            self.e.add_matrix((m, n), one, (w, ldb), (db, ldb));
            self.e.free(w);
        }
        Some(())
    }

    /// The tangent of the right side that a matrix is solved for.
    fn right_side(&mut self) -> Option<()> {
        let [m, n, alpha, ldb] = self.numbers(["m", "n", "alpha", "ldb"]);
        let (b, db) = (self.ops.param("b"), self.shadow("b")?);
        self.e.scale((m, n), alpha, (db, ldb));
        if let Some(dalpha) = self.scalar("alpha") {
            self.e.add_matrix((m, n), dalpha, (b, ldb), (db, ldb));
        }
        Some(())
    }

    fn trsm(&mut self) -> Option<()> {
        let names = ["side", "uplo", "transa", "diag", "m", "n", "lda", "ldb"];
        let [side, uplo, trans, diag, m, n, lda, ldb] = self.numbers(names);
        let (a, db) = (self.ops.param("a"), self.shadow("b")?);
        let (one, minus) = (self.e.float(1.0), self.e.float(-1.0));
        self.matrix_times_tangent(minus);
        let args = [side, uplo, trans, diag, m, n, one, a, lda, db, ldb];
        self.e.call("trsm", &args);
        Some(())
    }

    /// As [`vector_times_tangent`](Tangents::vector_times_tangent), for a matrix.
    fn matrix_times_tangent(&mut self, by: Value) -> Option<()> {
        let names = ["side", "uplo", "transa", "diag", "m", "n", "lda", "ldb"];
        let [side, uplo, trans, diag, m, n, lda, ldb] = self.numbers(names);
        let (b, db, da) = (self.ops.param("b"), self.shadow("b")?, self.shadow("a")?);
        let bytes = self.e.matrix_bytes(m, n, ldb);
        let (w, one) = (self.e.copy(b, bytes), self.e.float(1.0));
        let args = [side, uplo, trans, diag, m, n, one, da, lda, w, ldb];
        self.e.call("trmm", &args);
        self.e.add_matrix((m, n), by, (w, ldb), (db, ldb));
        let opposite = self.e.builder.fneg(by);
        let extra = self.e.if_unit(diag, opposite);
        self.e.add_matrix((m, n), extra, (b, ldb), (db, ldb));
        self.e.free(w);
        Some(())
    }
}

/// Several operands that are numbers, integers or flags.
pub(super) fn numbers<const N: usize>(
    e: &mut Emit<'_, '_>,
    ops: &Operands<'_>,
    names: [&str; N],
) -> [Value; N] {
    names.map(|name| ops.number(e, name))
}
