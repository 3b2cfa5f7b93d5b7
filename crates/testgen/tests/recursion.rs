//! Recursion that hands on other facts in each turn: making its derivatives ends, and they are
//! right, in the first and the second order.

use zymase_testgen::trial::{Verdict, first_order, second_order};

const HEAD: &str = "
source 0 = size 8 {0: f64}
declare @malloc(i64) -> ptr alloc(alloc, family \"malloc\", size 0)
declare @free(ptr) alloc(free, family \"malloc\", ptr 0)
";

/// What every program begins with: the types of the arrays are known.
const BEGIN: &str = "
func @f(%p: ptr, %q: ptr, %c: ptr, %u: f64, %w: f64, %n: i64) {
    declared %p element 0
    declared %q element 0
    declared %c element 0
entry:
    %p0 = load f64 %p, align 8
    %q0 = load f64 %q, align 8
    %c0 = load f64 %c, align 8
    %pq = fmul %p0, %q0 : f64
    %x = fmul %pq, %c0 : f64
    %y = fmul %x, %u : f64
    store %y, %p, align 8
";

fn check(text: &str) {
    for (order, verdict) in [first_order(text), second_order(text)].iter().enumerate() {
        let good = matches!(verdict, Verdict::Agrees(_));
        assert!(good, "order {}: {verdict:?}\n{text}", order + 1);
    }
}

/// A function of two that call each other; each moves memory whose types only its caller knows, and
/// goes on some elements further.
fn advancing(name: &str, next: &str, step: i64) -> String {
    format!(
        "
func @{name}(%p: ptr, %q: ptr, %u: f64, %n: i64) -> f64 {{
entry:
    %t = alloca [2 x f64], align 8
    memcopy %t, %p, 16
    %done = icmp sle %n, 0
    branch %done, end, more
end:
    %last = load f64 %t, align 8
    return %last
more:
    %a = load f64 %t, align 8
    %b = load f64 %q, align 8
    %ab = fmul %a, %b : f64
    %v = fmul %ab, %u : f64
    store %v, %p, align 8
    memcopy %q, %t, 8
    %ahead = address %p + {step}
    %less = sub %n, 1 : i64
    %r = call @{next}(%ahead, %q, %v, %less)
    %s = fadd %r, %v : f64
    return %s
}}
"
    )
}

#[test]
fn pointers_that_advance_in_each_turn() {
    for steps in [[8, 8, 8], [8, 16, 0], [0, 8, -8]] {
        let functions = [
            advancing("one", "two", steps[0]),
            advancing("two", "three", steps[1]),
            advancing("three", "one", steps[2]),
        ];
        let call = "
    %r = call @one(%p, %q, %w, 3)
    store %r, %q, align 8
    return
}
";
        check(&format!("{HEAD}{BEGIN}{call}{}", functions.concat()));
    }
}

#[test]
fn activity_that_changes_in_each_turn() {
    let turn = |name: &str, call: &str| {
        format!(
            "
func @{name}(%a: ptr, %b: ptr, %c: ptr, %u: f64, %v: f64, %n: i64) -> f64 {{
entry:
    %done = icmp sle %n, 0
    %x = load f64 %a, align 8
    %y = load f64 %b, align 8
    %xy = fmul %x, %y : f64
    branch %done, end, more
end:
    %uv = fmul %u, %xy : f64
    return %uv
more:
    %less = sub %n, 1 : i64
    %r = call {call}
    %s = fmul %r, %v : f64
    %t = fadd %s, %xy : f64
    return %t
}}
"
        )
    };
    let functions = [
        turn("one", "@two(%b, %c, %a, %v, 0.5, %less)"),
        turn("two", "@three(%c, %b, %a, %v, %u, %less)"),
        turn("three", "@one(%b, %a, %c, 0.25, %u, %less)"),
    ];
    let call = "
    %r = call @one(%p, %q, %c, %u, %w, 5)
    store %r, %q, align 8
    return
}
";
    check(&format!("{HEAD}{BEGIN}{call}{}", functions.concat()));
}

/// A pointer is put into memory, the address of that into other memory, and so on; then the way
/// back. One function sees the caller's numbers and pointers of all depths behind one argument, so
/// it may refuse, but it must not give a wrong number.
#[test]
fn pointers_within_pointers() {
    let functions = "
func @wrap(%p: ptr, %depth: i64, %n: i64) -> f64 {
entry:
    %cell = alloca ptr, align 8
    store %p, %cell, align 8
    %done = icmp sle %n, 0
    branch %done, end, more
end:
    %r0 = call @unwrap(%cell, %depth)
    return %r0
more:
    %less = sub %n, 1 : i64
    %deeper = add %depth, 1 : i64
    %r1 = call @wrap_too(%cell, %deeper, %less)
    return %r1
}
func @wrap_too(%p: ptr, %depth: i64, %n: i64) -> f64 {
entry:
    %r = call @wrap(%p, %depth, %n)
    return %r
}
func @unwrap(%p: ptr, %depth: i64) -> f64 {
entry:
    %inner = load ptr %p, align 8
    %done = icmp sle %depth, 0
    branch %done, end, more
end:
    %x = load f64 %inner, align 8
    %xx = fmul %x, %x : f64
    store %xx, %inner, align 8
    return %xx
more:
    %less = sub %depth, 1 : i64
    %r = call @unwrap(%inner, %less)
    return %r
}
";
    let call = "
    %r = call @wrap(%p, 0, 6)
    store %r, %q, align 8
    return
}
";
    let copied = functions.replace(
        "    %x = load f64 %inner, align 8\n",
        "    %t = alloca f64, align 8\n    memcopy %t, %inner, 8\n    %x = load f64 %t, align 8\n",
    );
    let copied = copied.replace("    store %xx, %inner, align 8\n", "");
    for functions in [functions, &copied] {
        let text = format!("{HEAD}{BEGIN}{call}{functions}");
        for verdict in [first_order(&text), second_order(&text)] {
            println!("{verdict:?}");
            assert!(!matches!(verdict, Verdict::Wrong(_)), "{verdict:?}");
        }
    }
}
