//! Generated instructions: none makes the interpreter panic, well typed or not, and integers agree
//! with Rust's.

use fastrand::Rng;
use zymase_core::interp::{Machine, TrapKind, Val};
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{
    BinaryOp, CastOp, Flags, FloatKind, FloatPred, Function, InstData, IntPred, MathFn, Module, Op,
    Signature, Type, UnaryOp,
};

fn scalar(rng: &mut Rng) -> Type {
    match rng.u32(..4) {
        0 => Type::float(FloatKind::ALL[rng.usize(..6)]),
        1 => Type::ptr(),
        _ => Type::int([1, 7, 8, 16, 33, 64, 127, 128][rng.usize(..8)]),
    }
}

fn any_type(rng: &mut Rng) -> Type {
    match rng.u32(..8) {
        0 => Type::vector(scalar(rng), rng.u32(1..5)),
        1 => Type::structure(vec![scalar(rng), scalar(rng)]),
        _ => scalar(rng),
    }
}

/// A value of a type, often a special one.
fn any_value(rng: &mut Rng, machine: &mut Machine<'_>, ty: Type) -> Val {
    if rng.u32(..10) == 0 {
        return Val::Poison;
    }
    if let Some(width) = ty.int_bits() {
        let special = [0, 1, -1, i128::MIN, i128::MAX, 1 << (width - 1), 8, 127];
        return match rng.bool() {
            true => Val::int(width, special[rng.usize(..8)]),
            false => Val::int(width, rng.u128(..) as i128),
        };
    }
    if let Some(kind) = ty.float_kind() {
        let special = [0.0, -0.0, 1.0, f64::INFINITY, f64::NAN, 1e300, -5e-324, 0.1];
        return Val::float(kind, special[rng.usize(..8)], rng.f64() - 0.5);
    }
    if ty.is_ptr() {
        let array = machine.memory.new_f64s(&[1.0, 2.0]);
        return Val::Ptr(array.expect("memory").offset(rng.i64(-8..24)));
    }
    let parts = (0..ty.part_count()).filter_map(|i| ty.part(i));
    Val::Aggregate(parts.map(|part| any_value(rng, machine, part)).collect())
}

fn any_op(rng: &mut Rng) -> Op {
    fn pick<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
        all[rng.usize(..all.len())]
    }
    match rng.u32(..14) {
        0..4 => Op::Binary(pick(rng, BinaryOp::ALL)),
        4..6 => Op::Cast(pick(rng, CastOp::ALL)),
        6 => Op::ICmp(pick(rng, IntPred::ALL)),
        7 => Op::FCmp(pick(rng, FloatPred::ALL)),
        8 => Op::Unary(pick(rng, UnaryOp::ALL)),
        9 => Op::Select,
        10 => Op::Load(Default::default()),
        11 => Op::Address {
            offset: rng.i64(..),
            scales: vec![rng.i64(..)],
        },
        12 => Op::ExtractElement,
        _ => Op::Math(pick(rng, MathFn::ALL)),
    }
}

#[test]
fn no_instruction_panics() {
    let mut values = 0;
    for seed in 0..40_000 {
        let mut rng = Rng::with_seed(seed);
        let op = any_op(&mut rng);
        let count = match &op {
            Op::Unary(_) | Op::Cast(_) | Op::Load(_) => 1,
            Op::Select => 3,
            Op::Math(function) => function.params().len(),
            _ => 2,
        };
        // Mostly of one type, so that many instructions are well typed.
        let first = any_type(&mut rng);
        let params: Vec<Type> = (0..count)
            .map(|_| match rng.u32(..8) {
                0 => any_type(&mut rng),
                _ => first,
            })
            .collect();
        let ret = match rng.bool() {
            true => first,
            false => any_type(&mut rng),
        };
        let mut function = Function::with_entry("f", Signature::new(params.clone(), ret));
        let mut data = InstData::new(op, function.arguments().to_vec());
        data.flags = Flags::from_bits_truncate(rng.u32(..) & rng.u32(..));
        let entry = function.entry();
        let inst = function.append_inst(entry, data, ret);
        let result = function.result(inst).expect("a result");
        function.terminate(entry, Op::Return, vec![result]);
        let mut module = Module::new();
        let func = module.funcs.push(function);
        let mut machine = Machine::new(&module).expect("globals");
        let args: Vec<Val> = params
            .iter()
            .map(|ty| any_value(&mut rng, &mut machine, *ty))
            .collect();
        // If the types are right, so is that of the value, which storing checks.
        let outcome = machine.call(func, &args);
        if verify_module(&module).is_err() {
            continue;
        }
        if let Ok(Some(value)) = &outcome {
            let inst = &module.funcs[func].inst(inst).op;
            let place = machine.memory.allocate_heap(256, 16).expect("memory");
            let stored = machine.memory.store(ret, place, value);
            assert!(
                stored.is_ok(),
                "seed {seed}: {inst:?} {args:?} gave {value:?} as {ret}"
            );
            values += 1;
        } else if let Err(trap) = outcome {
            assert_ne!(trap.kind, TrapKind::Malformed, "seed {seed}: {trap}");
        }
    }
    assert!(values > 2000, "only {values} instructions had a value");
}

#[test]
fn integers_agree_with_rust() {
    type Native = fn(i32, i32) -> Option<i32>;
    let operations: [(BinaryOp, Native); 13] = [
        (BinaryOp::Add, |x, y| Some(x.wrapping_add(y))),
        (BinaryOp::Sub, |x, y| Some(x.wrapping_sub(y))),
        (BinaryOp::Mul, |x, y| Some(x.wrapping_mul(y))),
        (BinaryOp::SDiv, |x, y| x.checked_div(y)),
        (BinaryOp::SRem, |x, y| x.checked_rem(y)),
        (BinaryOp::UDiv, |x, y| {
            Some((x as u32).checked_div(y as u32)? as i32)
        }),
        (BinaryOp::URem, |x, y| {
            Some((x as u32).checked_rem(y as u32)? as i32)
        }),
        (BinaryOp::Shl, |x, y| x.checked_shl(y as u32)),
        (BinaryOp::LShr, |x, y| {
            Some((x as u32).checked_shr(y as u32)? as i32)
        }),
        (BinaryOp::AShr, |x, y| x.checked_shr(y as u32)),
        (BinaryOp::And, |x, y| Some(x & y)),
        (BinaryOp::Or, |x, y| Some(x | y)),
        (BinaryOp::Xor, |x, y| Some(x ^ y)),
    ];
    let mut rng = Rng::with_seed(1);
    for (op, native) in operations {
        let text = format!(
            "func @f(%x: i32, %y: i32) -> i32 {{\nentry:\n v0 = {} %x, %y\n return v0\n}}",
            op.name()
        );
        let module = super::parse(&text);
        let mut machine = Machine::new(&module).expect("globals");
        for _ in 0..500 {
            let special = [0, 1, -1, i32::MIN, i32::MAX, 31, 32];
            let mut number = || match rng.bool() {
                true => special[rng.usize(..7)],
                false => rng.i32(..),
            };
            let (x, y) = (number(), number());
            let result = machine.call_by_name("f", &[Val::i32(x), Val::i32(y)]);
            let found = result.ok().flatten().and_then(|value| value.as_int());
            let expected = native(x, y).map(i128::from);
            assert_eq!(found, expected, "{} {x} {y}", op.name());
        }
    }
}
