//! The GradBench tool, `bench/gradbench`, by `cargo zymase`: its tests compare derivatives with
//! known values, with derivatives written by hand and with finite differences, and talk to the
//! program as GradBench does. The same for the other benchmarks in Rust, `bench/rust`.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

#[test]
fn all_evals() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/gradbench");
    // Cargo does not see that Zymase is another one now.
    zymase("clean", &folder, &["--package", "zymase-gradbench"]);
    let printed = zymase("test", &folder, &[]);
    assert!(printed.contains("test result: ok."), "{printed}");
    for eval in [
        "ba", "det", "gmm", "hello", "ht", "kmeans", "llsq", "lse", "lstm", "ode", "particle",
        "saddle",
    ] {
        let line = format!("test by_hand::{eval} ... ok");
        assert!(printed.contains(&line), "{printed}");
    }
}

#[test]
fn programs_of_the_papers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/rust");
    zymase("clean", &folder, &["--package", "zymase-bench-rust"]);
    let printed = zymase("test", &folder, &[]);
    assert!(printed.contains("test result: ok. 6 passed"), "{printed}");
}

fn zymase(subcommand: &str, folder: &Path, words: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_cargo-zymase"));
    cargo.args(["zymase", subcommand, "--quiet", "--locked", "--release"]);
    cargo.args(words);
    cargo.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    let name = folder.file_name().unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    cargo.arg("--target-dir").arg(target);
    if subcommand == "test" {
        cargo.args(["--", "--format=pretty"]);
    }
    let output = cargo.env_remove("RUSTFLAGS").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{cargo:?}\n{printed}\n{errors}");
    printed
}
