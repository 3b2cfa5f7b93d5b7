//! Builds the programs of `tests/programs/rust` with rustc and `zymase ld` as its linker, as a user
//! of plain rustc would, with and without optimization, and runs them.
//!
//! Each program compares the derivatives of its functions in reverse mode with those in forward
//! mode and with finite differences (see `check.rs` there), prints `ok NAME` for each, and returns
//! zero only if all of them agree.
//!
//! One test for each program, so that nextest runs them side by side.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        /// A program that no test runs would go unnoticed.
        #[test]
        fn every_program_is_listed() {
            let listed = [$(stringify!($name)),*];
            for entry in std::fs::read_dir(folder()).unwrap() {
                let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
                assert!(name == "check" || listed.contains(&&*name), "{name} is not in the list of tests");
            }
        }
    };
}

programs!(
    arrays,
    boxed_iterators,
    boxes,
    closures,
    cow,
    deques,
    dual_numbers,
    dyn_functions,
    dyn_traits,
    enums,
    generics,
    hash_maps,
    heaps,
    in_place,
    iterators,
    iterators_own,
    logs,
    loops,
    matrices,
    messages,
    mixed,
    nbody,
    network,
    numbers,
    ordering,
    overflow,
    panics,
    parsing,
    printing,
    recursion,
    regression,
    shared,
    singles,
    slices,
    sorting,
    statics,
    strings,
    structures,
    swaps,
    vectors,
);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/rust")
}

/// Builds and runs a program at both levels.
fn check(name: &str) {
    for level in ["0", "3"] {
        let scratch = tempfile::tempdir().unwrap();
        let printed = build_and_run(name, scratch.path(), &[&format!("-Copt-level={level}")]);
        let good = printed
            .lines()
            .filter(|line| line.starts_with("ok "))
            .count();
        assert!(good > 0, "{name} at level {level} printed:\n{printed}");
    }
}

/// Builds a program with these flags and gives what it prints.
fn build_and_run(name: &str, scratch: &Path, flags: &[&str]) -> String {
    let program = scratch.join(name);
    let mut rustc = Command::new("rustc");
    rustc.args([
        "--edition=2024",
        "-Clinker-plugin-lto",
        "-Clto=off",
        "-Cdebuginfo=2",
    ]);
    rustc.arg(format!("-Clinker={}", linker(scratch).display()));
    rustc
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(folder().join(format!("{name}.rs")));
    run(&mut rustc);
    run(&mut Command::new(program))
}

/// A program that links with Zymase.
fn linker(scratch: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = scratch.join("linker");
    let text = format!("#!/bin/sh\nexec '{}' ld \"$@\"\n", common::binary());
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}:\n{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    printed
}

/// A program that ends at a panic has no way out of a derivative, and needs none.
#[test]
fn panics_may_abort() {
    for level in ["0", "3"] {
        let scratch = tempfile::tempdir().unwrap();
        let flags = [&*format!("-Copt-level={level}"), "-Cpanic=abort"];
        let printed = build_and_run("vectors", scratch.path(), &flags);
        assert!(printed.contains("ok vectors: pushed"), "{printed}");
    }
}
