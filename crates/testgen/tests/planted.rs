//! Every planted defect is found.
//!
//! `ZYMASE_DEFECT=name` looks for one of them only, from the first seed on; `ZYMASE_PLANTED_SEEDS=n`
//! says how many seeds may pass.

use std::time::Instant;
use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;
use zymase_core::planted::Defect;
use zymase_core::raise::Raise;
use zymase_testgen::grow::grow;
use zymase_testgen::trial::{Verdict, trial, trial_of_text};

/// How many seeds may pass before a defect is found.
const SEEDS: u64 = 3000;

#[test]
fn every_planted_defect_is_found() {
    let wanted = std::env::var("ZYMASE_DEFECT").ok();
    let most = std::env::var("ZYMASE_PLANTED_SEEDS").ok();
    let most = most.and_then(|text| text.parse().ok()).unwrap_or(SEEDS);
    let mut missed = Vec::new();
    for &defect in Defect::ALL.iter().filter(|defect| !is_rare(**defect)) {
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

/// Whether the program of a seed shows a defect, and is right without it: with the usual plan, with
/// the one that caches everything, or with choices by chance, by turns.
fn finds(seed: u64, defect: Defect) -> bool {
    let options = |planted| Options {
        plan: match seed % 3 {
            0 => PlanKind::Everything,
            _ => PlanKind::MinCut,
        },
        planted,
        chaos: (seed % 3 == 2).then_some(seed),
        raise: Raise::Always,
        ..Options::default()
    };
    let program = grow(seed);
    let is_wrong = |planted| matches!(trial(&program, &options(planted)), Verdict::Wrong(_));
    is_wrong(Some(defect)) && !is_wrong(None)
}

/// Defects that programs at random hardly ever show, with programs that do.
#[test]
fn rare_planted_defects_are_found() {
    // The tests of core find two of them, in matrices and in calls at random.
    let programs = [
        (Defect::OverlapUnchecked, OVERLAP),
        (Defect::DecisionRecomputed, TIE),
    ];
    for (defect, text) in programs {
        assert!(is_rare(defect));
        let options = |planted, seed| Options {
            planted,
            chaos: (seed > 0).then_some(seed),
            ..Options::default()
        };
        let is_wrong = |planted, seed| {
            let verdict = trial_of_text(text, &options(planted, seed));
            matches!(verdict, Verdict::Wrong(_))
        };
        assert!(
            (0..100).any(|seed| is_wrong(Some(defect), seed)),
            "{defect:?}"
        );
        assert!(!(0..100).any(|seed| is_wrong(None, seed)), "{defect:?}");
    }
}

fn is_rare(defect: Defect) -> bool {
    matches!(
        defect,
        Defect::BoundsTooTight
            | Defect::NextIterationIgnored
            | Defect::OverlapUnchecked
            | Defect::DecisionRecomputed
    )
}

/// The two arrays may overlap, and what is read of one is written through the other later.
const OVERLAP: &str = "source 0 = size 8 {0: f64}
func @f(%p: ptr, %q: ptr, %c: ptr, %u: f64, %w: f64, %n: i64) -> f64 {
    declared %p element 0
    declared %q element 0
entry:
    jump head(0:i64, %u)
head(%i: i64, %s: f64):
    %more = icmp slt %i, 6:i64
    branch %more, body, done
body:
    %from = address %q + 8*%i
    %to = address %p + 8*%i
    %x = load f64 %from, align 8
    %sin = math sin %x : f64
    %sw = fmul %sin, %w : f64
    %half = fmul %s, 0.5:f64 : f64
    %next = fadd %half, %sw : f64
    store %next, %to, align 8
    %i1 = add nsw %i, 1:i64 : i64
    jump head(%i1, %next)
done:
    return %s
}
";

/// A decision on two floats that are equal as long as both are rounded in the same way.
const TIE: &str = "
func @f(%p: ptr, %q: ptr, %c: ptr, %u: f64, %w: f64, %n: i64) -> f64 {
entry:
    %a = fmul %u, %w : f64
    %b = fmul %u, %w : f64
    %t = fcmp oge %a, %b
    branch %t, yes, no
yes:
    %x = math sin %u : f64
    jump out(%x)
no:
    %y = math cos %w : f64
    jump out(%y)
out(%z: f64):
    %r = fmul %z, %z : f64
    return %r
}
";

/// A seed that once found a defect that is rarely found, so that a test run need not look for it.
fn found_by(defect: Defect) -> u64 {
    match defect {
        Defect::OverlapBackwards => 208,
        Defect::ShiftIgnored => 233,
        Defect::SetKeepsAdjoint => 82,
        Defect::CalleeWritesIgnored => 104,
        Defect::InductionOffByOne | Defect::CallerWritesIgnored => 49,
        Defect::LaterFloatsIgnored => 42,
        Defect::GlobalIsItsShadow => 44,
        Defect::FrameOutlives => 22,
        Defect::NestKeepsAdjoint => 159,
        Defect::WrongAlias => 98,
        Defect::LaterIterationsIgnored => 484,
        Defect::OuterCounterStale => 1001,
        Defect::ReplayOfOverwritten => 175,
        Defect::OverlapOfNestsUnchecked => 42,
        Defect::RaisedAcrossDependence => 1,
        _ => 0,
    }
}
