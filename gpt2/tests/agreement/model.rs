//! The whole model: sixteen tensors, with each product, kept and computed again.

use super::{assert_near, normal, parameters, reference, seed, tokens};
use zymase_gpt2::method::{Backward, Kernel, Method, Sequences, gradient, loss};
use zymase_gpt2::parameters::NAMES;
use zymase_gpt2::random::Random;
use zymase_gpt2::{Config, Parameters};

/// Errors of one layer go through all the others.
const ROUNDING: f64 = 2e-5;

const KERNELS: [Kernel; 3] = [Kernel::Naive, Kernel::Blocked, Kernel::Tuned];

/// A model with numbers in it, and something to read.
pub struct Case {
    pub config: Config,
    pub parameters: Parameters,
    pub tokens: Vec<u32>,
    pub targets: Vec<u32>,
    pub length: usize,
}

impl Case {
    pub fn new(random: &mut Random, config: Config, batch: usize, length: usize) -> Case {
        config.check().unwrap();
        Case {
            parameters: parameters(random, &config),
            tokens: tokens(random, batch * length, config.vocabulary),
            targets: tokens(random, batch * length, config.vocabulary),
            config,
            length,
        }
    }

    fn sequences(&self) -> Sequences<'_> {
        Sequences {
            tokens: &self.tokens,
            targets: &self.targets,
            length: self.length,
        }
    }

    /// The loss, and `start` plus `seed` times its gradient.
    pub fn gradient(&self, method: Method, start: &Parameters, seed: f32) -> (f32, Parameters) {
        let mut gradients = start.clone();
        let (p, c) = (&self.parameters, &self.config);
        let loss = gradient(method, p, &mut gradients, c, self.sequences(), seed);
        (loss, gradients)
    }

    fn reference(&self) -> impl Fn(&[Vec<f64>]) -> f64 {
        |p| reference::loss(p, &self.config, &self.tokens, &self.targets, self.length)
    }

    fn wide(&self) -> Vec<Vec<f64>> {
        self.parameters.tensors().map(reference::wide).to_vec()
    }
}

pub fn config([layers, heads, channels, positions, vocabulary, padded]: [usize; 6]) -> Config {
    Config {
        positions,
        vocabulary,
        padded_vocabulary: padded,
        layers,
        heads,
        channels,
    }
}

pub fn method(backward: Backward, kernel: Kernel, recompute: bool) -> Method {
    Method {
        backward,
        kernel,
        recompute,
    }
}

/// All ways to compute the gradient of a model, with what they are called.
fn methods() -> impl Iterator<Item = (String, Method)> {
    KERNELS.into_iter().flat_map(|kernel| {
        let ways = [
            ("by hand", Backward::ByHand, false),
            ("synthesized", Backward::Synthesized, false),
            ("recomputed", Backward::Synthesized, true),
        ];
        ways.map(|(name, backward, recompute)| {
            let name = format!("{kernel:?} {name}");
            (name, method(backward, kernel, recompute))
        })
    })
}

#[test]
fn synthesized_gradients_are_those_by_hand() {
    let mut random = Random::stream(seed(), 10);
    let shapes = [
        ([2, 2, 16, 12, 27, 32], 2, 9),
        ([1, 1, 8, 4, 5, 5], 1, 1),
        ([3, 4, 24, 8, 40, 48], 3, 8),
        ([1, 3, 51, 17, 70, 71], 1, 17),
        // Heads of one number.
        ([2, 5, 5, 6, 11, 16], 3, 5),
    ];
    for (shape, batch, length) in shapes {
        let case = Case::new(&mut random, config(shape), batch, length);
        // Gradients are added, and multiplied by a seed: several batches make one step.
        let mut start = Parameters::zeros(&case.config);
        for tensor in start.tensors_mut() {
            let numbers = normal(&mut random, tensor.len());
            tensor.copy_from_slice(&numbers);
        }
        let zeros = Parameters::zeros(&case.config);
        for kernel in KERNELS {
            let by_hand = method(Backward::ByHand, kernel, false);
            for recompute in [false, true] {
                let synthesized = method(Backward::Synthesized, kernel, recompute);
                for (start, seed) in [(&zeros, 1.0), (&start, 0.5)] {
                    let (loss, found) = case.gradient(synthesized, start, seed);
                    let (expected_loss, expected) = case.gradient(by_hand, start, seed);
                    let what = format!("{shape:?} {kernel:?} recompute={recompute}");
                    assert_near(&format!("{what} loss"), &[loss], &[expected_loss], 1e-6);
                    let tensors = found.tensors().into_iter().zip(expected.tensors());
                    for (name, (found, expected)) in NAMES.iter().zip(tensors) {
                        assert_near(&format!("{what} {name}"), found, expected, ROUNDING);
                    }
                }
            }
        }
    }
}

#[test]
fn gradients_are_finite_differences_of_every_parameter() {
    let mut random = Random::stream(seed(), 11);
    for (shape, batch, length) in [([2, 2, 8, 12, 27, 32], 2, 9), ([1, 1, 7, 3, 5, 6], 1, 3)] {
        let case = Case::new(&mut random, config(shape), batch, length);
        let expected = reference::differences(&case.wide(), &case.reference());
        for (name, method) in methods() {
            let (_, found) = case.gradient(method, &Parameters::zeros(&case.config), 1.0);
            for ((tensor, found), expected) in NAMES.iter().zip(found.tensors()).zip(&expected) {
                assert_near(
                    &format!("{shape:?} {name} {tensor}"),
                    found,
                    expected,
                    ROUNDING,
                );
            }
        }
    }
}

#[test]
fn gradients_are_finite_differences_along_directions() {
    let mut random = Random::stream(seed(), 12);
    let case = Case::new(&mut random, config([3, 3, 33, 20, 61, 64]), 3, 19);
    let (wide, reference) = (case.wide(), case.reference());
    for kernel in KERNELS {
        let found = loss(kernel, &case.parameters, &case.config, case.sequences());
        assert_near(
            &format!("{kernel:?} loss"),
            &[found],
            &[reference(&wide)],
            1e-6,
        );
    }
    let gradients: Vec<_> = methods()
        .map(|(name, method)| {
            let zeros = Parameters::zeros(&case.config);
            (name, case.gradient(method, &zeros, 1.0).1)
        })
        .collect();
    for (index, tensor) in NAMES.iter().enumerate() {
        for _ in 0..3 {
            let length = (wide[index].len() as f64).sqrt();
            let direction: Vec<f64> = wide[index]
                .iter()
                .map(|_| random.normal() / length)
                .collect();
            let expected = reference::along(&wide, index, &direction, &reference);
            for (name, gradient) in &gradients {
                let gradient = gradient.tensors()[index];
                let products = gradient.iter().zip(&direction);
                let found: f64 = products.map(|(&g, d)| f64::from(g) * d).sum();
                // Along a direction, large parts may cancel each other, but not their errors.
                let size = gradient.iter().fold(0.0, |most: f32, g| most.max(g.abs()));
                let difference = (found - expected).abs() / f64::from(size);
                println!("{name}, {tensor}: {difference:.1e}");
                assert!(
                    difference <= ROUNDING,
                    "{name}, {tensor}: {found} {expected}"
                );
            }
        }
    }
}
