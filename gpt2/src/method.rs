//! How gradients are computed: who wrote the backward pass, and which product it uses.
//!
//! This is the only place that chooses among them: a new product is a line in `with_kernel`.

use crate::layers::product::{Blocked, Naive, Product};
use crate::layers::tuned::Tuned;
use crate::{Config, Parameters, by_hand, model};

/// How gradients are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Who wrote the backward pass.
    pub backward: Backward,
    /// The matrix product.
    pub kernel: Kernel,
    /// Whether layers are computed again in the backward pass instead of being kept.
    pub recompute: bool,
}

/// Who wrote the backward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Backward {
    /// Zymase, from [`model::loss`].
    #[default]
    Synthesized,
    /// A person: [`by_hand::loss`].
    ByHand,
}

/// The matrix product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kernel {
    /// As it is defined.
    Naive,
    /// Several rows at a time.
    Blocked,
    /// By the crate gemm, with a derivative that is written by hand.
    #[default]
    Tuned,
}

/// Sequences, one after the other, and what follows each of their tokens.
#[derive(Clone, Copy, Debug)]
pub struct Sequences<'a> {
    /// What is read.
    pub tokens: &'a [u32],
    /// What should be expected.
    pub targets: &'a [u32],
    /// How long each sequence is.
    pub length: usize,
}

/// `$body` with `$product` as a name of the type that belongs to a [`Kernel`].
macro_rules! with_kernel {
    ($kernel:expr, $product:ident => $body:expr) => {
        match $kernel {
            Kernel::Naive => {
                type $product = Naive;
                $body
            }
            Kernel::Blocked => {
                type $product = Blocked;
                $body
            }
            Kernel::Tuned => {
                type $product = Tuned;
                $body
            }
        }
    };
}

/// The loss of some sequences; adds `seed` times its gradient to `gradients`.
pub fn gradient(
    method: Method,
    parameters: &Parameters,
    gradients: &mut Parameters,
    config: &Config,
    sequences: Sequences,
    seed: f32,
) -> f32 {
    with_kernel!(method.kernel, P => match method.backward {
        Backward::Synthesized => {
            let synthesized = match method.recompute {
                true => synthesized::<P, true>,
                false => synthesized::<P, false>,
            };
            synthesized(parameters, gradients, config, sequences, seed)
        }
        Backward::ByHand => {
            let Sequences { tokens, targets, length } = sequences;
            by_hand::loss::<P>(parameters, gradients, config, tokens, targets, length, seed)
        }
    })
}

fn synthesized<P: Product, const RECOMPUTE: bool>(
    parameters: &Parameters,
    gradients: &mut Parameters,
    config: &Config,
    sequences: Sequences,
    seed: f32,
) -> f32 {
    let Sequences {
        tokens,
        targets,
        length,
    } = sequences;
    model::d_loss::<P, RECOMPUTE>(parameters, gradients, config, tokens, targets, length, seed)
}

/// The loss of some sequences.
pub fn loss(kernel: Kernel, parameters: &Parameters, config: &Config, sequences: Sequences) -> f32 {
    let Sequences {
        tokens,
        targets,
        length,
    } = sequences;
    with_kernel!(kernel, P => model::loss::<P, false>(parameters, config, tokens, targets, length))
}

/// What the model expects after each token of one sequence: rows of the padded vocabulary.
pub fn logits(
    kernel: Kernel,
    parameters: &Parameters,
    config: &Config,
    tokens: &[u32],
) -> Vec<f32> {
    with_kernel!(kernel, P => model::logits::<P, false>(parameters, config, tokens, tokens.len()))
}
