// Constants and variables of the program that have no derivative.
include!("check.rs");

use std::sync::atomic::{AtomicUsize, Ordering};

static WEIGHTS: [f64; 3] = [0.5, 0.25, 0.125];
const SHIFT: f64 = 1.5;
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn constants(x: &[f64]) -> f64 {
    x.iter()
        .enumerate()
        .map(|(i, a)| WEIGHTS[i % 3] * (a + SHIFT) * a)
        .sum()
}

fn counted(x: &[f64]) -> f64 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    x.iter().map(|a| a * a).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("statics: constants", constants, x);
    check!("statics: counted", counted, x);
    assert!(CALLS.load(Ordering::Relaxed) > 10);
}
