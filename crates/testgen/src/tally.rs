//! Counts what came of many trials.

use crate::native::LEVELS;
use crate::referee::differences::Compared;
use crate::trial::Verdict;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// What came of trials so far.
#[derive(Default, Debug)]
pub struct Tally {
    /// How many agree.
    pub agree: usize,
    /// How many are no test.
    pub unusable: usize,
    /// The cases that were refused, by what the compiler says.
    pub refused: BTreeMap<String, Vec<String>>,
    /// The cases that are wrong, with what is.
    pub wrong: Vec<(String, String)>,
    /// Comparisons with finite differences.
    pub compared: Compared,
}

impl Tally {
    /// Counts the verdict on a case.
    pub fn add(&mut self, case: String, verdict: Verdict) {
        match verdict {
            Verdict::Agrees(compared) => {
                self.agree += 1;
                self.compared += compared;
            }
            Verdict::Unusable => self.unusable += 1,
            Verdict::Wrong(why) => self.wrong.push((case, why)),
            Verdict::Refused(why) => {
                let kind = why.lines().take(3).collect::<Vec<_>>().join(" / ");
                self.refused.entry(kind).or_default().push(case);
            }
        }
    }

    /// How many were refused.
    pub fn refusals(&self) -> usize {
        self.refused.values().map(Vec::len).sum()
    }

    /// How many trials there were.
    pub fn total(&self) -> usize {
        self.agree + self.unusable + self.refusals() + self.wrong.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (refused, wrong) = (self.refusals(), self.wrong.len());
        write!(
            f,
            "{} agree, {} unusable, {refused} refused, {wrong} wrong",
            self.agree, self.unusable
        )?;
        let Compared {
            components,
            skipped,
        } = self.compared;
        if components + skipped > 0 {
            write!(
                f,
                "; {components} derivatives agree with finite differences, {skipped} are badly \
                 conditioned"
            )?;
        }
        for (why, cases) in &self.refused {
            let some = &cases[..cases.len().min(5)];
            write!(f, "\n{:5} × {why} [{}]", cases.len(), some.join(", "))?;
        }
        Ok(())
    }
}

/// The seeds that a variable of the environment asks for, such as `0..100`.
pub fn asked(variable: &str) -> Option<Range<u64>> {
    let text = std::env::var(variable).ok()?;
    let range = text
        .split_once("..")
        .and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
    Some(range.unwrap_or_else(|| panic!("{variable}={text} is not a range such as 0..100")))
}

/// Tries the usual seeds, each at one level of optimization, or those that a variable asks for at
/// every level; prints how many were good and why others were refused. Fails if one is wrong, or if
/// not most are good.
pub fn try_levels(variable: &str, usual: Range<u64>, trial: impl Fn(u64, &str) -> Verdict) {
    let asked = asked(variable);
    let every_level = asked.is_some();
    let mut tally = Tally::default();
    for seed in asked.unwrap_or(usual) {
        for (number, level) in LEVELS.into_iter().enumerate() {
            if !every_level && number as u64 != seed % 4 {
                continue;
            }
            let verdict = trial(seed, level);
            if let Verdict::Wrong(_) = verdict {
                println!("seed {seed} {level} is wrong");
            }
            tally.add(format!("{seed}{level}"), verdict);
        }
    }
    println!("{tally}");
    let failures: Vec<String> = tally
        .wrong
        .iter()
        .map(|(case, why)| format!("seed {case}: {why}"))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(tally.agree > tally.refusals(), "most are refused: {tally}");
}
