//! A Rust project in a folder of its own, for `cargo zymase`.
#![allow(dead_code)] // Each test binary uses a part of this.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The machine that the tests run on, as cargo calls it.
pub const HOST: &str = "x86_64-unknown-linux-gnu";

/// A macro that asks for the gradient of a function, in the words that all languages share.
pub const ASK: &str = r#"
/// The gradient of a function of a slice.
#[macro_export]
macro_rules! gradient {
    ($f:expr, $x:expr) => {{
        unsafe extern "C-unwind" {
            fn __enzyme_autodiff(f: *const (), ...);
            static enzyme_dup: i32;
        }
        let x: &[f64] = $x;
        let mut dx = vec![0.0; x.len()];
        let thunk: fn(&[f64], &mut f64) = |x, out| *out = $f(x);
        let (mut out, mut seed) = (0.0, 1.0);
        unsafe {
            __enzyme_autodiff(
                thunk as *const (),
                &raw const enzyme_dup, x.as_ptr(), dx.as_mut_ptr(), x.len(),
                &raw const enzyme_dup, &raw mut out, &raw mut seed,
            )
        };
        dx
    }};
}
"#;

/// A project.
pub struct Project {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Project {
    /// A project with these files. A manifest without a package gets one, and `ASK` stands for the
    /// macro `gradient`.
    pub fn with(files: &[(&str, &str)]) -> Project {
        let project = Project {
            // People have such folders.
            folder: tempfile::Builder::new()
                .prefix("my project ")
                .tempdir()
                .unwrap(),
            variables: Vec::new(),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    /// A project of one package with one program.
    pub fn program(main: &str) -> Project {
        let manifest = package("prog", "");
        Project::with(&[("Cargo.toml", &manifest), ("src/main.rs", main)])
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.replace("ASK", ASK)).unwrap();
    }

    /// A variable for all commands.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_string(), value.to_string()));
    }

    /// Runs cargo with words separated by spaces.
    pub fn cargo(&self, words: &str) -> Output {
        self.cargo_in("", words)
    }

    /// Runs cargo in a folder of the project.
    pub fn cargo_in(&self, folder: &str, words: &str) -> Output {
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_cargo-zymase"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(binary.parent().unwrap().to_path_buf());
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
        let mut command = Command::new("cargo");
        command.args(words.split_whitespace());
        command.current_dir(self.path().join(folder));
        // What cargo sets for the tests themselves is not for the project.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO") && text != "CARGO_HOME"
                || text.starts_with("RUST") && text != "RUSTUP_HOME" && text != "RUSTUP_TOOLCHAIN"
            {
                command.env_remove(&name);
            }
        }
        command.env("PATH", path).env("CARGO_NET_OFFLINE", "true");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    /// Runs cargo, which succeeds, and gives what it printed on standard output.
    pub fn succeed(&self, words: &str) -> String {
        self.succeed_in("", words)
    }

    /// Runs cargo in a folder of the project, where it succeeds.
    pub fn succeed_in(&self, folder: &str, words: &str) -> String {
        let output = self.cargo_in(folder, words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo {words}\n{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs cargo, which succeeds, and gives the names of the crates it compiled.
    pub fn compiled(&self, words: &str) -> Vec<String> {
        let output = self.cargo(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo {words}\n{errors}");
        let lines = errors
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Compiling "));
        let mut names: Vec<String> = lines
            .map(|line| line.split(' ').next().unwrap().to_string())
            .collect();
        names.sort();
        names
    }
}

/// The manifest of a package, with more behind it.
pub fn package(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
}

/// Exit code and standard error without cargo's own lines.
pub fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let own = ["Compiling", "Finished", "Running", "Blocking"];
    let lines = text
        .lines()
        .filter(|line| !own.iter().any(|word| line.trim().starts_with(word)));
    let lines: Vec<&str> = lines.collect();
    format!(
        "exit code {}\n{}\n",
        output.status.code().unwrap(),
        lines.join("\n")
    )
}
