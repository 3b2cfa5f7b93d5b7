//! The trials that a generated program goes through.

use std::fmt;
use std::path::Path;
use zymase_testgen::lower::lower;
use zymase_testgen::native::{Build, LEVELS};
use zymase_testgen::shrink::shrink;
use zymase_testgen::tree::Program;
use zymase_testgen::trial::{Verdict, first_order, in_c, same_failure, second_order, with_chaos};

/// How often a program that fails in the interpreter is tried to be made smaller.
const TRIES: usize = 4000;

/// The same for a program in C: each try compiles and runs it.
const NATIVE_TRIES: usize = 300;

/// One way to try a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trial {
    /// In the interpreter: both plans, and the oracle against finite differences.
    FirstOrder,
    /// In the interpreter, with choices by chance from a seed.
    Chaos(u64),
    /// In the interpreter, derivatives of derivatives.
    SecondOrder,
    /// In C, compiled with these flags, with choices by chance if there is a seed for them.
    Native(String, Option<u64>),
}

/// One seed of so many is also tried in the more expensive ways.
const SAMPLE: u64 = 8;

/// The trials of a seed. Of the expensive ones each seed gets one at most.
pub fn of_seed(seed: u64, with_native: bool) -> Vec<Trial> {
    let mut trials = vec![Trial::FirstOrder, Trial::Chaos(seed)];
    if seed.is_multiple_of(SAMPLE) {
        trials.push(Trial::SecondOrder);
    }
    if with_native {
        trials.extend(LEVELS.map(|level| Trial::Native(level.to_string(), None)));
        let level = LEVELS[(seed / SAMPLE % 4) as usize];
        trials.extend(match seed % SAMPLE {
            1 => {
                let flags = format!("{level} -fsanitize=address,undefined");
                Some(Trial::Native(flags, None))
            }
            2 => Some(Trial::Native(format!("{level} -DSECOND_ORDER"), None)),
            3 | 5 | 7 => Some(Trial::Native(level.to_string(), Some(seed))),
            _ => None,
        });
    }
    trials
}

impl Trial {
    /// Tries a program.
    pub fn verdict(&self, zymase: &Path, program: &Program) -> Verdict {
        match self {
            Trial::FirstOrder => first_order(&lower(program)),
            Trial::Chaos(seed) => with_chaos(&lower(program), *seed),
            Trial::SecondOrder => second_order(&lower(program)),
            Trial::Native(flags, chaos) => {
                let build = Build {
                    zymase,
                    flags,
                    chaos: *chaos,
                };
                build.trial(program)
            }
        }
    }

    /// The smallest program found that fails as `program` does.
    pub fn shrunk(&self, zymase: &Path, program: &Program, why: &str) -> Program {
        let most = match self {
            Trial::Native(..) => NATIVE_TRIES,
            _ => TRIES,
        };
        let mut fails = |smaller: &_| same_failure(&self.verdict(zymase, smaller), why);
        shrink(program, most, &mut fails)
    }

    /// A program as this trial sees it.
    pub fn text(&self, program: &Program) -> String {
        match self {
            Trial::Native(..) => in_c(program).ok().flatten().unwrap_or_default(),
            _ => lower(program),
        }
    }

    /// The name of a file for a program of this seed.
    pub fn file_name(&self, seed: u64) -> String {
        match self {
            Trial::Native(flags, chaos) => {
                let mut flags: String = flags
                    .chars()
                    .filter(|c| c.is_alphanumeric() || *c == '-')
                    .collect();
                if chaos.is_some() {
                    flags += "-chaos";
                }
                format!("seed{seed}{flags}.c")
            }
            Trial::Chaos(_) => format!("seed{seed}-chaos.zir"),
            _ => format!("seed{seed}.zir"),
        }
    }

    /// Begins a line of text that is no part of a program.
    pub fn comment(&self) -> &'static str {
        match self {
            Trial::Native(..) => "//",
            _ => ";",
        }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trial::FirstOrder => f.write_str("interpreted"),
            Trial::Chaos(_) => f.write_str("interpreted, chaos"),
            Trial::SecondOrder => f.write_str("interpreted, second order"),
            Trial::Native(flags, None) => write!(f, "C {flags}"),
            Trial::Native(flags, Some(_)) => write!(f, "C {flags}, chaos"),
        }
    }
}
