//! Memory: what is an error, and what bytes remember.

use super::{check_body, outcome};
use zymase_core::interp::{Machine, Val};

#[test]
fn errors() {
    for (body, expected) in [
        (
            "%p = call @malloc(8)\n%q = address %p + 1\n%x = load f64 %q\nreturn %x",
            "OutOfBounds",
        ),
        (
            "%p = call @malloc(8)\n%q = address %p - 8\n%x = load f64 %q\nreturn %x",
            "OutOfBounds",
        ),
        (
            "%p = call @malloc(8)\ncall @free(%p)\n%x = load f64 %p\nreturn %x",
            "UseAfterFree",
        ),
        (
            "%p = call @malloc(8)\ncall @free(%p)\ncall @free(%p)\nreturn 0.0",
            "DoubleFree",
        ),
        (
            "%p = call @malloc(8)\n%q = address %p + 4\ncall @free(%q)\nreturn 0.0",
            "InvalidFree",
        ),
        (
            "%p = alloca f64, align 8\ncall @free(%p)\nreturn 0.0",
            "InvalidFree",
        ),
        ("call @free(null)\nreturn 0.0", "0.0"),
        ("%x = load f64 null\nreturn %x", "NullDereference"),
        (
            "%p = inttoptr 64:i64 : ptr\n%x = load f64 %p\nreturn %x",
            "NoProvenance",
        ),
        ("store 1.0:f64, @constant\nreturn 0.0", "ReadOnly"),
        ("%x = load f64 @constant, align 8\nreturn %x", "1.5"),
        ("%x = load f64 @table, align 16\nreturn %x", "Misaligned"),
        (
            "%p = alloca f64, align 4\n%x = load f64 %p, align 8\nreturn %x",
            "Misaligned",
        ),
        (
            "%p = alloca f64, align 8\n%x = load f64 %p\nreturn %x",
            "poison",
        ),
        (
            "%p = call @calloc(1, 8)\n%x = load f64 %p\nreturn %x",
            "0.0",
        ),
        ("%x = load f64 poison\nreturn %x", "Poison"),
        ("%x = call @unknown(1.0)\nreturn %x", "UnknownFunction"),
        ("call @abort()\nunreachable", "Aborted"),
        ("%x = opaque \"landingpad\" : f64\nreturn %x", "Unsupported"),
        (
            "%x = request combined @unknown(out 1.0) -> active : f64\nreturn %x",
            "Unsupported",
        ),
        (
            "%x = call *@table(1.0) : (f64) -> f64\nreturn %x",
            "BadCall",
        ),
        (
            "%x = call *null(1.0) : (f64) -> f64\nreturn %x",
            "NullDereference",
        ),
        (
            "%p = call @malloc(8)\n%q = address inbounds %p + 9\n%x = load f64 %q\nreturn %x",
            "Poison",
        ),
        (
            "%p = call @malloc(16)\n%q = address %p + 4\nmemcopy %q, %p, 8\nreturn 0.0",
            "Overlap",
        ),
        (
            "%p = call @malloc(16)\n%q = address %p + 4\nmemmove %q, %p, 8\nreturn 0.0",
            "0.0",
        ),
        ("memcopy null, null, 0\nreturn 0.0", "0.0"),
        (
            "%p = call @realloc(null, 8)\nstore 3.0:f64, %p\n%q = call @realloc(%p, 64)\n\
          %x = load f64 %q\nreturn %x",
            "3.0",
        ),
        (
            "%p = call @realloc(null, 8)\n%q = call @realloc(%p, 64)\n%x = load f64 %p\nreturn %x",
            "UseAfterFree",
        ),
    ] {
        check_body("f64", body, expected);
    }
}

#[test]
fn frames_die_when_their_function_returns() {
    let text = "
        func @g() -> ptr {
        entry:
            %p = alloca f64, align 8
            store 1.0:f64, %p
            return %p
        }
        func @f() -> f64 {
        entry:
            %p = call @g()
            %x = load f64 %p
            return %x
        }";
    assert_eq!(outcome(text, &[]), "DeadFrame");
}

#[test]
fn bytes_keep_what_they_are() {
    for (ty, body, expected) in [
        // A pointer copied byte by byte is still that pointer.
        (
            "f64",
            "%s = alloca ptr, align 8\n%d = alloca ptr, align 8\nstore @table:ptr, %s\n\
             jump loop(0)\nloop(%i: i64):\n%a = address %s + %i\n%b = address %d + %i\n\
             %c = load i8 %a\nstore %c, %b\n%j = add %i, 1\n%e = icmp eq %j, 8\n\
             branch %e, done, loop(%j)\ndone:\n%p = load ptr %d\n%x = load f64 %p\nreturn %x",
            "2.5",
        ),
        // Integers remember the pointer they came from, through address arithmetic too.
        (
            "f64",
            "%i = ptrtoint @table:ptr : i64\n%j = add %i, 8\n%k = and %j, -8\n%l = sub %k, 8\n\
             %p = inttoptr %l : ptr\n%x = load f64 %p\nreturn %x",
            "2.5",
        ),
        // Some bytes of an integer may never have been written.
        (
            "i32",
            "%p = alloca i64, align 8\nstore 7:i32, %p\n%x = load i64 %p\n%y = trunc %x : i32\n\
             return %y",
            "7",
        ),
        (
            "i64",
            "%p = alloca i64, align 8\nstore 7:i32, %p\n%x = load i64 %p\n%y = add %x, 1\n\
             return %y",
            "poison",
        ),
        (
            "i64",
            "%p = alloca i64, align 8\nstore 7:i32, %p\n%x = load i64 %p\n\
             %y = and %x, 0xffffffff\n%z = add %y, 0x100\nreturn %z",
            "263",
        ),
        // Padding of a structure is not written.
        (
            "i64",
            "%p = call @calloc(1, 16)\n%s = insert undef, 1, [0] : {i8, i64}\n\
             store %s, %p\n%x = load i8 %p\n%y = load i64 %p\n%z = freeze %y\nreturn %z",
            "1",
        ),
        // Patterns of floats that are only moved stay as they are.
        (
            "i64",
            "%p = alloca i64, align 8\nstore 0x7ff4000000000001:i64, %p\n%x = load f64 %p\n\
             store %x, %p\n%y = load i64 %p\nreturn %y",
            "9219994337134247937",
        ),
        (
            "i32",
            "%p = alloca i32, align 4\nmemset %p, 1, 4\n%x = load i32 %p\nreturn %x",
            "16843009",
        ),
    ] {
        check_body(ty, body, expected);
    }
}

#[test]
fn atomics_and_accumulation() {
    for (ty, body, expected) in [
        (
            "f64",
            "accumulate @table, 1.0:f64\naccumulate @table, 2.0:f64\n%x = load f64 @table\nreturn %x",
            "5.5",
        ),
        (
            "{f64, f64}",
            "%o = atomicrmw fadd @table, 1.0 : f64, align 8, atomic seq_cst\n%n = load f64 @table\n\
             %a = insert undef, %o, [0] : {f64, f64}\n%b = insert %a, %n, [1]\nreturn %b",
            "{2.5, 3.5}",
        ),
        (
            "i32",
            "%p = alloca i32, align 4\nstore 5:i32, %p\n\
             %o = atomicrmw nand %p, 6 : i32, align 4, atomic seq_cst\n%n = load i32 %p\nreturn %n",
            "-5",
        ),
        (
            "{i32, i1}",
            "%p = alloca i32, align 4\nstore 5:i32, %p\n\
             %o = cmpxchg %p, 5, 6 : {i32, i1}, align 4, atomic seq_cst, failure monotonic\nreturn %o",
            "{5, true}",
        ),
    ] {
        check_body(ty, body, expected);
    }
}

#[test]
fn calls() {
    let text = "
        declare @read() -> f64
        func address_taken @double(%x: f64) -> f64 {
        entry:
            %y = fadd %x, %x
            return %y
        }
        func @change(%p: ptr byval(f64) align(8)) -> f64 {
        entry:
            store 9.0:f64, %p
            %x = load f64 %p
            return %x
        }
        func @f(%p: ptr, %x: f64) -> f64 {
        entry:
            %y = call *%p(%x) : (f64) -> f64
            %s = alloca f64, align 8
            store %y, %s
            %nine = call @change(%s byval(f64))
            %z = load f64 %s
            %r = invoke @read(), to next(%r), unwind bad
        next(%w: f64):
            %sum = fadd %w, %z
            return %sum
        bad:
            unreachable
        }";
    let module = super::parse(text);
    let mut machine = Machine::new(&module).expect("globals");
    machine.register("read", Box::new(|_, _| Ok(Some(Val::f64(100.0)))));
    let double = module.func_by_name("double").expect("a function");
    let address = machine.address(zymase_core::ir::Symbol::Func(double));
    let result = machine.call_by_name("f", &[address, Val::f64(2.0)]);
    assert_eq!(result, Ok(Some(Val::f64(104.0))));
}

#[test]
fn traps_say_where() {
    let text = "
        func @g() {
        entry:
            %x = load f64 null, loc 0
            return
        }
        func @f() {
        entry:
            call @g()
            return
        }
        loc 0 = \"a.c\":3:7 in \"g\"";
    let trap = super::run(text, &[]).expect_err("a trap");
    let expected = "a read through the null pointer\n  in g, block0 (a.c:3:7)\n  in f, block0";
    assert_eq!(trap.to_string(), expected);
}
