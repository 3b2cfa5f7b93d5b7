//! Generated programs in C have right derivatives at every level, or are refused.
//!
//! `ZYMASE_C_SEEDS=start..end` tries these seeds at every level instead of the usual few, each at
//! one; `ZYMASE_C_FLAGS` adds words to the command line; `ZYMASE_C_SAVE=folder` keeps programs that
//! disagree. All print statistics with `--nocapture`.

mod common;

use common::{Folder, Trouble, count_troubles};
use zymase_testgen::grow::grow;
use zymase_testgen::shrink::shrink;
use zymase_testgen::tree::Program;
use zymase_testgen::trial::in_c;

/// The seeds of every test run, each at one level.
const USUAL: std::ops::Range<u64> = 0..40;

/// Seeds that found a defect once.
const FOUND: [u64; 2] = [2006, 3057];

#[test]
fn programs_in_c_have_right_derivatives() {
    count_troubles("ZYMASE_C_SEEDS", USUAL.chain(FOUND), |seed, level| {
        let program = grow(seed);
        match trial(&program, level) {
            Err(Trouble::Wrong(why)) => {
                let mut fails = |smaller: &_| match trial(smaller, level) {
                    Err(Trouble::Wrong(other)) => kind(&other) == kind(&why),
                    _ => false,
                };
                let small = shrink(&program, &mut fails);
                let text = in_c(&small).ok().flatten().unwrap_or_default();
                if let Ok(folder) = std::env::var("ZYMASE_C_SAVE") {
                    std::fs::write(format!("{folder}/seed{seed}{level}.c"), &text).unwrap();
                }
                let body = text
                    .split("static Record scaled")
                    .nth(1)
                    .unwrap_or_default();
                let body = body.split("#define RESULT").next().unwrap_or_default();
                Err(Trouble::Wrong(format!("{why}{body}")))
            }
            other => other,
        }
    });
}

/// The first word of a complaint: programs that shrink must go on to fail in the same way.
fn kind(why: &str) -> &str {
    why.split([' ', '\n']).next().unwrap_or_default()
}

fn trial(program: &Program, level: &str) -> Result<(), Trouble> {
    let text = match in_c(program) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(()),
        Err(error) => return Err(Trouble::Wrong(format!("generator: {error}"))),
    };
    let more = std::env::var("ZYMASE_C_FLAGS").unwrap_or_default();
    let folder = Folder::with(&[("program.c", &text)]);
    folder.build_and_run(&format!("cc {level} {more} -w program.c -lm -o program"))
}
