//! Lowers calls of known functions to operations that have derivative rules.
//!
//! A function of the C library that returns a second result through a pointer (`sincos`, `modf`,
//! `frexp`, `remquo`) becomes mathematical functions and stores; an intrinsic that returns a
//! structure becomes functions put into one; a reduction of a vector becomes a chain of scalar
//! operations in the order that the intrinsic defines; the absolute value and the argument of a
//! complex number become `hypot` and `atan2`; the larger and the smaller of two integers, which may
//! be the bits of floats, become choices. `digamma`, which no C library has, becomes a call of
//! its [body](crate::rules::library::digamma), which is added to the module.
//!
//! Before: any function. After: the same meaning, and none of these calls, except those whose
//! types are not what the name promises, those marked as no builtins, and those of functions that
//! the module itself defines. Invokes are left alone.

use crate::analysis::known;
use crate::ir::{
    Access, BinaryOp, Builder, CastOp, Constant, DataLayout, Flags, FloatKind, FloatPred, Func,
    Function, Inst, IntPred, MathFn, Module, Op, Signature, Type, Value,
};
use crate::rules::library;
use crate::simplify::expand_nests;
use std::collections::{BTreeMap, HashMap};

/// Lowers the calls in one function; whether anything changed.
pub fn run(module: &mut Module, func: Func) -> bool {
    // The body of a nest cannot call.
    let mut changed = expand_nests::expand(&mut module.funcs[func], |_, nest| {
        let mut ops = nest
            .body
            .insts()
            .iter()
            .map(|&i| &nest.body.func.inst(i).op);
        ops.any(|op| *op == Op::Math(MathFn::Digamma))
    });
    let digammas = add_digammas(module, func);
    // The function is taken out, so that the others can be asked for their names meanwhile.
    let empty = Function::new(String::new(), module.funcs[func].sig.clone());
    let mut function = std::mem::replace(&mut module.funcs[func], empty);
    let mut replaced = HashMap::new();
    for block in function.blocks().to_vec() {
        let insts = function.block_insts(block).to_vec();
        if !insts.iter().any(|&i| find(module, &function, i).is_some()) {
            continue;
        }
        changed = true;
        let mut lowered = Vec::new();
        for inst in insts {
            let Some(lowering) = find(module, &function, inst) else {
                lowered.push(inst);
                continue;
            };
            function.set_block_insts(block, Vec::new());
            let data = function.inst(inst).clone();
            let result = function.result(inst);
            let mut builder = Builder::new(&mut function, block);
            builder.loc = data.loc;
            builder.float_flags = data.flags & Flags::FAST;
            let mut lower = Lower {
                layout: &module.layout,
                digammas: &digammas,
                ty: result.map(|value| builder.func.ty(value)),
                builder,
            };
            let value = lower.lower(lowering, &data.args);
            replaced.extend(result.zip(value));
            lowered.extend(function.block_insts(block));
        }
        function.set_block_insts(block, lowered);
    }
    function.replace_uses(&replaced);
    module.funcs[func] = function;
    changed
}

/// What becomes of a call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Lowering {
    /// x, pointer to the sine, pointer to the cosine.
    SinCos,
    /// x, pointer to the whole part; the result is the rest.
    Modf,
    /// x, pointer to the exponent; the result is the mantissa.
    Frexp,
    /// x, y, pointer to the low bits of the quotient; the result is the remainder.
    Remquo,
    /// x; the result is {sine, cosine}.
    SinCosPair,
    /// x; the result is {rest, whole part}.
    ModfPair,
    /// x; the result is {mantissa, exponent}.
    FrexpPair,
    /// Start, vector; the result is the start and all lanes, combined in order.
    ReduceFrom(BinaryOp),
    /// Vector; the result is all lanes, combined in order.
    Reduce(MathFn),
    /// A complex number as one vector or two floats.
    Complex(MathFn),
    /// Two integers; the result is the first if it compares like this with the second.
    Choose(IntPred),
    /// x.
    Digamma,
}

/// How an instruction is lowered, if it is.
fn find(module: &Module, function: &Function, inst: Inst) -> Option<Lowering> {
    let data = function.inst(inst);
    let call = match &data.op {
        Op::Math(MathFn::Digamma) => return Some(Lowering::Digamma),
        Op::Call(call) => call,
        _ => return None,
    };
    let callee = known::library_callee(module, call)?;
    let lowering = lowering_of(&callee.name)?;
    let args: Vec<Type> = data.args.iter().map(|&v| function.ty(v)).collect();
    fits(lowering, &args, call.sig.ret).then_some(lowering)
}

/// What the functions of the C library and the intrinsics of LLVM are lowered to.
fn lowering_of(name: &str) -> Option<Lowering> {
    Some(match name {
        "sincos" | "sincosf" | "sincosl" => Lowering::SinCos,
        "modf" | "modff" | "modfl" => Lowering::Modf,
        "frexp" | "frexpf" | "frexpl" => Lowering::Frexp,
        "remquo" | "remquof" | "remquol" => Lowering::Remquo,
        "cabs" | "cabsf" | "cabsl" => Lowering::Complex(MathFn::Hypot),
        "carg" | "cargf" | "cargl" => Lowering::Complex(MathFn::Atan2),
        _ => {
            let intrinsic = name.strip_prefix("llvm.")?;
            // The rest of the name repeats the types.
            let (stem, _types) = intrinsic.rsplit_once('.')?;
            match stem {
                "sincos" => Lowering::SinCosPair,
                "modf" => Lowering::ModfPair,
                "vector.reduce.fadd" => Lowering::ReduceFrom(BinaryOp::FAdd),
                "vector.reduce.fmul" => Lowering::ReduceFrom(BinaryOp::FMul),
                "vector.reduce.fmax" => Lowering::Reduce(MathFn::Fmax),
                "vector.reduce.fmin" => Lowering::Reduce(MathFn::Fmin),
                "vector.reduce.fmaximum" => Lowering::Reduce(MathFn::Maximum),
                "vector.reduce.fminimum" => Lowering::Reduce(MathFn::Minimum),
                "umax" => Lowering::Choose(IntPred::Ugt),
                "umin" => Lowering::Choose(IntPred::Ult),
                "smax" => Lowering::Choose(IntPred::Sgt),
                "smin" => Lowering::Choose(IntPred::Slt),
                stem if stem.starts_with("frexp.") => Lowering::FrexpPair,
                _ => return None,
            }
        }
    })
}

/// Whether a call has the types that the name of its callee promises.
fn fits(lowering: Lowering, args: &[Type], ret: Type) -> bool {
    let float = |ty: &Type| ty.float_kind().is_some();
    let pair = |x: &Type| x.is_float_like() && ret.part_count() == 2 && ret.part(0) == Some(*x);
    match (lowering, args) {
        (Lowering::SinCos, [x, s, c]) => float(x) && s.is_ptr() && c.is_ptr(),
        (Lowering::Modf | Lowering::Frexp, [x, p]) => float(x) && *x == ret && p.is_ptr(),
        (Lowering::Remquo, [x, y, p]) => float(x) && x == y && *x == ret && p.is_ptr(),
        (Lowering::SinCosPair | Lowering::ModfPair, [x]) => pair(x) && ret.part(1) == Some(*x),
        (Lowering::FrexpPair, [x]) => pair(x) && ret.part(1).is_some_and(Type::is_int_like),
        (Lowering::ReduceFrom(_), [start, v]) => {
            float(start) && *start == ret && v.lanes().is_some() && v.scalar() == ret
        }
        (Lowering::Reduce(_), [v]) => v.lanes().is_some() && float(&ret) && v.scalar() == ret,
        (Lowering::Complex(_), [z]) => z.lanes() == Some(2) && float(&ret) && z.scalar() == ret,
        (Lowering::Choose(_), [a, b]) => a.is_int_like() && a == b && *a == ret,
        (Lowering::Complex(_), [re, im]) => float(re) && re == im && *re == ret,
        _ => false,
    }
}

/// Adds the digamma functions that a function needs to the module.
fn add_digammas(module: &mut Module, func: Func) -> BTreeMap<FloatKind, Func> {
    let function = &module.funcs[func];
    let insts = function
        .blocks()
        .iter()
        .flat_map(|&b| function.block_insts(b));
    let digammas = insts.filter(|&&inst| function.inst(inst).op == Op::Math(MathFn::Digamma));
    let types = digammas.filter_map(|&inst| Some(function.ty(function.result(inst)?)));
    let mut kinds: Vec<FloatKind> = types.filter_map(|ty| ty.scalar().float_kind()).collect();
    kinds.sort();
    kinds.dedup();
    let declare = |kind| (kind, module.declare(library::digamma(kind)));
    kinds.into_iter().map(declare).collect()
}

struct Lower<'a, 'f> {
    layout: &'a DataLayout,
    digammas: &'a BTreeMap<FloatKind, Func>,
    /// The type of the result.
    ty: Option<Type>,
    builder: Builder<'f>,
}

impl Lower<'_, '_> {
    /// Emits what a call is lowered to; gives what stands for its result.
    fn lower(&mut self, lowering: Lowering, args: &[Value]) -> Option<Value> {
        let x = args[0];
        match lowering {
            Lowering::SinCos => {
                let sine = self.math(MathFn::Sin, x);
                self.store(sine, args[1]);
                let cosine = self.math(MathFn::Cos, x);
                self.store(cosine, args[2]);
                None
            }
            Lowering::Modf => {
                let (rest, whole) = self.modf(x);
                self.store(whole, args[1]);
                Some(rest)
            }
            Lowering::Frexp => {
                let exponent = self.exponent(x, Type::int(32));
                self.store(exponent, args[1]);
                Some(self.math(MathFn::Significand, x))
            }
            Lowering::Remquo => {
                let (remainder, quotient) = self.remquo(x, args[1]);
                self.store(quotient, args[2]);
                Some(remainder)
            }
            Lowering::SinCosPair => {
                let sine = self.math(MathFn::Sin, x);
                let cosine = self.math(MathFn::Cos, x);
                self.pair(sine, cosine)
            }
            Lowering::ModfPair => {
                let (rest, whole) = self.modf(x);
                self.pair(rest, whole)
            }
            Lowering::FrexpPair => {
                let exponent = self.exponent(x, self.ty?.part(1)?);
                let mantissa = self.math(MathFn::Significand, x);
                self.pair(mantissa, exponent)
            }
            Lowering::ReduceFrom(op) => {
                let lanes = self.lanes(args[1]);
                let combine = |sum, lane| self.builder.binary(op, sum, lane);
                Some(lanes.into_iter().fold(x, combine))
            }
            Lowering::Reduce(function) => {
                let lanes = self.lanes(x);
                let combine = |a, b| self.builder.math(function, vec![a, b]);
                lanes.into_iter().reduce(combine)
            }
            Lowering::Complex(function) => {
                let parts = match args {
                    [z] => self.lanes(*z),
                    _ => args.to_vec(),
                };
                // The argument of a complex number takes the imaginary part first.
                let operands = parts.into_iter().rev().collect();
                Some(self.builder.math(function, operands))
            }
            Lowering::Choose(first) => {
                let first = self.builder.icmp(first, x, args[1]);
                Some(self.builder.select(first, x, args[1]))
            }
            Lowering::Digamma => self.digamma(x),
        }
    }

    fn math(&mut self, function: MathFn, x: Value) -> Value {
        self.builder.math(function, vec![x])
    }

    fn store(&mut self, value: Value, ptr: Value) {
        let align = self.layout.align(self.builder.func.ty(value));
        self.builder.store(value, ptr, Access::aligned(align));
    }

    fn pair(&mut self, first: Value, second: Value) -> Option<Value> {
        let empty = self.builder.func.constant(self.ty?, Constant::Poison);
        let half = self.builder.insert(empty, first, vec![0]);
        Some(self.builder.insert(half, second, vec![1]))
    }

    fn lanes(&mut self, vector: Value) -> Vec<Value> {
        let ty = self.builder.func.ty(vector);
        let lanes = 0..ty.lanes().unwrap_or(0);
        let lane = |index: u32| {
            let index = self.builder.func.iconst(Type::i64(), i128::from(index));
            let args = vec![vector, index];
            self.builder.value(Op::ExtractElement, args, ty.scalar())
        };
        lanes.map(lane).collect()
    }

    /// The part behind the point and the whole part, both with the sign of x. The difference is
    /// negated twice below zero, so that −3 leaves −0 and the derivative is one all the same; a
    /// `copysign` would have the derivative zero there.
    fn modf(&mut self, x: Value) -> (Value, Value) {
        let ty = self.builder.func.ty(x);
        let b = &mut self.builder;
        let zero = b.func.zero(ty);
        let infinity = b.func.fconst(ty, f64::INFINITY);
        let whole = b.math(MathFn::Trunc, vec![x]);
        let rest = b.fsub(x, whole);
        let opposite = b.fsub(whole, x);
        let negative_rest = b.fneg(opposite);
        let is_negative = b.fcmp(FloatPred::Olt, x, zero);
        let rest = b.select(is_negative, negative_rest, rest);
        let is_zero = b.fcmp(FloatPred::Oeq, x, zero);
        let rest = b.select(is_zero, x, rest);
        let size = b.math(MathFn::Fabs, vec![x]);
        let is_infinite = b.fcmp(FloatPred::Oeq, size, infinity);
        let signed_zero = b.math(MathFn::Copysign, vec![zero, x]);
        (b.select(is_infinite, signed_zero, rest), whole)
    }

    /// The exponent that `frexp` gives; 0 for zero, infinities and NaN.
    fn exponent(&mut self, x: Value, int: Type) -> Value {
        let ty = self.builder.func.ty(x);
        let b = &mut self.builder;
        let infinity = b.func.fconst(ty, f64::INFINITY);
        let float_zero = b.func.zero(ty);
        let float_one = b.func.fconst(ty, 1.0);
        let zero = b.func.zero(int);
        let size = b.math(MathFn::Fabs, vec![x]);
        let above = b.fcmp(FloatPred::Ogt, size, float_zero);
        let below = b.fcmp(FloatPred::Olt, size, infinity);
        let regular = b.binary(BinaryOp::And, above, below);
        let log = b.math(MathFn::Logb, vec![x]);
        let exponent = b.fadd(log, float_one);
        let exponent = b.cast(CastOp::FpToSi, exponent, int);
        b.select(regular, exponent, zero)
    }

    /// The remainder, and the low three bits of the quotient with its sign. The quotient itself
    /// may be too large for any format; taken modulo 8·y first, it is small and exact.
    fn remquo(&mut self, x: Value, y: Value) -> (Value, Value) {
        let ty = self.builder.func.ty(x);
        let int = Type::int(32);
        let b = &mut self.builder;
        let eight = b.func.fconst(ty, 8.0);
        let zero = b.func.zero(int);
        let low = b.func.iconst(int, 7);
        let remainder = b.math(MathFn::Remainder, vec![x, y]);
        let period = b.fmul(y, eight);
        let reduced = b.math(MathFn::Fmod, vec![x, period]);
        let multiple = b.fsub(reduced, remainder);
        let quotient = b.fdiv(multiple, y);
        let quotient = b.math(MathFn::RoundEven, vec![quotient]);
        let quotient = b.cast(CastOp::FpToSi, quotient, int);
        let negated = b.sub(zero, quotient);
        let is_negative = b.icmp(IntPred::Slt, quotient, zero);
        let size = b.select(is_negative, negated, quotient);
        let bits = b.binary(BinaryOp::And, size, low);
        let negative_bits = b.sub(zero, bits);
        let bits = b.select(is_negative, negative_bits, bits);
        let defined = b.fcmp(FloatPred::Ord, remainder, remainder);
        (remainder, b.select(defined, bits, zero))
    }

    /// Calls the library function, lane by lane.
    fn digamma(&mut self, x: Value) -> Option<Value> {
        let ty = self.builder.func.ty(x);
        let callee = *self.digammas.get(&ty.scalar().float_kind()?)?;
        let sig = Signature::new(vec![ty.scalar()], ty.scalar());
        if ty.lanes().is_none() {
            return self.builder.call(callee, sig, vec![x]);
        }
        let mut whole = self.builder.func.constant(ty, Constant::Poison);
        for (index, lane) in (0..).zip(self.lanes(x)) {
            let value = self.builder.call(callee, sig.clone(), vec![lane])?;
            let index = self.builder.func.iconst(Type::i64(), index);
            let args = vec![whole, value, index];
            whole = self.builder.value(Op::InsertElement, args, ty);
        }
        Some(whole)
    }
}

#[cfg(test)]
mod tests;
