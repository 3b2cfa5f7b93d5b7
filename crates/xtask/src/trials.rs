//! The trials that a generated program goes through.

use std::fmt;
use std::path::Path;
use zymase_testgen::lower::lower;
use zymase_testgen::native::{self, LEVELS};
use zymase_testgen::shrink::shrink;
use zymase_testgen::tree::Program;
use zymase_testgen::trial::{Verdict, first_order, in_c, same_failure, second_order};

/// How often a program that fails in the interpreter is tried to be made smaller.
const TRIES: usize = 4000;

/// The same for a program in C: each try compiles and runs it.
const NATIVE_TRIES: usize = 300;

/// One way to try a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trial {
    /// In the interpreter: both plans, and the oracle against finite differences.
    FirstOrder,
    /// In the interpreter, derivatives of derivatives.
    SecondOrder,
    /// In C, compiled with these flags.
    Native(String),
}

/// One seed of so many is also tried in the more expensive ways.
const SAMPLE: u64 = 8;

/// The trials of a seed. Of the expensive ones each seed gets one at most.
pub fn of_seed(seed: u64, with_native: bool) -> Vec<Trial> {
    let mut trials = vec![Trial::FirstOrder];
    if seed.is_multiple_of(SAMPLE) {
        trials.push(Trial::SecondOrder);
    }
    if with_native {
        trials.extend(LEVELS.map(|level| Trial::Native(level.to_string())));
        let level = LEVELS[(seed / SAMPLE % 4) as usize];
        trials.extend(match seed % SAMPLE {
            1 => Some(format!("{level} -fsanitize=address,undefined")),
            2 => Some(format!("{level} -DSECOND_ORDER")),
            _ => None,
        }
        .map(Trial::Native));
    }
    trials
}

impl Trial {
    /// Tries a program.
    pub fn verdict(&self, zymase: &Path, program: &Program) -> Verdict {
        match self {
            Trial::FirstOrder => first_order(&lower(program)),
            Trial::SecondOrder => second_order(&lower(program)),
            Trial::Native(flags) => native::trial(zymase, program, flags),
        }
    }

    /// The smallest program found that fails as `program` does.
    pub fn shrunk(&self, zymase: &Path, program: &Program, why: &str) -> Program {
        let most = match self {
            Trial::Native(_) => NATIVE_TRIES,
            _ => TRIES,
        };
        let mut fails = |smaller: &_| same_failure(&self.verdict(zymase, smaller), why);
        shrink(program, most, &mut fails)
    }

    /// A program as this trial sees it.
    pub fn text(&self, program: &Program) -> String {
        match self {
            Trial::Native(_) => in_c(program).ok().flatten().unwrap_or_default(),
            _ => lower(program),
        }
    }

    /// The name of a file for a program of this seed.
    pub fn file_name(&self, seed: u64) -> String {
        match self {
            Trial::Native(flags) => {
                let flags: String = flags
                    .chars()
                    .filter(|c| c.is_alphanumeric() || *c == '-')
                    .collect();
                format!("seed{seed}{flags}.c")
            }
            _ => format!("seed{seed}.zir"),
        }
    }

    /// Begins a line of text that is no part of a program.
    pub fn comment(&self) -> &'static str {
        match self {
            Trial::Native(_) => "//",
            _ => ";",
        }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trial::FirstOrder => f.write_str("interpreted"),
            Trial::SecondOrder => f.write_str("interpreted, second order"),
            Trial::Native(flags) => write!(f, "C {flags}"),
        }
    }
}
