// Heaps and sets of numbers that have no derivative, beside those that have.
include!("check.rs");

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

fn shortest(x: &[f64]) -> f64 {
    // The shortest way through a ring with chords, by steps of integers, and its length.
    let n = x.len();
    let mut best = vec![f64::INFINITY; n];
    let mut queue = BinaryHeap::new();
    best[0] = 0.0;
    queue.push(Reverse((0u64, 0usize)));
    while let Some(Reverse((_, at))) = queue.pop() {
        for (to, length) in [
            ((at + 1) % n, x[at] * x[at] + 0.1),
            ((at + 2) % n, x[at].exp()),
        ] {
            let through = best[at] + length;
            if through < best[to] {
                best[to] = through;
                queue.push(Reverse(((through * 1e6) as u64, to)));
            }
        }
    }
    best.iter().sum()
}

fn chosen(x: &[f64]) -> f64 {
    let set: BTreeSet<usize> = (0..x.len())
        .map(|i| (i * 3) % x.len())
        .filter(|i| i % 2 == 0)
        .collect();
    set.iter().map(|i| x[*i] * x[*i]).product()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("heaps: shortest", shortest, x);
    check!("heaps: chosen", chosen, x);
}
