//! What a model begins with.

use crate::parameters::NAMES;
use crate::random::Random;
use crate::{Config, Parameters};

impl Parameters {
    /// As GPT-2 began: weights are normal with deviation 0.02, those that end in a residual less so
    /// the more layers there are; layer norms change nothing, and biases are 0.
    pub fn random(config: &Config, seed: u64) -> Parameters {
        let mut parameters = Parameters::zeros(config);
        let mut random = Random::stream(seed, 1);
        let residual = 0.02 / (2.0 * config.layers as f64).sqrt();
        for (name, tensor) in NAMES.iter().zip(parameters.tensors_mut()) {
            match *name {
                "ln1w" | "ln2w" | "lnfw" => tensor.fill(1.0),
                "attprojw" | "fcprojw" => fill(tensor, residual, &mut random),
                "wte" | "wpe" | "qkvw" | "fcw" => fill(tensor, 0.02, &mut random),
                _ => {}
            }
        }
        // Rows for no token: nothing reads them, and files look better with zeros.
        parameters.wte[config.vocabulary * config.channels..].fill(0.0);
        parameters
    }
}

fn fill(tensor: &mut [f32], deviation: f64, random: &mut Random) {
    for number in tensor {
        *number = (random.normal() * deviation) as f32;
    }
}
