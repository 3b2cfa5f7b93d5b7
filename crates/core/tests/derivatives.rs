//! Both modes on small programs, against the interpreter on dual numbers.

use zymase_core::ir::text::{parse_module, print_module};
use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;
use zymase_testgen::referee::{Arg, Derivatives, Tolerance};

/// Differentiates `@f` of a module and compares both modes with the oracle.
fn check(text: &str, args: &[Arg]) {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for plan in [PlanKind::Everything, PlanKind::MinCut] {
        let options = Options {
            plan,
            ..Options::default()
        };
        let derivatives =
            Derivatives::new(&module, "f", args, &options).unwrap_or_else(|e| panic!("{e}"));
        let tolerance = Tolerance {
            // Single precision rounds differently in each mode.
            relative: if text.contains("f32") { 1e-6 } else { 1e-9 },
            ..Tolerance::default()
        };
        if let Err(error) = derivatives.compare(args, tolerance) {
            panic!("{plan:?}: {error}\n{}", print_module(&derivatives.module));
        }
    }
}

fn dup(numbers: &[f64]) -> Arg {
    Arg::Dup(numbers.to_vec())
}

#[test]
fn straight_line() {
    check(
        "func @f(%x: f64, %y: f64) -> f64 {
        entry:
            %a = fmul %x, %y
            %b = math sin %a
            %c = fdiv %b, %x
            %d = fsub %c, %y
            return %d
        }",
        &[Arg::Out(1.25), Arg::Out(-0.7)],
    );
}

#[test]
fn branches() {
    let text = "func @f(%x: f64) -> f64 {
        entry:
            %c = fcmp ogt %x, 0.0
            branch %c, positive, negative
        positive:
            %a = math pow %x, 3.0
            jump join(%a)
        negative:
            %b = fmul %x, %x
            jump join(%b)
        join(%r: f64):
            %s = fmul %r, %x
            return %s
        }";
    check(text, &[Arg::Out(1.5)]);
    check(text, &[Arg::Out(-1.5)]);
}

#[test]
fn dot_product() {
    let text = "func @f(%x: ptr, %y: ptr, %n: i64) -> f64 {
        entry:
            jump loop(0, 0.0)
        loop(%i: i64, %sum: f64):
            %px = address %x + 8*%i
            %py = address %y + 8*%i
            %a = load f64 %px, align 8
            %b = load f64 %py, align 8
            %p = fmul %a, %b
            %s = fadd %sum, %p
            %i2 = add nsw nuw %i, 1
            %more = icmp slt %i2, %n
            branch %more, loop(%i2, %s), done(%s)
        done(%r: f64):
            return %r
        }";
    let x: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i) - 1.0).collect();
    let y: Vec<f64> = (0..40).map(|i| (f64::from(i)).sin()).collect();
    check(text, &[dup(&x), dup(&y), Arg::Int(40)]);
    check(text, &[dup(&x), Arg::Const(y), Arg::Int(40)]);
}

#[test]
fn in_place_nested_loops() {
    check(
        "func @f(%x: ptr, %n: i64) {
        entry:
            jump outer(0)
        outer(%i: i64):
            jump inner(0)
        inner(%j: i64):
            %p = address %x + 8*%j
            %q = address %x + 8*%i
            %a = load f64 %p, align 8
            %b = load f64 %q, align 8
            %c = fmul %a, %b
            %d = math sin %c
            store %d, %p, align 8
            %j2 = add %j, 1
            %more = icmp slt %j2, %n
            branch %more, inner(%j2), next
        next:
            %i2 = add %i, 1
            %again = icmp slt %i2, %n
            branch %again, outer(%i2), done
        done:
            return
        }",
        &[dup(&[0.5, -1.0, 2.0, 0.3]), Arg::Int(4)],
    );
}

#[test]
fn early_exit_and_live_out() {
    let text = "func @f(%x: ptr, %limit: f64) -> f64 {
        entry:
            jump loop(0, 1.0)
        loop(%i: i64, %product: f64):
            %p = address %x + 8*%i
            %a = load f64 %p, align 8
            %q = fmul %product, %a
            %stop = fcmp ogt %q, %limit
            branch %stop, out, next
        next:
            %i2 = add %i, 1
            %more = icmp slt %i2, 6
            branch %more, loop(%i2, %q), end
        out:
            %b = fmul %q, %a
            return %b
        end:
            %c = fadd %q, %product
            return %c
        }";
    let x = [1.5, 2.0, 0.5, 3.0, 1.25, 2.0];
    check(text, &[dup(&x), Arg::Out(4.0)]);
    check(text, &[dup(&x), Arg::Out(1000.0)]);
}

#[test]
fn calls_and_recursion() {
    check(
        "func @power(%x: f64, %n: i64) -> f64 {
        entry:
            %c = icmp sle %n, 0
            branch %c, base, step
        base:
            return 1.0
        step:
            %m = sub %n, 1
            %r = call @power(%x, %m)
            %s = fmul %r, %x
            return %s
        }
        func @scale(%p: ptr, %s: f64) -> f64 {
        entry:
            %a = load f64 %p, align 8
            %b = fmul %a, %s
            store %b, %p, align 8
            return %a
        }
        func @f(%p: ptr, %x: f64) -> f64 {
        entry:
            %a = call @power(%x, 4)
            jump loop(0, %a)
        loop(%i: i64, %v: f64):
            %q = address %p + 8*%i
            %b = call @scale(%q, %v)
            %c = fadd %b, %v
            %i2 = add %i, 1
            %more = icmp slt %i2, 3
            branch %more, loop(%i2, %c), done
        done:
            %d = call @scale(%p, %c)
            %e = fmul %d, %c
            return %e
        }",
        &[dup(&[0.5, -1.0, 2.0]), Arg::Out(1.1)],
    );
}

#[test]
fn local_memory_and_pointers() {
    check(
        "func @f(%x: ptr, %y: f64) -> f64 {
        entry:
            %box = alloca [3 x f64], align 8
            %link = alloca ptr, align 8
            store %box, %link, align 8
            %a = load f64 %x, align 8
            %b = fmul %a, %y
            store %b, %box, align 8
            %q = load ptr %link, align 8
            %c = load f64 %q, align 8
            %p1 = address %q + 8
            %d = math exp %c
            store %d, %p1, align 8
            store %x, %link, align 8
            %r = load ptr %link, align 8
            %p2 = address %r + 8
            memcopy %p2, %p1, 8
            %e = load f64 %p2, align 8
            %g = fmul %e, %e
            store %g, %r, align 8
            return %g
        }",
        &[dup(&[0.5, -1.0]), Arg::Out(0.7)],
    );
}

#[test]
fn floats_in_integers() {
    check(
        "func @f(%x: ptr, %y: ptr) -> f64 {
        entry:
            %i = load i64 %x, align 8
            store %i, %y, align 8
            %p = address %x + 8
            %v = load <2 x i64> %p, align 8
            %j = extractelement %v, 1
            %d = bitcast %j : f64
            %s = fmul %d, %d
            %b = bitcast %s : i64
            %q = address %y + 8
            store %b, %q, align 8
            %a = load f64 %y, align 8
            %r = fmul %a, %s
            return %r
        }",
        &[dup(&[0.5, -1.0, 3.0]), dup(&[1.0, 2.0])],
    );
}

/// A return from inside of two loops leaves both at once.
#[test]
fn return_out_of_two_loops() {
    check(
        "func @f(%u: f64) -> f64 {
        entry:
            jump outer(0, %u)
        outer(%i: i64, %x: f64):
            %c = icmp slt %i, 2
            branch %c, inner_start, done
        inner_start:
            jump inner(0, %x)
        inner(%j: i64, %y: f64):
            %d = icmp slt 1:i64, 2:i64
            branch %d, leave, go
        leave:
            return %y
        go:
            %s = math sin %y
            %j2 = add nsw %j, 1
            %e = icmp slt %j2, 2
            branch %e, inner(%j2, %s), next
        next:
            %i2 = add nsw %i, 1
            jump outer(%i2, %s)
        done:
            return %x
        }",
        &[Arg::Out(1.5)],
    );
}

/// A callee that keeps nothing for its reverse, in a loop that keeps nothing either.
#[test]
fn empty_frames() {
    check(
        "func @half(%x: f64) -> f64 {
        entry:
            %y = fmul %x, 0.5
            return %y
        }
        func @f(%u: f64) -> f64 {
        entry:
            jump loop(0, %u)
        loop(%i: i64, %x: f64):
            %y = call @half(%x)
            %i2 = add nsw %i, 1
            %c = icmp slt %i2, 3
            branch %c, loop(%i2, %y), done
        done:
            return %y
        }",
        &[Arg::Out(1.5)],
    );
}

/// Shadow pointers move like the pointers when records overlap.
#[test]
fn overlapping_records() {
    check(
        "func @f(%x: ptr, %u: f64) -> f64 {
        entry:
            %r = alloca [4 x {f64, ptr}], align 8
            %p1 = address %x + 8
            %p2 = address %x + 16
            %r1 = address %r + 16
            %r2 = address %r + 32
            %r0p = address %r + 8
            %r1p = address %r + 24
            %r2p = address %r + 40
            store %u, %r, align 8
            store %u, %r1, align 8
            store %u, %r2, align 8
            store %x, %r0p, align 8
            store %p1, %r1p, align 8
            store %p2, %r2p, align 8
            memmove %r1, %r, 32
            %q = load ptr %r2p, align 8
            %a = load f64 %q, align 8
            %b = fmul %a, %a
            store %b, %q, align 8
            memmove %r, %r1, 32
            %s = load ptr %r0p, align 8
            %c = load f64 %s, align 8
            %d = fmul %b, %c
            return %d
        }",
        &[dup(&[0.5, -1.0, 3.0]), Arg::Out(1.5)],
    );
}

/// A pointer that may lead to memory without derivatives has a shadow all the same, also if only
/// a callee mixes the two.
#[test]
fn pointers_to_active_and_inactive_memory() {
    check(
        "global @g size 8 align 8 = {f64 0.5}
        func @choose(%p: ptr, %q: ptr, %n: i64) -> ptr {
        entry:
            %c = icmp sgt %n, 1
            %r = select %c, %q, %p : ptr
            return %r
        }
        func @f(%x: ptr, %n: i64) -> f64 {
        entry:
            %a = alloca f64, align 8
            store 2.5:f64, %a, align 8
            %c = icmp sgt %n, 1
            %r = select %c, %x, %a : ptr
            %b = load f64 %r, align 8
            %s = call @choose(@g, %x, %n)
            %d = load f64 %s, align 8
            %t = call @choose(%a, %x, %n)
            %e = load f64 %t, align 8
            %h = fmul %b, %d
            %k = fmul %h, %e
            %l = load f64 %x, align 8
            %m = fmul %k, %l
            return %m
        }",
        &[dup(&[0.5]), Arg::Int(0)],
    );
}

/// A cycle with two entries has no loop header, so the reverse sweep could not count its rounds.
/// (LLVM makes one entry of them before core sees the program.)
#[test]
fn irreducible_cycle() {
    let text = "func @f(%x: f64) -> f64 {
        entry:
            %c = fcmp ogt %x, 0.0
            branch %c, left(%x), right(%x)
        left(%a: f64):
            %b = fmul %a, %x
            jump right(%b)
        right(%d: f64):
            %e = fadd %d, %x
            %g = fcmp olt %e, 9.0
            branch %g, left(%e), done
        done:
            return %e
        }";
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    let refused = Derivatives::new(&module, "f", &[Arg::Out(1.5)], &Options::default());
    let message = match refused {
        Ok(_) => "no refusal".to_string(),
        Err(error) => error.to_string(),
    };
    let expected = "the control flow of `f` cannot be reversed";
    assert!(message.contains(expected), "{message}");
    assert!(
        message.contains("write the loop with one entry"),
        "{message}"
    );
}

#[test]
fn arithmetic_on_the_bits_of_a_float_is_refused() {
    let refused = |text: &str| {
        let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let derivatives = Derivatives::new(&module, "f", &[Arg::Out(2.0)], &Options::default());
        derivatives.err().map(|failure| failure.to_string())
    };
    let trick = "func @f(%x: f64) -> f64 {
        entry:
            %bits = bitcast %x : i64
            %half = lshr %bits, 1
            %sum = add %half, 2305843009213693952
            %y = bitcast %sum : f64
            return %y
        }";
    let message = refused(trick).unwrap_or_default();
    assert!(message.contains("bits of a float"), "{message}");
    // Deciding by the bits is no arithmetic on a float.
    let decision = "func @f(%x: f64) -> f64 {
        entry:
            %bits = bitcast %x : i64
            %exponent = lshr %bits, 52
            %biased = sub %exponent, 1
            %large = icmp ugt %biased, 1022
            branch %large, a, b
        a:
            %y = fmul %x, %x
            return %y
        b:
            return %x
        }";
    assert_eq!(refused(decision), None);
}

/// A single in the low half of an integer, the other half the same in every run: nothing reads
/// that half, so nothing says what it is, and nothing has to.
#[test]
fn constant_bytes_beside_a_float_need_no_type() {
    check(
        "func @f(%x: f64) -> f64 {
        entry:
            %pair = alloca [2 x f32], align 8
            %single = fptrunc %x : f32
            %bits = bitcast %single : i32
            %wide = zext %bits : i64
            %both = or %wide, 0x3f00000000000000:i64
            store %both, %pair, align 8
            %low = load f32 %pair, align 8
            %y = fpext %low : f64
            %z = fmul %y, %x
            return %z
        }",
        &[Arg::Out(1.5)],
    );
}

/// Two singles put together in an integer, one of them taken from there by a mask: the mask says
/// where the other one is.
#[test]
fn a_mask_makes_room_for_a_float() {
    check(
        "func @f(%x: f64) -> f64 {
        entry:
            %pair = alloca [2 x f32], align 8
            %single = fptrunc %x : f32
            %bits = bitcast %single : i32
            %wide = zext %bits : i64
            %before = or %wide, 0x3f00000000000000:i64
            %half = fptrunc 0.5:f64 : f32
            %half_bits = bitcast %half : i32
            %half_wide = zext %half_bits : i64
            %high = shl %half_wide, 32
            %low = and %before, 0xffffffff:i64
            %both = or %low, %high
            store %both, %pair, align 8
            %first = load f32 %pair, align 8
            %y = fpext %first : f64
            %z = fmul %y, %x
            return %z
        }",
        &[Arg::Out(1.5)],
    );
}

#[test]
fn a_result_of_several_numbers_has_no_seed() {
    let text = "func @f(%x: f64) -> {f64, f64} {
        entry:
            %y = fmul %x, %x
            %a = insert undef, %x, [0] : {f64, f64}
            %b = insert %a, %y, [1] : {f64, f64}
            return %b
        }
        func @ask(%x: f64) -> f64 {
        entry:
            %d = request combined @f(out %x) -> active : f64
            return %d
        }";
    let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let refused = zymase_core::pipeline::differentiate(&mut module, &Options::default());
    let message = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(message.contains("has no seed"), "{message}");
}
