//! The passes before import and after export.

use zymase_llvm::chaos::keep_calls;
use zymase_llvm::pipelines::{finish, prepare, program};
use zymase_llvm::{Context, Module, OptLevel, TargetMachine};

const SUM: &str = "
    target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
    target triple = \"x86_64-unknown-linux-gnu\"
    define double @sum(ptr noalias %p, ptr noalias %q, i64 %n) noinline optnone {
    entry:
        %i = alloca i64
        store i64 0, ptr %i
        br label %loop
    loop:
        %a = load i64, ptr %i
        %x = getelementptr double, ptr %p, i64 %a
        %y = load double, ptr %x
        %z = call double @twice(double %y)
        %w = getelementptr double, ptr %q, i64 %a
        store double %z, ptr %w
        %b = add nsw i64 %a, 1
        store i64 %b, ptr %i
        %c = icmp slt i64 %b, %n
        br i1 %c, label %loop, label %done
    done:
        %k = call double @kept(double 1.0)
        ret double %k
    }
    define double @twice(double %x) noinline optnone { %y = fadd double %x, %x ret double %y }
    define double @kept(double %x) noinline { %y = fadd double %x, %x ret double %y }";

fn parse(text: &str) -> Module {
    Module::parse(&Context::new(), text.as_bytes(), "test.ll").unwrap_or_else(|d| panic!("{d}"))
}

/// By chance a call stays a call that is inlined otherwise, and not for every seed.
#[test]
fn chaos_keeps_calls() {
    let kept = |seed: Option<u64>| {
        let module = parse(&SUM.replace(" noinline optnone", ""));
        if let Some(seed) = seed {
            keep_calls(&module, seed);
        }
        prepare(&module).unwrap();
        module.print().contains("call double @twice")
    };
    assert!(!kept(None));
    let kept: Vec<bool> = (0..8).map(|seed| kept(Some(seed))).collect();
    assert!(kept.contains(&true) && kept.contains(&false), "{kept:?}");
}

#[test]
fn preparation_optimizes_and_leaves_loops_alone() {
    let module = parse(SUM);
    prepare(&module).unwrap();
    let text = module.print();
    for (word, expected) in [
        ("alloca", false),
        ("optnone", false),
        ("noimplicitfloat", false),
        ("call double @twice", false),
        ("call double @kept", true),
        ("noinline", true),
        ("x double>", false),
        ("phi i64", true),
    ] {
        assert_eq!(text.contains(word), expected, "{word} in\n{text}");
    }
    // Short loops stay loops, too.
    let module = parse(&SUM.replace("slt i64 %b, %n", "slt i64 %b, 4"));
    prepare(&module).unwrap();
    let text = module.print();
    assert!(
        text.contains("phi i64") && !text.contains("x double>"),
        "{text}"
    );
}

#[test]
fn finishing_vectorizes() {
    let module = parse(SUM);
    prepare(&module).unwrap();
    finish(&module).unwrap();
    assert!(module.print().contains("x double>"), "{}", module.print());
}

/// A loop that is entered in the middle gets one entry.
#[test]
fn preparation_makes_cycles_reducible() {
    let module = parse(
        "declare void @a(i32)
        declare void @b(i32)
        declare i1 @more()
        define void @f(i1 %c) {
            br i1 %c, label %one, label %two
        one:
            call void @a(i32 1)
            %x = call i1 @more()
            br i1 %x, label %two, label %done
        two:
            call void @b(i32 2)
            %y = call i1 @more()
            br i1 %y, label %one, label %done
        done:
            ret void
        }",
    );
    prepare(&module).unwrap();
    module.verify().unwrap();
    assert!(module.print().contains("irr.guard"), "{}", module.print());
}

/// The inner loop may be vectorized if two rows do not overlap, also when the outer loop goes
/// downwards.
#[test]
fn finishing_vectorizes_reversed_nests() {
    let module = parse(
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
        target triple = \"x86_64-unknown-linux-gnu\"
        define void @f(ptr %a, i64 %k, i64 %n) {
        entry:
            %at = mul nsw i64 %k, 1000
            %row = getelementptr double, ptr %a, i64 %at
            br label %outer
        outer:
            %i = phi i64 [ %n, %entry ], [ %above, %latch ]
            %above = sub nuw nsw i64 %i, 1
            %from = mul nsw i64 %above, 1000
            %other = getelementptr double, ptr %a, i64 %from
            br label %inner
        inner:
            %j = phi i64 [ 1000, %outer ], [ %left, %inner ]
            %left = sub nuw nsw i64 %j, 1
            %p = getelementptr inbounds double, ptr %other, i64 %left
            %x = load double, ptr %p
            %q = getelementptr inbounds double, ptr %row, i64 %left
            %y = load double, ptr %q
            %z = fadd double %x, %y
            store double %z, ptr %q
            %first = icmp eq i64 %left, 0
            br i1 %first, label %latch, label %inner
        latch:
            %top = icmp eq i64 %above, 0
            br i1 %top, label %done, label %outer
        done:
            ret void
        }",
    );
    finish(&module).unwrap();
    let text = module.print();
    assert!(text.contains("store <2 x double>"), "{text}");
}

/// Stores to variables of the frame that were merged go back, so that the variables become registers:
/// which of them is written is a choice, and so is what.
#[test]
fn merged_stores_to_variables_are_separated() {
    let text = "
        define double @chosen(ptr %x, ptr %y, i1 %c) {
        entry:
            %a = alloca ptr
            %b = alloca ptr
            store ptr %x, ptr %a
            store ptr %y, ptr %b
            br i1 %c, label %first, label %second
        first:
            %p = getelementptr double, ptr %x, i64 1
            br label %join
        second:
            %q = getelementptr double, ptr %y, i64 2
            br label %join
        join:
            %to = phi ptr [ %a, %first ], [ %b, %second ]
            %what = phi ptr [ %p, %first ], [ %q, %second ]
            STORE
            %r = load ptr, ptr %a
            %s = load ptr, ptr %b
            %v = load double, ptr %r
            %w = load double, ptr %s
            %z = fsub double %v, %w
            ret double %z
        }";
    let prepared = |store: &str| {
        let module = parse(&text.replace("STORE", store));
        prepare(&module).unwrap();
        module.print()
    };
    let separated = prepared("store ptr %what, ptr %to");
    assert!(!separated.contains("alloca"), "{separated}");
    // Each variable has its own choice: what was stored on one way, and what it held on the other.
    assert!(
        separated.contains("i64 8") && separated.contains("i64 16"),
        "{separated}"
    );
    // What others may look at stays one store.
    let volatile = prepared("store volatile ptr %what, ptr %to");
    assert_eq!(volatile.matches("store volatile").count(), 1, "{volatile}");
}

/// A loop in a loop, over arrays that may overlap.
const NESTED: &str = "
    target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
    target triple = \"x86_64-unknown-linux-gnu\"
    define void @add_scaled(ptr %c, ptr %a, ptr %b, i64 %n, i64 %m) {
    entry:
        br label %outer
    outer:
        %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
        %row = mul nsw i64 %i, %m
        br label %inner
    inner:
        %k = phi i64 [ 0, %outer ], [ %k.next, %inner ]
        %at = add nsw i64 %row, %k
        %pa = getelementptr inbounds double, ptr %a, i64 %at
        %pb = getelementptr inbounds double, ptr %b, i64 %k
        %pc = getelementptr inbounds double, ptr %c, i64 %at
        %x = load double, ptr %pa
        %y = load double, ptr %pb
        %z = fmul double %x, %y
        %w = load double, ptr %pc
        %sum = fadd double %w, %z
        store double %sum, ptr %pc
        %k.next = add nsw i64 %k, 1
        %more = icmp slt i64 %k.next, %m
        br i1 %more, label %inner, label %latch
    latch:
        %i.next = add nsw i64 %i, 1
        %rows = icmp slt i64 %i.next, %n
        br i1 %rows, label %outer, label %done
    done:
        ret void
    }";

/// Derivatives are optimized with an option of their own. It is one of the whole process, and must
/// not change what becomes of the program that asks for them.
#[test]
fn the_program_is_optimized_as_if_there_were_no_derivatives() {
    let optimized = |text: &str| {
        let module = parse(text);
        let machine = TargetMachine::for_module(&module, OptLevel::Aggressive).unwrap();
        program(&module, &machine, 3).unwrap();
        module.print()
    };
    let before = optimized(NESTED);
    let derivative = parse(NESTED);
    finish(&derivative).unwrap();
    assert!(derivative.print() != before, "the option has no effect");
    assert!(optimized(NESTED) == before, "the option is still there");
    let again = parse(NESTED);
    finish(&again).unwrap();
    assert!(again.print() == derivative.print(), "the option is gone");
}
