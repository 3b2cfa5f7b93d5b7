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
//! | syrk | C′ = βC′ + β′C + α′AAᵀ + α(A′Aᵀ + AA′ᵀ) |
//! | symv, symm | as gemv and gemm |
//! | trmv, trmm | B′ = α(A′B + AB′) + α′AB |
//! | trsv, trsm | X′ = A⁻¹(αB′ + α′B − A′X) |

use super::Routine;
use super::emit::Emit;
use super::operands::Operands;
use crate::derivative::{Key, batch_values, bundle_values};
use crate::ir::{Function, Module, ReturnActivity, Value};

/// Writes the forward derivative of a subprogram.
pub fn forward(module: &mut Module, key: &Key, routine: Routine) -> Function {
    let sig = module.funcs[key.func].sig.clone();
    let mut function = Function::with_entry("", key.forward_signature(&sig));
    function.local = true;
    let ops = Operands::new(routine, key, &function, None);
    let entry = function.entry();
    let mut e = super::reverse::emitter(module, &mut function, entry, &ops);
    let width = key.width as usize;
    let before: Vec<Value> = (0..width)
        .filter_map(|k| tangent(&mut e, &ops, k))
        .collect();
    let result = super::reverse::primal(&mut e, &ops);
    for k in 0..width {
        solve(&mut e, &ops, k);
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

/// The tangent of a number that is an operand.
fn scalar(e: &mut Emit<'_, '_>, ops: &Operands<'_>, name: &str, k: usize) -> Option<Value> {
    let shadow = ops.shadow(name, k)?;
    match ops.routine.fortran {
        true => Some(e.load(shadow)),
        false => Some(shadow),
    }
}

/// What happens to tangents before the subprogram runs; gives that of its result.
fn tangent(e: &mut Emit<'_, '_>, ops: &Operands<'_>, k: usize) -> Option<Value> {
    let one = e.float(1.0);
    let dx = |name: &str| ops.shadow(name, k);
    match ops.routine.row.0 {
        "dot" => {
            let [n, incx, incy] = numbers(e, ops, ["n", "incx", "incy"]);
            let (x, y) = (ops.param("x"), ops.param("y"));
            let mut sum = e.float(0.0);
            for (x, y) in [(dx("x"), Some(y)), (Some(x), dx("y"))] {
                if let (Some(x), Some(y)) = (x, y)
                    && let Some(part) = e.call("dot", &[n, x, incx, y, incy])
                {
                    sum = e.builder.fadd(sum, part);
                }
            }
            return Some(sum);
        }
        "nrm2" => {
            let [n, incx] = numbers(e, ops, ["n", "incx"]);
            let n = e.if_positive(incx, n);
            let (x, dx) = (ops.param("x"), dx("x")?);
            let product = e.call("dot", &[n, x, incx, dx, incx])?;
            let norm = e.call("nrm2", &[n, x, incx])?;
            return Some(e.quotient(product, norm));
        }
        "asum" => {
            let [n, incx] = numbers(e, ops, ["n", "incx"]);
            let n = e.if_positive(incx, n);
            let (x, dx) = (ops.param("x"), dx("x")?);
            let sum = e.builder.alloca(e.routine.float(), 8);
            let zero = e.float(0.0);
            e.store(zero, sum);
            e.repeat(n, |e, i| {
                let at = e.builder.mul(i, incx);
                let (x, dx) = (e.at(x, at), e.at(dx, at));
                let (x, dx) = (e.load(x), e.load(dx));
                let part = e.signed(dx, x);
                let old = e.load(sum);
                let new = e.builder.fadd(old, part);
                e.store(new, sum);
            });
            return Some(e.load(sum));
        }
        "axpy" => {
            let [n, alpha, incx, incy] = numbers(e, ops, ["n", "alpha", "incx", "incy"]);
            let (x, dy) = (ops.param("x"), dx("y")?);
            if let Some(dx) = dx("x") {
                e.call("axpy", &[n, alpha, dx, incx, dy, incy]);
            }
            if let Some(dalpha) = scalar(e, ops, "alpha", k) {
                e.call("axpy", &[n, dalpha, x, incx, dy, incy]);
            }
        }
        "scal" => {
            let [n, alpha, incx] = numbers(e, ops, ["n", "alpha", "incx"]);
            let (x, dx) = (ops.param("x"), dx("x")?);
            e.call("scal", &[n, alpha, dx, incx]);
            if let Some(dalpha) = scalar(e, ops, "alpha", k) {
                let n = e.if_positive(incx, n);
                e.call("axpy", &[n, dalpha, x, incx, dx, incx]);
            }
        }
        "copy" | "swap" => {
            let [n, incx, incy] = numbers(e, ops, ["n", "incx", "incy"]);
            match (dx("x"), dx("y")) {
                (Some(x), Some(y)) => _ = e.call(ops.routine.row.0, &[n, x, incx, y, incy]),
                (None, Some(y)) => e.clear(n, y, incy),
                (Some(x), None) if ops.routine.row.0 == "swap" => e.clear(n, x, incx),
                _ => {}
            }
        }
        "gemv" => {
            let names = ["trans", "m", "n", "alpha", "lda", "incx", "beta", "incy"];
            let [trans, m, n, alpha, lda, incx, beta, incy] = numbers(e, ops, names);
            let (a, x, y, dy) = (ops.param("a"), ops.param("x"), ops.param("y"), dx("y")?);
            let is_plain = e.is_plain(trans);
            let length = e.builder.select(is_plain, m, n);
            match dx("x") {
                Some(dx) => {
                    _ = e.call(
                        "gemv",
                        &[trans, m, n, alpha, a, lda, dx, incx, beta, dy, incy],
                    )
                }
                None => e.scale_vector(length, beta, dy, incy),
            }
            if let Some(da) = dx("a") {
                e.call(
                    "gemv",
                    &[trans, m, n, alpha, da, lda, x, incx, one, dy, incy],
                );
            }
            if let Some(dalpha) = scalar(e, ops, "alpha", k) {
                e.call(
                    "gemv",
                    &[trans, m, n, dalpha, a, lda, x, incx, one, dy, incy],
                );
            }
            if let Some(dbeta) = scalar(e, ops, "beta", k) {
                e.call("axpy", &[length, dbeta, y, incy, dy, incy]);
            }
        }
        "ger" => {
            let [m, n, alpha, incx, incy, lda] =
                numbers(e, ops, ["m", "n", "alpha", "incx", "incy", "lda"]);
            let (x, y, da) = (ops.param("x"), ops.param("y"), dx("a")?);
            let dalpha = scalar(e, ops, "alpha", k);
            for (by, x, y) in [
                (Some(alpha), dx("x"), Some(y)),
                (Some(alpha), Some(x), dx("y")),
                (dalpha, Some(x), Some(y)),
            ] {
                if let (Some(by), Some(x), Some(y)) = (by, x, y) {
                    e.call("ger", &[m, n, by, x, incx, y, incy, da, lda]);
                }
            }
        }
        "gemm" => {
            let names = [
                "transa", "transb", "m", "n", "k", "alpha", "lda", "ldb", "beta", "ldc",
            ];
            let [ta, tb, m, n, inner, alpha, lda, ldb, beta, ldc] = numbers(e, ops, names);
            let (a, b, c, dc) = (ops.param("a"), ops.param("b"), ops.param("c"), dx("c")?);
            e.scale((m, n), beta, (dc, ldc));
            let dalpha = scalar(e, ops, "alpha", k);
            for (by, a, b) in [
                (Some(alpha), dx("a"), Some(b)),
                (Some(alpha), Some(a), dx("b")),
                (dalpha, Some(a), Some(b)),
            ] {
                if let (Some(by), Some(a), Some(b)) = (by, a, b) {
                    e.call(
                        "gemm",
                        &[ta, tb, m, n, inner, by, a, lda, b, ldb, one, dc, ldc],
                    );
                }
            }
            if let Some(dbeta) = scalar(e, ops, "beta", k) {
                e.add_matrix((m, n), dbeta, (c, ldc), (dc, ldc));
            }
        }
        "syrk" => {
            let names = ["uplo", "trans", "n", "k", "alpha", "lda", "beta", "ldc"];
            let [uplo, trans, n, inner, alpha, lda, beta, ldc] = numbers(e, ops, names);
            let (a, c, dc) = (ops.param("a"), ops.param("c"), dx("c")?);
            e.triangle(uplo, None, n, |e, j, start, length| {
                let dc = e.place(dc, j, ldc, start);
                let unit = e.int(1);
                e.scale_vector(length, beta, dc, unit);
            });
            if let Some(da) = dx("a") {
                e.call(
                    "syr2k",
                    &[uplo, trans, n, inner, alpha, da, lda, a, lda, one, dc, ldc],
                );
            }
            if let Some(dalpha) = scalar(e, ops, "alpha", k) {
                e.call(
                    "syrk",
                    &[uplo, trans, n, inner, dalpha, a, lda, one, dc, ldc],
                );
            }
            if let Some(dbeta) = scalar(e, ops, "beta", k) {
                e.triangle(uplo, None, n, |e, j, start, length| {
                    let (c, dc) = (e.place(c, j, ldc, start), e.place(dc, j, ldc, start));
                    let unit = e.int(1);
                    e.call("axpy", &[length, dbeta, c, unit, dc, unit]);
                });
            }
        }
        "symv" => {
            let names = ["uplo", "n", "alpha", "lda", "incx", "beta", "incy"];
            let [uplo, n, alpha, lda, incx, beta, incy] = numbers(e, ops, names);
            let (a, x, y, dy) = (ops.param("a"), ops.param("x"), ops.param("y"), dx("y")?);
            e.scale_vector(n, beta, dy, incy);
            let dalpha = scalar(e, ops, "alpha", k);
            for (by, a, x) in [
                (Some(alpha), dx("a"), Some(x)),
                (Some(alpha), Some(a), dx("x")),
                (dalpha, Some(a), Some(x)),
            ] {
                if let (Some(by), Some(a), Some(x)) = (by, a, x) {
                    e.call("symv", &[uplo, n, by, a, lda, x, incx, one, dy, incy]);
                }
            }
            if let Some(dbeta) = scalar(e, ops, "beta", k) {
                e.call("axpy", &[n, dbeta, y, incy, dy, incy]);
            }
        }
        "symm" => {
            let names = [
                "side", "uplo", "m", "n", "alpha", "lda", "ldb", "beta", "ldc",
            ];
            let [side, uplo, m, n, alpha, lda, ldb, beta, ldc] = numbers(e, ops, names);
            let (a, b, c, dc) = (ops.param("a"), ops.param("b"), ops.param("c"), dx("c")?);
            e.scale((m, n), beta, (dc, ldc));
            let dalpha = scalar(e, ops, "alpha", k);
            for (by, a, b) in [
                (Some(alpha), dx("a"), Some(b)),
                (Some(alpha), Some(a), dx("b")),
                (dalpha, Some(a), Some(b)),
            ] {
                if let (Some(by), Some(a), Some(b)) = (by, a, b) {
                    e.call(
                        "symm",
                        &[side, uplo, m, n, by, a, lda, b, ldb, one, dc, ldc],
                    );
                }
            }
            if let Some(dbeta) = scalar(e, ops, "beta", k) {
                e.add_matrix((m, n), dbeta, (c, ldc), (dc, ldc));
            }
        }
        "trmv" => {
            let names = ["uplo", "trans", "diag", "n", "lda", "incx"];
            let [uplo, trans, diag, n, lda, incx] = numbers(e, ops, names);
            let (a, x, dx) = (ops.param("a"), ops.param("x"), dx("x")?);
            e.call("trmv", &[uplo, trans, diag, n, a, lda, dx, incx]);
            if let Some(da) = ops.shadow("a", k) {
                let unit = e.int(1);
                let bytes = e.vector_bytes(n, unit);
                let w = e.allocate(bytes);
                e.call("copy", &[n, x, incx, w, unit]);
                e.call("trmv", &[uplo, trans, diag, n, da, lda, w, unit]);
                e.call("axpy", &[n, one, w, unit, dx, incx]);
                let minus = e.float(-1.0);
                let extra = e.if_unit(diag, minus);
                e.call("axpy", &[n, extra, x, incx, dx, incx]);
                e.free(w);
            }
        }
        "trmm" => {
            let names = [
                "side", "uplo", "transa", "diag", "m", "n", "alpha", "lda", "ldb",
            ];
            let [side, uplo, trans, diag, m, n, alpha, lda, ldb] = numbers(e, ops, names);
            let (a, b, db) = (ops.param("a"), ops.param("b"), dx("b")?);
            e.call(
                "trmm",
                &[side, uplo, trans, diag, m, n, alpha, a, lda, db, ldb],
            );
            let bytes = e.matrix_bytes(m, n, ldb);
            if let Some(da) = ops.shadow("a", k) {
                let w = e.copy(b, bytes);
                e.call(
                    "trmm",
                    &[side, uplo, trans, diag, m, n, alpha, da, lda, w, ldb],
                );
                e.add_matrix((m, n), one, (w, ldb), (db, ldb));
                let minus = e.builder.fneg(alpha);
                let extra = e.if_unit(diag, minus);
                e.add_matrix((m, n), extra, (b, ldb), (db, ldb));
                e.free(w);
            }
            if let Some(dalpha) = scalar(e, ops, "alpha", k) {
                let w = e.copy(b, bytes);
                e.call(
                    "trmm",
                    &[side, uplo, trans, diag, m, n, dalpha, a, lda, w, ldb],
                );
                e.add_matrix((m, n), one, (w, ldb), (db, ldb));
                e.free(w);
            }
        }
        "trsm" => {
            let [m, n, alpha, ldb] = numbers(e, ops, ["m", "n", "alpha", "ldb"]);
            let (b, db) = (ops.param("b"), dx("b")?);
            e.scale((m, n), alpha, (db, ldb));
            if let Some(dalpha) = scalar(e, ops, "alpha", k) {
                e.add_matrix((m, n), dalpha, (b, ldb), (db, ldb));
            }
        }
        _ => {}
    }
    None
}

/// What happens to tangents after a solution is known.
fn solve(e: &mut Emit<'_, '_>, ops: &Operands<'_>, k: usize) {
    let (one, minus) = (e.float(1.0), e.float(-1.0));
    match ops.routine.row.0 {
        "trsv" => {
            let names = ["uplo", "trans", "diag", "n", "lda", "incx"];
            let [uplo, trans, diag, n, lda, incx] = numbers(e, ops, names);
            let Some(dx) = ops.shadow("x", k) else { return };
            let (a, x) = (ops.param("a"), ops.param("x"));
            if let Some(da) = ops.shadow("a", k) {
                let unit = e.int(1);
                let bytes = e.vector_bytes(n, unit);
                let w = e.allocate(bytes);
                e.call("copy", &[n, x, incx, w, unit]);
                e.call("trmv", &[uplo, trans, diag, n, da, lda, w, unit]);
                e.call("axpy", &[n, minus, w, unit, dx, incx]);
                let extra = e.if_unit(diag, one);
                e.call("axpy", &[n, extra, x, incx, dx, incx]);
                e.free(w);
            }
            e.call("trsv", &[uplo, trans, diag, n, a, lda, dx, incx]);
        }
        "trsm" => {
            let names = ["side", "uplo", "transa", "diag", "m", "n", "lda", "ldb"];
            let [side, uplo, trans, diag, m, n, lda, ldb] = numbers(e, ops, names);
            let Some(db) = ops.shadow("b", k) else { return };
            let (a, b) = (ops.param("a"), ops.param("b"));
            if let Some(da) = ops.shadow("a", k) {
                let bytes = e.matrix_bytes(m, n, ldb);
                let w = e.copy(b, bytes);
                e.call(
                    "trmm",
                    &[side, uplo, trans, diag, m, n, one, da, lda, w, ldb],
                );
                e.add_matrix((m, n), minus, (w, ldb), (db, ldb));
                let extra = e.if_unit(diag, one);
                e.add_matrix((m, n), extra, (b, ldb), (db, ldb));
                e.free(w);
            }
            e.call(
                "trsm",
                &[side, uplo, trans, diag, m, n, one, a, lda, db, ldb],
            );
        }
        _ => {}
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
