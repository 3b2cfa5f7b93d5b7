//! The whole model: from tokens to the loss, in one function.

use crate::layers::attention::attention;
use crate::layers::cross_entropy::cross_entropy;
use crate::layers::encoder::encode;
use crate::layers::gelu::gelu;
use crate::layers::layer_norm::layer_norm;
use crate::layers::product::Product;
use crate::layers::residual::residual;
use crate::{Config, Parameters};
use zymase::autodiff_reverse;

/// How surprising `targets` are to a model that has read the tokens before each of them: the mean
/// cross-entropy. `tokens` are sequences of `length`, one after the other.
#[autodiff_reverse(d_loss, Duplicated, Const, Const, Const, Const, Active)]
pub fn loss<P: Product>(
    parameters: &Parameters,
    config: &Config,
    tokens: &[u32],
    targets: &[u32],
    length: usize,
) -> f32 {
    let logits = logits::<P>(parameters, config, tokens, length);
    cross_entropy(
        &logits,
        targets,
        config.vocabulary,
        config.padded_vocabulary,
    )
}

/// What the model expects after each position: a row of the padded vocabulary for each of them.
pub fn logits<P: Product>(
    parameters: &Parameters,
    config: &Config,
    tokens: &[u32],
    length: usize,
) -> Vec<f32> {
    let channels = config.channels;
    let mut x = vec![0.0; tokens.len() * channels];
    encode(
        &mut x,
        tokens,
        &parameters.wte,
        &parameters.wpe,
        length,
        channels,
    );
    for layer in 0..config.layers {
        x = block::<P>(&x, parameters, config, layer, length);
    }
    let mut normed = vec![0.0; x.len()];
    layer_norm(&mut normed, &x, &parameters.lnfw, &parameters.lnfb);
    let mut logits = vec![0.0; tokens.len() * config.padded_vocabulary];
    P::product(&mut logits, &normed, &parameters.wte, &[], channels);
    logits
}

/// One layer: attention, then a perceptron, each beside a residual.
fn block<P: Product>(
    x: &[f32],
    parameters: &Parameters,
    config: &Config,
    layer: usize,
    length: usize,
) -> Vec<f32> {
    let p = parameters.layer(layer, config.channels);
    let (channels, heads) = (config.channels, config.heads);
    let size = x.len();
    let rows = size / channels;

    let mut normed = vec![0.0; size];
    layer_norm(&mut normed, x, p.ln1w, p.ln1b);
    let mut qkv = vec![0.0; 3 * size];
    P::product(&mut qkv, &normed, p.qkvw, p.qkvb, channels);
    let mut weights = vec![0.0; rows * heads * length];
    let mut attended = vec![0.0; size];
    attention(&mut attended, &mut weights, &qkv, length, channels, heads);
    let mut projected = vec![0.0; size];
    P::product(&mut projected, &attended, p.attprojw, p.attprojb, channels);
    let mut middle = vec![0.0; size];
    residual(&mut middle, x, &projected);

    let mut normed = vec![0.0; size];
    layer_norm(&mut normed, &middle, p.ln2w, p.ln2b);
    let mut hidden = vec![0.0; 4 * size];
    P::product(&mut hidden, &normed, p.fcw, p.fcb, channels);
    let mut active = vec![0.0; 4 * size];
    gelu(&mut active, &hidden);
    let mut projected = vec![0.0; size];
    P::product(&mut projected, &active, p.fcprojw, p.fcprojb, 4 * channels);
    let mut out = vec![0.0; size];
    residual(&mut out, &middle, &projected);
    out
}
