//! Lowered calls compute what the functions do.

use super::*;
use crate::ir::ParamAttrs;
use crate::rules::tests::evaluate;
use crate::rules::tests::interpret::Machine;

/// A module with a function that only calls another, of these types, on its arguments.
fn wrapper(name: &str, params: &[Type], ret: Type) -> (Module, Func) {
    let sig = Signature::new(params.to_vec(), ret);
    let mut module = Module::new();
    let callee = module.declare(Function::new(name, sig.clone()));
    let mut function = Function::with_entry("wrapper", sig.clone());
    let entry = function.entry();
    let arguments = function.arguments().to_vec();
    let mut builder = Builder::new(&mut function, entry);
    let result = builder.call(callee, sig, arguments);
    builder.ret(result);
    let func = module.funcs.push(function);
    (module, func)
}

fn calls(function: &Function) -> usize {
    let insts = function
        .blocks()
        .iter()
        .flat_map(|&b| function.block_insts(b));
    let calls = insts.filter(|&&inst| function.inst(inst).op.call().is_some());
    calls.count()
}

/// Checks what a lowered call stores and returns.
fn check(name: &str, types: (&[Type], Type), args: &[&[f64]], stored: &[f64], result: &[f64]) {
    let (mut module, func) = wrapper(name, types.0, types.1);
    assert!(run(&mut module, func), "{name} is not lowered");
    let function = &module.funcs[func];
    assert_eq!(calls(function), 0, "{name}");
    let mut machine = Machine::default();
    let args = args.iter().map(|parts| parts.to_vec()).collect();
    let found = machine.run_parts(function, args);
    let same = |x: &[f64], y: &[f64]| {
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        bits(x) == bits(y)
    };
    assert!(
        same(&machine.stored, stored),
        "{name}: {:?}",
        machine.stored
    );
    assert!(same(&found, result), "{name}: {found:?}");
}

#[test]
fn results_through_pointers() {
    let (x, p, void) = (Type::f64(), Type::ptr(), Type::void());
    let address: &[f64] = &[0.0];
    let (sin, cos) = (libm::sin(0.5), libm::cos(0.5));
    let sincos: &[&[f64]] = &[&[0.5], address, address];
    check("sincos", (&[x, p, p], void), sincos, &[sin, cos], &[]);

    let modf = |at: f64, whole: f64, rest: f64| {
        check("modf", (&[x, p], x), &[&[at], address], &[whole], &[rest]);
        let pair = Type::structure(vec![x, x]);
        check("llvm.modf.f64", (&[x], pair), &[&[at]], &[], &[rest, whole]);
    };
    modf(3.25, 3.0, 0.25);
    modf(-3.25, -3.0, -0.25);
    modf(-3.0, -3.0, -0.0);
    modf(3.0, 3.0, 0.0);
    modf(-0.0, -0.0, -0.0);
    modf(f64::INFINITY, f64::INFINITY, 0.0);
    modf(f64::NEG_INFINITY, f64::NEG_INFINITY, -0.0);

    let frexp = |at: f64| {
        let (mantissa, exponent) = libm::frexp(at);
        let exponent = f64::from(exponent);
        let args: &[&[f64]] = &[&[at], address];
        check("frexp", (&[x, p], x), args, &[exponent], &[mantissa]);
        let pair = Type::structure(vec![x, Type::int(32)]);
        let expected = [mantissa, exponent];
        check("llvm.frexp.f64.i32", (&[x], pair), &[&[at]], &[], &expected);
    };
    frexp(6.0);
    frexp(-0.75);
    frexp(0.0);
    frexp(1e-310);

    for (a, b) in [
        (29.0, 3.0),
        (-29.0, 3.0),
        (1e30, 0.7),
        (7.5, 1.0),
        (-3.9, -0.25),
    ] {
        let (remainder, quotient) = libm::remquo(a, b);
        let quotient = f64::from(quotient % 8) + 0.0;
        let args: &[&[f64]] = &[&[a], &[b], address];
        check("remquo", (&[x, x, p], x), args, &[quotient], &[remainder]);
    }
}

#[test]
fn reductions_and_pairs() {
    let x = Type::f64();
    let v = Type::vector(x, 3);
    let lanes: &[f64] = &[0.1, 0.2, 0.3];
    let start: &[f64] = &[10.0];
    let sum = "llvm.vector.reduce.fadd.v3f64";
    let product = "llvm.vector.reduce.fmul.v3f64";
    check(
        sum,
        (&[x, v], x),
        &[start, lanes],
        &[],
        &[10.0 + 0.1 + 0.2 + 0.3],
    );
    check(
        product,
        (&[x, v], x),
        &[start, lanes],
        &[],
        &[10.0 * 0.1 * 0.2 * 0.3],
    );
    check(
        "llvm.vector.reduce.fmax.v3f64",
        (&[v], x),
        &[lanes],
        &[],
        &[0.3],
    );
    check(
        "llvm.vector.reduce.fminimum.v3f64",
        (&[v], x),
        &[lanes],
        &[],
        &[0.1],
    );
    let pair = Type::structure(vec![x, x]);
    let expected = [libm::sin(2.0), libm::cos(2.0)];
    check("llvm.sincos.f64", (&[x], pair), &[&[2.0]], &[], &expected);
    check("cabs", (&[x, x], x), &[&[3.0], &[4.0]], &[], &[5.0]);
    let angle = libm::atan2(4.0, 3.0);
    check("carg", (&[x, x], x), &[&[3.0], &[4.0]], &[], &[angle]);
    let z = Type::vector(x, 2);
    check("carg", (&[z], x), &[&[3.0, 4.0]], &[], &[angle]);
}

#[test]
fn digamma_is_a_call_of_its_body() {
    let mut module = Module::new();
    let ty = Type::vector(Type::f64(), 2);
    let mut function = Function::with_entry("f", Signature::new(vec![ty], ty));
    let (entry, x) = (function.entry(), function.arguments()[0]);
    let mut builder = Builder::new(&mut function, entry);
    let y = builder.math(MathFn::Digamma, vec![x]);
    builder.ret(Some(y));
    let func = module.funcs.push(function);
    assert!(run(&mut module, func));
    assert!(!run(&mut module, func));
    assert_eq!(calls(&module.funcs[func]), 2);
    let body = module.func_by_name("zymase.digamma.f64");
    let value = body.map(|body| Machine::default().run(&module.funcs[body], &[2.5])[0]);
    let error = value.map(|value| (value - evaluate::digamma(2.5)).abs());
    assert!(error.is_some_and(|error| error < 1e-14));
}

#[test]
fn other_calls_stay() {
    let stays = |name: &str, params: &[Type], ret: Type, change: fn(&mut Function)| {
        let (mut module, func) = wrapper(name, params, ret);
        if let Some(callee) = module.func_by_name(name) {
            change(&mut module.funcs[callee]);
        }
        assert!(!run(&mut module, func), "{name}");
        assert_eq!(calls(&module.funcs[func]), 1, "{name}");
    };
    let (x, p) = (Type::f64(), Type::ptr());
    stays("unknown", &[x, p], x, |_| {});
    stays("modf", &[x, x], x, |_| {});
    stays("modf", &[x, p], x, |f| {
        f.attrs.flags |= FnFlags::NOBUILTIN;
    });
    stays("modf", &[x, p], x, |f| {
        f.params = vec![ParamAttrs::default(); 2];
        let entry = f.add_block();
        f.terminate(entry, Op::Unreachable, Vec::new());
    });
}
