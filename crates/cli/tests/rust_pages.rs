//! The pages about Rust tell the truth: a package is made as the first of them says, and every
//! program on them is built in it.
//!
//! A block of Rust is a program, and the next block of text is what it prints, or the error that
//! refuses it, or the first line of that. All of them are built by one run of cargo for each profile.
//! `ZYMASE_BLESS=1` writes what they print; read the difference.
#![cfg(target_os = "linux")]

#[path = "common/page.rs"]
mod page;
#[path = "common/project.rs"]
mod project;

use page::{Piece, blocks};
use project::Project;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The first of them is followed step by step.
const PAGES: [&str; 4] = [
    "docs/rust.md",
    "README.md",
    "docs/from-other-tools.md",
    "docs/rust-refusals.md",
];

#[test]
fn programs_on_pages() {
    let project = getting_started();
    for (number, name) in PAGES.iter().enumerate() {
        for (i, (_, program)) in blocks(&page::read(name), &["rust"]).iter().enumerate() {
            project.write(&format!("hello/src/bin/{}.rs", bin(number, i)), program);
        }
    }
    let mut troubles = String::new();
    for profile in ["", "--release"] {
        let outcomes = build_and_run(&project, profile);
        for (number, name) in PAGES.iter().enumerate() {
            let found = page::read(name);
            // Functions are inlined into others when they are optimized, so messages have more lines.
            let whole = profile.is_empty();
            let (now, differences) = with_outcomes(&found, number, &outcomes, whole);
            if page::blessing() {
                std::fs::write(page::path(name), now).unwrap();
            } else if !differences.is_empty() {
                let _ = writeln!(troubles, "{name} {profile}\n{differences}");
            }
        }
    }
    assert!(troubles.is_empty(), "{troubles}");
}

/// Follows the first page, from the command that makes a package to the one that runs it.
fn getting_started() -> Project {
    let project = Project::with(&[]);
    let repository = page::path("").canonicalize().unwrap();
    std::os::unix::fs::symlink(&repository, project.path().join("zymase")).unwrap();
    let document = page::read(PAGES[0]);
    let commands = blocks(&document, &["sh"]);
    let [install, make, run] = &commands[..] else {
        panic!("three blocks of commands are expected");
    };
    assert!(install.1.starts_with("cargo install --path zymase/crates/"));
    for line in make.1.lines().filter(|line| *line != "cd hello") {
        let words = line.strip_prefix("cargo ").unwrap();
        let folder = if words.starts_with("new") {
            ""
        } else {
            "hello"
        };
        project.succeed_in(folder, words);
        // What the tests of this repository were built with is on this machine.
        let lock = std::fs::read_to_string(repository.join("tests/programs/crate/Cargo.lock"));
        project.write("hello/Cargo.lock", &lock.unwrap());
    }
    let program = &blocks(&document, &["rust"])[0].1;
    project.write("hello/src/main.rs", program);
    let words = run.1.trim().strip_prefix("cargo ").unwrap();
    let printed = project.succeed_in("hello", words);
    assert_eq!(printed, blocks(&document, &["text"])[0].1);
    project
}

/// The name of a program on a page.
fn bin(page: usize, number: usize) -> String {
    format!("page{page}_{number}")
}

/// What each program prints, or the error that refuses it.
fn build_and_run(project: &Project, profile: &str) -> BTreeMap<String, String> {
    let words = format!("zymase build --bins --keep-going --message-format=json {profile}");
    let output = project.cargo_in("hello", &words);
    let mut outcomes = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_string);
        let Some(name) = text(&message["target"]["name"]) else {
            continue;
        };
        if message["message"]["level"] == "error" {
            let error = text(&message["message"]["rendered"]).unwrap();
            let error = error.replace(&format!("src/bin/{name}.rs"), "src/main.rs");
            let error = error.replace(&format!("`{name}::"), "`hello::");
            // The first error counts; what follows it is of the same cause.
            let entry = outcomes.entry(name);
            entry.or_insert(format!("{}\n", error.trim_end()));
        } else if let Some(program) = text(&message["executable"]) {
            outcomes.insert(name, run(Path::new(&program)));
        }
    }
    outcomes
}

fn run(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", program.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A page with what its programs do now, and what is different from what it said.
fn with_outcomes(
    document: &str,
    number: usize,
    outcomes: &BTreeMap<String, String>,
    whole: bool,
) -> (String, String) {
    let (mut pieces, mut differences) = (page::pieces(document), String::new());
    let (mut programs, mut told) = (0, 0);
    for piece in &mut pieces {
        match piece {
            Piece::Block(language, _) if language == "rust" => programs += 1,
            Piece::Block(language, text) if language == "text" && programs > told => {
                let outcome = outcomes.get(&bin(number, told)).cloned();
                told += 1;
                assert_eq!(programs, told, "a program without text in {document}");
                let mut outcome = outcome.unwrap_or_default();
                if outcome.starts_with("error") && (text.lines().count() == 1 || !whole) {
                    outcome.truncate(outcome.find('\n').unwrap_or_default() + 1);
                }
                let is_first_line = outcome.starts_with("error") && text.starts_with(&outcome);
                if *text != outcome && (whole || !is_first_line) {
                    let _ = writeln!(differences, "program {told}: {text}is now: {outcome}");
                    *text = outcome;
                }
            }
            _ => {}
        }
    }
    assert_eq!(programs, told, "a program without text in {document}");
    (page::written(&pieces), differences)
}
