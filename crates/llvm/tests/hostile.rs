//! Changed modules, and calls of requests with any words after them: they are refused or served,
//! but nothing panics and nothing malformed comes out.
//!
//! The same readers are fuzzed for long by `scripts/fuzz-readers.sh`; here a fixed set of changes
//! guards them. `ZYMASE_MUTATIONS=start..end` tries others.

#[path = "../../../fuzz/src/modules.rs"]
mod modules;
#[path = "../../../fuzz/src/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/src/requests.rs"]
mod requests;

use fastrand::Rng;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// The seeds: those of the environment, or so many.
fn seeds(usual: u64) -> Range<u64> {
    let chosen = std::env::var("ZYMASE_MUTATIONS").ok();
    let chosen = chosen.and_then(|text| {
        let (start, end) = text.split_once("..")?;
        Some(start.parse().ok()?..end.parse().ok()?)
    });
    chosen.unwrap_or(0..usual)
}

/// Reads a module; a panic is told with its seed.
fn check(seed: u64, text: &str) {
    let outcome = std::panic::catch_unwind(|| modules::read(text.as_bytes()));
    if outcome.is_err() {
        panic!("seed {seed}\n{text}");
    }
}

#[test]
fn requests_with_any_words() {
    for seed in seeds(1500) {
        let mut rng = Rng::with_seed(seed);
        let bytes: Vec<u8> = (0..rng.usize(..120)).map(|_| rng.u8(..)).collect();
        check(seed, &requests::module(&bytes));
    }
}

#[test]
fn changed_modules() {
    let corpus = corpus();
    assert!(corpus.len() > 20);
    for seed in seeds(1500) {
        let mut rng = Rng::with_seed(seed);
        let text = &corpus[rng.usize(..corpus.len())];
        check(seed, &mutate::mutated(text, &corpus, &mut rng));
    }
}

/// The smaller programs of the tests as texts, at two levels.
fn corpus() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let folders = ["crates/llvm/tests/programs/c", "tests/programs/gradients"];
    let mut sources = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "c")
                && path.metadata().is_ok_and(|data| data.len() < 2500)
            {
                sources.push(path);
            }
        }
    }
    sources.sort();
    let mut texts = Vec::new();
    for source in sources {
        for level in ["-O0", "-O2"] {
            let mut clang = Command::new("clang-22");
            clang.args(["-w", level, "-S", "-emit-llvm", "-fno-discard-value-names"]);
            clang.arg("-I").arg(root.join("include"));
            clang.arg(&source).args(["-o", "-"]);
            let output = clang.output().unwrap();
            texts.extend(String::from_utf8(output.stdout));
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}
