//! rand: losses over random numbers that are drawn while the derivative runs.

use ecosystem::check;
use rand::rngs::{SmallRng, StdRng};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};

/// The expectation of a payoff, by a few paths.
fn monte_carlo(x: &[f64]) -> f64 {
    let mut random = SmallRng::seed_from_u64(42);
    let (drift, volatility, start) = (x[0], x[1], x[2]);
    let count = 50;
    let mut sum = 0.0;
    for _ in 0..count {
        let mut price = start;
        for _ in 0..10 {
            let shock = random.random_range(-1.0..1.0) * 1.7;
            price *= (drift * 0.1 + volatility * 0.3 * shock).exp();
        }
        sum += (price - 1.0).max(0.0);
    }
    sum / f64::from(count)
}

/// The loss over a batch that is drawn from the data.
fn batches(x: &[f64]) -> f64 {
    let mut random = SmallRng::seed_from_u64(7);
    let mut order: Vec<usize> = (0..20).collect();
    order.shuffle(&mut random);
    let batch = order.iter().take(8).map(|&i| {
        let at = i as f64 / 10.0;
        (x[0] + x[1] * at + x[2] * at * at - at.sin()).powi(2)
    });
    batch.sum()
}

/// Active numbers that are kept with a probability.
fn dropout(x: &[f64]) -> f64 {
    let mut random = SmallRng::seed_from_u64(3);
    let all = x.iter().cycle().take(12);
    all.filter(|_| random.random_bool(0.6)).map(|a| a * a).sum()
}

/// Active numbers that are shuffled and chosen.
fn shuffled(x: &[f64]) -> f64 {
    let mut random = SmallRng::seed_from_u64(3);
    let mut all = x.to_vec();
    all.shuffle(&mut random);
    all[0] * all[1] + all.choose(&mut random).unwrap().exp()
}

/// Both, with noise from the same generator.
fn shuffled_dropout(x: &[f64]) -> f64 {
    let mut random = SmallRng::seed_from_u64(3);
    let kept = x.iter().cycle().take(12).map(|a| a * a);
    let mut kept: Vec<f64> = kept.filter(|_| random.random_bool(0.6)).collect();
    kept.shuffle(&mut random);
    let noise: f64 = random.random();
    kept[0] * kept.choose(&mut random).unwrap() * (1.0 + noise * x[0])
}

/// Numbers of the generator that is good for cryptography.
fn noisy(x: &[f64]) -> f64 {
    let mut random = StdRng::seed_from_u64(5);
    let noise: Vec<f64> = (0..20).map(|_| random.random()).collect();
    let waves = noise.iter().map(|n| (x[0] * n + x[1]).sin() * x[2]);
    waves.sum()
}

fn main() {
    let x = [0.52, 0.57, 1.33];
    check("monte carlo", monte_carlo, &x);
    check("batches", batches, &x);
    check("dropout", dropout, &x);
    check("shuffled", shuffled, &x);
    check("shuffled dropout", shuffled_dropout, &x);
    check("noisy", noisy, &x);
}
