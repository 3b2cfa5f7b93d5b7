//! Builds the programs of `tests/programs/rust` with rustc and `zymase ld` as its linker, as a user
//! of plain rustc would, with and without optimization, and runs them.
//!
//! Each program compares the derivatives of its functions in reverse mode with those in forward
//! mode and with finite differences (see `check.rs` there), prints `ok NAME` for each, and returns
//! zero only if all of them agree.
//!
//! One test for each program, so that nextest runs them side by side.

mod common;
#[macro_use]
#[path = "common/listed.rs"]
mod listed;

use std::path::{Path, PathBuf};
use std::process::Command;

programs!(
    folder:
    arrays,
    autovectorized,
    beside_constants,
    boxed_iterators,
    boxes,
    closures,
    closures_returned,
    collected_in_place,
    const_matrices,
    constants,
    conversions,
    cow,
    decompositions,
    deques,
    dual_numbers,
    dyn_functions,
    dyn_traits,
    dyn_traits_shared,
    dynamic_programming,
    early_returns,
    enums,
    expressions,
    float_methods,
    generic_floats,
    generics,
    generics_traits,
    geometry,
    hash_maps,
    heaps,
    hints,
    in_place,
    interpreters,
    iterators,
    iterators_lazy,
    iterators_nested,
    iterators_own,
    iterators_searching,
    linked_lists,
    logs,
    loops,
    matrices,
    messages,
    mixed,
    nbody,
    network,
    numbers,
    once,
    optimization,
    options,
    options_returned,
    ordering,
    overflow,
    own_collections,
    ownership,
    panics,
    panics_caught,
    parsing,
    patterns,
    pointers,
    printing,
    recursion,
    references,
    regression,
    shared,
    simulations,
    singles,
    slices,
    sorted_by_hand,
    sorting,
    splines,
    state_machines,
    statics,
    statistics,
    strings,
    structures,
    swaps,
    temporaries,
    text,
    transforms,
    trees,
    units,
    vectors,
    vectors_edited,
    vectors_of,
    vectors_of_enums,
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
    let mut rustc = rustc(scratch, flags);
    run(rustc.arg(folder().join(format!("{name}.rs"))));
    run(&mut Command::new(scratch.join("program")))
}

/// rustc, which makes `program` in this folder with derivatives.
fn rustc(scratch: &Path, flags: &[&str]) -> Command {
    let mut rustc = Command::new("rustc");
    rustc.args([
        "--edition=2024",
        "-Clinker-plugin-lto",
        "-Clto=off",
        "-Cdebuginfo=2",
    ]);
    rustc.arg(format!("-Clinker={}", linker(scratch).display()));
    rustc.args(flags).arg("-o").arg(scratch.join("program"));
    rustc
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

/// What a program that asks for the gradient of its function `cost` is refused with.
fn refusal(text: &str, level: &str) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("program.rs");
    let check = folder().join("check.rs");
    let main = "fn main() { let _ = derivative!(cost, &[1.0], &[1.0]);\n\
                check!(\"cost\", cost, [1.0, 2.0]); }";
    let text = format!("include!({check:?});\n{text}\n{main}\n");
    std::fs::write(&source, text).unwrap();
    let mut rustc = rustc(scratch.path(), &[&format!("-Copt-level={level}")]);
    let output = rustc.arg(&source).output().unwrap();
    assert!(!output.status.success(), "level {level} was accepted");
    String::from_utf8(output.stderr).unwrap()
}

/// No derivative flows through formatting, so what it runs must not change numbers.
#[test]
fn formatting_that_changes_numbers_is_refused() {
    let sinks = [
        "&'a std::cell::Cell<f64>",
        "&'a std::cell::Cell<[f64; 3]>",
        "&'a std::cell::RefCell<Vec<f64>>",
    ];
    let changes = [
        "self.0.set(self.0.get() + self.1)",
        "let mut all = self.0.get(); all[1] *= self.1; self.0.set(all)",
        "self.0.borrow_mut().push(self.1)",
    ];
    let starts = [
        "Cell::new(0.0)",
        "Cell::new([0.0; 3])",
        "RefCell::new(vec![])",
    ];
    for ((sink, change), start) in sinks.into_iter().zip(changes).zip(starts) {
        let text = format!(
            "struct Shown<'a>({sink}, f64);
             impl std::fmt::Display for Shown<'_> {{
                 #[inline(never)]
                 fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{
                     {change};
                     f.write_str(\"shown\")
                 }}
             }}
             fn cost(x: &[f64]) -> f64 {{
                 let sink = std::cell::{start};
                 println!(\"{{}}\", Shown(&sink, x[0]));
                 x[1] + format!(\"{{:?}}\", sink).len() as f64
             }}"
        );
        // Called through a pointer, and directly.
        let direct = text.replace(
            "println!(\"{}\", Shown(&sink, x[0]));",
            "Shown(&sink, x[0]).to_string();",
        );
        assert_ne!(direct, text);
        for (text, level) in [(&text, "0"), (&text, "3"), (&direct, "0"), (&direct, "3")] {
            let said = refusal(text, level);
            assert!(said.contains("error[Z0506]"), "{change} at {level}: {said}");
            assert!(said.contains("Shown as core::fmt::Display>::fmt"), "{said}");
        }
    }
}

/// Threads run functions that derivatives may flow through.
#[test]
fn threads_are_refused() {
    let scoped = "fn cost(x: &[f64]) -> f64 {
        let mut sum = 0.0;
        std::thread::scope(|s| { s.spawn(|| sum = x[0] * x[1]); });
        sum
    }";
    let spawned = "fn cost(x: &[f64]) -> f64 {
        let a = x[0];
        std::thread::spawn(move || a * a).join().unwrap()
    }";
    for text in [scoped, spawned] {
        for level in ["0", "3"] {
            let said = refusal(text, level);
            assert!(said.contains("error[Z05"), "at {level}: {said}");
        }
    }
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

/// Levels that other tests do not build at.
#[test]
fn levels_between() {
    for level in ["1", "2", "s"] {
        let scratch = tempfile::tempdir().unwrap();
        let flags = [&*format!("-Copt-level={level}")];
        let printed = build_and_run("splines", scratch.path(), &flags);
        assert!(printed.contains("ok splines: curves"), "{printed}");
    }
}
