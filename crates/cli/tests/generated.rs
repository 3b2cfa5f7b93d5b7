//! Generated programs in C have right derivatives at every level, or are refused.
//!
//! `ZYMASE_C_SEEDS=start..end` tries these seeds at every level instead of the usual few, each at
//! one; `ZYMASE_C_SANITIZED`, `ZYMASE_C_SECOND` and `ZYMASE_C_CHAOS` do so for the other tests;
//! `ZYMASE_C_FLAGS` adds words to the command line. `cargo xtask fuzz` goes on with new seeds.

mod common;

use common::{binary, build};
use std::path::Path;
use zymase_testgen::census::constructs;
use zymase_testgen::grow::grow;
use zymase_testgen::native::{Build, LEVELS};
use zymase_testgen::shrink::shrink;
use zymase_testgen::tally::try_levels;
use zymase_testgen::trial::{Verdict, in_c, same_failure};

/// How often a program that fails is tried to be made smaller.
const TRIES: usize = 200;

#[test]
fn programs_in_c_have_right_derivatives() {
    let more = std::env::var("ZYMASE_C_FLAGS").unwrap_or_default();
    check("ZYMASE_C_SEEDS", 0..80, &more, |_| None);
}

/// Memory of derivatives is used as the language allows.
#[test]
fn programs_in_c_with_sanitizers() {
    let flags = "-fsanitize=address,undefined";
    check("ZYMASE_C_SANITIZED", 100..116, flags, |_| None);
}

#[test]
fn programs_in_c_to_the_second_order() {
    check("ZYMASE_C_SECOND", 200..212, "-DSECOND_ORDER", |_| None);
}

/// Any choice of the compiler gives the same derivatives.
#[test]
fn programs_in_c_with_choices_by_chance() {
    const SEEDS: std::ops::Range<u64> = 300..332;
    // By chance, products of any size call kernels, so there must be products.
    let multiplies = |&seed: &u64| constructs(&grow(seed)).contains("product of matrices");
    let products = SEEDS.filter(multiplies).count();
    assert!(products >= 4, "only {products} programs multiply matrices");
    check("ZYMASE_C_CHAOS", SEEDS, "", Some);
}

/// Tries seeds with these flags, and with choices by chance from another seed.
fn check(
    variable: &str,
    usual: std::ops::Range<u64>,
    more: &str,
    chaos: impl Fn(u64) -> Option<u64>,
) {
    let binary = binary();
    try_levels(variable, usual, |seed, level| {
        let flags = format!("{level} {more}");
        let build = Build {
            chaos: chaos(seed),
            ..build(&binary, &flags)
        };
        let program = grow(seed);
        match build.trial(&program) {
            Verdict::Wrong(why) => {
                let mut fails = |smaller: &_| same_failure(&build.trial(smaller), &why);
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
