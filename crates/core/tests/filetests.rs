//! Runs the file tests: every `.zir` file under `tests/filetests` at the root of the repository.
//!
//! A file begins with the commands to run, one a line, as `; test: NAME ARGUMENTS`; then comes a
//! module. What the commands say stands at the end of the file, one section for each command:
//!
//! ```text
//! ;> test: print
//! ;> func @f() {
//! ;> …
//! ```
//!
//! With `ZYMASE_BLESS=1` in the environment the sections are rewritten instead of compared.
//! A module that does not parse is a result too: every command then says the error.

mod commands;
mod run;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use zymase_core::ir::Module;
use zymase_core::ir::text::{parse_module, print_module};
use zymase_core::ir::verify::verify_module;

/// What a command says about a module; the words after its name are its arguments.
type Command = fn(&Module, &[&str]) -> String;

/// Every command. To add one, write a function below and a line here.
const COMMANDS: &[(&str, Command)] = &[
    ("print", print),
    ("verify", verify),
    ("run", run::run),
    ("dominators", commands::dominators),
    ("affine", commands::affine),
    ("types", commands::types),
    ("activity", commands::activity),
    ("plan", commands::plan),
    ("derive", commands::derive),
    ("grad", commands::grad),
    ("run-requests", commands::run_requests),
    ("canonical", commands::canonical),
    ("raise", commands::raise),
    ("run-raised", commands::run_raised),
    ("nests", commands::nests),
    ("expand", commands::expand),
    ("split-triangles", commands::split_triangles),
    ("run-split", commands::run_split),
    ("group-sums", commands::group_sums),
    ("restore-pointers", commands::restore_pointers),
    ("loops", commands::loops),
    ("effects", commands::effects),
    ("points-to", commands::points_to),
    ("alias", commands::alias),
    ("overwrite", commands::overwrite),
];

/// The module as text.
fn print(module: &Module, _: &[&str]) -> String {
    let text = print_module(module);
    match parse_module(&text) {
        Ok(again) if print_module(&again) == text => text,
        Ok(again) => format!(
            "prints differently the second time:\n{}",
            print_module(&again)
        ),
        Err(error) => format!("does not parse again: {error}\n{text}"),
    }
}

/// What is wrong with the module.
fn verify(module: &Module, _: &[&str]) -> String {
    match verify_module(module) {
        Ok(()) => "ok".to_string(),
        Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect(),
    }
}

#[test]
fn file_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/filetests");
    let bless = std::env::var_os("ZYMASE_BLESS").is_some_and(|value| value == "1");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "there are no file tests");
    let mut failures = String::new();
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).display();
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{name}: {e}"));
        match check(&text) {
            Ok(actual) if actual == text => {}
            Ok(actual) if bless => {
                fs::write(file, actual).unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            Ok(actual) => {
                let _ = writeln!(failures, "{name}\n{}", difference(&text, &actual));
            }
            Err(error) => {
                let _ = writeln!(failures, "{name}: {error}");
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{failures}\nset ZYMASE_BLESS=1 to accept what the commands say now"
    );
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "zir") {
            files.push(path);
        }
    }
}

/// The file as it should be: its input, and what the commands say now.
fn check(text: &str) -> Result<String, String> {
    let lines: Vec<&str> = text.lines().collect();
    let expectations = lines.iter().position(|line| line.starts_with(";>"));
    let input = lines[..expectations.unwrap_or(lines.len())].join("\n");
    let input = input.trim_end();
    let commands: Vec<&str> = input
        .lines()
        .filter_map(|line| line.strip_prefix("; test:"))
        .map(str::trim)
        .collect();
    if commands.is_empty() {
        return Err("no `; test:` line".to_string());
    }
    let module = parse_module(input);
    let mut out = format!("{input}\n");
    for command in commands {
        let mut words = command.split_whitespace();
        let name = words.next().ok_or("`; test:` without a command")?;
        let arguments: Vec<&str> = words.collect();
        let run = COMMANDS.iter().find(|(known, _)| *known == name);
        let (_, run) = run.ok_or_else(|| format!("there is no command `{name}`"))?;
        let said = match &module {
            Ok(module) => run(module, &arguments),
            Err(error) => format!("parse error at {error}"),
        };
        let _ = writeln!(out, "\n;> test: {command}");
        for line in said.trim_end().lines() {
            let _ = writeln!(out, "{}", format!(";> {line}").trim_end());
        }
    }
    Ok(out)
}

/// The lines from the first difference on.
fn difference(expected: &str, actual: &str) -> String {
    let expected: Vec<&str> = expected.lines().collect();
    let actual: Vec<&str> = actual.lines().collect();
    let same = expected.iter().zip(&actual).take_while(|(x, y)| x == y);
    let first = same.count();
    let show = |lines: &[&str]| {
        let shown = lines.iter().skip(first).take(6);
        shown
            .map(|line| format!("    {line}\n"))
            .collect::<String>()
    };
    format!(
        "  line {}, expected\n{}  but got\n{}",
        first + 1,
        show(&expected),
        show(&actual)
    )
}
