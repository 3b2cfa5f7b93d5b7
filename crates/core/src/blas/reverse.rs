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
//! | syrk | Ā += α(C̄ + C̄ᵀ)A, ᾱ += half of A·(C̄ + C̄ᵀ)A, β̄ += C̄·C, C̄ = βC̄ |
//! | symv, symm | as gemv and gemm, with ȳxᵀ + xȳᵀ in the triangle and half of it on its diagonal |
//! | trmv, trmm | Ā += the triangle of αB̄Bᵀ, ᾱ += B̄·AB, B̄ = αAᵀB̄ |
//! | trsv, trsm | W = A⁻ᵀB̄, Ā −= the triangle of WXᵀ, ᾱ += W·B, B̄ = αW |
//!
//! The equations for transposed matrices, and for those on the right, are these with the operands
//! in another order.

use super::emit::Emit;
use super::forward::numbers;
use super::operands::Operands;
use super::{Role, Routine};
use crate::derivative::{Key, batch_values, bundle_values};
use crate::ir::{Activity, Block, Builder, Function, Module, Type, Value};
use crate::reverse::Bodies;

/// Writes both sweeps of a subprogram.
pub fn reverse(module: &mut Module, key: &Key, routine: Routine) -> Bodies {
    Bodies {
        augmented: augmented(module, key, routine),
        gradient: gradient(module, key, routine),
        frame_bytes: Operands::frame_bytes(routine),
        delays: false,
    }
}

/// What appends code to a function around a subprogram.
pub(super) fn emitter<'e, 'f>(
    module: &'e mut Module,
    function: &'f mut Function,
    entry: Block,
    ops: &Operands<'_>,
) -> Emit<'e, 'f> {
    let sig = &module.funcs[ops.key.func].sig;
    let int = match ops.routine.fortran {
        true => Type::int(32),
        false => sig.params[ops.routine.position("n")],
    };
    Emit {
        module,
        builder: Builder::new(function, entry),
        routine: ops.routine,
        int,
        order: ops.order(),
    }
}

/// Calls the subprogram itself.
pub(super) fn primal(e: &mut Emit<'_, '_>, ops: &Operands<'_>) -> Option<Value> {
    let sig = e.module.funcs[ops.key.func].sig.clone();
    let mut args: Vec<Value> = ops.order().into_iter().collect();
    args.extend(ops.routine.names().map(|name| ops.param(name)));
    // The lengths of texts are one.
    for &ty in &sig.params[args.len()..] {
        args.push(e.builder.func.iconst(ty, 1));
    }
    e.builder.call(ops.key.func, sig, args)
}

/// When an operand is copied for the reverse sweep.
#[derive(Copy, Clone, PartialEq, Eq)]
enum When {
    /// Before the subprogram overwrites it.
    Before,
    /// After the subprogram, if somebody else may overwrite it.
    After,
}

/// The arrays that the reverse sweep reads.
fn needed(ops: &Operands<'_>) -> Vec<(&'static str, When)> {
    use When::{After, Before};
    let active = |name: &str| ops.is_active(name);
    let rows: &[(&'static str, When, bool)] = &match ops.routine.row.0 {
        "dot" => [("x", After, active("y")), ("y", After, active("x"))].to_vec(),
        "nrm2" | "asum" => [("x", After, true)].to_vec(),
        "axpy" => [("x", After, active("alpha"))].to_vec(),
        "scal" => [("x", Before, active("alpha"))].to_vec(),
        "gemv" => [
            ("a", After, active("x") || active("alpha")),
            ("x", After, active("a") || active("alpha")),
            ("y", Before, active("beta")),
        ]
        .to_vec(),
        "ger" => [
            ("x", After, active("y") || active("alpha")),
            ("y", After, active("x") || active("alpha")),
        ]
        .to_vec(),
        "gemm" => [
            ("a", After, active("b") || active("alpha")),
            ("b", After, active("a") || active("alpha")),
            ("c", Before, active("beta")),
        ]
        .to_vec(),
        "syrk" => [
            ("a", After, active("a") || active("alpha")),
            ("c", Before, active("beta")),
        ]
        .to_vec(),
        "symv" => [
            ("a", After, active("x") || active("alpha")),
            ("x", After, active("a") || active("alpha")),
            ("y", Before, active("beta")),
        ]
        .to_vec(),
        "symm" => [
            ("a", After, active("b") || active("alpha")),
            ("b", After, active("a") || active("alpha")),
            ("c", Before, active("beta")),
        ]
        .to_vec(),
        "trmv" => [("a", After, true), ("x", Before, active("a"))].to_vec(),
        "trmm" => [
            ("a", After, true),
            ("b", Before, active("a") || active("alpha")),
        ]
        .to_vec(),
        "trsv" => [("a", After, true), ("x", After, active("a"))].to_vec(),
        "trsm" => [("a", After, true), ("b", After, active("a"))].to_vec(),
        _ => Vec::new(),
    };
    let needed = rows.iter().filter(|(_, _, needed)| *needed);
    needed.map(|&(name, when, _)| (name, when)).collect()
}

/// Whether an array that the reverse sweep reads has to be copied.
fn is_copied(ops: &Operands<'_>, name: &str, when: When) -> bool {
    let overwritten = ops.key.overwritten.get(ops.routine.position(name));
    when == When::Before || overwritten.copied().unwrap_or(true)
}

/// The solution is kept for the derivative by the matrix, and what was there before for that by the
/// factor; both are in the same memory.
pub(super) const BEFORE_SOLVING: &str = "result";

fn augmented(module: &mut Module, key: &Key, routine: Routine) -> Function {
    let sig = module.funcs[key.func].sig.clone();
    let mut function = Function::with_entry("", key.augmented_signature(&sig));
    function.local = true;
    let ops = Operands::new(routine, key, &function, None);
    let frame = function.arguments()[function.arguments().len() - 1];
    let entry = function.entry();
    let mut e = emitter(module, &mut function, entry, &ops);
    ops.keep_numbers(&mut e, frame);
    let copy = |e: &mut Emit<'_, '_>, wanted: When| {
        for (name, when) in needed(&ops) {
            if when == wanted && is_copied(&ops, name, when) {
                let bytes = ops.bytes(e, name);
                let memory = e.copy(ops.param(name), bytes);
                ops.keep(e, frame, name, memory);
            }
        }
    };
    copy(&mut e, When::Before);
    if routine.row.0 == "trsm" && ops.is_active("alpha") {
        let bytes = ops.bytes(&mut e, "b");
        let memory = e.copy(ops.param("b"), bytes);
        ops.keep(&mut e, frame, BEFORE_SOLVING, memory);
    }
    let result = primal(&mut e, &ops);
    copy(&mut e, When::After);
    if let (Some(result), "nrm2") = (result, routine.row.0) {
        ops.keep(&mut e, frame, "result", result);
    }
    let result = result.filter(|_| key.primal_needed);
    e.builder.ret(result);
    function
}

fn gradient(module: &mut Module, key: &Key, routine: Routine) -> Function {
    let sig = module.funcs[key.func].sig.clone();
    let mut function = Function::with_entry("", key.gradient_signature(&sig));
    function.local = true;
    let params = function.arguments().to_vec();
    let frame = params[params.len() - 1];
    let ops = Operands::new(routine, key, &function, Some(frame));
    let entry = function.entry();
    let mut e = emitter(module, &mut function, entry, &ops);
    let shared = key.primal_and_shadow_params(&sig).len();
    let mut factors: Vec<(&str, Vec<Value>)> = Vec::new();
    for (name, role) in routine.names().zip(routine.roles()) {
        if role == Role::Scalar && ops.is_active(name) {
            factors.push((name, Vec::new()));
        }
    }
    for k in 0..key.width as usize {
        let seed = match key.seeds(&sig).is_empty() {
            true => None,
            false => Some(params[shared + k]),
        };
        let mut sweep = Reverse {
            ops: &ops,
            e: &mut e,
            k,
            frame,
            factors: Vec::new(),
        };
        sweep.run(seed);
        let found = sweep.factors;
        for (name, values) in &mut factors {
            let value = found.iter().find(|(factor, _)| factor == name);
            let value = value.map_or_else(|| e.float(0.0), |(_, value)| *value);
            match ops.shadow(name, k) {
                Some(shadow) => {
                    let old = e.load(shadow);
                    let new = e.builder.fadd(old, value);
                    e.store(new, shadow);
                }
                None => values.push(value),
            }
        }
    }
    for (name, when) in needed(&ops) {
        if is_copied(&ops, name, when) && !key.keep_tape {
            let memory = ops.kept(&mut e, frame, name, Type::ptr());
            e.free(memory);
        }
    }
    if routine.row.0 == "trsm" && ops.is_active("alpha") && !key.keep_tape {
        let memory = ops.kept(&mut e, frame, BEFORE_SOLVING, Type::ptr());
        e.free(memory);
    }
    let outs = factors
        .iter()
        .filter(|(name, _)| key.args[routine.position(name)] == Activity::Out);
    let parts: Vec<Value> = outs
        .map(|(_, values)| batch_values(&mut e.builder, values))
        .collect();
    let returned = bundle_values(&mut e.builder, &parts);
    e.builder.ret(returned);
    function
}

/// The reverse sweep of one of several derivatives.
pub(super) struct Reverse<'r, 'e, 'f> {
    pub ops: &'r Operands<'r>,
    pub e: &'r mut Emit<'e, 'f>,
    k: usize,
    pub frame: Value,
    /// The adjoints of numbers that were passed by themselves.
    factors: Vec<(&'static str, Value)>,
}

impl Reverse<'_, '_, '_> {
    pub fn shadow(&self, name: &str) -> Option<Value> {
        self.ops.shadow(name, self.k)
    }

    /// An array as it was when the subprogram read it.
    pub fn array(&mut self, name: &'static str) -> Value {
        let kept = needed(self.ops)
            .into_iter()
            .find(|(known, _)| *known == name);
        match kept {
            Some((_, when)) if is_copied(self.ops, name, when) => {
                self.ops.kept(self.e, self.frame, name, Type::ptr())
            }
            _ => self.ops.param(name),
        }
    }

    pub fn numbers<const N: usize>(&mut self, names: [&str; N]) -> [Value; N] {
        numbers(self.e, self.ops, names)
    }

    pub fn factor(&mut self, name: &'static str, value: Option<Value>) {
        self.factors.extend(value.map(|value| (name, value)));
    }

    fn run(&mut self, seed: Option<Value>) -> Option<()> {
        match self.ops.routine.row.0 {
            "dot" => self.dot(seed?),
            "nrm2" | "asum" => self.norm(seed?)?,
            "axpy" => self.axpy()?,
            "scal" => self.scal()?,
            "copy" | "swap" => self.moved(),
            "gemv" => self.gemv()?,
            "ger" => self.ger()?,
            "gemm" => self.gemm()?,
            "syrk" => self.syrk()?,
            "symv" => self.symv()?,
            "symm" => self.symm()?,
            "trmv" => self.trmv()?,
            "trmm" => self.trmm()?,
            "trsv" => self.trsv()?,
            _ => self.trsm()?,
        }
        Some(())
    }

    fn dot(&mut self, seed: Value) {
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

    fn norm(&mut self, seed: Value) -> Option<()> {
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
            let old = e.load(dx);
            let new = e.builder.fadd(old, part);
            e.store(new, dx);
        });
        Some(())
    }

    fn axpy(&mut self) -> Option<()> {
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

    fn scal(&mut self) -> Option<()> {
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

    fn moved(&mut self) {
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

    fn gemv(&mut self) -> Option<()> {
        let names = ["trans", "m", "n", "alpha", "lda", "incx", "beta", "incy"];
        let [trans, m, n, alpha, lda, incx, beta, incy] = self.numbers(names);
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
        if self.ops.is_active("beta") {
            let y = self.array("y");
            let product = self.e.call("dot", &[length, y, incy, dy, incy]);
            self.factor("beta", product);
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
        self.e.scale_vector(length, beta, dy, incy);
        Some(())
    }

    fn ger(&mut self) -> Option<()> {
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

    fn gemm(&mut self) -> Option<()> {
        let names = [
            "transa", "transb", "m", "n", "k", "alpha", "lda", "ldb", "beta", "ldc",
        ];
        let [ta, tb, m, n, k, alpha, lda, ldb, beta, ldc] = self.numbers(names);
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
        if self.ops.is_active("beta") {
            let c = self.array("c");
            let product = self.e.inner((m, n), (c, ldc), (dc, ldc));
            self.factor("beta", Some(product));
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
        self.e.scale((m, n), beta, (dc, ldc));
        Some(())
    }
}
