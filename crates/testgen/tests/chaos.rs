//! Choices by chance give the same derivatives.
//!
//! `ZYMASE_CHAOS_SEEDS=start..end` tries these programs instead of the usual ones.

use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;
use zymase_testgen::grow::grow;
use zymase_testgen::lower::lower;
use zymase_testgen::shrink::shrink;
use zymase_testgen::trial::{Verdict, trial};

/// How often each program is differentiated, with other choices.
const ROUNDS: u64 = 3;

#[test]
fn any_choice_gives_the_same_derivatives() {
    let range = std::env::var("ZYMASE_CHAOS_SEEDS").unwrap_or("0..60".to_string());
    let range = range.split_once("..").map(|(a, b)| (a.parse(), b.parse()));
    let Some((Ok(start), Ok(end))) = range else {
        panic!("ZYMASE_CHAOS_SEEDS is not a range such as 0..100");
    };
    let (mut good, mut refused) = (0, 0);
    for seed in start..end {
        let program = grow(seed);
        for round in 0..ROUNDS {
            let with_chaos = |program: &_| {
                let options = Options {
                    chaos: Some(seed * ROUNDS + round),
                    ..Options::default()
                };
                match trial(program, &options) {
                    Verdict::Refused(why) if is_usual(program) => {
                        Verdict::Wrong(format!("refused only with chaos: {why}"))
                    }
                    verdict => verdict,
                }
            };
            match with_chaos(&program) {
                Verdict::Wrong(_) => {
                    let mut fails = |p: &_| matches!(with_chaos(p), Verdict::Wrong(_));
                    let small = shrink(&program, &mut fails);
                    let Verdict::Wrong(why) = with_chaos(&small) else {
                        unreachable!("it failed a moment ago")
                    };
                    panic!("program {seed}, round {round}: {why}\n{}", lower(&small));
                }
                Verdict::Agrees => good += 1,
                Verdict::Refused(_) => refused += 1,
                Verdict::Unusable => {}
            }
        }
    }
    println!("{good} agree, {refused} refused");
    assert!(good > refused);
}

/// Whether a program is differentiated without chaos.
fn is_usual(program: &zymase_testgen::tree::Program) -> bool {
    let options = Options {
        plan: PlanKind::Everything,
        ..Options::default()
    };
    matches!(trial(program, &options), Verdict::Agrees)
}
