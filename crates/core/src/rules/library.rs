//! Functions that are differentiated through a body rather than by a rule.
//!
//! The bodies are plain functions of the IR, so that both modes, and derivatives of any order,
//! come from the rules of what is inside: the derivative of [`digamma`] is trigamma without
//! anyone having written that down.

use super::emit::{convert, named_constant};
use super::{NamedConstant, complex};
use crate::ir::{
    BinaryOp, Builder, Edge, FloatKind, FloatPred, Function, MathFn, Signature, Type, Value,
};

/// The body through which a function of a library is differentiated, local to the module and named
/// `zymase.` and the name. `None` if there is none for this name, or if the types are not those that
/// the name promises.
pub fn body_of(name: &str, sig: &Signature) -> Option<Function> {
    complex::body_of(name, sig)
}

/// The digamma function of a float format, local to the module.
///
/// ψ(x) = ψ(1 − x) − π/tan(πx) takes arguments below ½ to the right, ψ(x) = ψ(x + 1) − 1/x takes
/// them up to where the asymptotic series log x − 1/(2x) − Σ B₂ₖ/(2k·x²ᵏ) is exact to the last
/// digit. Formats below `f64` are computed in `f64`.
pub fn digamma(kind: FloatKind) -> Function {
    let outer = Type::float(kind);
    let ty = Type::float(kind.max(FloatKind::F64));
    let name = digamma_name(kind);
    let mut function = Function::with_entry(name, Signature::new(vec![outer], outer));
    function.local = true;
    let entry = function.entry();
    let argument = function.arguments()[0];
    let mut builder = Builder::new(&mut function, entry);
    let [reflect, head, step, series] = [(); 4].map(|()| builder.func.add_block());
    let x_head = builder.func.add_block_param(head, ty);
    let sum_head = builder.func.add_block_param(head, ty);
    let zero = builder.func.zero(ty);
    let half = builder.func.fconst(ty, 0.5);
    let one = builder.func.fconst(ty, 1.0);
    let edge = |block, args: &[Value]| Edge {
        block,
        args: args.to_vec(),
    };

    let x = convert(&mut builder, argument, ty);
    let left = builder.fcmp(FloatPred::Olt, x, half);
    builder.branch(left, edge(reflect, &[]), edge(head, &[x, zero]));

    // The tangent has period 1 in x; what is left of x after rounding is exact.
    builder.block = reflect;
    let whole = builder.math(MathFn::RoundEven, vec![x]);
    let part = builder.fsub(x, whole);
    let pi = named_constant(&mut builder, ty, NamedConstant::Pi);
    let angle = builder.fmul(pi, part);
    let tangent = builder.math(MathFn::Tan, vec![angle]);
    let cotangent = builder.fdiv(pi, tangent);
    let sum = builder.fneg(cotangent);
    let mirrored = builder.fsub(one, x);
    builder.jump(head, vec![mirrored, sum]);

    let (limit, terms) = match kind.max(FloatKind::F64) {
        FloatKind::F64 => (10.0, 7),
        _ => (48.0, SERIES.len()),
    };
    builder.block = head;
    let limit = builder.func.fconst(ty, limit);
    let below = builder.fcmp(FloatPred::Olt, x_head, limit);
    builder.branch(below, edge(step, &[]), edge(series, &[]));

    builder.block = step;
    let inverse = builder.fdiv(one, x_head);
    let sum = builder.fsub(sum_head, inverse);
    let next = builder.fadd(x_head, one);
    builder.jump(head, vec![next, sum]);

    builder.block = series;
    let inverse = builder.fdiv(one, x_head);
    let square = builder.fmul(inverse, inverse);
    let mut tail = zero;
    for &(numerator, denominator) in SERIES[..terms].iter().rev() {
        let numerator = builder.func.fconst(ty, numerator);
        let denominator = builder.func.fconst(ty, denominator);
        let term = builder.binary(BinaryOp::FDiv, numerator, denominator);
        let sum = builder.fadd(term, tail);
        tail = builder.fmul(square, sum);
    }
    let log = builder.math(MathFn::Log, vec![x_head]);
    let halved = builder.fmul(half, inverse);
    let sum = builder.fadd(sum_head, log);
    let sum = builder.fsub(sum, halved);
    let sum = builder.fsub(sum, tail);
    let result = convert(&mut builder, sum, outer);
    builder.ret(Some(result));
    function
}

/// The name of [`digamma`] for a format.
pub fn digamma_name(kind: FloatKind) -> String {
    format!("zymase.digamma.{}", kind.name())
}

/// B₂ₖ/(2k) for k = 1, 2, …, as fractions.
const SERIES: [(f64, f64); 10] = [
    (1.0, 12.0),
    (-1.0, 120.0),
    (1.0, 252.0),
    (-1.0, 240.0),
    (1.0, 132.0),
    (-691.0, 32760.0),
    (1.0, 12.0),
    (-3617.0, 8160.0),
    (43867.0, 14364.0),
    (-174611.0, 6600.0),
];
