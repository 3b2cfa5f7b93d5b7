// Maps from numbers and words to active numbers.
include!("check.rs");

use std::collections::BTreeMap;

fn grouped(x: &[f64]) -> f64 {
    let mut groups = BTreeMap::new();
    for (i, a) in x.iter().enumerate() {
        *groups.entry(i % 2).or_insert(0.0) += a * a;
    }
    groups.values().map(|a: &f64| a.sin()).sum()
}

fn many(x: &[f64]) -> f64 {
    let mut map = BTreeMap::new();
    for i in 0..40u32 {
        map.insert((i * 17) % 41, x[i as usize % x.len()] * f64::from(i));
    }
    map.remove(&5);
    map.iter().map(|(key, a)| f64::from(*key) * a).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("maps: grouped", grouped, x);
    check!("maps: many", many, x);
}
