//! Damaged programs in the text form: they are refused or read, run and differentiated, but nothing
//! panics, hangs or takes memory without end.
//!
//! The same readers are fuzzed for long with coverage by `scripts/fuzz-readers.sh`. Here a fixed set
//! of changes guards them; `ZYMASE_MUTATIONS=start..end` tries others.

#[path = "../../../fuzz/src/core_text.rs"]
mod core_text;
#[path = "../../../fuzz/src/mutate.rs"]
mod mutate;

use fastrand::Rng;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The seeds of every test run.
const USUAL: Range<u64> = 0..3000;

/// A text that takes longer is a defect.
const SLOW: Duration = Duration::from_secs(10);

#[test]
fn damaged_programs() {
    let seeds = std::env::var("ZYMASE_MUTATIONS").ok();
    let seeds = seeds.and_then(|text| {
        let (start, end) = text.split_once("..")?;
        Some(start.parse().ok()?..end.parse().ok()?)
    });
    let corpus = corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/filetests"));
    assert!(corpus.len() > 30);
    for seed in seeds.unwrap_or(USUAL) {
        let mut rng = Rng::with_seed(seed);
        let text = &corpus[rng.usize(..corpus.len())];
        let text = mutate::mutated(text, &corpus, &mut rng);
        let start = Instant::now();
        if let Err(panic) = std::panic::catch_unwind(|| core_text::read(&text)) {
            let panic = panic.downcast_ref::<String>().cloned();
            panic!("seed {seed}: {}\n{text}", panic.unwrap_or_default());
        }
        assert!(start.elapsed() < SLOW, "seed {seed} is slow:\n{text}");
    }
}

/// The functions of the file tests, each by itself with the declarations around it.
fn corpus(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(corpus(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.starts_with(';'));
        let code: Vec<&str> = code.collect();
        texts.push(code.join("\n"));
    }
    texts.sort();
    texts
}
