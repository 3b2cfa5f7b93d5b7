//! Blocks that are cut before code is generated compute what they did before.

use std::fmt::Write;
use zymase_llvm::{Context, Jit, Module, OptLevel, TargetMachine, blocks_of};

const STATEMENTS: usize = 3_000;

/// A loop of one long block, with memory, before a return of what it comes to.
fn program() -> String {
    let mut text = "define double @f(double %x, i64 %n) {
start:
  %cell = alloca double
  store double %x, ptr %cell
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %v0 = phi double [ %x, %start ], [ %last, %loop ]\n"
        .to_string();
    for k in 0..STATEMENTS {
        let factor = 0.5 + (k % 7) as f64 / 16.0;
        _ = writeln!(
            text,
            "  %m{k} = fmul double %v{k}, {factor:?}\n  %v{} = fadd double %m{k}, %x",
            k + 1
        );
    }
    _ = writeln!(
        text,
        "  %last = fadd double %v{STATEMENTS}, 1.0
  store double %last, ptr %cell
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %result = load double, ptr %cell
  ret double %result\n}}"
    );
    text
}

fn expected(x: f64, n: i64) -> f64 {
    let mut value = x;
    for _ in 0..n {
        for k in 0..STATEMENTS {
            value = value * (0.5 + (k % 7) as f64 / 16.0) + x;
        }
        value += 1.0;
    }
    value
}

#[test]
fn a_long_loop_is_cut_and_computes_the_same() {
    for level in [OptLevel::None, OptLevel::Default, OptLevel::Aggressive] {
        let context = Context::new();
        let module = Module::parse(&context, program().as_bytes(), "program").unwrap();
        let machine = TargetMachine::for_module(&module, level).unwrap();
        let object = machine.emit_object(&module).unwrap();
        module.verify().unwrap();
        let function = module.function("f").unwrap();
        // SAFETY: the function is live and keeps its blocks.
        let blocks = unsafe { blocks_of(function).count() };
        assert!(blocks > 6, "{blocks} blocks");
        let jit = Jit::load(&object).unwrap();
        // SAFETY: that is the type of the function; `jit` outlives its use.
        unsafe {
            let f: extern "C" fn(f64, i64) -> f64 = jit.function("f").unwrap();
            assert_eq!(f(0.3, 3), expected(0.3, 3));
        }
    }
}
