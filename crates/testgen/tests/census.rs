//! Generated programs contain every construct that breaks tools like ours, and often enough.

use std::collections::BTreeMap;
use zymase_testgen::census::{CONSTRUCTS, constructs};
use zymase_testgen::grow::grow;

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
