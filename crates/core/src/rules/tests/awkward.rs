//! The points where a rule has to choose: kinks, ties, poles, infinities, ends of domains.

use super::evaluate::partial;
use super::{apply, float_operands, interpret, params};
use crate::interp::Val;
use crate::ir::{BinaryOp, Builder, Function, MathFn, MathParam, Op, Signature, Type};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The function, its operands, and the partial derivative by each of them.
const POINTS: &[(MathFn, &[f64], &[f64])] = &[
    (MathFn::Sqrt, &[0.0], &[INF]),
    (MathFn::Sqrt, &[INF], &[0.0]),
    (MathFn::Sqrt, &[-1.0], &[NAN]),
    (MathFn::Cbrt, &[0.0], &[INF]),
    (MathFn::Hypot, &[0.0, 0.0], &[0.0, 0.0]),
    (MathFn::Hypot, &[-0.0, 0.0], &[0.0, 0.0]),
    (MathFn::Hypot, &[0.0, -2.0], &[0.0, -1.0]),
    (MathFn::Pow, &[0.0, 0.0], &[0.0, 0.0]),
    (MathFn::Pow, &[0.0, 1.0], &[1.0, 0.0]),
    (MathFn::Pow, &[0.0, 2.0], &[0.0, 0.0]),
    (MathFn::Pow, &[0.0, 0.5], &[INF, 0.0]),
    (MathFn::Pow, &[0.0, -1.0], &[-INF, -INF]),
    (MathFn::Pow, &[2.0, 0.0], &[0.0, std::f64::consts::LN_2]),
    (MathFn::Pow, &[-2.0, 3.0], &[12.0, NAN]),
    (MathFn::Pow, &[-2.0, 0.0], &[0.0, NAN]),
    (MathFn::Powi, &[0.0, 0.0], &[0.0, 0.0]),
    (MathFn::Powi, &[0.0, 1.0], &[1.0, 0.0]),
    (MathFn::Powi, &[0.0, 2.0], &[0.0, 0.0]),
    (MathFn::Powi, &[0.0, -1.0], &[-INF, 0.0]),
    (MathFn::Exp, &[-INF], &[0.0]),
    (MathFn::Exp, &[1000.0], &[INF]),
    (MathFn::Expm1, &[-1000.0], &[0.0]),
    (MathFn::Log, &[0.0], &[INF]),
    (MathFn::Log, &[-0.0], &[-INF]),
    (MathFn::Log, &[-2.0], &[-0.5]),
    (MathFn::Log, &[INF], &[0.0]),
    (MathFn::Log1p, &[-1.0], &[INF]),
    (MathFn::Fabs, &[0.0], &[0.0]),
    (MathFn::Fabs, &[-0.0], &[0.0]),
    (MathFn::Fabs, &[-INF], &[-1.0]),
    (MathFn::Copysign, &[0.0, -1.0], &[0.0, 0.0]),
    (MathFn::Copysign, &[2.0, -0.0], &[-1.0, 0.0]),
    (MathFn::Fmin, &[1.0, 1.0], &[0.5, 0.5]),
    (MathFn::Fmin, &[0.0, -0.0], &[0.5, 0.5]),
    (MathFn::Fmin, &[1.0, NAN], &[1.0, 0.0]),
    (MathFn::Fmin, &[NAN, 1.0], &[0.0, 1.0]),
    (MathFn::Fmax, &[INF, INF], &[0.5, 0.5]),
    (MathFn::Fmax, &[NAN, 1.0], &[0.0, 1.0]),
    (MathFn::Maximum, &[NAN, 1.0], &[0.0, 0.0]),
    (MathFn::MaximumNum, &[NAN, 1.0], &[0.0, 1.0]),
    (MathFn::Minimum, &[2.0, 2.0], &[0.5, 0.5]),
    (MathFn::Fdim, &[1.0, 1.0], &[0.5, -0.5]),
    (MathFn::Fdim, &[1.0, 2.0], &[0.0, 0.0]),
    (MathFn::Floor, &[1.0], &[0.0]),
    // 0.3/0.1 rounds to 3, and the remainder is that of the quotient 2.
    (MathFn::Fmod, &[0.3, 0.1], &[1.0, -2.0]),
    (MathFn::Remainder, &[5.0, 2.0], &[1.0, -2.0]),
    (MathFn::Remainder, &[7.0, 2.0], &[1.0, -4.0]),
    (MathFn::Fmod, &[1.0, 0.0], &[1.0, NAN]),
    (MathFn::Ldexp, &[0.0, 3.0], &[8.0, 0.0]),
    (MathFn::Significand, &[0.0], &[1.0]),
    (MathFn::Significand, &[6.0], &[0.125]),
    (MathFn::Asin, &[1.0], &[INF]),
    (MathFn::Acos, &[1.0], &[-INF]),
    (MathFn::Acos, &[1.5], &[NAN]),
    (MathFn::Atan, &[1e200], &[0.0]),
    (MathFn::Atan2, &[0.0, 0.0], &[NAN, NAN]),
    (MathFn::Atan2, &[0.0, 1e-200], &[1e200, 0.0]),
    (MathFn::Acosh, &[1.0], &[INF]),
    (MathFn::Acosh, &[-2.0], &[NAN]),
    (MathFn::Atanh, &[1.0], &[INF]),
    (MathFn::Tanh, &[INF], &[0.0]),
    (MathFn::Erf, &[INF], &[0.0]),
    (MathFn::J1, &[0.0], &[0.5]),
    (MathFn::Y0, &[0.0], &[INF]),
];

#[test]
fn awkward_points() {
    for &(function, operands, expected) in POINTS {
        check(&Op::Math(function), operands, expected);
    }
    check(&Op::Binary(BinaryOp::FDiv), &[1.0, 0.0], &[INF, -INF]);
    check(&Op::Binary(BinaryOp::FDiv), &[0.0, 0.0], &[INF, NAN]);
    check(&Op::Binary(BinaryOp::FDiv), &[1.0, INF], &[0.0, 0.0]);
}

fn check(op: &Op, operands: &[f64], expected: &[f64]) {
    let result = apply(op, operands);
    for i in float_operands(op) {
        let same = |found: f64| {
            found == expected[i]
                || (found.is_nan() && expected[i].is_nan())
                || (found - expected[i]).abs() <= 1e-14 * expected[i].abs()
        };
        let by_rule = partial(op, i, operands, result);
        let by_interpreter = tangent(op, i, operands);
        assert!(
            same(by_rule) && (same(by_interpreter) || INTERPRETER_DIFFERS.contains(op)),
            "{op:?} at {operands:?} by operand {i}: the rule says {by_rule}, \
             the interpreter {by_interpreter}, expected {}",
            expected[i]
        );
    }
}

/// The interpreter takes the sign of a zero for the slope of `copysign`, and gives all to a NaN
/// that `fmaximum` returns.
const INTERPRETER_DIFFERS: [Op; 2] = [Op::Math(MathFn::Copysign), Op::Math(MathFn::Maximum)];

/// The derivative that the interpreter has of its own.
fn tangent(op: &Op, by: usize, operands: &[f64]) -> f64 {
    let types = params(op).into_iter().map(|param| match param {
        MathParam::Float => Type::f64(),
        MathParam::Int => Type::int(32),
    });
    let sig = Signature::new(types.collect(), Type::f64());
    let mut function = Function::with_entry("f", sig);
    let (entry, arguments) = (function.entry(), function.arguments().to_vec());
    let mut builder = Builder::new(&mut function, entry);
    let result = builder.value(op.clone(), arguments, Type::f64());
    builder.ret(Some(result));
    let values = params(op).into_iter().zip(operands).enumerate();
    let values = values.map(|(index, (param, &x))| match param {
        MathParam::Float => Val::dual(x, f64::from(index == by)),
        MathParam::Int => Val::i32(x as i32),
    });
    let found = interpret(function, std::iter::once(values.collect())).remove(0);
    found
        .tangent()
        .unwrap_or_else(|| panic!("{found:?} is no float"))
}
