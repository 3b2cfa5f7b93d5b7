//! Programs that check themselves, compiled by the real `zymase` and run.

use crate::tree::Program;
use crate::trial::{Verdict, in_c};
use std::path::Path;
use std::process::Command;

/// The levels of optimization.
pub const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// How long compiling may take, in seconds.
const COMPILE_SECONDS: &str = "200";

/// How long a program may run, in seconds.
const RUN_SECONDS: &str = "30";

/// What `timeout` returns when time is up.
const TIME_IS_UP: Option<i32> = Some(124);

/// A way to compile programs in C.
#[derive(Copy, Clone, Debug)]
pub struct Build<'a> {
    /// The compiler.
    pub zymase: &'a Path,
    /// Words for its command line.
    pub flags: &'a str,
    /// The seed of choices by chance, if there are to be any.
    pub chaos: Option<u64>,
}

impl Build<'_> {
    /// The verdict on a program.
    pub fn trial(&self, program: &Program) -> Verdict {
        match in_c(program) {
            Ok(Some(text)) => self.trial_of_text(&text),
            Ok(None) => Verdict::Unusable,
            Err(error) => Verdict::Wrong(format!("generator: {error}")),
        }
    }

    /// The verdict on a program that is written already.
    pub fn trial_of_text(&self, text: &str) -> Verdict {
        let verdict = tempfile::tempdir().and_then(|folder| {
            std::fs::write(folder.path().join("program.c"), text)?;
            self.build_and_run(folder.path())
        });
        verdict.unwrap_or_else(|error| Verdict::Wrong(format!("nothing can be tried: {error}")))
    }

    /// Builds a program, which checks its own derivatives, and runs it: it must print `ok` and
    /// nothing else.
    fn build_and_run(&self, folder: &Path) -> std::io::Result<Verdict> {
        let mut build = within(COMPILE_SECONDS, self.zymase, folder);
        build.arg("cc").args(self.flags.split_whitespace());
        build.args(["-w", "program.c", "-lm", "-o", "program"]);
        build.env_remove("ZYMASE_CLANG");
        if let Some(seed) = self.chaos {
            build.env("ZYMASE_CHAOS", seed.to_string());
        }
        let built = build.output()?;
        let errors = String::from_utf8_lossy(&built.stderr).into_owned();
        if built.status.code() == TIME_IS_UP {
            let why = format!("compiling takes more than {COMPILE_SECONDS} s");
            return Ok(Verdict::Refused(why));
        }
        if !built.status.success() {
            return Ok(match is_refusal(&errors) {
                true => Verdict::Refused(reason(&errors)),
                false => Verdict::Wrong(errors),
            });
        }
        let ran = within(RUN_SECONDS, Path::new("./program"), folder).output()?;
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        Ok(
            match ran.status.success() && printed == "ok\n" && errors.is_empty() {
                true => Verdict::Agrees(Default::default()),
                false => Verdict::Wrong(format!("{printed}{errors}{}", ran.status)),
            },
        )
    }
}

/// A command that may run for so many seconds.
fn within(seconds: &str, program: &Path, folder: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.arg(seconds).arg(program).current_dir(folder);
    command
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
