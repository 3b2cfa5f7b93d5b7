//! Generated programs contain every construct that breaks tools like ours, and often enough.

use std::collections::BTreeMap;
use zymase_core::ir::Mode;
use zymase_core::ir::text::{parse_module, print_module};
use zymase_core::pipeline::{Options, differentiate};
use zymase_core::raise::Raise;
use zymase_testgen::census::{CONSTRUCTS, constructs};
use zymase_testgen::grow::grow;
use zymase_testgen::lower::lower;
use zymase_testgen::referee::wrapper;
use zymase_testgen::trial::arguments;

/// How many programs are counted.
const SEEDS: u64 = 4000;

#[test]
fn one_program_in_a_hundred_has_each_construct() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..SEEDS {
        for construct in constructs(&grow(seed)) {
            *counts.entry(construct).or_default() += 1;
        }
    }
    let mut rare = Vec::new();
    for construct in CONSTRUCTS {
        let count = counts.get(construct).copied().unwrap_or_default();
        println!("{:6.1} % {construct}", 100.0 * count as f64 / SEEDS as f64);
        if count * 100 < SEEDS {
            rare.push(construct);
        }
    }
    assert!(
        rare.is_empty(),
        "less than one program in a hundred has {rare:?}"
    );
}

/// Iterations are replayed in one program of a hundred, so the trials reach what does that.
#[test]
fn one_program_in_a_hundred_replays_iterations() {
    const SEEDS: u64 = 200;
    let replays = |&seed: &u64| {
        let mut module = parse_module(&lower(&grow(seed))).unwrap();
        let func = module.func_by_name("f").unwrap();
        wrapper(&mut module, func, &arguments(0), Mode::Combined);
        differentiate(&mut module, &Options::default()).is_ok()
            && print_module(&module).contains(".iteration.gradient(")
    };
    let count = (0..SEEDS).filter(replays).count() as u64;
    assert!(count * 100 >= SEEDS, "only {count} of {SEEDS} programs do");
}

/// Loops can become nests in five programs of a hundred.
#[test]
fn five_programs_in_a_hundred_have_loops_that_are_raised() {
    const SEEDS: u64 = 400;
    let text = |seed: u64, raise: Raise| {
        let mut module = parse_module(&lower(&grow(seed))).unwrap();
        let func = module.func_by_name("f").unwrap();
        wrapper(&mut module, func, &arguments(0), Mode::Combined);
        let options = Options {
            raise,
            ..Options::default()
        };
        let done = differentiate(&mut module, &options).is_ok();
        done.then(|| print_module(&module))
    };
    let raises = |&seed: &u64| {
        let has = constructs(&grow(seed)).contains("loops that multiply and add up");
        has && text(seed, Raise::Always) != text(seed, Raise::Never)
    };
    let count = (0..SEEDS).filter(raises).count() as u64;
    println!("loops of {count} programs of {SEEDS} are raised");
    assert!(count * 20 >= SEEDS, "only {count} of {SEEDS} programs do");
}
