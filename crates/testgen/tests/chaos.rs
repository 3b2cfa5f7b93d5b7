//! Choices by chance give the same derivatives.
//!
//! `ZYMASE_CHAOS_SEEDS=start..end` tries these programs instead of the usual ones.

use zymase_core::chaos::Choice;
use zymase_core::ir::Mode;
use zymase_core::ir::text::{parse_module, print_module};
use zymase_core::pipeline::{Options, differentiate};
use zymase_testgen::grow::grow;
use zymase_testgen::lower::lower;
use zymase_testgen::referee::{Arg, wrapper};
use zymase_testgen::shrink::shrink;
use zymase_testgen::tally::{Tally, asked};
use zymase_testgen::trial::{Verdict, arguments, same_failure, with_chaos};

/// The programs of every test run.
const USUAL: std::ops::Range<u64> = 0..60;

/// How often each program is differentiated, with other choices.
const ROUNDS: u64 = 3;

#[test]
fn any_choice_gives_the_same_derivatives() {
    let mut tally = Tally::default();
    for seed in asked("ZYMASE_CHAOS_SEEDS").unwrap_or(USUAL) {
        let program = grow(seed);
        for round in 0..ROUNDS {
            let attempt = |program: &_| with_chaos(&lower(program), seed * ROUNDS + round);
            let verdict = attempt(&program);
            if let Verdict::Wrong(why) = &verdict {
                let mut fails = |smaller: &_| same_failure(&attempt(smaller), why);
                let small = shrink(&program, 4000, &mut fails);
                panic!("program {seed}, round {round}: {why}\n{}", lower(&small));
            }
            tally.add(format!("{seed}, round {round}"), verdict);
        }
    }
    println!("{tally}");
    assert!(
        tally.agree > 4 * tally.refusals(),
        "many are refused: {tally}"
    );
}

/// A nest whose loops may run in any order.
const NEST: &str = "
func @scaled(%x: ptr noalias, %y: ptr noalias, %n: i64) {
entry:
    nest [%i < %n, %j < %n] {
        %e = load f64 %x + 8*%i + 16*%j, align 8
        %f = math sin %e : f64
        store %f, %y + 8*%i + 16*%j, align 8
    }
    return
}
";

/// A call through a pointer that leads to one of two functions.
const DISPATCH: &str = "
global local constant @ops size 16 align 8 = {at 0 @square, at 8 @wave}

func address_taken @square(%v: f64) -> f64 {
entry:
    %r = fmul %v, %v
    return %r
}

func address_taken @wave(%v: f64) -> f64 {
entry:
    %s = math sin %v
    return %s
}

func @chosen(%v: f64, %i: i64) -> f64 {
entry:
    %at = address @ops + 8*%i
    %op = load ptr %at, align 8
    %r = call *%op(%v) : (f64) -> f64
    return %r
}
";

/// The derivatives of a function in both modes, as text; nothing if they are refused.
fn derivatives(text: &str, name: &str, args: &[Arg], options: &Options) -> Option<String> {
    let mut module = parse_module(text).unwrap();
    let func = module.func_by_name(name).unwrap();
    for mode in [Mode::Forward, Mode::Combined, Mode::Augmented] {
        wrapper(&mut module, func, args, mode);
    }
    differentiate(&mut module, options).ok()?;
    Some(print_module(&module))
}

/// A loop whose iterations are independent, with a loop in it that keeps something.
const ITERATIONS: &str = "
func @powers(%x: ptr, %t: ptr, %m: i64, %n: i64) -> f64 {
entry:
    jump points(0, 0.0)
points(%i: i64, %sum: f64):
    %p = address %t + 8*%i
    %at = load f64 %p, align 8
    jump terms(0, 1.0, 0.5)
terms(%j: i64, %power: f64, %rest: f64):
    %q = address %x + 8*%j
    %a = load f64 %q, align 8
    %b = fmul %a, %power
    %rest2 = fsub %rest, %b
    %power2 = fmul %power, %at
    %j2 = add nsw %j, 1
    %more = icmp slt %j2, %m
    branch %more, terms(%j2, %power2, %rest2), next
next:
    %s = math fmuladd %rest2, %rest2, %sum
    %i2 = add nsw %i, 1
    %again = icmp slt %i2, %n
    branch %again, points(%i2, %s), done
done:
    %half = fmul %s, 0.5
    return %half
}
";

/// A choice that has lost its effect is noticed: when it alone is made by chance, derivatives of some
/// programs are others, for some seeds.
#[test]
fn every_choice_changes_derivatives() {
    let numbers = || Arg::Dup(vec![1.0; 4]);
    let mut programs = vec![
        (
            NEST.to_string(),
            "scaled",
            vec![numbers(), numbers(), Arg::Int(2)],
        ),
        (
            DISPATCH.to_string(),
            "chosen",
            vec![Arg::Out(1.0), Arg::Int(1)],
        ),
        (
            ITERATIONS.to_string(),
            "powers",
            vec![numbers(), numbers(), Arg::Int(3), Arg::Int(4)],
        ),
    ];
    programs.extend((0..80).map(|seed| (lower(&grow(seed)), "f", arguments(0))));
    let mut idle = Choice::ALL.to_vec();
    // Kernels are native code, which the interpreter does not know: no trial here may call them.
    // Programs in C do when choices are made by chance.
    idle.retain(|&choice| choice != Choice::Kernel);
    for (text, name, args) in programs {
        let usual = derivatives(&text, name, &args, &Options::default());
        let same = |choice: &Choice| {
            (0..4).all(|seed| {
                let options = Options {
                    chaos: Some(seed),
                    chaos_only: Some(*choice),
                    ..Options::default()
                };
                derivatives(&text, name, &args, &options) == usual
            })
        };
        idle.retain(same);
    }
    assert!(idle.is_empty(), "these change nothing: {idle:?}");
}
