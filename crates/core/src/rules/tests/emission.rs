//! The emitted instructions compute what the expressions say and what the interpreter, which has
//! derivatives of its own, computes in every float format.

use super::{apply, float_operands, float_operations, interpret, params, partial, points};
use crate::interp::Val;
use crate::ir::verify::verify_function;
use crate::ir::{
    BinaryOp, Builder, FloatKind, Function, MathFn, MathParam, Module, Op, Signature, Type, Value,
    soft,
};
use crate::rules::{Partial, Primal, rule_for, rule_of};

/// A function of the operands and one derivative (of type `float`) that computes the operation,
/// and what `then` makes of the operands, the derivative and the result.
fn function_of(
    op: &Op,
    float: Type,
    then: impl FnOnce(&mut Builder<'_>, &[Value], Value, Value) -> Option<Value>,
) -> Option<Function> {
    let types = params(op).into_iter().map(|param| match param {
        MathParam::Float => float,
        MathParam::Int => Type::int(32),
    });
    let types: Vec<Type> = types.chain([float]).collect();
    let mut function = Function::with_entry("f", Signature::new(types, float));
    let entry = function.entry();
    let mut arguments = function.arguments().to_vec();
    let derivative = arguments.pop()?;
    let mut builder = Builder::new(&mut function, entry);
    let result = builder.value(op.clone(), arguments.clone(), float);
    let value = then(&mut builder, &arguments, derivative, result)?;
    builder.ret(Some(value));
    Some(function)
}

/// The function that returns the contribution to an operand, or none if there is no contribution.
fn contribution(op: &Op, operand: usize, float: Type, strong_zero: bool) -> Option<Function> {
    function_of(op, float, |builder, operands, derivative, result| {
        let primals = &mut |_: &mut Builder<'_>, primal| match primal {
            Primal::Operand(index) => operands[index],
            Primal::Result => result,
            Primal::Computed(value) => value,
        };
        let partial = rule_for(op)?.partial(operand);
        partial.contribution(builder, derivative, strong_zero, primals)
    })
}

/// The arguments of such a function, with the tangent 1 on one of them.
fn arguments(op: &Op, kind: FloatKind, operands: &[f64], derivative: f64, seed: usize) -> Vec<Val> {
    let params = params(op).into_iter().chain([MathParam::Float]);
    let numbers = operands.iter().copied().chain([derivative]);
    let argument = |(index, (param, x)): (usize, (MathParam, f64))| match param {
        MathParam::Float => Val::float(kind, x, f64::from(index == seed)),
        MathParam::Int => Val::i32(x as i32),
    };
    params.zip(numbers).enumerate().map(argument).collect()
}

fn number(value: &Val) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value:?} is no float"))
}

fn tangent(value: &Val) -> f64 {
    value
        .tangent()
        .unwrap_or_else(|| panic!("{value:?} is no float"))
}

const NO_SEED: usize = usize::MAX;

#[test]
fn contributions_are_tangents_in_every_format() {
    for kind in FloatKind::ALL {
        let tolerance = match kind {
            FloatKind::F16 => 4e-3,
            FloatKind::Bf16 => 4e-2,
            FloatKind::F32 => 1e-5,
            _ => 1e-12,
        };
        let float = Type::float(kind);
        for op in float_operations() {
            let points = points(&op, 7);
            for i in float_operands(&op) {
                let Some(rule) = contribution(&op, i, float, false) else {
                    continue;
                };
                let Some(oracle) = function_of(&op, float, |_, _, _, result| Some(result)) else {
                    continue;
                };
                let by_rule = points.iter().map(|x| arguments(&op, kind, x, 1.0, NO_SEED));
                let by_oracle = points.iter().map(|x| arguments(&op, kind, x, 1.0, i));
                let found = interpret(rule, by_rule);
                let expected = interpret(oracle, by_oracle);
                for (at, (found, expected)) in points.iter().zip(found.iter().zip(&expected)) {
                    let (found, expected) = (number(found), tangent(expected));
                    if !(number_is_usable(found) && number_is_usable(expected)) {
                        continue;
                    }
                    let error = (found - expected).abs() / (1.0 + expected.abs());
                    assert!(
                        error <= tolerance,
                        "{op:?} by {i} in {kind:?} at {at:?}: {found}, expected {expected}"
                    );
                }
            }
        }
    }
}

/// Beyond, the smallest formats overflow; outside of a domain there is nothing to compare.
fn number_is_usable(x: f64) -> bool {
    x.abs() <= 1e4
}

#[test]
fn small_formats_are_rounded_once() {
    for (kind, half_unit) in [
        (FloatKind::F16, 2f64.powi(-11)),
        (FloatKind::Bf16, 2f64.powi(-8)),
    ] {
        let op = Op::Math(MathFn::Tanh);
        let Some(function) = contribution(&op, 0, Type::float(kind), false) else {
            panic!("a hyperbolic tangent has contributions");
        };
        let points: Vec<f64> = (1..12).map(|n| f64::from(n) / 4.0).collect();
        let runs = points.iter();
        let runs = runs.map(|&x| arguments(&op, kind, &[x], 1.0, NO_SEED));
        for (x, found) in points.iter().zip(interpret(function, runs)) {
            let result = soft::to_f64(kind, soft::from_f64(kind, libm::tanh(*x)));
            let expected = 1.0 - result * result;
            let error = (number(&found) - expected).abs() / expected;
            assert!(error <= half_unit, "{kind:?} at {x}: {error}");
        }
    }
}

#[test]
fn contributions_are_partials_times_derivatives() {
    for op in float_operations() {
        for i in float_operands(&op) {
            let Some(function) = contribution(&op, i, Type::f64(), false) else {
                continue;
            };
            let points = points(&op, 7);
            let runs = points.iter();
            let runs = runs.map(|x| arguments(&op, FloatKind::F64, x, 1.5, NO_SEED));
            for (at, found) in points.iter().zip(interpret(function, runs)) {
                let expected = 1.5 * partial(&op, i, at, apply(&op, at));
                let found = number(&found);
                let same = (found - expected).abs() <= 1e-12 * expected.abs()
                    || found == expected
                    || (found.is_nan() && expected.is_nan());
                assert!(same, "{op:?} at {at:?}: {found}, expected {expected}");
            }
        }
    }
}

/// A guard that holds at any zero derivative would make second derivatives zero there.
#[test]
fn contributions_of_zero_have_the_partial_as_derivative() {
    for op in float_operations() {
        for i in float_operands(&op) {
            let Some(function) = contribution(&op, i, Type::f64(), false) else {
                continue;
            };
            let seed = params(&op).len();
            let points = points(&op, 8);
            let runs = points.iter();
            let runs = runs.map(|x| arguments(&op, FloatKind::F64, x, 0.0, seed));
            for (at, found) in points.iter().zip(interpret(function, runs)) {
                let expected = partial(&op, i, at, apply(&op, at));
                if expected.is_nan() {
                    continue;
                }
                let found = tangent(&found);
                let error = (found - expected).abs();
                assert!(
                    error <= 1e-12 * expected.abs(),
                    "{op:?} by {i} at {at:?}: {found}, expected {expected}"
                );
            }
        }
    }
}

#[test]
fn zero_derivatives_contribute_zero_at_every_pole() {
    let values: [f64; 11] = [
        0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 800.0, -800.0, 1e300, -1e300,
    ];
    for op in float_operations() {
        let kinds = params(&op);
        let point = |x: f64, y: f64| -> Vec<f64> {
            let operand = |(param, x): (&MathParam, f64)| match param {
                MathParam::Float => x,
                MathParam::Int => x.clamp(-9.0, 9.0).trunc(),
            };
            kinds.iter().zip([x, y, 1.0]).map(operand).collect()
        };
        let points = values.iter().flat_map(|&x| values.map(|y| point(x, y)));
        let points: Vec<Vec<f64>> = points.collect();
        for i in float_operands(&op) {
            let Some(function) = contribution(&op, i, Type::f64(), false) else {
                continue;
            };
            let runs = points.iter();
            let runs = runs.map(|x| arguments(&op, FloatKind::F64, x, 0.0, NO_SEED));
            for (at, found) in points.iter().zip(interpret(function, runs)) {
                assert!(number(&found) == 0.0, "{op:?} at {at:?}: {found:?}");
            }
        }
    }
}

#[test]
fn strong_zero_guards_products() {
    let op = Op::Binary(BinaryOp::FMul);
    let check = |strong_zero: bool, at: [f64; 2], expected: f64| {
        let Some(function) = contribution(&op, 0, Type::f64(), strong_zero) else {
            panic!("a product has contributions");
        };
        let run = arguments(&op, FloatKind::F64, &at, 0.0, NO_SEED);
        let found = number(&interpret(function, std::iter::once(run))[0]);
        assert!(found == expected || (found.is_nan() && expected.is_nan()));
    };
    check(false, [1.0, f64::INFINITY], f64::NAN);
    check(true, [1.0, f64::INFINITY], 0.0);
    check(true, [1.0, f64::NAN], 0.0);
}

#[test]
fn several_derivatives_share_one_partial() {
    let op = Op::Math(MathFn::Sin);
    let function = function_of(&op, Type::f64(), |builder, operands, derivative, _| {
        let partial = rule_for(&op)?.partial(0);
        let primals = &mut |_: &mut Builder<'_>, _| operands[0];
        let derivatives = [derivative, operands[0]];
        let all = partial.contributions(builder, &derivatives, false, primals)?;
        Some(builder.fadd(all[0], all[1]))
    });
    let Some(function) = function else {
        panic!("a sine has contributions");
    };
    let insts = function.block_insts(function.entry()).iter();
    let cosines = insts.filter(|&&inst| function.inst(inst).op == Op::Math(MathFn::Cos));
    assert_eq!(cosines.count(), 1);
    let run = arguments(&op, FloatKind::F64, &[0.5], 2.0, NO_SEED);
    let found = number(&interpret(function, std::iter::once(run))[0]);
    assert!((found - 2.5 * libm::cos(0.5)).abs() < 1e-15);
}

#[test]
fn vectors_have_well_typed_contributions() {
    for kind in FloatKind::ALL {
        let scalar = Type::float(kind);
        for ty in [scalar, Type::vector(scalar, 4)] {
            for op in float_operations() {
                for i in float_operands(&op) {
                    let function = contribution(&op, i, ty, false);
                    let zero = rule_for(&op).map(|rule| rule.partial(i)) == Some(&Partial::Zero);
                    assert_eq!(function.is_none(), zero, "{op:?} in {ty}");
                    if let Some(function) = function {
                        assert_eq!(verify_function(&Module::new(), &function), Ok(()));
                    }
                }
            }
        }
    }
}

#[test]
fn a_division_is_divided_once() {
    for operand in [0, 1] {
        let function = contribution(&Op::Binary(BinaryOp::FDiv), operand, Type::f64(), false);
        let divisions = function.map(|f| {
            let insts = f.block_insts(f.entry()).iter();
            insts
                .filter(|&&inst| f.inst(inst).op == Op::Binary(BinaryOp::FDiv))
                .count()
        });
        // The primal one and that of the contribution.
        assert_eq!(divisions, Some(2));
    }
}

/// The derivative of a reciprocal is exact where squares overflow, and a zero contributes zero.
#[test]
fn reciprocals_multiply_by_their_results() {
    let float = Type::float(FloatKind::F64);
    for sign in [1.0, -1.0] {
        let mut function = Function::with_entry("f", Signature::new(vec![float; 2], float));
        let (entry, arguments) = (function.entry(), function.arguments().to_vec());
        let one = function.fconst(float, sign);
        let mut builder = Builder::new(&mut function, entry);
        let operands = vec![one, arguments[0]];
        let result = builder.value(Op::Binary(BinaryOp::FDiv), operands, float);
        let Some(inst) = builder.func.def_inst(result) else {
            panic!("a division is an instruction");
        };
        let rule = rule_of(builder.func, builder.func.inst(inst));
        let partial = rule.map(|rule| rule.partial(1)).expect("a rule");
        let needs = partial.needs();
        assert_eq!((needs.operands().count(), needs.result), (0, true));
        let primals = &mut |_: &mut Builder<'_>, _| result;
        let found = partial.contribution(&mut builder, arguments[1], false, primals);
        builder.ret(found);
        let cases = [
            (0.7, 1.0, -1.0 / (0.7 * 0.7)),
            (-2.0, 3.0, -0.75),
            (1e-200, 1e-250, -1e150),
            (1e200, 1e250, -1e-150),
            (0.0, 0.0, 0.0),
            (0.0, 1.0, f64::NEG_INFINITY),
        ];
        let points = cases.map(|(y, d, _)| vec![Val::f64(y), Val::f64(d)]);
        let found = interpret(function, points.into_iter());
        for ((y, d, expected), found) in cases.into_iter().zip(&found) {
            let (found, expected) = (number(found), sign * expected);
            let close = (found - expected).abs() <= 1e-12 * expected.abs();
            assert!(
                close || found == expected,
                "{d} at {y}: {found}, not {expected}"
            );
        }
    }
}
