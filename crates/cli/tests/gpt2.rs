//! GPT-2 in C (`gpt2/c`): its gradient by one request against the one by hand and finite differences,
//! at several levels and in both precisions, its training, and what it says to shapes that are none;
//! and the package in Rust (`gpt2`).
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, shown, succeed};
use std::path::Path;
use std::process::Command;

/// A folder with the program, built with these words.
fn built(words: &str) -> Folder {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gpt2/c/gpt2.c");
    let folder = Folder::with(&[]);
    succeed(&folder.zymase(&format!(
        "cc -Wall -Wextra -Werror -Wno-unknown-pragmas {words} {} -lm -o gpt2",
        source.display()
    )));
    folder
}

fn run(folder: &Folder, words: &str) -> std::process::Output {
    let program = folder.path().join("gpt2");
    folder.command(program.to_str().unwrap(), words)
}

/// The checks of the program itself, with two seeds.
fn check(words: &str) {
    let folder = built(words);
    for seed in ["", " seed=7"] {
        let output = run(&folder, &format!("check{seed}"));
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && printed.ends_with("ok gpt2\n"),
            "{words}:\n{printed}{}",
            shown(&output)
        );
    }
}

#[test]
fn agrees_without_optimization() {
    check("-O0");
}

#[test]
fn agrees_optimized() {
    check("-O2");
}

#[test]
fn agrees_with_fast_mathematics() {
    check("-O3 -ffast-math");
}

#[test]
fn agrees_in_double() {
    check("-O2 -DREAL=double");
}

#[test]
fn agrees_without_restrict() {
    check("-O2 -DWITHOUT_RESTRICT");
}

/// No byte beside what was allocated, and nothing that is not freed.
#[test]
fn agrees_under_the_address_sanitizer() {
    check("-O1 -g -fsanitize=address");
}

/// The part by hand is plain C.
#[test]
fn by_hand_without_zymase() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gpt2/c/gpt2.c");
    let folder = Folder::with(&[]);
    succeed(&folder.command(
        "gcc",
        &format!(
            "-O2 -Wall -Wextra -Werror -Wno-unknown-pragmas -DWITHOUT_ZYMASE -fsanitize=address,undefined \
             -fno-sanitize-recover=all {} -lm -o gpt2",
            source.display()
        ),
    ));
    let printed = succeed(&run(&folder, "check"));
    assert!(printed.ends_with("ok gpt2\n"), "{printed}");
}

#[test]
fn training_and_refusals() {
    let folder = built("-O2");
    let printed = succeed(&run(&folder, "steps=300"));
    let losses: Vec<f64> = printed
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(losses[0] > 4.0, "{printed}");
    assert!(*losses.last().unwrap() < 2.0, "{printed}");

    let refused = [
        ("heads=3", "64 channels do not divide by 3 heads"),
        (
            "time=40",
            "sequences of 40 tokens are longer than the 32 positions of the model",
        ),
        ("heads=0", "every part of a shape must be at least 1"),
        ("batch=-1", "every part of a shape must be at least 1"),
        ("padded=100", "a vocabulary of 128 does not fit"),
        ("vocabulary=100", "tokens beyond the vocabulary"),
        ("channels=2147483644", "the shape is too large"),
        ("channels=100000000", "there is no memory for"),
        ("positions=1000 time=900", "shorter than one sequence"),
        ("depth=3", "the word `depth=3` is unknown"),
        ("layers=2x", "the word `layers=2x` is unknown"),
        ("bench nothing", "`bench` takes"),
        ("bench memory", "`bench memory` takes"),
    ];
    for (words, expected) in refused {
        let output = run(&folder, words);
        let text = shown(&output);
        assert!(text.starts_with("exit code 1\n"), "{words}: {text}");
        assert!(text.contains(expected), "{words}: {text}");
    }
}

/// The activations stay where the model has put them until the reverse sweep reads them: what is kept
/// beside them is one number of each row, and what no array has.
#[test]
fn activations_are_not_kept() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gpt2/c/gpt2.c");
    let folder = Folder::with(&[]);
    let words = format!("explain -O3 -ffast-math {}", source.display());
    let printed = succeed(&folder.zymase(&words));
    let kept = |title: &str| -> Vec<&str> {
        let (_, after) = printed.split_once(title).expect(&printed);
        let (part, _) = after
            .split_once("\nreverse mode of ")
            .unwrap_or((after, ""));
        let kept = |line: &&str| line.contains("load : f32 is cached");
        part.lines().filter(kept).collect()
    };
    let alone = kept("reverse mode of `model_loss`\n");
    assert!(alone.is_empty(), "{alone:#?}");
    let title =
        "reverse mode of `model_loss_in_array`, the version that runs when memory does not overlap";
    let in_array = kept(title);
    assert!(in_array.len() <= 1, "{in_array:#?}");
}

/// GPT-2 in Rust (`gpt2`): its own tests, with every derivative written by this Zymase, and then its
/// benchmarks, which share what was built.
#[test]
fn tests_and_benchmarks_of_the_package() {
    // Cargo does not see that Zymase is another one now.
    cargo_zymase("clean", "--release --package zymase-gpt2");
    let printed = cargo_zymase("test", "--release -- --format=pretty");
    let passed = |line: &str| -> Option<usize> {
        let rest = line.strip_prefix("test result: ok. ")?;
        rest.split(' ').next()?.parse().ok()
    };
    let passed: usize = printed.lines().filter_map(passed).sum();
    assert!(passed >= 51, "{passed} tests have passed:\n{printed}");
    // A test that was renamed is noticed here, and one that was lost by the number above.
    for test in [
        "layers::attentions",
        "layers::blocked_products",
        "layers::tuned_products",
        "model::synthesized_gradients_are_those_by_hand",
        "model::gradients_are_finite_differences_of_every_parameter",
        "torch::gradients_are_those_of_pytorch",
        "training::forty_steps_have_the_same_losses",
        "training::one_batch_is_learned_by_heart",
    ] {
        let line = format!("test agreement::{test} ... ok");
        assert!(printed.contains(&line), "{test}:\n{printed}");
    }

    let out = Folder::with(&[]);
    let words = format!("-- --tiny --out {}", out.path().display());
    let printed = cargo_zymase("bench", &words);
    let rows = |start: &str| {
        printed
            .lines()
            .filter(|line| line.starts_with(start))
            .count()
    };
    // Seven layers and six models, in C six layers and a model; each model has steps too.
    assert_eq!(
        (rows("| Rust: "), rows("| C, Zymase: ")),
        (19, 8),
        "{printed}"
    );
    let report = std::fs::read_to_string(out.path().join("gpt2.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    for row in report["rows"].as_array().unwrap() {
        let difference = row["difference"].as_f64().unwrap_or_default();
        assert!(difference < 1e-5, "{row}");
    }
    for picture in ["ratios", "steps", "memory", "losses"] {
        let picture = out.path().join(picture).with_extension("svg");
        let picture = std::fs::read_to_string(picture).unwrap();
        assert!(picture.contains("<svg"), "{picture}");
    }
}

/// Runs `cargo zymase` in the package, with a target folder of its own, and gives what was printed.
fn cargo_zymase(subcommand: &str, words: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gpt2");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gpt2");
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_cargo-zymase"));
    cargo.args(["zymase", subcommand, "--quiet", "--locked", "--target-dir"]);
    cargo.arg(target).args(words.split(' '));
    // In the folder, because of its `.cargo/config.toml`. The benchmarks compile C with this Zymase.
    cargo.current_dir(folder).env_remove("RUSTFLAGS");
    cargo.env("ZYMASE", env!("CARGO_BIN_EXE_zymase"));
    let output = cargo.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{cargo:?}\n{printed}\n{errors}");
    printed
}
