//! The library bodies against closed forms and known values.

use super::interpret::Machine;
use crate::ir::{FloatKind, Signature, Type};
use crate::rules::library::{body_of, digamma};

fn signature(part: Type, ret: Type) -> Signature {
    Signature::new(vec![part; 4], ret)
}

#[test]
fn complex_arithmetic() {
    let double = Type::f64();
    let sig = signature(double, Type::structure(vec![double, double]));
    let check = |name: &str, operands: [f64; 4], expected: [f64; 2]| {
        let Some(body) = body_of(name, &sig) else {
            panic!("{name} has no body");
        };
        let found = Machine::default().run(&body, &operands);
        assert_eq!(found, expected, "{name} of {operands:?}");
    };
    check("__muldc3", [1.0, 2.0, 3.0, 4.0], [-5.0, 10.0]);
    check("__divdc3", [-5.0, 10.0, 3.0, 4.0], [1.0, 2.0]);
    check("__divdc3", [-5.0, 10.0, 1.0, 2.0], [3.0, 4.0]);
    check("__divdc3", [-5.0, 10.0, 2.0, -1.0], [-4.0, 3.0]);
    check("__divdc3", [1.0, 0.0, 0.0, 2.0], [0.0, -0.5]);
    check("__divdc3", [1e200, 1e200, 1e200, 1e200], [1.0, 0.0]);
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
fn digamma_values() {
    let body = digamma(FloatKind::F64);
    let check = |x: f64, expected: f64| {
        let found = Machine::default().run(&body, &[x])[0];
        let error = (found - expected).abs();
        let exact = error <= 4e-15 * (1.0 + expected.abs()) || found == expected;
        assert!(exact, "digamma({x}) = {found}, expected {expected}");
    };
    let euler = 0.577_215_664_901_532_9;
    check(1.0, -euler);
    check(2.0, 1.0 - euler);
    check(0.5, -euler - 2.0 * std::f64::consts::LN_2);
    check(-0.5, 2.0 - euler - 2.0 * std::f64::consts::LN_2);
    check(
        0.25,
        -euler - std::f64::consts::FRAC_PI_2 - 3.0 * std::f64::consts::LN_2,
    );
    check(1e10, 1e10f64.ln() - 0.5e-10);
    check(0.0, f64::NEG_INFINITY);
    check(f64::INFINITY, f64::INFINITY);
    for kind in FloatKind::ALL {
        let function = digamma(kind);
        assert_eq!(function.sig.ret, Type::float(kind));
    }
}
