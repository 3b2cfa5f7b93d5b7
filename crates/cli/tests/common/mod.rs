//! Runs the real `zymase` in a folder of its own.
#![allow(dead_code)] // Each test binary uses a part of this.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

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

    /// Runs `zymase` with words separated by spaces; `ZYMASE_BINARY` names another than the one just
    /// built, for long runs beside work on the compiler.
    pub fn zymase(&self, words: &str) -> Output {
        let built = env!("CARGO_BIN_EXE_zymase").to_string();
        self.command(&std::env::var("ZYMASE_BINARY").unwrap_or(built), words)
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

    /// Builds `program`, which checks its own derivatives, and runs it.
    pub fn build_and_run(&self, words: &str) -> Result<(), Trouble> {
        let built = self.zymase(words);
        let errors = String::from_utf8_lossy(&built.stderr).into_owned();
        if !built.status.success() {
            return Err(match is_refusal(&errors) {
                true => Trouble::Refused(reason(&errors)),
                false => Trouble::Wrong(errors),
            });
        }
        let ran = self.command("timeout", "20 ./program");
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        match ran.status.success() && printed == "ok\n" && errors.is_empty() {
            true => Ok(()),
            false => Err(Trouble::Wrong(format!("{printed}{errors}{}", ran.status))),
        }
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

/// Why a program has no right derivatives.
pub enum Trouble {
    /// The compiler says that it cannot.
    Refused(String),
    /// A defect.
    Wrong(String),
}

/// Whether the compiler says that it cannot differentiate a program: a code of the areas from types
/// to control flow. Generated programs ask in the right way, so others are defects.
fn is_refusal(errors: &str) -> bool {
    let mut codes = errors
        .lines()
        .filter_map(|line| line.strip_prefix("error[Z0"));
    codes
        .next()
        .is_some_and(|code| code.starts_with(|area| ('2'..='7').contains(&area)))
}

/// The first line of a message and its reason, without numbers of bytes.
fn reason(errors: &str) -> String {
    let lines = errors.lines();
    let told = lines.filter(|line| line.starts_with("error") || line.contains("note:"));
    let text: Vec<&str> = told.map(str::trim).collect();
    let text = text.join(" ");
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Tries the usual seeds, each at one level of optimization, or those that a variable asks for at
/// every level; prints how many were good and why others were refused. Fails if one is wrong, or if
/// not most are good.
pub fn count_troubles(
    variable: &str,
    usual: impl IntoIterator<Item = u64>,
    trial: impl Fn(u64, &str) -> Result<(), Trouble>,
) {
    let asked = std::env::var(variable).ok().and_then(|text| {
        let (start, end) = text.split_once("..")?;
        let seeds: Range<u64> = start.parse().ok()?..end.parse().ok()?;
        Some(seeds.collect())
    });
    let seeds: Vec<u64> = match &asked {
        Some(seeds) => Vec::clone(seeds),
        None => usual.into_iter().collect(),
    };
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut good, mut failures) = (0, String::new());
    for seed in seeds {
        for (number, level) in ["-O0", "-O1", "-O2", "-O3"].into_iter().enumerate() {
            if asked.is_none() && number as u64 != seed % 4 {
                continue;
            }
            match trial(seed, level) {
                Ok(()) => good += 1,
                Err(Trouble::Refused(why)) => {
                    let cases = refused.entry(why).or_default();
                    cases.push(format!("{seed}{level}"));
                }
                Err(Trouble::Wrong(why)) => {
                    println!("seed {seed} {level} is wrong");
                    failures += &format!("seed {seed} {level}: {why}\n");
                }
            }
        }
    }
    println!("{good} agree");
    for (why, cases) in &refused {
        let some: Vec<&String> = cases.iter().take(8).collect();
        println!("{} refused, {some:?}: {why}", cases.len());
    }
    assert!(failures.is_empty(), "{failures}");
    let count: usize = refused.values().map(Vec::len).sum();
    assert!(good > count, "{count} programs are refused: {refused:#?}");
}
