// Hash maps.
include!("check.rs");

use std::collections::{HashMap, HashSet};

fn counted(x: &[f64]) -> f64 {
    let mut map: HashMap<usize, f64> = HashMap::new();
    for (i, a) in x.iter().enumerate() {
        *map.entry(i % 3).or_insert(1.0) *= a;
    }
    (0..3).map(|key| map[&key] * (key + 1) as f64).sum()
}

fn looked_up(x: &[f64]) -> f64 {
    let names = ["mass", "speed", "place"];
    let values: HashMap<&str, f64> = names.iter().copied().zip(x.iter().copied()).collect();
    let known: HashSet<&str> = names.into_iter().collect();
    let half = if known.contains("mass") { 0.5 } else { 1.0 };
    half * values["mass"] * values["speed"].powi(2) + values.get("none").unwrap_or(&x[3])
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("hash maps: counted", counted, x);
    check!("hash maps: looked up", looked_up, x);
}
