//! Programs that check themselves, compiled by the real `zymase` and run.

use crate::tree::Program;
use crate::trial::{Verdict, in_c};
use std::path::Path;
use std::process::{Command, Output};

/// The levels of optimization.
pub const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// How long compiling may take, in seconds.
const COMPILE_SECONDS: &str = "200";

/// How long a program may run, in seconds.
const RUN_SECONDS: &str = "30";

/// What `timeout` returns when time is up.
const TIME_IS_UP: Option<i32> = Some(124);

/// The verdict on a program in C that is compiled with these flags.
pub fn trial(zymase: &Path, program: &Program, flags: &str) -> Verdict {
    match in_c(program) {
        Ok(Some(text)) => trial_of_text(zymase, &text, flags),
        Ok(None) => Verdict::Unusable,
        Err(error) => Verdict::Wrong(format!("generator: {error}")),
    }
}

/// The same for a program that is written already.
pub fn trial_of_text(zymase: &Path, text: &str, flags: &str) -> Verdict {
    let written = tempfile::tempdir()
        .and_then(|folder| std::fs::write(folder.path().join("program.c"), text).map(|()| folder));
    match written {
        Ok(folder) => {
            let words = format!("cc {flags} -w program.c -lm -o program");
            build_and_run(zymase, folder.path(), &words)
        }
        Err(error) => Verdict::Wrong(format!("no folder to work in: {error}")),
    }
}

/// Builds `program` in a folder with `zymase` and these words, and runs it: it must print `ok` and
/// nothing else.
pub fn build_and_run(zymase: &Path, folder: &Path, words: &str) -> Verdict {
    let built = match within(COMPILE_SECONDS, zymase, folder, words) {
        Ok(output) => output,
        Err(error) => return Verdict::Wrong(format!("{} does not start: {error}", zymase.display())),
    };
    let errors = String::from_utf8_lossy(&built.stderr).into_owned();
    if built.status.code() == TIME_IS_UP {
        return Verdict::Refused(format!("compiling takes more than {COMPILE_SECONDS} s"));
    }
    if !built.status.success() {
        return match is_refusal(&errors) {
            true => Verdict::Refused(reason(&errors)),
            false => Verdict::Wrong(errors),
        };
    }
    let ran = match within(RUN_SECONDS, Path::new("./program"), folder, "") {
        Ok(output) => output,
        Err(error) => return Verdict::Wrong(format!("the program does not start: {error}")),
    };
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    match ran.status.success() && printed == "ok\n" && errors.is_empty() {
        true => Verdict::Agrees(Default::default()),
        false => Verdict::Wrong(format!("{printed}{errors}{}", ran.status)),
    }
}

/// Runs a command for so many seconds at most.
fn within(seconds: &str, program: &Path, folder: &Path, words: &str) -> std::io::Result<Output> {
    Command::new("timeout")
        .arg(seconds)
        .arg(program)
        .args(words.split_whitespace())
        .current_dir(folder)
        .env_remove("ZYMASE_CLANG")
        .output()
}

/// Whether a message says that a program cannot be differentiated, and not that something broke.
fn is_refusal(errors: &str) -> bool {
    let first = errors.lines().next().unwrap_or_default();
    let refuses = first
        .split_once(": ")
        .is_some_and(|(head, said)| head.starts_with("error") && said.starts_with("cannot"));
    refuses && !errors.contains("defect")
}

/// The first line of a message and its reason, without numbers of bytes.
fn reason(errors: &str) -> String {
    let lines = errors.lines();
    let told = lines.filter(|line| line.starts_with("error") || line.contains("note:"));
    let text: Vec<&str> = told.map(str::trim).collect();
    let text = text.join(" ");
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
