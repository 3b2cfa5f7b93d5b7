//! Derivatives of generated programs agree with the oracle.
//!
//! `ZYMASE_SEEDS=start..end` tries these seeds instead of the usual ones; `ZYMASE_FUZZ_SECONDS=n`
//! goes on with new seeds for so long; `ZYMASE_SUSPECT=text` counts refusals with this text as
//! failures. All print statistics with `--nocapture`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;
use zymase_testgen::grow::grow;
use zymase_testgen::lower::lower;
use zymase_testgen::shrink::shrink;
use zymase_testgen::tree::Program;
use zymase_testgen::trial::{Verdict, trial};

/// The seeds of every test run.
const USUAL: std::ops::Range<u64> = 0..250;

/// A program that takes longer points to an analysis that does not scale; its seed is printed.
const SLOW: Duration = Duration::from_secs(2);

#[test]
fn derivatives_agree_with_the_oracle() {
    let seeds = seeds();
    let until = std::env::var("ZYMASE_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut counts = Counts::default();
    let mut failures: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    // Refusals that contain this text count as failures, to see small programs for them.
    let suspect = std::env::var("ZYMASE_SUSPECT").ok();
    let trial = |program: &_| match (both_plans(program), &suspect) {
        (Verdict::Refused(why), Some(suspect)) if why.contains(suspect) => {
            Verdict::Wrong(format!("refusal: {suspect}"))
        }
        (verdict, _) => verdict,
    };
    for seed in seeds.start.. {
        match until {
            Some(until) if Instant::now() > until => break,
            None if seed >= seeds.end => break,
            _ => {}
        }
        let start = Instant::now();
        let verdict = trial(&grow(seed));
        if start.elapsed() > SLOW {
            println!("seed {seed}: took {:.1} s", start.elapsed().as_secs_f64());
        }
        if let Verdict::Wrong(why) = &verdict {
            println!("seed {seed}: {}", why.lines().next().unwrap_or_default());
            failures.entry(kind(why)).or_default().push(seed);
        }
        counts.add(seed, verdict);
        if counts.wrong >= 40 {
            break;
        }
    }
    counts.print();
    let mut report = String::new();
    for (kind, seeds) in &failures {
        let seed = seeds[0];
        report.push_str(&format!(
            "{} × {kind}: seeds {:?}\n",
            seeds.len(),
            &seeds[..seeds.len().min(8)]
        ));
        let mut fails = |program: &_| matches!(trial(program), Verdict::Wrong(why) if self::kind(&why) == *kind);
        let small = shrink(&grow(seed), &mut fails);
        if let Verdict::Wrong(why) = trial(&small) {
            report.push_str(&format!("seed {seed}: {why}\n{}\n", lower(&small)));
        }
    }
    assert!(failures.is_empty(), "{report}");
}

/// The verdict on the plan that is always legal; if it is good, that on the usual plan.
fn both_plans(program: &Program) -> Verdict {
    let with = |plan| {
        let options = Options {
            plan,
            ..Options::default()
        };
        trial(program, &options)
    };
    match with(PlanKind::Everything) {
        Verdict::Agrees => match with(PlanKind::MinCut) {
            Verdict::Wrong(why) => Verdict::Wrong(format!("minimum cut: {why}")),
            Verdict::Refused(why) => Verdict::Wrong(format!("minimum cut: refusal: {why}")),
            verdict => verdict,
        },
        verdict => verdict,
    }
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("ZYMASE_SEEDS") else {
        return USUAL;
    };
    let range = text
        .split_once("..")
        .and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
    range.unwrap_or_else(|| panic!("ZYMASE_SEEDS={text} is not a range such as 0..100"))
}

/// A message without its numbers.
fn kind(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let words = first.split_whitespace().take(7);
    let plain = |word: &str| {
        word.chars()
            .filter(|c| !c.is_ascii_digit() && !"-.e".contains(*c))
            .collect::<String>()
    };
    words.map(plain).collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Counts {
    agrees: usize,
    unusable: usize,
    wrong: usize,
    refused: BTreeMap<String, Vec<u64>>,
}

impl Counts {
    fn add(&mut self, seed: u64, verdict: Verdict) {
        match verdict {
            Verdict::Agrees => self.agrees += 1,
            Verdict::Unusable => self.unusable += 1,
            Verdict::Wrong(_) => self.wrong += 1,
            Verdict::Refused(why) => {
                let kind = why.lines().take(3).collect::<Vec<_>>().join(" / ");
                self.refused.entry(kind).or_default().push(seed);
            }
        }
    }

    fn print(&self) {
        let refused: usize = self.refused.values().map(Vec::len).sum();
        println!(
            "{} agree, {} unusable, {refused} refused, {} wrong",
            self.agrees, self.unusable, self.wrong
        );
        for (why, seeds) in &self.refused {
            println!(
                "{:5} × {why} {:?}",
                seeds.len(),
                &seeds[..seeds.len().min(5)]
            );
        }
    }
}
