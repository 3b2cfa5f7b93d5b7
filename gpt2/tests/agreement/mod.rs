//! Synthesized gradients against those by hand, against finite differences of a straightforward
//! implementation in double precision, and against PyTorch.

mod layers;
mod model;
mod reference;
mod torch;
mod training;

use zymase_gpt2::random::Random;
use zymase_gpt2::{Config, Parameters};

/// The seed of all numbers here, which is printed; `SEED=7 cargo zymase test --release` takes another.
fn seed() -> u64 {
    let seed = std::env::var("SEED").ok();
    let seed = seed.map_or(1, |seed| seed.parse().expect("SEED is a number"));
    println!("seed {seed}");
    seed
}

/// Normally distributed numbers.
fn normal(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.normal() as f32).collect()
}

/// Tokens of a vocabulary.
fn tokens(random: &mut Random, count: usize, vocabulary: usize) -> Vec<u32> {
    (0..count)
        .map(|_| random.below(vocabulary) as u32)
        .collect()
}

/// Parameters of which none is special: what training begins with has zeros that hide errors. Sums
/// over channels are about 1, so that no layer makes rounding errors much larger.
fn parameters(random: &mut Random, config: &Config) -> Parameters {
    let deviation = 1.0 / (config.channels as f64).sqrt();
    let mut parameters = Parameters::random(config, random.bits());
    for tensor in parameters.tensors_mut() {
        for number in tensor {
            *number += (deviation * random.normal()) as f32;
        }
    }
    parameters
}

/// The largest difference, as a part of the largest number that is expected.
fn difference<T: Copy + Into<f64>>(found: &[f32], expected: &[T]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let expected = expected.iter().map(|&x| x.into());
    let largest = expected
        .clone()
        .fold(0.0, |most: f64, x: f64| most.max(x.abs()));
    let differences = found
        .iter()
        .zip(expected)
        .map(|(&a, b)| (f64::from(a) - b).abs());
    // What is not a number is no agreement, and `max` would drop it.
    let most = differences.fold(
        0.0,
        |most: f64, x| if x > most || x.is_nan() { x } else { most },
    );
    if most == 0.0 { 0.0 } else { most / largest }
}

/// Asserts that two tensors are the same up to rounding errors.
fn assert_near<T: Copy + Into<f64>>(what: &str, found: &[f32], expected: &[T], tolerance: f64) {
    let difference = difference(found, expected);
    println!("{what}: {difference:.1e}");
    assert!(
        difference <= tolerance,
        "{what} differs by {difference:e} of its largest number"
    );
}
