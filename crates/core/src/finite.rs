//! Checks that derivatives are finite, in programs that ask for them: where an operation makes an
//! adjoint or a tangent that is NaN or infinite, the program stops and names the operation.
//!
//! A derivative is checked where it is made, and those that come in were checked before, so the
//! first operation to make one is the one that is named. What comes from outside, seeds and shadow
//! memory, is checked where it comes in. Code that only moves derivatives has no checks.

use crate::diagnostic::Place;
use crate::ir::{
    Access, BinaryOp, Builder, CastOp, Constant, Edge, FloatKind, FloatPred, FnFlags, Function,
    Global, IntPred, Loc, MemoryEffects, ModRef, Module, Op, Signature, Symbol, Type, UnaryOp,
    Value,
};
use crate::support::{Callable, constant_text};

/// How many numbers a message can print.
const NUMBERS: usize = 3;

/// What is said of a derivative that is not finite.
pub struct About<'a> {
    /// What it is: *the adjoint of operand 1 of the product*.
    pub what: String,
    /// Where in the source program.
    pub loc: Option<Loc>,
    /// The function, for programs without debug information.
    pub function: &'a str,
    /// How it came to be, for readers.
    pub why: &'static str,
    /// Floats that have to do with it, three at most, with their names.
    pub numbers: Vec<(String, Value)>,
}

/// Checks a derivative, each lane of a vector by itself. What is no float is left alone.
pub fn check(module: &mut Module, b: &mut Builder<'_>, derivative: Value, about: &About<'_>) {
    let ty = b.func.ty(derivative);
    let Some(kind) = ty.scalar().float_kind().filter(|_| ty.is_float_like()) else {
        return;
    };
    let text = message(module, about);
    let (check, sig) = checker(module, kind);
    let lanes = match ty == ty.scalar() {
        true => vec![None],
        false => (0..ty.part_count())
            .map(|lane| Some(lane as i128))
            .collect(),
    };
    for lane in lanes {
        let mut args = vec![part(b, derivative, lane)];
        for (_, number) in about.numbers.iter().take(NUMBERS) {
            let number = part(b, *number, lane);
            args.push(as_double(b, number));
        }
        while args.len() < 1 + NUMBERS {
            args.push(b.func.fconst(Type::float(FloatKind::F64), 0.0));
        }
        let text = Constant::Address(Symbol::Global(text), 0);
        args.push(b.func.constant(Type::ptr(), text));
        b.call(check, sig.clone(), args);
    }
}

/// An operation in words.
pub fn name(op: &Op) -> String {
    match op {
        Op::Unary(UnaryOp::FNeg) => "the negation".to_string(),
        Op::Binary(BinaryOp::FAdd) => "the sum".to_string(),
        Op::Binary(BinaryOp::FSub) => "the difference".to_string(),
        Op::Binary(BinaryOp::FMul) => "the product".to_string(),
        Op::Binary(BinaryOp::FDiv) => "the quotient".to_string(),
        Op::Binary(BinaryOp::FRem) => "the remainder".to_string(),
        Op::Math(function) => format!("`{}`", function.name()),
        Op::Cast(_) => "the conversion".to_string(),
        Op::Load(_) => "the load".to_string(),
        Op::Call(_) | Op::Invoke { .. } => "the call".to_string(),
        Op::Select => "the choice".to_string(),
        _ => "the operation".to_string(),
    }
}

/// One lane of a vector, or the number itself.
fn part(b: &mut Builder<'_>, value: Value, lane: Option<i128>) -> Value {
    let ty = b.func.ty(value);
    match lane {
        Some(lane) if ty != ty.scalar() => {
            let lane = b.func.iconst(Type::i64(), lane);
            b.value(Op::ExtractElement, vec![value, lane], ty.scalar())
        }
        _ => value,
    }
}

fn as_double(b: &mut Builder<'_>, number: Value) -> Value {
    let double = Type::float(FloatKind::F64);
    let op = match b.func.ty(number).float_kind() {
        Some(FloatKind::F64) | None => return number,
        Some(kind) if kind.bits() < 64 => CastOp::FpExt,
        Some(_) => CastOp::FpTrunc,
    };
    b.cast(op, number, double)
}

/// The message about a derivative.
pub fn message(module: &mut Module, about: &About<'_>) -> Global {
    let places = Place::chain(module, about.loc);
    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
    let place = match places.is_empty() {
        true => format!("in {}", about.function),
        false => places.join(", inlined at "),
    };
    let plain = |text: &str| text.replace('%', "%%");
    let mut details: Vec<String> = Vec::new();
    if !about.why.is_empty() {
        details.push(plain(about.why));
    }
    for (name, _) in about.numbers.iter().take(NUMBERS) {
        details.push(format!("{} is %g", plain(name)));
    }
    let details = match details.is_empty() {
        true => String::new(),
        false => format!(": {}", details.join(", ")),
    };
    let (what, place) = (plain(&about.what), plain(&place));
    constant_text(
        module,
        format!("zymase: {what} is %s ({place}{details})\n\0"),
    )
}

/// `finite(x, a, b, c, message)`: stops with the message if `x` is not finite; it may print what
/// `x` is as a text, and then the three numbers.
fn checker(module: &mut Module, kind: FloatKind) -> Callable {
    let name = format!("zymase.check_finite_{}", kind.name());
    let (ty, double) = (Type::float(kind), Type::float(FloatKind::F64));
    let sig = Signature::new(vec![ty, double, double, double, Type::ptr()], Type::void());
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let mut print_sig = Signature::new(vec![Type::int(32), Type::ptr()], Type::int(32));
    print_sig.variadic = true;
    let print = module.declare(Function::new("dprintf", print_sig.clone()));
    let abort_sig = Signature::new(Vec::new(), Type::void());
    let abort = module.declare(Function::new("abort", abort_sig.clone()));
    let words = ["nan\0", "inf\0", "-inf\0"].map(|word| constant_text(module, word.to_string()));
    let mut function = Function::with_entry(&name, sig.clone());
    function.local = true;
    function.attrs.flags = FnFlags::INACTIVE;
    // Who goes on has seen nothing of it.
    function.attrs.memory = MemoryEffects {
        inaccessible: ModRef::all(),
        ..MemoryEffects::NONE
    };
    let (entry, args) = (function.entry(), function.arguments().to_vec());
    let [good, bad] = [(); 2].map(|()| function.add_block());
    let to = |block| Edge {
        block,
        args: Vec::new(),
    };
    let mut b = Builder::new(&mut function, entry);
    // Of an infinity and of NaN, the difference with itself is NaN.
    let zero = b.func.zero(ty);
    let difference = b.fsub(args[0], args[0]);
    let finite = b.fcmp(FloatPred::Oeq, difference, zero);
    b.branch(finite, to(good), to(bad));
    b.block = good;
    b.ret(None);
    b.block = bad;
    let [nan, above, below] = words.map(|word| {
        let address = Constant::Address(Symbol::Global(word), 0);
        b.func.constant(Type::ptr(), address)
    });
    let positive = b.fcmp(FloatPred::Ogt, args[0], zero);
    let word = b.select(positive, above, below);
    let is_nan = b.fcmp(FloatPred::Uno, args[0], args[0]);
    let word = b.select(is_nan, nan, word);
    let stream = b.func.iconst(Type::int(32), 2);
    let printed = vec![stream, args[4], word, args[1], args[2], args[3]];
    b.call(print, print_sig, printed);
    b.call(abort, abort_sig, Vec::new());
    b.effect(Op::Unreachable, Vec::new());
    (module.funcs.push(function), sig)
}

/// `finite_array(memory, bytes, period, message)`: checks the floats of a format at each multiple of
/// `period`, as many as fit in so many bytes. The message can print what is found as a text, and no
/// numbers.
pub fn array_checker(module: &mut Module, kind: FloatKind) -> Callable {
    let name = format!("zymase.check_finite_array_{}", kind.name());
    let (ptr, long) = (Type::ptr(), Type::i64());
    let sig = Signature::new(vec![ptr, long, long, ptr], Type::void());
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let (check, check_sig) = checker(module, kind);
    let mut function = Function::with_entry(&name, sig.clone());
    function.local = true;
    function.attrs.flags = FnFlags::INACTIVE;
    let (entry, args) = (function.entry(), function.arguments().to_vec());
    let [header, body, done] = [(); 3].map(|()| function.add_block());
    let at = function.add_block_param(header, Type::i64());
    let to = |block, args| Edge { block, args };
    let mut b = Builder::new(&mut function, entry);
    let start = b.func.iconst(Type::i64(), 0);
    b.jump(header, vec![start]);
    b.block = header;
    let size = b.func.iconst(Type::i64(), i128::from(kind.bytes()));
    let end = b.add(at, size);
    let more = b.icmp(IntPred::Sle, end, args[1]);
    b.branch(more, to(body, Vec::new()), to(done, Vec::new()));
    b.block = body;
    let address = b.element(args[0], at, 1);
    let found = b.load(Type::float(kind), address, Access::aligned(1));
    let nothing = b.func.fconst(Type::float(FloatKind::F64), 0.0);
    b.call(
        check,
        check_sig,
        vec![found, nothing, nothing, nothing, args[3]],
    );
    let next = b.add(at, args[2]);
    b.jump(header, vec![next]);
    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}
