//! Every planted defect is found.
//!
//! `ZYMASE_DEFECT=name` looks for one of them only, from the first seed on; `ZYMASE_PLANTED_SEEDS=n`
//! says how many seeds may pass.

use std::time::Instant;
use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;
use zymase_core::planted::Defect;
use zymase_testgen::grow::grow;
use zymase_testgen::trial::{Verdict, trial};

/// How many seeds may pass before a defect is found.
const SEEDS: u64 = 3000;

#[test]
fn every_planted_defect_is_found() {
    let wanted = std::env::var("ZYMASE_DEFECT").ok();
    let most = std::env::var("ZYMASE_PLANTED_SEEDS").ok();
    let most = most.and_then(|text| text.parse().ok()).unwrap_or(SEEDS);
    let mut missed = Vec::new();
    // The tests of core find that one, in matrices at random.
    let elsewhere = |defect: &Defect| *defect == Defect::BoundsTooTight;
    for &defect in Defect::ALL.iter().filter(|defect| !elsewhere(defect)) {
        let start = Instant::now();
        let first = match &wanted {
            Some(name) if *name != format!("{defect:?}") => continue,
            Some(_) => 0,
            None => found_by(defect),
        };
        let seeds = std::iter::once(first).chain(0..most);
        let found = seeds.into_iter().find(|&seed| finds(seed, defect));
        let seconds = start.elapsed().as_secs_f64();
        println!("{defect:?}: seed {found:?}, {seconds:.1} s");
        if found.is_none() {
            missed.push(defect);
        }
    }
    assert!(missed.is_empty(), "not found in {most} seeds: {missed:?}");
}

/// Whether the program of a seed shows a defect: with the usual plan, with the one that caches
/// everything, or with choices by chance, by turns.
fn finds(seed: u64, defect: Defect) -> bool {
    let options = Options {
        plan: match seed % 3 {
            0 => PlanKind::Everything,
            _ => PlanKind::MinCut,
        },
        planted: Some(defect),
        chaos: (seed % 3 == 2).then_some(seed),
        ..Options::default()
    };
    matches!(trial(&grow(seed), &options), Verdict::Wrong(_))
}

/// A seed that once found a defect that is rarely found, so that a test run need not look for it.
fn found_by(defect: Defect) -> u64 {
    match defect {
        Defect::LaterIterationsIgnored => 484,
        _ => 0,
    }
}
