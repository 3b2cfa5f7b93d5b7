//! The programs in Rust, `bench/rust`, by `cargo zymase`.

use super::options::Options;
use super::programs::repository;
use super::rows::Row;
use super::suite::output;
use std::path::Path;
use std::process::Command;

/// Their rows, in the form of those in C.
pub fn measured(options: &Options) -> Result<Vec<Row>, String> {
    // Cargo does not see that Zymase is another one now.
    let packages = ["zymase-bench-rust", "zymase-gradbench"];
    let packages = packages.iter().flat_map(|package| ["--package", package]);
    output(cargo_zymase("clean").args(packages))?;
    let mut bench = cargo_zymase("bench");
    bench.arg("--");
    if options.is_tiny {
        bench.arg("--tiny");
    }
    let printed = output(bench.args(&options.words))?;
    let rows = printed.lines().map(|line| {
        let program = line.split(['\t', ' ']).next().unwrap_or_default();
        let row = Row::read(line, program, "Rust", "--release");
        row.ok_or_else(|| format!("the programs in Rust printed: {line}"))
    });
    rows.collect()
}

fn cargo_zymase(subcommand: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_cargo-zymase"));
    cargo.args([
        "zymase",
        subcommand,
        "--quiet",
        "--locked",
        "--manifest-path",
    ]);
    cargo.arg(repository().join("bench/rust/Cargo.toml"));
    cargo
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-rust"));
    cargo.env_remove("RUSTFLAGS");
    cargo
}
