//! From gradients to better parameters: AdamW, and the limit on the gradient before it.

use crate::parameters::NAMES;
use crate::threads::{self, PART};
use crate::{Config, Parameters};

/// Adam with weight decay that does not go through the moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamW {
    /// How much of the first moment is kept at each step.
    pub beta1: f64,
    /// How much of the second moment is kept at each step.
    pub beta2: f64,
    /// Keeps the denominator away from 0.
    pub epsilon: f64,
    /// The part of each decayed weight that is taken away, for each unit of the learning rate.
    pub weight_decay: f64,
}

/// What the optimizer remembers: running means of gradients and of their squares.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Means of gradients.
    pub first: Parameters,
    /// Means of squares.
    pub second: Parameters,
}

impl Moments {
    /// Nothing is remembered yet.
    pub fn zeros(config: &Config) -> Moments {
        Moments {
            first: Parameters::zeros(config),
            second: Parameters::zeros(config),
        }
    }
}

/// Whether a tensor is decayed: matrices and embeddings are, biases and layer norms are not.
pub fn is_decayed(name: &str) -> bool {
    matches!(
        name,
        "wte" | "wpe" | "qkvw" | "attprojw" | "fcw" | "fcprojw"
    )
}

impl AdamW {
    /// Makes a step, on so many threads; the first one is 0.
    #[expect(clippy::too_many_arguments)]
    pub fn update(
        &self,
        parameters: &mut Parameters,
        gradients: &Parameters,
        moments: &mut Moments,
        step: u64,
        rate: f64,
        threads: usize,
    ) {
        // Moments begin at 0 and are too small at first, which is undone here.
        let steps = step as f64 + 1.0;
        let correction1 = 1.0 - self.beta1.powf(steps);
        let correction2 = 1.0 - self.beta2.powf(steps);
        let (beta1, beta2) = (self.beta1 as f32, self.beta2 as f32);
        let size = (rate / correction1) as f32;
        let scale = (1.0 / correction2.sqrt()) as f32;
        let epsilon = self.epsilon as f32;

        let tensors = parameters
            .tensors_mut()
            .into_iter()
            .zip(gradients.tensors());
        let moments = moments
            .first
            .tensors_mut()
            .into_iter()
            .zip(moments.second.tensors_mut());
        let parts = NAMES.iter().zip(tensors).zip(moments).flat_map(
            |((name, (parameters, gradients)), (first, second))| {
                let decay = if is_decayed(name) {
                    self.weight_decay
                } else {
                    0.0
                };
                let keep = (1.0 - rate * decay) as f32;
                let numbers = parameters.chunks_mut(PART).zip(gradients.chunks(PART));
                let moments = first.chunks_mut(PART).zip(second.chunks_mut(PART));
                numbers.zip(moments).map(move |part| (keep, part))
            },
        );
        threads::for_each(threads, parts, |(keep, ((p, g), (m, v)))| {
            for ((p, &g), (m, v)) in p.iter_mut().zip(g).zip(m.iter_mut().zip(v)) {
                *m = beta1 * *m + (1.0 - beta1) * g;
                *v = beta2 * *v + (1.0 - beta2) * g * g;
                *p = *p * keep - size * *m / (v.sqrt() * scale + epsilon);
            }
        });
    }
}

/// Makes a gradient shorter if its norm over all tensors is above `limit` (0 is no limit). Returns the
/// norm that it had.
pub fn clip(gradients: &mut Parameters, limit: f64) -> f64 {
    let sum: f64 = gradients
        .tensors()
        .iter()
        .flat_map(|tensor| tensor.iter())
        .map(|&x| f64::from(x) * f64::from(x))
        .sum();
    let norm = sum.sqrt();
    if limit > 0.0 && norm > limit {
        let factor = (limit / norm) as f32;
        for tensor in gradients.tensors_mut() {
            for number in tensor {
                *number *= factor;
            }
        }
    }
    norm
}
