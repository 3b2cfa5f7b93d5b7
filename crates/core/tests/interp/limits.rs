//! Hostile programs stop.

use zymase_core::interp::{Machine, TrapKind};

fn check(body: &str, expected: TrapKind) {
    let text = format!(
        "declare @malloc(i64) -> ptr\nglobal @sink size 8 align 8 = {{bytes \"\"}}\n\
         func @f() {{\nentry:\n{body}\n}}"
    );
    let module = super::parse(&text);
    let mut machine = Machine::new(&module)
        .expect("globals")
        .with_step_limit(1_000_000)
        .with_memory_limit(1 << 24);
    let trap = machine.call_by_name("f", &[]).expect_err(body);
    assert_eq!(trap.kind, expected, "{body}");
    // The machine is usable after a trap, and what the frames held is given back.
    let again = machine.call_by_name("f", &[]).expect_err(body);
    let limits = [expected, TrapKind::StepLimit];
    assert!(limits.contains(&again.kind), "{body}");
}

#[test]
fn limits() {
    check("jump a\na:\njump a", TrapKind::StepLimit);
    check("call @f()\nreturn", TrapKind::DepthLimit);
    check(
        "%p = call @malloc(0x7fffffffffffffff)\nreturn",
        TrapKind::MemoryLimit,
    );
    check("%p = call @malloc(-1)\nreturn", TrapKind::MemoryLimit);
    check(
        "%p = alloca [1000000 x f64], 1000000000000000, align 8\nreturn",
        TrapKind::MemoryLimit,
    );
    check(
        "jump a\na:\n%p = call @malloc(1000)\njump a",
        TrapKind::MemoryLimit,
    );
    check(
        "jump a\na:\n%p = alloca i8, align 1\njump a",
        TrapKind::MemoryLimit,
    );
    check(
        "%x = load [10000000 x f64] @sink\nreturn",
        TrapKind::Unsupported,
    );
    check(
        "%p = alloca [0x7fffffffffffffff x {i8, f64}], align 8\nreturn",
        TrapKind::MemoryLimit,
    );
    check(
        "%x = load {i8, [0x7fffffffffffffff x f64]} @sink\nreturn",
        TrapKind::OutOfBounds,
    );
    check("%x = load <2 x i129> @sink\nreturn", TrapKind::Unsupported);
    check("%x = load i256 @sink\nreturn", TrapKind::Unsupported);
    check("memset @sink, 0, -1\nreturn", TrapKind::OutOfBounds);
}
