//! Derivatives through crates of others: `tests/programs/ecosystem` by `cargo zymase`, without and
//! with optimization. Its programs compare reverse mode with forward mode and finite differences,
//! and print `ok NAME` for each function.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn without_optimization() {
    check(&[]);
}

#[test]
fn with_optimization() {
    check(&["--release"]);
}

/// Builds and runs all programs in a profile.
fn check(profile: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/ecosystem");
    // Cargo does not see that Zymase is another one now.
    zymase("clean", &folder, profile, &["--package", "ecosystem"]);
    zymase("build", &folder, profile, &["--bins"]);
    for source in std::fs::read_dir(folder.join("src/bin")).unwrap() {
        let source = source.unwrap().path();
        let name = source.file_stem().unwrap().to_str().unwrap();
        let printed = zymase("run", &folder, profile, &["--bin", name]);
        let good = printed.lines().filter(|line| line.starts_with("ok "));
        assert!(good.count() > 2, "{name} printed:\n{printed}");
    }
}

fn zymase(subcommand: &str, folder: &Path, profile: &[&str], words: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_cargo-zymase"));
    cargo.args(["zymase", subcommand, "--quiet", "--locked"]);
    cargo.args(words).args(profile);
    cargo.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target(profile));
    let output = cargo.env_remove("RUSTFLAGS").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{cargo:?}\n{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder for each profile, so that the tests need not wait for each other.
fn target(profile: &[&str]) -> PathBuf {
    let name = format!("ecosystem{}", profile.concat());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
