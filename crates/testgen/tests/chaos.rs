//! Choices by chance give the same derivatives.
//!
//! `ZYMASE_CHAOS_SEEDS=start..end` tries these programs instead of the usual ones.

use zymase_testgen::grow::grow;
use zymase_testgen::lower::lower;
use zymase_testgen::shrink::shrink;
use zymase_testgen::tally::{Tally, asked};
use zymase_testgen::trial::{Verdict, same_failure, with_chaos};

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
