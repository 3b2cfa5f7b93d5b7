//! Tangents of floats that travel as something else.

use super::outcome;
use zymase_core::interp::{Machine, Val};
use zymase_core::ir::FloatKind;

/// Checks a body that takes `%x: f64` with tangent 1.
fn check(ty: &str, body: &str, x: f64, expected: &str) {
    let text = format!("func @f(%x: f64) -> {ty} {{\nentry:\n{body}\n}}");
    assert_eq!(outcome(&text, &[Val::dual(x, 1.0)]), expected, "{body}");
}

#[test]
fn a_double_as_an_integer() {
    for (body, x, expected) in [
        (
            "%i = bitcast %x : i64\n%y = bitcast %i : f64\nreturn %y",
            3.0,
            "3.0 ~ 1.0",
        ),
        // The sign bit flipped, cleared and set.
        (
            "%i = bitcast %x : i64\n%j = xor %i, 0x8000000000000000\n%y = bitcast %j : f64\nreturn %y",
            3.0,
            "-3.0 ~ -1.0",
        ),
        (
            "%i = bitcast %x : i64\n%j = and %i, 0x7fffffffffffffff\n%y = bitcast %j : f64\nreturn %y",
            -3.0,
            "3.0 ~ -1.0",
        ),
        (
            "%i = bitcast %x : i64\n%j = and %i, 0x7fffffffffffffff\n%y = bitcast %j : f64\nreturn %y",
            0.0,
            "0.0",
        ),
        (
            "%i = bitcast %x : i64\n%j = or %i, 0x8000000000000000\n%y = bitcast %j : f64\nreturn %y",
            3.0,
            "-3.0 ~ -1.0",
        ),
        // Through a wider integer and back.
        (
            "%i = bitcast %x : i64\n%w = zext %i : i128\n%s = shl %w, 64\n%t = or %s, 7\n%u = lshr %t, 64\n\
          %j = trunc %u : i64\n%y = bitcast %j : f64\nreturn %y",
            3.0,
            "3.0 ~ 1.0",
        ),
        // In two halves.
        (
            "%i = bitcast %x : i64\n%l = trunc %i : i32\n%s = lshr %i, 32\n%h = trunc %s : i32\n\
          %l2 = zext %l : i64\n%h2 = zext %h : i64\n%h3 = shl %h2, 32\n%j = or disjoint %h3, %l2\n\
          %y = bitcast %j : f64\nreturn %y",
            3.1,
            "3.1 ~ 1.0",
        ),
        // Byte by byte through memory.
        (
            "%s = alloca f64, align 8\n%d = alloca f64, align 8\nstore %x, %s\njump loop(0)\nloop(%i: i64):\n\
          %a = address %s + %i\n%b = address %d + %i\n%c = load i8 %a\nstore %c, %b\n%j = add %i, 1\n\
          %e = icmp eq %j, 8\nbranch %e, done, loop(%j)\ndone:\n%y = load f64 %d\nreturn %y",
            3.1,
            "3.1 ~ 1.0",
        ),
        // As a vector of bytes, turned round twice.
        (
            "%v = bitcast %x : <8 x i8>\n%w = shuffle %v, poison:<8 x i8>, [7, 6, 5, 4, 3, 2, 1, 0]\n\
          %u = shuffle %w, poison:<8 x i8>, [7, 6, 5, 4, 3, 2, 1, 0]\n%y = bitcast %u : f64\nreturn %y",
            3.1,
            "3.1 ~ 1.0",
        ),
        // Integer arithmetic on the bits is no float any more.
        (
            "%i = bitcast %x : i64\n%j = add %i, 1\n%k = sub %j, 1\n%y = bitcast %k : f64\nreturn %y",
            3.1,
            "3.1",
        ),
        (
            "%i = bitcast %x : i64\n%j = add %i, 0\n%k = sub %j, 0\n%y = bitcast %k : f64\nreturn %y",
            3.1,
            "3.1 ~ 1.0",
        ),
        // A float whose byte was overwritten has no tangent.
        (
            "%s = alloca f64, align 8\nstore %x, %s\nstore 1:i8, %s\n%y = load f64 %s\nreturn %y",
            3.0,
            "3.0000000000000004",
        ),
        (
            "%s = alloca [2 x f64], align 8\n%t = address %s + 8\nstore %x, %t\nmemcopy %s, %t, 8\n\
          %y = load f64 %s\nreturn %y",
            3.0,
            "3.0 ~ 1.0",
        ),
        (
            "%s = alloca f64, align 8\nstore 1.0:f64, %s\naccumulate %s, %x\n%y = load f64 %s\nreturn %y",
            3.0,
            "4.0 ~ 1.0",
        ),
        (
            "%f = fptrunc %x : f32\n%y = fpext %f : f64\nreturn %y",
            0.5,
            "0.5 ~ 1.0",
        ),
        (
            "%i = fptosi %x : i64\n%y = sitofp %i : f64\nreturn %y",
            3.5,
            "3.0",
        ),
    ] {
        check("f64", body, x, expected);
    }
}

#[test]
fn two_floats_in_one_integer() {
    let text = "
        func @f(%x: f32, %y: f32) -> f32 {
        entry:
            %i = bitcast %x : i32
            %j = bitcast %y : i32
            %a = zext %i : i64
            %b = zext %j : i64
            %c = shl %b, 32
            %d = or disjoint %a, %c
            %p = alloca i64, align 8
            store %d, %p
            %v = load <2 x f32> %p
            %s = extractelement %v, 0
            %t = extractelement %v, 1
            %r = fmul %s, %t
            return %r
        }";
    let args = [
        Val::float(FloatKind::F32, 3.0, 1.0),
        Val::float(FloatKind::F32, 5.0, 10.0),
    ];
    assert_eq!(outcome(text, &args), "15.0 ~ 35.0");
}

#[test]
fn aggregates_and_wide_formats() {
    check(
        "{f64, <2 x f64>}",
        "%a = insert zero, %x, [0] : {f64, <2 x f64>}\n%b = insert %a, %x, [1, 1]\n\
         %p = alloca {f64, <2 x f64>}, align 16\nstore %b, %p\n%c = load {f64, <2 x f64>} %p\nreturn %c",
        2.0,
        "{2.0 ~ 1.0, {0.0, 2.0 ~ 1.0}}",
    );
    for wide in ["x86_fp80", "f128"] {
        let body = format!(
            "%w = fpext %x : {wide}\n%p = alloca {wide}, align 16\nstore %w, %p\n%l = load {wide} %p\n\
             %m = fmul %l, %l\n%y = fptrunc %m : f64\nreturn %y"
        );
        check("f64", &body, 3.0, "9.0 ~ 6.0");
    }
}

#[test]
fn seeds_in_memory() {
    let module = super::parse(
        "func @f(%p: ptr) -> f64 {
        entry:
            %q = address %p + 8
            %x = load f64 %p
            %y = load f64 %q
            %z = fmul %x, %y
            store %z, %p
            return %z
        }",
    );
    let mut machine = Machine::new(&module).expect("globals");
    let p = machine.memory.new_f64s(&[3.0, 5.0]).expect("memory");
    let seeded = machine.memory.set_f64_tangents(p, &[1.0, 2.0]);
    seeded.expect("seeds");
    let result = machine.call_by_name("f", &[Val::Ptr(p)]);
    assert_eq!(result, Ok(Some(Val::dual(15.0, 11.0))));
    assert_eq!(machine.memory.f64s(p, 2), Ok(vec![15.0, 5.0]));
    assert_eq!(machine.memory.f64_tangents(p, 2), Ok(vec![11.0, 2.0]));
    assert_eq!(machine.memory.tangent(p, 8, FloatKind::F64), Ok(2.0));
    assert_eq!(machine.live_heap_objects(), 1);
}
