//! What is learned: sixteen tensors, each for all layers.

use crate::Config;
use crate::threads::{self, PART};
use zymase::Differentiable;

/// The parameters of a model; also their gradients, and the moments of the optimizer.
///
/// Tensors with a part for each layer have these parts one after the other. Matrices have a row for
/// each output.
#[derive(Clone, Debug, Differentiable, PartialEq)]
pub struct Parameters {
    /// Tokens: padded vocabulary × channels. Its transpose turns the last activations into logits.
    pub wte: Vec<f32>,
    /// Positions: positions × channels.
    pub wpe: Vec<f32>,
    /// First layer norm, weight: layers × channels.
    pub ln1w: Vec<f32>,
    /// First layer norm, bias: layers × channels.
    pub ln1b: Vec<f32>,
    /// Queries, keys and values, weight: layers × 3 channels × channels.
    pub qkvw: Vec<f32>,
    /// Queries, keys and values, bias: layers × 3 channels.
    pub qkvb: Vec<f32>,
    /// After attention, weight: layers × channels × channels.
    pub attprojw: Vec<f32>,
    /// After attention, bias: layers × channels.
    pub attprojb: Vec<f32>,
    /// Second layer norm, weight: layers × channels.
    pub ln2w: Vec<f32>,
    /// Second layer norm, bias: layers × channels.
    pub ln2b: Vec<f32>,
    /// Perceptron, weight: layers × 4 channels × channels.
    pub fcw: Vec<f32>,
    /// Perceptron, bias: layers × 4 channels.
    pub fcb: Vec<f32>,
    /// After the perceptron, weight: layers × channels × 4 channels.
    pub fcprojw: Vec<f32>,
    /// After the perceptron, bias: layers × channels.
    pub fcprojb: Vec<f32>,
    /// Last layer norm, weight: channels.
    pub lnfw: Vec<f32>,
    /// Last layer norm, bias: channels.
    pub lnfb: Vec<f32>,
}

/// The names of the tensors, in the order of [`Parameters::tensors`] and of checkpoints.
pub const NAMES: [&str; 16] = [
    "wte", "wpe", "ln1w", "ln1b", "qkvw", "qkvb", "attprojw", "attprojb", "ln2w", "ln2b", "fcw",
    "fcb", "fcprojw", "fcprojb", "lnfw", "lnfb",
];

/// The shape of each tensor, in the same order.
pub fn shapes(config: &Config) -> [Vec<usize>; 16] {
    let (l, c) = (config.layers, config.channels);
    [
        vec![config.padded_vocabulary, c],
        vec![config.positions, c],
        vec![l, c],
        vec![l, c],
        vec![l, 3 * c, c],
        vec![l, 3 * c],
        vec![l, c, c],
        vec![l, c],
        vec![l, c],
        vec![l, c],
        vec![l, 4 * c, c],
        vec![l, 4 * c],
        vec![l, c, 4 * c],
        vec![l, c],
        vec![c],
        vec![c],
    ]
}

impl Parameters {
    /// All zero: what gradients begin with.
    pub fn zeros(config: &Config) -> Parameters {
        Parameters::from_tensors(shapes(config).map(|shape| vec![0.0; shape.iter().product()]))
    }

    /// The tensors in the order of [`NAMES`].
    pub fn from_tensors(tensors: [Vec<f32>; 16]) -> Parameters {
        let [
            wte,
            wpe,
            ln1w,
            ln1b,
            qkvw,
            qkvb,
            attprojw,
            attprojb,
            ln2w,
            ln2b,
            fcw,
            fcb,
            fcprojw,
            fcprojb,
            lnfw,
            lnfb,
        ] = tensors;
        Parameters {
            wte,
            wpe,
            ln1w,
            ln1b,
            qkvw,
            qkvb,
            attprojw,
            attprojb,
            ln2w,
            ln2b,
            fcw,
            fcb,
            fcprojw,
            fcprojb,
            lnfw,
            lnfb,
        }
    }

    /// The tensors in the order of [`NAMES`].
    pub fn tensors(&self) -> [&[f32]; 16] {
        [
            &self.wte,
            &self.wpe,
            &self.ln1w,
            &self.ln1b,
            &self.qkvw,
            &self.qkvb,
            &self.attprojw,
            &self.attprojb,
            &self.ln2w,
            &self.ln2b,
            &self.fcw,
            &self.fcb,
            &self.fcprojw,
            &self.fcprojb,
            &self.lnfw,
            &self.lnfb,
        ]
    }

    /// The tensors in the order of [`NAMES`], to be changed.
    pub fn tensors_mut(&mut self) -> [&mut [f32]; 16] {
        [
            &mut self.wte,
            &mut self.wpe,
            &mut self.ln1w,
            &mut self.ln1b,
            &mut self.qkvw,
            &mut self.qkvb,
            &mut self.attprojw,
            &mut self.attprojb,
            &mut self.ln2w,
            &mut self.ln2b,
            &mut self.fcw,
            &mut self.fcb,
            &mut self.fcprojw,
            &mut self.fcprojb,
            &mut self.lnfw,
            &mut self.lnfb,
        ]
    }

    /// Makes all numbers zero, on so many threads.
    pub fn zero(&mut self, threads: usize) {
        let parts = self.tensors_mut().into_iter();
        let parts = parts.flat_map(|tensor| tensor.chunks_mut(PART));
        threads::for_each(threads, parts, |part| part.fill(0.0));
    }

    /// How many numbers are learned.
    pub fn count(&self) -> usize {
        self.tensors().iter().map(|tensor| tensor.len()).sum()
    }
}

/// The parameters of one layer.
pub struct Layer<'a> {
    /// First layer norm, weight.
    pub ln1w: &'a [f32],
    /// First layer norm, bias.
    pub ln1b: &'a [f32],
    /// Queries, keys and values, weight.
    pub qkvw: &'a [f32],
    /// Queries, keys and values, bias.
    pub qkvb: &'a [f32],
    /// After attention, weight.
    pub attprojw: &'a [f32],
    /// After attention, bias.
    pub attprojb: &'a [f32],
    /// Second layer norm, weight.
    pub ln2w: &'a [f32],
    /// Second layer norm, bias.
    pub ln2b: &'a [f32],
    /// Perceptron, weight.
    pub fcw: &'a [f32],
    /// Perceptron, bias.
    pub fcb: &'a [f32],
    /// After the perceptron, weight.
    pub fcprojw: &'a [f32],
    /// After the perceptron, bias.
    pub fcprojb: &'a [f32],
}

impl Parameters {
    /// The parameters of one layer.
    pub fn layer(&self, layer: usize, channels: usize) -> Layer<'_> {
        let part = |tensor, size| part(tensor, layer, size);
        let c = channels;
        Layer {
            ln1w: part(&self.ln1w, c),
            ln1b: part(&self.ln1b, c),
            qkvw: part(&self.qkvw, 3 * c * c),
            qkvb: part(&self.qkvb, 3 * c),
            attprojw: part(&self.attprojw, c * c),
            attprojb: part(&self.attprojb, c),
            ln2w: part(&self.ln2w, c),
            ln2b: part(&self.ln2b, c),
            fcw: part(&self.fcw, 4 * c * c),
            fcb: part(&self.fcb, 4 * c),
            fcprojw: part(&self.fcprojw, 4 * c * c),
            fcprojb: part(&self.fcprojb, c),
        }
    }
}

fn part(tensor: &[f32], layer: usize, size: usize) -> &[f32] {
    &tensor[layer * size..][..size]
}

/// The same, to be changed.
#[expect(missing_docs)]
pub struct LayerMut<'a> {
    pub ln1w: &'a mut [f32],
    pub ln1b: &'a mut [f32],
    pub qkvw: &'a mut [f32],
    pub qkvb: &'a mut [f32],
    pub attprojw: &'a mut [f32],
    pub attprojb: &'a mut [f32],
    pub ln2w: &'a mut [f32],
    pub ln2b: &'a mut [f32],
    pub fcw: &'a mut [f32],
    pub fcb: &'a mut [f32],
    pub fcprojw: &'a mut [f32],
    pub fcprojb: &'a mut [f32],
}

impl Parameters {
    /// The same of gradients, to be changed.
    pub fn layer_mut(&mut self, layer: usize, channels: usize) -> LayerMut<'_> {
        let c = channels;
        LayerMut {
            ln1w: part_mut(&mut self.ln1w, layer, c),
            ln1b: part_mut(&mut self.ln1b, layer, c),
            qkvw: part_mut(&mut self.qkvw, layer, 3 * c * c),
            qkvb: part_mut(&mut self.qkvb, layer, 3 * c),
            attprojw: part_mut(&mut self.attprojw, layer, c * c),
            attprojb: part_mut(&mut self.attprojb, layer, c),
            ln2w: part_mut(&mut self.ln2w, layer, c),
            ln2b: part_mut(&mut self.ln2b, layer, c),
            fcw: part_mut(&mut self.fcw, layer, 4 * c * c),
            fcb: part_mut(&mut self.fcb, layer, 4 * c),
            fcprojw: part_mut(&mut self.fcprojw, layer, 4 * c * c),
            fcprojb: part_mut(&mut self.fcprojb, layer, c),
        }
    }
}

fn part_mut(tensor: &mut [f32], layer: usize, size: usize) -> &mut [f32] {
    &mut tensor[layer * size..][..size]
}
