//! The whole model: from tokens to the loss, in one function.

use crate::layers::attention::attention;
use crate::layers::cross_entropy::cross_entropy;
use crate::layers::encoder::encode;
use crate::layers::gelu::gelu;
use crate::layers::layer_norm::layer_norm;
use crate::layers::product::Product;
use crate::layers::residual::residual;
use crate::{Config, Parameters};
use zymase::{autodiff_reverse, derivative};

/// How surprising `targets` are to a model that has read the tokens before each of them: the mean
/// cross-entropy. `tokens` are sequences of `length`, one after the other.
///
/// With `RECOMPUTE`, the gradient keeps only what each layer is given, and computes the rest again.
#[autodiff_reverse(d_loss, Duplicated, Const, Const, Const, Const, Active)]
pub fn loss<P: Product, const RECOMPUTE: bool>(
    parameters: &Parameters,
    config: &Config,
    tokens: &[u32],
    targets: &[u32],
    length: usize,
) -> f32 {
    let logits = logits::<P, RECOMPUTE>(parameters, config, tokens, length);
    cross_entropy(
        &logits,
        targets,
        config.vocabulary,
        config.padded_vocabulary,
    )
}

/// What the model expects after each position: a row of the padded vocabulary for each of them.
pub fn logits<P: Product, const RECOMPUTE: bool>(
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
        let p = parameters.layer(layer, channels);
        let mut out = vec![0.0; x.len()];
        let block = if RECOMPUTE {
            recomputed::<P>
        } else {
            block::<P>
        };
        block(
            &mut out, &x, p.ln1w, p.ln1b, p.qkvw, p.qkvb, p.attprojw, p.attprojb, p.ln2w, p.ln2b,
            p.fcw, p.fcb, p.fcprojw, p.fcprojb, config, length,
        );
        x = out;
    }
    let mut normed = vec![0.0; x.len()];
    layer_norm(&mut normed, &x, &parameters.lnfw, &parameters.lnfb);
    let mut logits = vec![0.0; tokens.len() * config.padded_vocabulary];
    P::product(&mut logits, &normed, &parameters.wte, &[], channels);
    logits
}

/// One layer: attention, then a perceptron, each beside a residual. The parameters are those of
/// [`Layer`](crate::parameters::Layer).
#[expect(clippy::too_many_arguments)]
#[autodiff_reverse(
    d_block, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated,
    Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Const,
    Const
)]
pub fn block<P: Product>(
    out: &mut [f32],
    x: &[f32],
    ln1w: &[f32],
    ln1b: &[f32],
    qkvw: &[f32],
    qkvb: &[f32],
    attprojw: &[f32],
    attprojb: &[f32],
    ln2w: &[f32],
    ln2b: &[f32],
    fcw: &[f32],
    fcb: &[f32],
    fcprojw: &[f32],
    fcprojb: &[f32],
    config: &Config,
    length: usize,
) {
    let (channels, heads) = (config.channels, config.heads);
    let size = x.len();
    let rows = size / channels;

    let mut normed = vec![0.0; size];
    layer_norm(&mut normed, x, ln1w, ln1b);
    let mut qkv = vec![0.0; 3 * size];
    P::product(&mut qkv, &normed, qkvw, qkvb, channels);
    let mut weights = vec![0.0; rows * heads * length];
    let mut attended = vec![0.0; size];
    attention(&mut attended, &mut weights, &qkv, length, channels, heads);
    let mut projected = vec![0.0; size];
    P::product(&mut projected, &attended, attprojw, attprojb, channels);
    let mut middle = vec![0.0; size];
    residual(&mut middle, x, &projected);

    let mut normed = vec![0.0; size];
    layer_norm(&mut normed, &middle, ln2w, ln2b);
    let mut hidden = vec![0.0; 4 * size];
    P::product(&mut hidden, &normed, fcw, fcb, channels);
    let mut active = vec![0.0; 4 * size];
    gelu(&mut active, &hidden);
    let mut projected = vec![0.0; size];
    P::product(&mut projected, &active, fcprojw, fcprojb, 4 * channels);
    residual(out, &middle, &projected);
}

/// The same layer, with a derivative that computes it again.
#[expect(clippy::too_many_arguments)]
#[derivative(Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Duplicated, Const, Const, reverse = recompute::<P>)]
pub fn recomputed<P: Product>(
    out: &mut [f32],
    x: &[f32],
    ln1w: &[f32],
    ln1b: &[f32],
    qkvw: &[f32],
    qkvb: &[f32],
    attprojw: &[f32],
    attprojb: &[f32],
    ln2w: &[f32],
    ln2b: &[f32],
    fcw: &[f32],
    fcb: &[f32],
    fcprojw: &[f32],
    fcprojb: &[f32],
    config: &Config,
    length: usize,
) {
    block::<P>(
        out, x, ln1w, ln1b, qkvw, qkvb, attprojw, attprojb, ln2w, ln2b, fcw, fcb, fcprojw, fcprojb,
        config, length,
    );
}

/// The derivative of [`recomputed`]: a layer forward and backward. Nothing of it is kept.
#[expect(clippy::too_many_arguments)]
fn recompute<P: Product>(
    dout: &mut [f32],
    x: &[f32],
    dx: &mut [f32],
    ln1w: &[f32],
    dln1w: &mut [f32],
    ln1b: &[f32],
    dln1b: &mut [f32],
    qkvw: &[f32],
    dqkvw: &mut [f32],
    qkvb: &[f32],
    dqkvb: &mut [f32],
    attprojw: &[f32],
    dattprojw: &mut [f32],
    attprojb: &[f32],
    dattprojb: &mut [f32],
    ln2w: &[f32],
    dln2w: &mut [f32],
    ln2b: &[f32],
    dln2b: &mut [f32],
    fcw: &[f32],
    dfcw: &mut [f32],
    fcb: &[f32],
    dfcb: &mut [f32],
    fcprojw: &[f32],
    dfcprojw: &mut [f32],
    fcprojb: &[f32],
    dfcprojb: &mut [f32],
    config: &Config,
    length: usize,
) {
    let mut out = vec![0.0; x.len()];
    d_block::<P>(
        &mut out, dout, x, dx, ln1w, dln1w, ln1b, dln1b, qkvw, dqkvw, qkvb, dqkvb, attprojw,
        dattprojw, attprojb, dattprojb, ln2w, dln2w, ln2b, dln2b, fcw, dfcw, fcb, dfcb, fcprojw,
        dfcprojw, fcprojb, dfcprojb, config, length,
    );
}
