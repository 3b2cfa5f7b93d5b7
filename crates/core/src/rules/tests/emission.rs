//! The emitted instructions compute what the expressions say.

use super::interpret::Machine;
use super::{apply, float_operands, float_operations, params, points};
use crate::ir::{BinaryOp, Builder, FloatKind, Function, MathFn, MathParam, Op, Signature, Type};
use crate::rules::{Partial, Primal, rule_for};

/// A function of the operands and one derivative (of type `float`) that returns the contribution.
fn contribution(op: &Op, operand: usize, float: Type, strong_zero: bool) -> Option<Function> {
    let types = params(op).into_iter().map(|param| match param {
        MathParam::Float => float,
        MathParam::Int => Type::int(32),
    });
    let types: Vec<Type> = types.chain([float]).collect();
    let mut function = Function::with_entry("contribution", Signature::new(types, float));
    let entry = function.entry();
    let mut arguments = function.arguments().to_vec();
    let derivative = arguments.pop()?;
    let mut builder = Builder::new(&mut function, entry);
    let result = builder.value(op.clone(), arguments.clone(), float);
    let partial = rule_for(op)?.partial(operand);
    let value =
        partial.contribution(
            &mut builder,
            derivative,
            strong_zero,
            &mut |_, primal| match primal {
                Primal::Operand(index) => arguments[index],
                Primal::Result => result,
            },
        )?;
    builder.ret(Some(value));
    Some(function)
}

#[test]
fn contributions_are_partials_times_derivatives() {
    for op in float_operations() {
        for i in float_operands(&op) {
            let Some(function) = contribution(&op, i, Type::f64(), false) else {
                continue;
            };
            for operands in points(&op, 7) {
                let result = apply(&op, &operands);
                let expected = 1.5 * super::partial(&op, i, &operands, result);
                let found = run(&function, &operands, 1.5);
                let same = (found - expected).abs() <= 1e-13 * expected.abs()
                    || found == expected
                    || (found.is_nan() && expected.is_nan());
                assert!(same, "{op:?} at {operands:?}: {found}, expected {expected}");
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
        for i in float_operands(&op) {
            let Some(function) = contribution(&op, i, Type::f64(), false) else {
                continue;
            };
            for x in values {
                for y in values {
                    let kinds = params(&op);
                    let operand = |(k, param): (usize, &MathParam)| match param {
                        MathParam::Float => [x, y, 1.0][k],
                        MathParam::Int => [x, y, 1.0][k].clamp(-9.0, 9.0).trunc(),
                    };
                    let operands: Vec<f64> = kinds.iter().enumerate().map(operand).collect();
                    let found = run(&function, &operands, 0.0);
                    assert!(found == 0.0, "{op:?} at {operands:?}: {found}");
                }
            }
        }
    }
}

/// A guard that holds at any zero derivative would make second derivatives zero there.
#[test]
fn guards_hold_at_poles_only() {
    let log = contribution(&Op::Math(MathFn::Log), 0, Type::f64(), false);
    let guard_at = |x: f64, derivative: f64| {
        let function = log.as_ref()?;
        let insts = function.block_insts(function.entry()).iter();
        let mut selects = insts.filter(|&&inst| function.inst(inst).op == Op::Select);
        let guard = function.inst(*selects.next()?).args[0];
        let mut machine = Machine::default();
        machine.run(function, &[x, derivative]);
        Some(machine.values[&guard][0])
    };
    assert_eq!(guard_at(0.0, 0.0), Some(1.0));
    assert_eq!(guard_at(1.0, 0.0), Some(0.0));
    assert_eq!(guard_at(0.0, 1.0), Some(0.0));
    assert_eq!(guard_at(f64::NAN, 1.0), Some(0.0));
}

#[test]
fn strong_zero_guards_products() {
    let op = Op::Binary(BinaryOp::FMul);
    for (strong_zero, expected) in [(false, false), (true, true)] {
        let function = contribution(&op, 0, Type::f64(), strong_zero);
        let found = function.map(|f| run(&f, &[1.0, f64::INFINITY], 0.0) == 0.0);
        assert_eq!(found, Some(expected));
    }
}

#[test]
fn every_format_and_vectors_have_well_typed_contributions() {
    for kind in FloatKind::ALL {
        let scalar = Type::float(kind);
        for ty in [scalar, Type::vector(scalar, 4)] {
            for op in float_operations() {
                for i in float_operands(&op) {
                    let function = contribution(&op, i, ty, false);
                    let zero = rule_for(&op).map(|rule| rule.partial(i)) == Some(&Partial::Zero);
                    assert_eq!(function.is_none(), zero, "{op:?} in {ty}");
                    if let Some(function) = function {
                        check_types(&function);
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

/// Operands of one operation have one type where the operation says so.
fn check_types(function: &Function) {
    for &inst in function.block_insts(function.entry()) {
        let data = function.inst(inst);
        let types: Vec<Type> = data.args.iter().map(|&v| function.ty(v)).collect();
        let result = function.result(inst).map(|v| function.ty(v));
        match data.op {
            Op::Binary(_) | Op::Unary(_) => assert!(types.iter().all(|&t| Some(t) == result)),
            Op::FCmp(_) | Op::ICmp(_) => assert_eq!(types[0], types[1]),
            Op::Select => assert!(types[1] == types[2] && Some(types[1]) == result),
            Op::Math(f) => {
                for (param, ty) in f.params().iter().zip(&types) {
                    match param {
                        MathParam::Float => assert_eq!(Some(*ty), result),
                        MathParam::Int => assert!(ty.is_int()),
                    }
                }
            }
            Op::Return => assert_eq!(types, [function.sig.ret]),
            _ => {}
        }
    }
}

fn run(function: &Function, operands: &[f64], derivative: f64) -> f64 {
    let arguments: Vec<f64> = operands.iter().copied().chain([derivative]).collect();
    Machine::default().run(function, &arguments)[0]
}
