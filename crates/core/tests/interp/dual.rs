//! Derivatives of float operations against finite differences, and at points where there is a
//! choice.

use super::{outcome, run};
use zymase_core::interp::{Machine, Val};
use zymase_core::ir::{FloatKind, MathFn, MathParam};

/// Where a function is smooth, for each of its float operands.
fn domain(function: MathFn) -> &'static [(f64, f64)] {
    match function {
        MathFn::Sqrt | MathFn::Log | MathFn::Log2 | MathFn::Log10 => &[(0.1, 5.0)],
        MathFn::Log1p => &[(-0.9, 5.0)],
        MathFn::Pow => &[(0.1, 3.0), (-3.0, 3.0)],
        MathFn::Asin | MathFn::Acos | MathFn::Atanh => &[(-0.9, 0.9)],
        MathFn::Acosh => &[(1.1, 5.0)],
        MathFn::Tan => &[(-1.4, 1.4)],
        MathFn::Tgamma | MathFn::Lgamma | MathFn::Digamma => &[(0.2, 6.0)],
        MathFn::Y0 | MathFn::Y1 | MathFn::Yn => &[(0.5, 9.0)],
        MathFn::Fmod | MathFn::Remainder => &[(-9.0, 9.0), (1.0, 3.0)],
        _ => &[(-3.0, 3.0), (-3.0, 3.0), (-3.0, 3.0)],
    }
}

/// A function `@f` of the float operands of a mathematical function; `order` is the integer one.
fn module_text(function: MathFn, kind: FloatKind, order: i32) -> String {
    let ty = kind.name();
    let (mut params, mut operands) = (Vec::new(), Vec::new());
    for (i, param) in function.params().iter().enumerate() {
        match param {
            MathParam::Float => {
                params.push(format!("%x{i}: {ty}"));
                operands.push(format!("%x{i}"));
            }
            MathParam::Int => operands.push(format!("{order}:i32")),
        }
    }
    format!(
        "func @f({}) -> {ty} {{\nentry:\n  v0 = math {} {} : {ty}\n  return v0\n}}",
        params.join(", "),
        function.name(),
        operands.join(", ")
    )
}

/// Random numbers whose seed is in every message of a failing test.
fn random() -> (fastrand::Rng, u64) {
    let given = std::env::var("ZYMASE_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    (fastrand::Rng::with_seed(seed), seed)
}

#[test]
fn every_function_agrees_with_finite_differences() {
    let (mut random, seed) = random();
    for &function in MathFn::ALL {
        let floats = function.params().iter().filter(|p| **p == MathParam::Float);
        let floats = floats.count();
        let mut compared = 0;
        for _ in 0..20 {
            let order = random.i32(-2..4);
            let module = super::parse(&module_text(function, FloatKind::F64, order));
            let mut machine = Machine::new(&module).expect("globals");
            let mut at = |x: &[f64], t: &[f64]| {
                let args: Vec<Val> = x.iter().zip(t).map(|(x, t)| Val::dual(*x, *t)).collect();
                let result = machine.call_by_name("f", &args).expect("a value");
                let result = result.expect("a result");
                (
                    result.as_f64().expect("a float"),
                    result.tangent().expect("a float"),
                )
            };
            let domain = domain(function);
            let mut number = |(low, high): (f64, f64)| low + (high - low) * random.f64();
            let x: Vec<f64> = (0..floats).map(|i| number(domain[i])).collect();
            let t: Vec<f64> = (0..floats).map(|_| number((-1.0, 1.0))).collect();
            let h = 1e-5;
            let moved = |h: f64| -> Vec<f64> { x.iter().zip(&t).map(|(x, t)| x + h * t).collect() };
            let zeros = vec![0.0; floats];
            let mut slope =
                |h: f64| (at(&moved(h), &zeros).0 - at(&moved(-h), &zeros).0) / (2.0 * h);
            let (near, far) = (slope(h), slope(2.0 * h));
            // Differences across a jump or a kink say nothing.
            if (near - far).abs() > 1e-4 * (1.0 + near.abs()) {
                continue;
            }
            compared += 1;
            let expected = (4.0 * near - far) / 3.0;
            let (_, tangent) = at(&x, &t);
            let error = (tangent - expected).abs();
            assert!(
                error <= 1e-7 * (1.0 + expected.abs()),
                "{} of order {order} at {x:?} along {t:?}: {tangent}, and by differences {expected} \
                 (ZYMASE_SEED={seed})",
                function.name()
            );
        }
        assert!(compared >= 15, "{}, seed {seed}", function.name());
    }
}

#[test]
fn every_format_has_the_same_derivatives() {
    for &function in MathFn::ALL {
        let domain = domain(function);
        // A point of few digits, which every format holds.
        let x: Vec<f64> = domain
            .iter()
            .map(|(low, high)| ((low + high) * 2.0).round() / 4.0 + 0.25)
            .collect();
        let floats = function.params().iter().filter(|p| **p == MathParam::Float);
        let floats = floats.count();
        let tangent = |kind: FloatKind| {
            let args: Vec<Val> = x[..floats]
                .iter()
                .map(|x| Val::float(kind, *x, 1.0))
                .collect();
            let result = run(&module_text(function, kind, 2), &args).expect("a value");
            result.and_then(|value| value.tangent()).expect("a float")
        };
        let expected = tangent(FloatKind::F64);
        for kind in FloatKind::ALL {
            let found = tangent(kind);
            let same = found == expected || (found.is_nan() && expected.is_nan());
            assert!(
                same,
                "{} {kind:?} at {x:?}: {found} {expected}",
                function.name()
            );
        }
    }
}

#[test]
fn choices() {
    let one = |x: f64| vec![Val::dual(x, 1.0)];
    let both = |x: f64, y: f64| vec![Val::dual(x, 1.0), Val::dual(y, 10.0)];
    let first = |x: f64, y: f64| vec![Val::dual(x, 1.0), Val::f64(y)];
    for (function, args, expected) in [
        ("fabs", one(0.0), "0.0"),
        ("fabs", one(-2.0), "2.0 ~ -1.0"),
        ("sqrt", one(0.0), "0.0 ~ inf"),
        ("cbrt", one(0.0), "0.0 ~ inf"),
        ("fmax", both(1.0, 1.0), "1.0 ~ 5.5"),
        ("fmin", both(1.0, 1.0), "1.0 ~ 5.5"),
        ("fminimum", both(1.0, 2.0), "1.0 ~ 1.0"),
        ("fmaximum_num", both(1.0, 2.0), "2.0 ~ 10.0"),
        ("fmax", both(1.0, f64::NAN), "1.0 ~ 1.0"),
        ("fmin", both(f64::NAN, 1.0), "1.0 ~ 10.0"),
        ("fdim", both(3.0, 1.0), "2.0 ~ -9.0"),
        ("fdim", both(1.0, 3.0), "0.0"),
        ("pow", first(0.0, 0.0), "1.0"),
        ("pow", first(0.0, 1.0), "0.0 ~ 1.0"),
        ("pow", first(-2.0, 3.0), "-8.0 ~ 12.0"),
        ("pow", vec![Val::f64(0.0), Val::dual(2.0, 1.0)], "0.0"),
        ("pow", vec![Val::f64(0.0), Val::dual(0.0, 1.0)], "1.0"),
        ("hypot", both(0.0, 0.0), "0.0"),
        ("floor", one(1.5), "1.0"),
        ("fmod", both(7.5, 2.0), "1.5 ~ -29.0"),
        ("j1", one(0.0), "0.0 ~ 0.5"),
        ("copysign", both(-3.0, 1.0), "3.0 ~ -1.0"),
        // A tangent of zero contributes zero.
        ("sqrt", vec![Val::f64(0.0)], "0.0"),
        ("atan2", vec![Val::f64(0.0), Val::f64(0.0)], "0.0"),
    ] {
        let function = MathFn::from_name(function).expect("a function");
        let text = module_text(function, FloatKind::F64, 0);
        assert_eq!(
            outcome(&text, &args),
            expected,
            "{} {args:?}",
            function.name()
        );
    }
}

#[test]
fn arithmetic() {
    let text = |op: &str| {
        format!("func @f(%x: f64, %y: f64) -> f64 {{\nentry:\n v0 = {op}\n return v0\n}}")
    };
    let (x, y) = (Val::dual(8.0, 3.0), Val::dual(2.0, 0.5));
    for (op, expected) in [
        ("fadd %x, %y", "10.0 ~ 3.5"),
        ("fsub %x, %y", "6.0 ~ 2.5"),
        ("fmul %x, %y", "16.0 ~ 10.0"),
        ("fdiv %x, %y", "4.0 ~ 0.5"),
        ("frem %x, 3.0", "2.0 ~ 3.0"),
        ("frem 9.0, %y", "1.0 ~ -2.0"),
        ("fneg %x", "-8.0 ~ -3.0"),
        ("fdiv %x, 0.0", "inf ~ inf"),
        ("fmul %x, 0.0", "0.0"),
        ("select true, %x, %y", "8.0 ~ 3.0"),
        ("freeze %x", "8.0 ~ 3.0"),
    ] {
        assert_eq!(
            outcome(&text(op), &[x.clone(), y.clone()]),
            expected,
            "{op}"
        );
    }
}

#[test]
fn guarded_division_has_no_nan() {
    let text = "
        func @f(%b: f64) -> f64 {
        entry:
            %q = fdiv 1.0, %b
            %c = fcmp une %b, 0.0
            %r = select %c, %q, 0.0
            %s = fmul %r, 2.0
            return %s
        }";
    assert_eq!(outcome(text, &[Val::dual(0.0, 1.0)]), "0.0");
    assert_eq!(outcome(text, &[Val::dual(2.0, 1.0)]), "1.0 ~ -0.5");
}

#[test]
fn digamma_on_both_sides() {
    // From tables.
    for (x, expected, slope) in [
        (1.0, -0.577_215_664_901_532_9, 1.644_934_066_848_226_4),
        (0.5, -1.963_510_026_021_423_5, 4.934_802_200_544_679),
        (-0.5, 0.036_489_973_978_576_52, 8.934_802_200_544_68),
        (10.0, 2.251_752_589_066_721, 0.105_166_335_681_685_75),
    ] {
        let text = module_text(MathFn::Digamma, FloatKind::F64, 0);
        let result = run(&text, &[Val::dual(x, 1.0)]).expect("a value");
        let result = result.expect("a result");
        let near = |found: Option<f64>, expected: f64| {
            found.is_some_and(|found| (found - expected).abs() <= 4e-15 * (1.0 + expected.abs()))
        };
        assert!(near(result.as_f64(), expected), "{x}: {result}");
        assert!(near(result.tangent(), slope), "{x}: {result}");
    }
}
