//! Every rule against an independent answer: finite differences at random points, listed values at
//! awkward ones, second derivatives, and the emitted instructions.

mod awkward;
mod emission;
mod evaluate;
mod library;

use super::*;
use crate::interp::{Machine, Val};
use crate::ir::verify::verify_function;
use crate::ir::{Function, MathParam, Module};
use evaluate::{Dual, dual, math, partial};

#[test]
fn every_float_operation_has_a_rule() {
    for op in float_operations().chain([Op::Math(MathFn::Digamma)]) {
        let expected = op != Op::Math(MathFn::Digamma);
        assert_eq!(rule_for(&op).is_some(), expected, "{op:?}");
    }
    let count = table::TABLE.len();
    assert_eq!(RULES.len(), count, "an operation has two rules");
}

#[test]
fn structural_operations_have_no_rule_and_discrete_ones_have_zero() {
    assert_eq!(rule_for(&Op::Select), None);
    assert_eq!(rule_for(&Op::Unary(UnaryOp::Freeze)), None);
    assert_eq!(rule_for(&Op::Binary(BinaryOp::Xor)), None);
    let floor = rule_for(&Op::Math(MathFn::Floor));
    assert_eq!(floor, Some(&Rule::Zero));
    let to_int = rule_for(&Op::Cast(CastOp::FpToSi));
    assert_eq!(to_int, Some(&Rule::Zero));
    let narrow = rule_for(&Op::Cast(CastOp::FpTrunc));
    assert_eq!(narrow, Some(&Rule::Cast));
}

#[test]
fn partials_say_what_they_need() {
    fn check(op: Op, operand: usize, operands: &[usize], result: bool) {
        let needs = rule_for(&op).map(|rule| rule.partial(operand).needs());
        let found = needs.map(|needs| (needs.operands().collect::<Vec<_>>(), needs.result));
        assert_eq!(found, Some((operands.to_vec(), result)), "{op:?}");
    }
    check(Op::Binary(BinaryOp::FAdd), 0, &[], false);
    check(Op::Binary(BinaryOp::FMul), 0, &[1], false);
    check(Op::Binary(BinaryOp::FDiv), 0, &[1], false);
    check(Op::Binary(BinaryOp::FDiv), 1, &[1], true);
    check(Op::Math(MathFn::Exp), 0, &[], true);
    check(Op::Math(MathFn::Sqrt), 0, &[], true);
    check(Op::Math(MathFn::Powi), 0, &[0, 1], false);
}

/// The number of random points for each rule.
const POINTS: usize = 60;

#[test]
fn first_derivatives_agree_with_finite_differences() {
    for (seed, op) in (1u64..).zip(float_operations()) {
        for i in float_operands(&op) {
            let mut compared = 0;
            for operands in points(&op, seed) {
                let result = apply(&op, &operands);
                let Some(expected) = difference(&operands, i, |x| apply(&op, x)) else {
                    continue;
                };
                let found = partial(&op, i, &operands, result);
                compared += 1;
                assert!(
                    close(found, expected),
                    "{op:?} at {operands:?} by operand {i}: rule {found}, \
                     difference {expected} (seed {seed})"
                );
            }
            assert!(compared >= POINTS / 6, "{op:?} by {i}: {compared} points");
        }
    }
}

#[test]
fn second_derivatives_agree_with_finite_differences() {
    for (seed, op) in (1u64..).zip(float_operations()) {
        let Some(Rule::Partials(formula)) = rule_for(&op) else {
            continue;
        };
        for operands in points(&op, seed) {
            let result = apply(&op, &operands);
            for (i, j) in float_operands(&op).flat_map(|i| float_operands(&op).map(move |j| (i, j)))
            {
                let Partial::Factor(factor) = &formula.partials[i] else {
                    continue;
                };
                let first = |x: &[f64]| partial(&op, i, x, apply(&op, x));
                let Some(expected) = difference(&operands, j, first) else {
                    continue;
                };
                let mut seeded: Vec<Dual> = operands.iter().map(|&x| Dual::constant(x)).collect();
                seeded[j].tangent = 1.0;
                let result = Dual {
                    value: result,
                    tangent: partial(&op, j, &operands, result),
                };
                let found = dual(&factor.expr, &seeded, result).tangent;
                assert!(
                    close(found, expected),
                    "{op:?} at {operands:?} by {i} and {j}: rule {found}, \
                     difference {expected} (seed {seed})"
                );
            }
        }
    }
}

/// Every operation with a line in the table.
fn float_operations() -> impl Iterator<Item = Op> {
    let math = MathFn::ALL.iter().map(|&function| Op::Math(function));
    let binary = BinaryOp::ALL.iter().filter(|op| op.is_float());
    let binary = binary.map(|&op| Op::Binary(op));
    math.filter(|op| *op != Op::Math(MathFn::Digamma))
        .chain(binary)
        .chain([Op::Unary(UnaryOp::FNeg)])
}

fn params(op: &Op) -> Vec<MathParam> {
    match op {
        Op::Math(function) => function.params().to_vec(),
        Op::Binary(_) => vec![MathParam::Float; 2],
        _ => vec![MathParam::Float],
    }
}

fn float_operands(op: &Op) -> impl Iterator<Item = usize> + use<> {
    let params = params(op);
    (0..params.len()).filter(move |&i| params[i] == MathParam::Float)
}

fn apply(op: &Op, x: &[f64]) -> f64 {
    match op {
        Op::Math(function) => math(*function, x),
        Op::Binary(BinaryOp::FAdd) => x[0] + x[1],
        Op::Binary(BinaryOp::FSub) => x[0] - x[1],
        Op::Binary(BinaryOp::FMul) => x[0] * x[1],
        Op::Binary(BinaryOp::FDiv) => x[0] / x[1],
        Op::Binary(BinaryOp::FRem) => x[0] % x[1],
        Op::Unary(UnaryOp::FNeg) => -x[0],
        op => panic!("{op:?} is no float operation"),
    }
}

/// Random operands of an operation; domains are left to [`difference`].
fn points(op: &Op, seed: u64) -> Vec<Vec<f64>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let params = params(op);
    let mut operand = move |param: &MathParam| match param {
        MathParam::Float => 6.0 * random.f64() - 3.0,
        MathParam::Int => f64::from(random.i32(-2..6)),
    };
    (0..POINTS)
        .map(|_| params.iter().map(&mut operand).collect())
        .collect()
}

/// The central difference by one operand, or none where the function is not smooth or not defined
/// around the point: there, three widths disagree.
fn difference(at: &[f64], operand: usize, f: impl Fn(&[f64]) -> f64) -> Option<f64> {
    let slope = |h: f64| {
        let (mut low, mut high) = (at.to_vec(), at.to_vec());
        low[operand] -= h;
        high[operand] += h;
        (f(&high) - f(&low)) / (high[operand] - low[operand])
    };
    let (wide, narrow) = (slope(2e-4), slope(1e-4));
    let better = narrow + (narrow - wide) / 3.0;
    let agree = |slope: f64| (slope - narrow).abs() <= 1e-4 * (1.0 + narrow.abs());
    let smooth = agree(wide) && agree(slope(1e-6));
    (better.is_finite() && smooth).then_some(better)
}

fn close(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-6 * (1.0 + x.abs().max(y.abs()))
}

/// Runs a function in the interpreter, which knows the derivatives of float operations on its own.
fn interpret(function: Function, runs: impl Iterator<Item = Vec<Val>>) -> Vec<Val> {
    let mut module = Module::new();
    assert_eq!(verify_function(&module, &function), Ok(()));
    let func = module.funcs.push(function);
    let machine = Machine::new(&module);
    let mut machine = machine.unwrap_or_else(|trap| panic!("{trap}"));
    let mut run = |args: Vec<Val>| match machine.call(func, &args) {
        Ok(Some(value)) => value,
        other => panic!("{other:?} for {args:?}"),
    };
    runs.map(&mut run).collect()
}
