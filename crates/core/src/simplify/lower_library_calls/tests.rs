//! Lowered calls compute what the functions do, and their derivatives.

use super::*;
use crate::interp::{Machine, Val};
use crate::ir::verify::verify_module;

/// A function that calls another on its arguments and on memory of its own for each pointer, and
/// returns a structure of the result (where there is one) and what the memory then holds.
fn wrapper(name: &str, params: &[Type], ret: Type, pointees: &[Type]) -> (Module, Func) {
    let mut all = params.to_vec();
    all.extend(pointees.iter().map(|_| Type::ptr()));
    let sig = Signature::new(all, ret);
    let mut module = Module::new();
    let callee = module.declare(Function::new(name, sig.clone()));
    let results = Some(ret).filter(|ret| !ret.is_void());
    let results: Vec<Type> = results
        .into_iter()
        .chain(pointees.iter().copied())
        .collect();
    let outer = Signature::new(params.to_vec(), Type::structure(results));
    let mut function = Function::with_entry("wrapper", outer.clone());
    let (entry, arguments) = (function.entry(), function.arguments().to_vec());
    let mut b = Builder::new(&mut function, entry);
    let slots: Vec<Value> = pointees.iter().map(|&ty| b.alloca(ty, 16)).collect();
    let result = b.call(callee, sig, [arguments, slots.clone()].concat());
    let loads = slots.into_iter().zip(pointees);
    let loads: Vec<Value> = loads
        .map(|(slot, &ty)| b.load(ty, slot, Access::aligned(1)))
        .collect();
    let mut whole = b.func.constant(outer.ret, Constant::Poison);
    for (index, part) in (0..).zip(result.into_iter().chain(loads)) {
        whole = b.insert(whole, part, vec![index]);
    }
    b.ret(Some(whole));
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

/// The scalars that a lowered call returns and stores.
fn results(module: (Module, Func), args: &[Val]) -> Vec<Val> {
    fn flatten(value: Val, out: &mut Vec<Val>) {
        match value {
            Val::Aggregate(parts) => parts.into_iter().for_each(|part| flatten(part, out)),
            scalar => out.push(scalar),
        }
    }
    let (mut module, func) = module;
    assert!(run(&mut module, func), "nothing is lowered");
    assert_eq!(calls(&module.funcs[func]), 0);
    assert_eq!(verify_module(&module), Ok(()));
    let result = Machine::new(&module).and_then(|mut machine| machine.call(func, args));
    let mut out = Vec::new();
    match result {
        Ok(Some(value)) => flatten(value, &mut out),
        other => panic!("{other:?}"),
    }
    out
}

/// Numbers to the bit, so that zeros of either sign differ; integers as they are.
fn check(module: (Module, Func), args: &[f64], expected: &[f64]) {
    let args: Vec<Val> = args.iter().map(|&x| Val::f64(x)).collect();
    check_values(module, &args, expected);
}

fn check_values(module: (Module, Func), args: &[Val], expected: &[f64]) {
    let found = results(module, args);
    let number = |value: &Val| value.as_f64().or(value.as_int().map(|n| n as f64));
    let bits = |x: f64| x.to_bits();
    let found: Vec<_> = found.iter().map(|value| number(value).map(bits)).collect();
    let wanted: Vec<_> = expected.iter().map(|&x| Some(bits(x))).collect();
    assert_eq!(found, wanted, "{args:?}: expected {expected:?}");
}

#[test]
fn sine_and_cosine() {
    let x = Type::f64();
    let expected = [libm::sin(0.5), libm::cos(0.5)];
    check(
        wrapper("sincos", &[x], Type::void(), &[x, x]),
        &[0.5],
        &expected,
    );
    let pair = Type::structure(vec![x, x]);
    check(
        wrapper("llvm.sincos.f64", &[x], pair, &[]),
        &[0.5],
        &expected,
    );
}

#[test]
fn whole_and_rest() {
    let x = Type::f64();
    let pair = Type::structure(vec![x, x]);
    let inf = f64::INFINITY;
    for (at, rest, whole) in [
        (3.25, 0.25, 3.0),
        (-3.25, -0.25, -3.0),
        (-3.0, -0.0, -3.0),
        (3.0, 0.0, 3.0),
        (-0.0, -0.0, -0.0),
        (inf, 0.0, inf),
        (-inf, -0.0, -inf),
    ] {
        check(wrapper("modf", &[x], x, &[x]), &[at], &[rest, whole]);
        check(
            wrapper("llvm.modf.f64", &[x], pair, &[]),
            &[at],
            &[rest, whole],
        );
    }
    for at in [-3.25, -3.0, 0.0, 3.0] {
        let found = results(wrapper("modf", &[x], x, &[x]), &[Val::dual(at, 1.0)]);
        let tangents: Vec<_> = found.iter().map(Val::tangent).collect();
        assert_eq!(tangents, [Some(1.0), Some(0.0)], "at {at}");
    }
}

#[test]
fn mantissa_and_exponent() {
    let (x, int) = (Type::f64(), Type::int(32));
    let pair = Type::structure(vec![x, int]);
    for at in [6.0, -0.75, 0.0, -0.0, 1e-310, 1.0] {
        let (mantissa, exponent) = libm::frexp(at);
        let expected = [mantissa, f64::from(exponent)];
        check(wrapper("frexp", &[x], x, &[int]), &[at], &expected);
        check(
            wrapper("llvm.frexp.f64.i32", &[x], pair, &[]),
            &[at],
            &expected,
        );
    }
}

#[test]
fn remainder_and_quotient() {
    let (x, int) = (Type::f64(), Type::int(32));
    for at in [
        [29.0, 3.0],
        [-29.0, 3.0],
        [1e30, 0.7],
        [7.5, 1.0],
        [-3.9, -0.25],
        [3.9, 1e308],
        [3.9, f64::INFINITY],
    ] {
        let (remainder, quotient) = libm::remquo(at[0], at[1]);
        let expected = [remainder, f64::from(quotient % 8)];
        check(wrapper("remquo", &[x, x], x, &[int]), &at, &expected);
    }
    let nan = results(
        wrapper("remquo", &[x, x], x, &[int]),
        &[Val::f64(1.0), Val::f64(0.0)],
    );
    assert_eq!(nan[1].as_int(), Some(0));
}

#[test]
fn reductions() {
    let x = Type::f64();
    let v = Type::vector(x, 3);
    let lanes = Val::Aggregate([0.1, 0.2, 0.3].map(Val::f64).to_vec());
    let start = Val::f64(10.0);
    let from = |name: &str, expected: f64| {
        let args = [start.clone(), lanes.clone()];
        check_values(wrapper(name, &[x, v], x, &[]), &args, &[expected]);
    };
    from("llvm.vector.reduce.fadd.v3f64", 10.0 + 0.1 + 0.2 + 0.3);
    from("llvm.vector.reduce.fmul.v3f64", 10.0 * 0.1 * 0.2 * 0.3);
    let all = |name: &str, expected: f64| {
        let args = std::slice::from_ref(&lanes);
        check_values(wrapper(name, &[v], x, &[]), args, &[expected]);
    };
    all("llvm.vector.reduce.fmax.v3f64", 0.3);
    all("llvm.vector.reduce.fmin.v3f64", 0.1);
    all("llvm.vector.reduce.fmaximum.v3f64", 0.3);
    all("llvm.vector.reduce.fminimum.v3f64", 0.1);
}

#[test]
fn complex_numbers() {
    let x = Type::f64();
    let angle = libm::atan2(4.0, 3.0);
    check(wrapper("cabs", &[x, x], x, &[]), &[3.0, 4.0], &[5.0]);
    check(wrapper("carg", &[x, x], x, &[]), &[3.0, 4.0], &[angle]);
    let z = Val::Aggregate([3.0, 4.0].map(Val::f64).to_vec());
    let module = wrapper("carg", &[Type::vector(x, 2)], x, &[]);
    check_values(module, &[z], &[angle]);
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
    assert_eq!(verify_module(&module), Ok(()));
    let x = Val::Aggregate([1.0, 2.0].map(Val::f64).to_vec());
    let result = Machine::new(&module).and_then(|mut machine| machine.call(func, &[x]));
    let Ok(Some(Val::Aggregate(lanes))) = result else {
        panic!("{result:?}");
    };
    let lanes: Vec<f64> = lanes.iter().filter_map(Val::as_f64).collect();
    assert!((lanes[1] - lanes[0] - 1.0).abs() < 1e-14, "{lanes:?}");
}

#[test]
fn other_calls_stay() {
    let stays = |name: &str, params: &[Type], pointees: &[Type], change: fn(&mut Function)| {
        let (mut module, func) = wrapper(name, params, Type::f64(), pointees);
        if let Some(callee) = module.func_by_name(name) {
            change(&mut module.funcs[callee]);
        }
        assert!(!run(&mut module, func), "{name}");
        assert_eq!(calls(&module.funcs[func]), 1, "{name}");
    };
    let x = Type::f64();
    stays("unknown", &[x], &[x], |_| {});
    stays("modf", &[x, x], &[], |_| {});
    stays("modf", &[x], &[x], |f| {
        f.attrs.flags |= crate::ir::FnFlags::NOBUILTIN;
    });
    stays("modf", &[x], &[x], |f| {
        let entry = f.add_block();
        f.terminate(entry, Op::Unreachable, Vec::new());
    });
}
