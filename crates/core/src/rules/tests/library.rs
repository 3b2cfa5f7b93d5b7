//! The library bodies and their derivatives against closed forms and known values.

use super::interpret;
use crate::interp::Val;
use crate::ir::{FloatKind, Function, Signature, Type};
use crate::rules::library::{body_of, digamma};

fn signature(part: Type, ret: Type) -> Signature {
    Signature::new(vec![part; 4], ret)
}

/// Runs a function on numbers with tangents; gives the numbers and tangents of the result.
fn run(function: Function, arguments: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let arguments = arguments.iter().map(|&(x, dx)| Val::dual(x, dx)).collect();
    let result = interpret(function, std::iter::once(arguments)).remove(0);
    let parts = match &result {
        Val::Aggregate(parts) => parts.clone(),
        scalar => vec![scalar.clone()],
    };
    let numbers = parts.iter().filter_map(Val::as_f64).collect();
    (numbers, parts.iter().filter_map(Val::tangent).collect())
}

#[test]
fn complex_arithmetic() {
    let double = Type::f64();
    let sig = signature(double, Type::structure(vec![double, double]));
    let check = |name: &str, operands: [f64; 4], expected: [f64; 2]| {
        let Some(body) = body_of(name, &sig) else {
            panic!("{name} has no body");
        };
        let (found, _) = run(body, &operands.map(|x| (x, 0.0)));
        assert_eq!(found, expected, "{name} of {operands:?}");
    };
    check("__muldc3", [1.0, 2.0, 3.0, 4.0], [-5.0, 10.0]);
    check("__divdc3", [-5.0, 10.0, 3.0, 4.0], [1.0, 2.0]);
    check("__divdc3", [-5.0, 10.0, 1.0, 2.0], [3.0, 4.0]);
    check("__divdc3", [-5.0, 10.0, 2.0, -1.0], [-4.0, 3.0]);
    check("__divdc3", [1.0, 0.0, 0.0, 2.0], [0.0, -0.5]);
    check("__divdc3", [1e200, 1e200, 1e200, 1e200], [1.0, 0.0]);
}

/// d(z/w) = −z/w² dw, here with z = 1 and both ways to divide.
#[test]
fn complex_derivatives() {
    let double = Type::f64();
    let sig = signature(double, Type::structure(vec![double, double]));
    for (c, d) in [(2.0f64, 1.0f64), (1.0, -3.0)] {
        let Some(body) = body_of("__divdc3", &sig) else {
            panic!("a division has a body");
        };
        let (_, found) = run(body, &[(1.0, 0.0), (0.0, 0.0), (c, 1.0), (d, 0.0)]);
        // −1/w² = −conj(w)²/|w|⁴.
        let scale = -1.0 / (c * c + d * d).powi(2);
        let expected = [(c * c - d * d) * scale, -2.0 * c * d * scale];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found}, {expected}");
        }
    }
}

#[test]
fn names_and_types_must_fit() {
    let check = |name: &str, kind: FloatKind, vector: bool, expected: bool| {
        let part = Type::float(kind);
        let ret = match vector {
            true => Type::vector(part, 2),
            false => Type::structure(vec![part, part]),
        };
        let found = body_of(name, &signature(part, ret));
        assert_eq!(found.is_some(), expected, "{name} {kind:?}");
    };
    check("__mulsc3", FloatKind::F32, true, true);
    check("__divsc3", FloatKind::F32, false, true);
    check("__mulxc3", FloatKind::X86Fp80, false, true);
    check("__divtc3", FloatKind::F128, false, true);
    check("__muldc3", FloatKind::F32, false, false);
    check("__adddc3", FloatKind::F64, false, false);
    check("muldc3", FloatKind::F64, false, false);
    check("__c3", FloatKind::F64, false, false);
}

#[test]
fn digamma_and_trigamma() {
    let check = |x: f64, expected: f64, slope: f64| {
        let (found, tangent) = run(digamma(FloatKind::F64), &[(x, 1.0)]);
        let close = |found: f64, expected: f64| {
            let error = (found - expected).abs();
            error <= 1e-14 * (1.0 + expected.abs()) || found == expected
        };
        assert!(close(found[0], expected), "digamma({x}) = {found:?}");
        assert!(close(tangent[0], slope), "trigamma({x}) = {tangent:?}");
    };
    let euler = 0.577_215_664_901_532_9;
    let (pi, ln_2) = (std::f64::consts::PI, std::f64::consts::LN_2);
    check(1.0, -euler, pi * pi / 6.0);
    check(2.0, 1.0 - euler, pi * pi / 6.0 - 1.0);
    check(0.5, -euler - 2.0 * ln_2, pi * pi / 2.0);
    check(-0.5, 2.0 - euler - 2.0 * ln_2, pi * pi / 2.0 + 4.0);
    let catalan = 0.915_965_594_177_219;
    let quarter = -euler - pi / 2.0 - 3.0 * ln_2;
    check(0.25, quarter, pi * pi + 8.0 * catalan);
    check(1e10, 1e10f64.ln() - 0.5e-10, 1e-10);
    for kind in FloatKind::ALL {
        let result = vec![Val::float(kind, 2.0, 0.0)];
        let found = interpret(digamma(kind), std::iter::once(result)).remove(0);
        let error = found.as_f64().map(|found| (found - (1.0 - euler)).abs());
        assert!(error.is_some_and(|error| error < 2e-3), "{kind:?}");
    }
}
