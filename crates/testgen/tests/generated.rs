//! Derivatives of generated programs agree with the oracle, and the oracle with finite differences.
//!
//! `ZYMASE_SEEDS=start..end` tries these seeds instead of the usual ones. `cargo xtask fuzz` goes
//! on with new ones.

use std::path::Path;
use zymase_testgen::grow::grow;
use zymase_testgen::lower::lower;
use zymase_testgen::shrink::shrink;
use zymase_testgen::tally::{Tally, asked};
use zymase_testgen::tree::Program;
use zymase_testgen::trial::{Verdict, first_order, same_failure, second_order, with_chaos};

/// The seeds of every test run.
const USUAL: std::ops::Range<u64> = 0..250;

/// The second order is tried with one seed of so many.
const SECOND_ORDER: u64 = 8;

#[test]
fn derivatives_agree_with_the_oracle() {
    check(1, 0.05, |program| first_order(&lower(program)));
}

#[test]
fn derivatives_of_derivatives_agree_with_the_oracle() {
    // Calls through pointers, for one, have no second order yet.
    check(SECOND_ORDER, 0.3, |program| second_order(&lower(program)));
}

/// Programs that found a defect once.
#[test]
fn programs_that_found_defects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/found");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "zir") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let by_chance = (0..8).map(|seed| with_chaos(&text, seed));
        for verdict in [first_order(&text), second_order(&text)]
            .into_iter()
            .chain(by_chance)
        {
            assert!(
                matches!(verdict, Verdict::Agrees(_)),
                "{}: {verdict:?}",
                path.display()
            );
        }
    }
}

/// Tries one seed of so many; no more than a part may be refused.
fn check(one_in: u64, refused: f64, trial: impl Fn(&Program) -> Verdict) {
    let mut tally = Tally::default();
    for seed in asked("ZYMASE_SEEDS").unwrap_or(USUAL) {
        if seed % one_in == 0 {
            tally.add(seed.to_string(), trial(&grow(seed)));
        }
    }
    println!("{tally}");
    let mut report = String::new();
    for (seed, why) in &tally.wrong {
        let program = grow(seed.parse().unwrap());
        let small = shrink(&program, 4000, &mut |smaller| {
            same_failure(&trial(smaller), why)
        });
        report += &format!("seed {seed}: {why}\n{}\n", lower(&small));
    }
    assert!(tally.wrong.is_empty(), "{report}");
    let share = tally.refusals() as f64 / tally.total() as f64;
    assert!(share <= refused, "many are refused: {tally}");
}
