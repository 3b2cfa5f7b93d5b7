//! Every planted defect is found.

use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;
use zymase_core::planted::Defect;
use zymase_testgen::grow::grow;
use zymase_testgen::trial::{Verdict, trial};

/// How many seeds may pass before a defect is found.
const SEEDS: u64 = 600;

#[test]
fn every_planted_defect_is_found() {
    let mut missed = Vec::new();
    for &defect in Defect::ALL {
        let options = Options {
            plan: match defect {
                // Only this plan reads memory again.
                Defect::OverwriteIgnored => PlanKind::MinCut,
                _ => PlanKind::Everything,
            },
            planted: Some(defect),
            ..Options::default()
        };
        let found = (0..SEEDS).find(|&seed| {
            let verdict = trial(&grow(seed), &options);
            matches!(verdict, Verdict::Wrong(_))
        });
        println!("{defect:?}: seed {found:?}");
        if found.is_none() {
            missed.push(defect);
        }
    }
    assert!(missed.is_empty(), "not found in {SEEDS} seeds: {missed:?}");
}
