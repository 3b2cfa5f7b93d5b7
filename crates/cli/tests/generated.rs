//! Generated programs in C have right derivatives at every level, or are refused.
//!
//! `ZYMASE_C_SEEDS=start..end` tries these seeds at every level instead of the usual few, each at
//! one; `ZYMASE_C_FLAGS` adds words to the command line. `cargo xtask fuzz` goes on with new seeds.

mod common;

use common::{binary, build};
use std::path::Path;
use zymase_testgen::grow::grow;
use zymase_testgen::native::LEVELS;
use zymase_testgen::shrink::shrink;
use zymase_testgen::tally::try_levels;
use zymase_testgen::trial::{Verdict, in_c, same_failure};

/// The seeds of every test run, each at one level.
const USUAL: std::ops::Range<u64> = 0..40;

/// How often a program that fails is tried to be made smaller.
const TRIES: usize = 200;

#[test]
fn programs_in_c_have_right_derivatives() {
    let binary = binary();
    let more = std::env::var("ZYMASE_C_FLAGS").unwrap_or_default();
    try_levels("ZYMASE_C_SEEDS", USUAL, |seed, level| {
        let flags = format!("{level} {more}");
        let attempt = |program: &_| build(&binary, &flags).trial(program);
        let program = grow(seed);
        match attempt(&program) {
            Verdict::Wrong(why) => {
                let mut fails = |smaller: &_| same_failure(&attempt(smaller), &why);
                let small = shrink(&program, TRIES, &mut fails);
                let text = in_c(&small).ok().flatten().unwrap_or_default();
                Verdict::Wrong(format!("{why}\n{text}"))
            }
            verdict => verdict,
        }
    });
}

/// Programs that found a defect once, at every level.
#[test]
fn programs_that_found_defects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/found");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for level in LEVELS {
            let verdict = build(&binary(), level).trial_of_text(&text);
            assert!(
                matches!(verdict, Verdict::Agrees(_)),
                "{} {level}: {verdict:?}",
                path.display()
            );
        }
    }
}
