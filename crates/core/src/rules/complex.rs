//! Bodies of complex functions, over the parts of complex numbers.
//!
//! They agree with those of the C library wherever the result is finite. They do not recover
//! infinities from NaN as its Annex G asks, because such a result has no derivative.

use crate::ir::{
    Builder, Constant, FloatKind, FloatPred, Function, MathFn, Op, Signature, Type, TypeKind, Value,
};

/// A complex number: its real and its imaginary part.
type Complex = (Value, Value);

/// How a function of complex numbers is computed.
type Compute = fn(&mut Builder<'_>, &[Complex]) -> Complex;

/// The functions of the C library by name and number of arguments, without the suffix of their
/// precision.
const FUNCTIONS: &[(&str, usize, Compute)] = &[
    ("cexp", 1, |b, z| exp(b, z[0])),
    ("clog", 1, |b, z| log(b, z[0])),
    ("csqrt", 1, |b, z| sqrt(b, z[0])),
    ("cpow", 2, |b, z| pow(b, z[0], z[1])),
    ("csin", 1, |b, z| sin(b, z[0])),
    ("ccos", 1, |b, z| cos(b, z[0])),
    ("csinh", 1, |b, z| sinh(b, z[0])),
    ("ccosh", 1, |b, z| cosh(b, z[0])),
    ("ctan", 1, |b, z| {
        let (above, below) = (sin(b, z[0]), cos(b, z[0]));
        divide(b, above, below)
    }),
    ("ctanh", 1, |b, z| {
        let (above, below) = (sinh(b, z[0]), cosh(b, z[0]));
        divide(b, above, below)
    }),
];

/// The body of a function of complex numbers of this name, of the C library or the compiler's
/// runtime; none if there is none for it, or if the types are not those that the name promises.
pub(super) fn body_of(name: &str, sig: &Signature) -> Option<Function> {
    let (kind, count, compute) = by_name(name)?;
    let part = Type::float(kind);
    let is_scalars = sig.params == vec![part; 2 * count];
    // Two that fit a register are a vector.
    let is_vectors = sig.params.len() == count && sig.params.iter().all(|&ty| is_pair(ty, part));
    if sig.variadic || !(is_scalars || is_vectors) || !is_pair(sig.ret, part) {
        return None;
    }
    let mut function = Function::with_entry(format!("zymase.{name}"), sig.clone());
    function.local = true;
    let entry = function.entry();
    let params = function.arguments().to_vec();
    let mut builder = Builder::new(&mut function, entry);
    let numbers: Vec<Complex> = match is_scalars {
        true => params.chunks(2).map(|both| (both[0], both[1])).collect(),
        false => params
            .iter()
            .map(|&whole| {
                (
                    part_of(&mut builder, whole, 0),
                    part_of(&mut builder, whole, 1),
                )
            })
            .collect(),
    };
    let (real, imaginary) = compute(&mut builder, &numbers);
    let result = pair(&mut builder, sig.ret, real, imaginary);
    builder.ret(Some(result));
    Some(function)
}

fn by_name(name: &str) -> Option<(FloatKind, usize, Compute)> {
    if let Some(stem) = name.strip_prefix("__").and_then(|s| s.strip_suffix("c3")) {
        let (operation, precision) = stem.split_at_checked(3)?;
        let kind = match precision {
            "h" => FloatKind::F16,
            "s" => FloatKind::F32,
            "d" => FloatKind::F64,
            "x" => FloatKind::X86Fp80,
            "t" => FloatKind::F128,
            _ => return None,
        };
        let compute: Compute = match operation {
            "mul" => |b, z| multiply(b, z[0], z[1]),
            "div" => |b, z| divide(b, z[0], z[1]),
            _ => return None,
        };
        return Some((kind, 2, compute));
    }
    let find = |stem: &str, kind| {
        let row = FUNCTIONS.iter().find(|row| row.0 == stem)?;
        Some((kind, row.1, row.2))
    };
    let single = || find(name.strip_suffix('f')?, FloatKind::F32);
    find(name, FloatKind::F64).or_else(single)
}

/// Complex numbers are returned as a structure or, where two fit a register, as a vector.
fn is_pair(ty: Type, part: Type) -> bool {
    let shape = matches!(ty.kind(), TypeKind::Struct { .. } | TypeKind::Vector(..));
    shape && ty.part_count() == 2 && ty.part(0) == Some(part) && ty.part(1) == Some(part)
}

fn pair(builder: &mut Builder<'_>, ty: Type, first: Value, second: Value) -> Value {
    let mut whole = builder.func.constant(ty, Constant::Poison);
    for (index, part) in [first, second].into_iter().enumerate() {
        whole = if ty.lanes().is_some() {
            let index = builder.func.iconst(Type::i64(), index as i128);
            builder.value(Op::InsertElement, vec![whole, part, index], ty)
        } else {
            builder.insert(whole, part, vec![index as u32])
        };
    }
    whole
}

fn part_of(builder: &mut Builder<'_>, whole: Value, index: u32) -> Value {
    let ty = builder.func.ty(whole);
    if ty.lanes().is_none() {
        return builder.extract(whole, vec![index]);
    }
    let index = builder.func.iconst(Type::i64(), i128::from(index));
    builder.value(Op::ExtractElement, vec![whole, index], ty.scalar())
}

fn math(builder: &mut Builder<'_>, function: MathFn, x: Value) -> Value {
    builder.math(function, vec![x])
}

/// (a + ib)(c + id).
fn multiply(builder: &mut Builder<'_>, (a, b): Complex, (c, d): Complex) -> Complex {
    let (ac, bd) = (builder.fmul(a, c), builder.fmul(b, d));
    let (ad, bc) = (builder.fmul(a, d), builder.fmul(b, c));
    (builder.fsub(ac, bd), builder.fadd(ad, bc))
}

/// (a + ib)/(c + id), divided by the larger part of the divisor first, so that no square
/// overflows. With |c| ≥ |d| and q = d/c it is ((a + bq) + i(b − aq))/(c + dq); otherwise the
/// same with the parts of both numbers exchanged, and the conjugate of the result.
fn divide(builder: &mut Builder<'_>, (a, b): Complex, (c, d): Complex) -> Complex {
    let abs_c = math(builder, MathFn::Fabs, c);
    let abs_d = math(builder, MathFn::Fabs, d);
    let straight = builder.fcmp(FloatPred::Oge, abs_c, abs_d);
    let large = builder.select(straight, c, d);
    let small = builder.select(straight, d, c);
    let first = builder.select(straight, a, b);
    let second = builder.select(straight, b, a);

    let quotient = builder.fdiv(small, large);
    let rest = builder.fmul(small, quotient);
    let divisor = builder.fadd(large, rest);
    let second_part = builder.fmul(second, quotient);
    let first_part = builder.fmul(first, quotient);
    let real = builder.fadd(first, second_part);
    let imaginary = builder.fsub(second, first_part);
    let real = builder.fdiv(real, divisor);
    let imaginary = builder.fdiv(imaginary, divisor);
    let conjugate = builder.fneg(imaginary);
    (real, builder.select(straight, imaginary, conjugate))
}

/// eᵃ(cos b + i sin b).
fn exp(builder: &mut Builder<'_>, (a, b): Complex) -> Complex {
    let size = math(builder, MathFn::Exp, a);
    let (cos, sin) = (math(builder, MathFn::Cos, b), math(builder, MathFn::Sin, b));
    (builder.fmul(size, cos), builder.fmul(size, sin))
}

/// log|z| + i arg z.
fn log(builder: &mut Builder<'_>, (a, b): Complex) -> Complex {
    let size = builder.math(MathFn::Hypot, vec![a, b]);
    let real = math(builder, MathFn::Log, size);
    (real, builder.math(MathFn::Atan2, vec![b, a]))
}

/// With t = √((|a| + |z|)/2) it is t + ib/(2t) on the right, and |b|/(2t) ± it on the left, the
/// sign being that of b.
fn sqrt(builder: &mut Builder<'_>, (a, b): Complex) -> Complex {
    let ty = builder.func.ty(a);
    let (zero, half) = (builder.func.zero(ty), builder.func.fconst(ty, 0.5));
    let size = builder.math(MathFn::Hypot, vec![a, b]);
    let abs_a = math(builder, MathFn::Fabs, a);
    let sum = builder.fadd(abs_a, size);
    let mean = builder.fmul(half, sum);
    let long = math(builder, MathFn::Sqrt, mean);
    let half_b = builder.fmul(half, b);
    let short = builder.fdiv(half_b, long);
    // Zero has a root, but no derivative.
    let nothing = builder.fcmp(FloatPred::Oeq, size, zero);
    let short = builder.select(nothing, b, short);
    let right = builder.fcmp(FloatPred::Oge, a, zero);
    let abs_short = math(builder, MathFn::Fabs, short);
    let signed = builder.math(MathFn::Copysign, vec![long, b]);
    let real = builder.select(right, long, abs_short);
    (real, builder.select(right, short, signed))
}

/// e to the power of w log z; a power of zero is zero.
fn pow(builder: &mut Builder<'_>, z: Complex, w: Complex) -> Complex {
    let zero = builder.func.zero(builder.func.ty(z.0));
    let logarithm = log(builder, z);
    let exponent = multiply(builder, w, logarithm);
    let (real, imaginary) = exp(builder, exponent);
    let size = builder.math(MathFn::Hypot, vec![z.0, z.1]);
    let nothing = builder.fcmp(FloatPred::Oeq, size, zero);
    let real = builder.select(nothing, zero, real);
    (real, builder.select(nothing, zero, imaginary))
}

/// sin a cosh b + i cos a sinh b.
fn sin(builder: &mut Builder<'_>, (a, b): Complex) -> Complex {
    let (sin, cos) = (math(builder, MathFn::Sin, a), math(builder, MathFn::Cos, a));
    let (sinh, cosh) = (
        math(builder, MathFn::Sinh, b),
        math(builder, MathFn::Cosh, b),
    );
    (builder.fmul(sin, cosh), builder.fmul(cos, sinh))
}

/// cos a cosh b − i sin a sinh b.
fn cos(builder: &mut Builder<'_>, (a, b): Complex) -> Complex {
    let (sin, cos) = (math(builder, MathFn::Sin, a), math(builder, MathFn::Cos, a));
    let (sinh, cosh) = (
        math(builder, MathFn::Sinh, b),
        math(builder, MathFn::Cosh, b),
    );
    let imaginary = builder.fmul(sin, sinh);
    (builder.fmul(cos, cosh), builder.fneg(imaginary))
}

/// sinh a cos b + i cosh a sin b.
fn sinh(builder: &mut Builder<'_>, (a, b): Complex) -> Complex {
    let (sin, cos) = (math(builder, MathFn::Sin, b), math(builder, MathFn::Cos, b));
    let (sinh, cosh) = (
        math(builder, MathFn::Sinh, a),
        math(builder, MathFn::Cosh, a),
    );
    (builder.fmul(sinh, cos), builder.fmul(cosh, sin))
}

/// cosh a cos b + i sinh a sin b.
fn cosh(builder: &mut Builder<'_>, (a, b): Complex) -> Complex {
    let (sin, cos) = (math(builder, MathFn::Sin, b), math(builder, MathFn::Cos, b));
    let (sinh, cosh) = (
        math(builder, MathFn::Sinh, a),
        math(builder, MathFn::Cosh, a),
    );
    (builder.fmul(cosh, cos), builder.fmul(sinh, sin))
}
