//! Programs that use the crate `zymase` as its users do, without and with optimization. They check
//! their derivatives against finite differences and against each other.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn programs_have_their_derivatives() {
    let folder = root().join("tests/programs/crate");
    for level in ["0", "3"] {
        check_programs(&folder, level);
    }
}

/// Every example in the documentation of the crate is a program that runs.
#[test]
fn examples_of_the_documentation_run() {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("src/bin");
    std::fs::create_dir_all(&programs).unwrap();
    let manifest = std::fs::read_to_string(root().join("tests/programs/crate/Cargo.toml"));
    let crates = root().join("crates/zymase");
    let manifest = manifest
        .unwrap()
        .replace("../../../crates/zymase", crates.to_str().unwrap());
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    let lock = root().join("tests/programs/crate/Cargo.lock");
    std::fs::copy(lock, folder.path().join("Cargo.lock")).unwrap();
    let mut count = 0;
    let attributes = root().join("crates/macros/src/lib.rs");
    for source in files(&crates.join("src")).into_iter().chain([attributes]) {
        let text = std::fs::read_to_string(&source).unwrap();
        let name = match source.ends_with("macros/src/lib.rs") {
            true => "attributes",
            false => source.file_stem().unwrap().to_str().unwrap(),
        };
        for (i, example) in examples(&text).iter().enumerate() {
            let program = format!("{example}\nprintln!(\"ok {name}_{i}\");\n}}\n");
            std::fs::write(programs.join(format!("{name}_{i}.rs")), program).unwrap();
            count += 1;
        }
    }
    assert!(count > 20, "only {count} examples were found");
    check_programs(folder.path(), "0");
}

/// Without Zymase there are no derivatives, and the linker says what to do.
#[test]
fn plain_cargo_is_told_what_to_do() {
    let output = cargo(
        "build",
        &root().join("tests/programs/crate"),
        "plain",
        &["--bin", "library"],
    )
    .output()
    .unwrap();
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    let sentence = "this program asks for derivatives; build it with 'cargo zymase build'";
    assert!(errors.contains(sentence), "{errors}");
}

/// Builds all programs of a package at an optimization level, and runs them.
fn check_programs(package: &Path, level: &str) {
    let target_folder = match package.ends_with("crate") {
        true => format!("crate-{level}"),
        false => "documentation".to_string(),
    };
    // Cargo builds everything again when flags change, so the linker is always at the same place.
    std::fs::create_dir_all(target(&target_folder)).unwrap();
    let linker = target(&target_folder).join("link-by-zymase");
    let script = format!(
        "#!/bin/sh\nexec {} ld \"$@\"\n",
        env!("CARGO_BIN_EXE_zymase")
    );
    std::fs::write(&linker, script).unwrap();
    succeed(Command::new("chmod").arg("+x").arg(&linker));

    let flags = format!(
        "-Copt-level={level}\x1f-Clinker-plugin-lto\x1f-Clto=off\x1f-Cdebuginfo=2\x1f-Clinker={}",
        linker.display()
    );
    let host = host();
    // Cargo does not see that the linker is another one now.
    let words = ["--package", "programs", "--target", &host];
    succeed(&mut cargo("clean", package, &target_folder, &words));
    let words = ["--bins", "--target", &host];
    let mut build = cargo("build", package, &target_folder, &words);
    succeed(build.env("CARGO_ENCODED_RUSTFLAGS", flags));
    for source in files(&package.join("src/bin")) {
        let name = source.file_stem().unwrap().to_str().unwrap();
        let program = target(&target_folder).join(&host).join("debug").join(name);
        let output = succeed(&mut Command::new(program));
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed, format!("ok {name}\n"), "at opt-level {level}");
    }
}

fn cargo(subcommand: &str, package: &Path, target_folder: &str, words: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args([subcommand, "--quiet", "--locked", "--manifest-path"]);
    cargo.arg(package.join("Cargo.toml")).args(words);
    cargo.env_remove("RUSTFLAGS");
    cargo.arg("--target-dir").arg(target(target_folder));
    cargo
}

fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("rust_crate")
        .join(name)
}

/// The code in the comments of a source, each as a program without its end.
fn examples(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim_start();
        let Some(line) = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
        else {
            continue;
        };
        let line = line.strip_prefix(' ').unwrap_or(line);
        match line.strip_prefix("```") {
            Some("" | "no_run") if !inside => {
                inside = true;
                found.push("fn main() {\n".to_string());
            }
            Some(_) => inside = false,
            None if inside => {
                let example = found.last_mut().unwrap();
                example.push_str(line.strip_prefix("# ").unwrap_or(line));
                example.push('\n');
            }
            None => {}
        }
    }
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|p| p.extension() == Some(OsStr::new("rs")))
        .collect();
    files.sort();
    files
}

fn host() -> String {
    let output = succeed(Command::new("rustc").arg("-vV"));
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_string()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    output
}
