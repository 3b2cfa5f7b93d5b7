//! Programs that copy memory in every way that C allows have right derivatives, or are refused.
//!
//! `ZYMASE_COPIES=start..end` tries these seeds at every level instead of the usual few;
//! `ZYMASE_COPIES_SAVE=file` keeps the last program.

mod common;

use common::{Folder, count_troubles};

/// The seeds of every test run, each at one level.
const USUAL: std::ops::Range<u64> = 0..24;

#[test]
fn copies_have_right_derivatives_or_are_refused() {
    count_troubles("ZYMASE_COPIES", USUAL, |seed, level| {
        let text = zymase_testgen::copies::program(seed);
        if let Ok(path) = std::env::var("ZYMASE_COPIES_SAVE") {
            std::fs::write(path, &text).unwrap();
        }
        let folder = Folder::with(&[("copies.c", &text)]);
        folder.build_and_run(&format!("cc {level} -w copies.c -lm -o program"))
    });
}
