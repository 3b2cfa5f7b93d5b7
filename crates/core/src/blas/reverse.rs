//! The sweeps around the adjoints of subprograms: what the forward sweep copies, and what becomes of
//! the adjoints of numbers.

use super::emit::Emit;
use super::forward::numbers;
use super::operands::Operands;
use super::{Role, Routine, STRIDED};
use crate::derivative::{Key, batch_values, bundle_values};
use crate::ir::{Activity, Block, Builder, Function, Module, Type, Value};
use crate::plan::Reloads;
use crate::reverse::Bodies;

/// Writes both sweeps of a subprogram.
pub fn reverse(module: &mut Module, key: &Key, routine: Routine) -> Bodies {
    Bodies {
        augmented: augmented(module, key, routine),
        gradient: gradient(module, key, routine),
        frame_bytes: Operands::frame_bytes(routine),
        delays: false,
        reloads: Reloads::All,
        report: None,
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
        "gemv" | "symv" => [
            ("a", After, active("x") || active("alpha")),
            ("x", After, active("a") || active("alpha")),
            ("y", Before, active("beta")),
        ]
        .to_vec(),
        "ger" | "syr2" => [
            ("x", After, active("y") || active("alpha")),
            ("y", After, active("x") || active("alpha")),
        ]
        .to_vec(),
        "gemm" | "symm" | "syr2k" | STRIDED => [
            ("a", After, active("b") || active("alpha")),
            ("b", After, active("a") || active("alpha")),
            ("c", Before, active("beta")),
        ]
        .to_vec(),
        "syr" => [("x", After, active("x") || active("alpha"))].to_vec(),
        "syrk" => [
            ("a", After, active("a") || active("alpha")),
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

/// A copy of an array.
fn copied(e: &mut Emit<'_, '_>, ops: &Operands<'_>, name: &str) -> Value {
    if ops.routine.is_strided() {
        let matrix = ops.strided(e, name, ops.param(name));
        return e.pack(matrix);
    }
    let bytes = ops.bytes(e, name);
    e.copy(ops.param(name), bytes)
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
                let memory = copied(e, &ops, name);
                ops.keep(e, frame, name, memory);
            }
        }
    };
    copy(&mut e, When::Before);
    if routine.row.0 == "trsm" && ops.is_active("alpha") {
        let memory = copied(&mut e, &ops, "b");
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
        match self.is_copied(name) {
            true => self.ops.kept(self.e, self.frame, name, Type::ptr()),
            false => self.ops.param(name),
        }
    }

    /// Whether the forward sweep has copied an array.
    pub fn is_copied(&self, name: &str) -> bool {
        let mut needed = needed(self.ops).into_iter();
        needed.any(|(known, when)| known == name && is_copied(self.ops, name, when))
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
            STRIDED => self.strided()?,
            "syr" => self.syr()?,
            "syr2" => self.syr2()?,
            "syrk" => self.syrk()?,
            "syr2k" => self.syr2k()?,
            "symv" => self.symv()?,
            "symm" => self.symm()?,
            "trmv" => self.trmv()?,
            "trmm" => self.trmm()?,
            "trsv" => self.trsv()?,
            _ => self.trsm()?,
        }
        Some(())
    }
}
