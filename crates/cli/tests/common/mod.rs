//! Runs the real `zymase` in a folder of its own.
#![allow(dead_code)] // Each test binary uses a part of this.

use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;
use zymase_testgen::native::Build;

/// The `zymase` just built; `ZYMASE_BINARY` names another, for long runs beside work on the compiler.
pub fn binary() -> String {
    let built = env!("CARGO_BIN_EXE_zymase").to_string();
    std::env::var("ZYMASE_BINARY").unwrap_or(built)
}

/// Compiles generated programs with these words on the command line.
pub fn build<'a>(binary: &'a str, flags: &'a str) -> Build<'a> {
    Build {
        zymase: binary.as_ref(),
        flags,
        chaos: None,
    }
}

/// A folder with files, in which commands run.
pub struct Folder(TempDir);

impl Folder {
    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `zymase` with words separated by spaces.
    pub fn zymase(&self, words: &str) -> Output {
        self.command(&binary(), words)
    }

    /// Runs any command.
    pub fn command(&self, program: &str, words: &str) -> Output {
        Command::new(program)
            .args(words.split_whitespace())
            .current_dir(self.path())
            .env_remove("ZYMASE_CLANG")
            .output()
            .unwrap()
    }

    /// The names of the files, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Exit code and standard error, as a user sees them.
pub fn shown(output: &Output) -> String {
    let code = output.status.code().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    format!("exit code {code}\n{text}")
}

/// Asserts success and gives standard output.
pub fn succeed(output: &Output) -> String {
    assert!(output.status.success(), "{}", shown(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
