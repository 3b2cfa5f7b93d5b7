// Numbers in hash maps. Iteration goes in an order that is not the same in every run, so what is
// summed that way is in maps with a fixed order. Without optimization, maps of different types share
// functions that move values of any type, and entries are found by functions that several maps share,
// so there all maps have one type, and nobody asks for entries.
include!("check.rs");

use std::collections::HashMap;
#[cfg(not(debug_assertions))]
use std::{collections::HashSet, collections::hash_map::DefaultHasher, hash::BuildHasherDefault};

type Map = HashMap<u64, f64>;
#[cfg(not(debug_assertions))]
type Fixed<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

fn inserted(x: &[f64]) -> f64 {
    let mut map = Map::new();
    for (i, a) in x.iter().enumerate() {
        map.insert(i as u64, a * a);
    }
    (0..x.len() as u64).map(|i| map[&i] * i as f64).sum()
}

// The table grows several times, and numbers move to where others were.
fn grown(x: &[f64]) -> f64 {
    let mut map = HashMap::new();
    for i in 0..300u64 {
        map.insert(i * i, x[i as usize % x.len()] * (i as f64).sqrt());
    }
    let mut total = 0.0;
    for i in 0..300u64 {
        total += map[&(i * i)].sin() * ((i % 7) as f64);
    }
    total
}

// An active number is overwritten by one that is not, and the other way round.
fn overwritten(x: &[f64]) -> f64 {
    let mut map = HashMap::new();
    let mut total = 0.0;
    for (i, a) in x.iter().enumerate() {
        let key = i as u64 % 3;
        if let Some(before) = map.insert(key, a.exp()) {
            total += before * (i + 1) as f64;
        }
        if i % 2 == 1 {
            map.insert(key, 1.5);
        }
    }
    total + map[&0] * map[&1] * map[&2]
}

#[cfg(not(debug_assertions))]
fn entries(x: &[f64]) -> f64 {
    let mut map = Map::new();
    for (i, a) in x.iter().enumerate() {
        *map.entry(i as u64 % 3).or_insert(1.0) *= a * a;
    }
    map[&0] + map[&1] * 2.0 + map[&2] * map[&2]
}

#[cfg(not(debug_assertions))]
fn modified(x: &[f64]) -> f64 {
    let mut map = Map::new();
    for (i, a) in x.iter().enumerate() {
        map.entry(i as u64 % 2)
            .and_modify(|b| *b = b.sin() + a)
            .or_insert_with(|| a * 0.5);
    }
    map[&0] + map[&1] * 2.0
}

// What is removed leaves marks behind, and what is inserted then reuses its places.
fn removed(x: &[f64]) -> f64 {
    let mut map = HashMap::new();
    let mut total = 0.0;
    for round in 0..6u64 {
        for i in 0..40u64 {
            map.insert(
                (round * 17 + i) % 60,
                x[i as usize % x.len()] * (round + i) as f64,
            );
        }
        for i in (0..60u64).filter(|i| i % 3 != round % 3) {
            if let Some(a) = map.remove(&i) {
                total += a.cos();
            }
        }
    }
    for i in 0..60u64 {
        total += map.get(&i).copied().unwrap_or(0.25) * i as f64;
    }
    total
}

// Which place a number goes to depends on another one.
fn binned(x: &[f64]) -> f64 {
    let mut bins = Map::new();
    for (i, a) in x.iter().enumerate() {
        *bins.entry((a * 2.0 + 5.0).floor() as u64).or_default() += a * a * (i + 1) as f64;
    }
    (0..12)
        .filter_map(|bin| bins.get(&bin))
        .map(|a| a * a)
        .sum()
}

#[cfg(not(debug_assertions))]
fn iterated(x: &[f64]) -> f64 {
    let numbers = x.iter().enumerate().map(|(i, a)| (i as u32 * 5, a * a));
    let mut map: Fixed<u32, f64> = numbers.collect();
    for (key, value) in map.iter_mut() {
        *value = value.sin() * f64::from(*key + 1);
    }
    map.retain(|key, _| key % 10 != 5);
    for value in map.values_mut() {
        *value += x[0];
    }
    let sum: f64 = map.iter().map(|(key, value)| f64::from(*key) * value).sum();
    let copy = map.clone();
    let product: f64 = map.into_values().product();
    sum + product + copy.values().map(|a| a * a).sum::<f64>()
}

#[cfg(not(debug_assertions))]
fn vectors(x: &[f64]) -> f64 {
    let mut groups: Fixed<u32, Vec<f64>> = Fixed::default();
    for i in 0..40 {
        let a = x[i % x.len()] * (i as f64 * 0.1).cos();
        groups.entry(i as u32 % 6).or_default().push(a);
    }
    let first = groups.remove(&3).map_or(0.0, |group| group[2] * group[1]);
    groups.insert(3, x.to_vec());
    let sums = groups.values().map(|group| group.iter().sum::<f64>());
    first + sums.map(|sum| sum * sum).sum::<f64>()
}

#[cfg(not(debug_assertions))]
#[derive(Clone, Copy)]
struct Particle {
    mass: f64,
    kind: u8,
    place: [f64; 2],
}

#[cfg(not(debug_assertions))]
fn structures(x: &[f64]) -> f64 {
    let mut cells: HashMap<(i32, i32), Particle> = HashMap::new();
    for (i, a) in x.iter().enumerate() {
        let place = [a.cos(), a.sin() * 2.0];
        let cell = (i as i32 % 2, i as i32 / 2 - 1);
        let (mass, kind) = (a * a, i as u8);
        cells.insert(cell, Particle { mass, kind, place });
    }
    let mut total = 0.0;
    for cell in [(0, -1), (1, -1), (0, 0), (1, 0), (0, 1)] {
        let Particle { mass, kind, place } = cells[&cell];
        total += mass * place[0] + f64::from(kind) * place[1];
    }
    total
}

fn cached(x: &[f64]) -> f64 {
    fn power(x: &[f64], n: u64, known: &mut Map) -> f64 {
        if let Some(&value) = known.get(&n) {
            return value;
        }
        let value = match n {
            0 => 1.0,
            n => {
                power(x, n / 2, known)
                    * power(x, n - 1 - n / 2, known)
                    * x[n as usize % x.len()].sin()
            }
        };
        known.insert(n, value);
        value
    }
    let mut known = Map::new();
    power(x, 9, &mut known) + power(x, 20, &mut known) * known.len() as f64
}

// Nothing in the map has a derivative; it says which numbers are used.
#[cfg(not(debug_assertions))]
fn chosen(x: &[f64]) -> f64 {
    let mut seen = HashSet::new();
    let next: HashMap<usize, usize> = (0..x.len()).map(|i| (i * 7, (i + 2) % x.len())).collect();
    let mut total = 0.0;
    for (i, a) in x.iter().enumerate() {
        if seen.insert((i * i) % 4) {
            total += a * x[next[&(i * 7)]];
        }
    }
    total * seen.len() as f64
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("hash maps: inserted", inserted, x);
    check!("hash maps: grown", grown, x);
    check!("hash maps: overwritten", overwritten, x);
    check!("hash maps: removed", removed, x);
    check!("hash maps: binned", binned, x);
    check!("hash maps: cached", cached, x);
    #[cfg(not(debug_assertions))]
    {
        check!("hash maps: entries", entries, x);
        check!("hash maps: modified", modified, x);
        check!("hash maps: iterated", iterated, x);
        check!("hash maps: vectors", vectors, x);
        check!("hash maps: structures", structures, x);
        check!("hash maps: chosen", chosen, x);
    }
}
