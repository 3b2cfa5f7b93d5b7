//! Why derivatives are made of optimized code: in `out[i] = in[i] / mag(in)` the optimizer takes
//! the call out of the loop. The gradient of what is left is linear in the length; that of the
//! code as written is quadratic, and no optimizer could mend it afterwards, for by then every
//! iteration adds to the shadow of `in`.
//!
//! Steps of the interpreter are counted, not time.

use zymase_core::pipeline::Options;
use zymase_llvm::import::import;
use zymase_llvm::pipelines::prepare;
use zymase_llvm::{Context, Module};
use zymase_testgen::referee::{Arg, Derivatives};

/// What a compiler makes of the C program before it optimizes, up to names.
const NORMALIZE: &str = r#"
    target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
    target triple = "x86_64-unknown-linux-gnu"
    define void @normalize(ptr noalias %in, ptr noalias %out, i64 %n) {
    entry:
        br label %test
    test:
        %i = phi i64 [ 0, %entry ], [ %next, %body ]
        %more = icmp slt i64 %i, %n
        br i1 %more, label %body, label %done
    body:
        %p = getelementptr inbounds double, ptr %in, i64 %i
        %x = load double, ptr %p, align 8
        %m = call double @mag(ptr %in, i64 %n)
        %y = fdiv double %x, %m
        %q = getelementptr inbounds double, ptr %out, i64 %i
        store double %y, ptr %q, align 8
        %next = add nsw i64 %i, 1
        br label %test
    done:
        ret void
    }
    define double @mag(ptr %in, i64 %n) noinline {
    entry:
        br label %test
    test:
        %i = phi i64 [ 0, %entry ], [ %next, %body ]
        %sum = phi double [ 0.0, %entry ], [ %larger, %body ]
        %more = icmp slt i64 %i, %n
        br i1 %more, label %body, label %done
    body:
        %p = getelementptr inbounds double, ptr %in, i64 %i
        %x = load double, ptr %p, align 8
        %square = fmul double %x, %x
        %larger = fadd double %sum, %square
        %next = add nsw i64 %i, 1
        br label %test
    done:
        %root = call double @llvm.sqrt.f64(double %sum)
        ret double %root
    }
    declare double @llvm.sqrt.f64(double)"#;

/// The steps of the gradient for vectors of some lengths, which is also checked with the oracle.
fn steps(optimize_first: bool, lengths: [usize; 2]) -> [u64; 2] {
    let module = Module::parse(&Context::new(), NORMALIZE.as_bytes(), "normalize.ll")
        .unwrap_or_else(|d| panic!("{d}"));
    if optimize_first {
        prepare(&module).unwrap_or_else(|d| panic!("{d}"));
    }
    let imported = import(&module).unwrap_or_else(|d| panic!("{d}"));
    let arguments = |n: usize| {
        let numbers = (0..n).map(|i| 0.5 + (i % 7) as f64).collect();
        [
            Arg::Dup(numbers),
            Arg::Dup(vec![0.0; n]),
            Arg::Int(n as i64),
        ]
    };
    let few = arguments(5);
    let options = Options::default();
    let derivatives = Derivatives::new(&imported.module, "normalize", &few, &options)
        .unwrap_or_else(|e| panic!("{e}"));
    derivatives.check(&few).unwrap_or_else(|e| panic!("{e}"));
    lengths.map(|n| {
        let counted = derivatives.steps(&arguments(n));
        counted.unwrap_or_else(|e| panic!("{e}")).0
    })
}

#[test]
fn the_gradient_of_normalization_is_linear() {
    let [once, twice] = steps(true, [100, 200]);
    let growth = twice as f64 / once as f64;
    assert!((1.8..2.1).contains(&growth), "{once} steps, then {twice}");
}

#[test]
fn without_optimizing_first_it_would_be_quadratic() {
    let [once, twice] = steps(false, [100, 200]);
    let growth = twice as f64 / once as f64;
    assert!((3.6..4.2).contains(&growth), "{once} steps, then {twice}");
}
