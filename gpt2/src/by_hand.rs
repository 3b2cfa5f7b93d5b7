//! The backward pass of the whole model, written by hand.

use crate::layers::attention::{self, attention};
use crate::layers::cross_entropy::{self, cross_entropy};
use crate::layers::encoder::{self, encode};
use crate::layers::gelu::{self, gelu};
use crate::layers::layer_norm::{self, layer_norm};
use crate::layers::product::Product;
use crate::layers::residual::residual;
use crate::{Config, Parameters};

/// What a layer keeps for its backward pass.
struct Kept {
    x: Vec<f32>,
    normed1: Vec<f32>,
    qkv: Vec<f32>,
    weights: Vec<f32>,
    attended: Vec<f32>,
    middle: Vec<f32>,
    normed2: Vec<f32>,
    hidden: Vec<f32>,
    active: Vec<f32>,
}

/// The loss; adds `seed` times its gradient. As `d_loss`, with the same arguments.
pub fn loss<P: Product>(
    parameters: &Parameters,
    gradients: &mut Parameters,
    config: &Config,
    tokens: &[u32],
    targets: &[u32],
    length: usize,
    seed: f32,
) -> f32 {
    let c = config.channels;
    let (vocabulary, padded) = (config.vocabulary, config.padded_vocabulary);
    let size = tokens.len() * c;

    // Forward.
    let mut x = vec![0.0; size];
    encode(&mut x, tokens, &parameters.wte, &parameters.wpe, length, c);
    let mut layers = Vec::with_capacity(config.layers);
    for layer in 0..config.layers {
        let (kept, out) = forward::<P>(x, parameters, config, layer, length);
        layers.push(kept);
        x = out;
    }
    let mut normed = vec![0.0; size];
    layer_norm(&mut normed, &x, &parameters.lnfw, &parameters.lnfb);
    let mut logits = vec![0.0; tokens.len() * padded];
    P::product(&mut logits, &normed, &parameters.wte, &[], c);
    let loss = cross_entropy(&logits, targets, vocabulary, padded);

    // Backward.
    let mut dlogits = vec![0.0; logits.len()];
    cross_entropy::by_hand::cross_entropy(&logits, &mut dlogits, targets, vocabulary, padded, seed);
    drop(logits);
    let mut dnormed = vec![0.0; size];
    let wte = (&parameters.wte[..], &mut gradients.wte[..]);
    P::backward(&dlogits, (&normed, &mut dnormed), wte, &mut [], c);
    drop(dlogits);
    let mut dx = vec![0.0; size];
    let lnfw = (&parameters.lnfw[..], &mut gradients.lnfw[..]);
    layer_norm::by_hand::layer_norm(&dnormed, (&x, &mut dx), lnfw, &mut gradients.lnfb);
    drop((x, normed, dnormed));
    for (layer, kept) in layers.into_iter().enumerate().rev() {
        backward::<P>(kept, &mut dx, parameters, gradients, config, layer, length);
    }
    encoder::by_hand::encode(
        &dx,
        tokens,
        &mut gradients.wte,
        &mut gradients.wpe,
        length,
        c,
    );
    loss
}

fn forward<P: Product>(
    x: Vec<f32>,
    parameters: &Parameters,
    config: &Config,
    layer: usize,
    length: usize,
) -> (Kept, Vec<f32>) {
    let p = parameters.layer(layer, config.channels);
    let (c, size) = (config.channels, x.len());
    let mut kept = Kept {
        normed1: vec![0.0; size],
        qkv: vec![0.0; 3 * size],
        weights: vec![0.0; size / c * config.heads * length],
        attended: vec![0.0; size],
        middle: vec![0.0; size],
        normed2: vec![0.0; size],
        hidden: vec![0.0; 4 * size],
        active: vec![0.0; 4 * size],
        x,
    };
    let k = &mut kept;
    let mut projected = vec![0.0; size];
    layer_norm(&mut k.normed1, &k.x, p.ln1w, p.ln1b);
    P::product(&mut k.qkv, &k.normed1, p.qkvw, p.qkvb, c);
    attention(
        &mut k.attended,
        &mut k.weights,
        &k.qkv,
        length,
        c,
        config.heads,
    );
    P::product(&mut projected, &k.attended, p.attprojw, p.attprojb, c);
    residual(&mut k.middle, &k.x, &projected);
    layer_norm(&mut k.normed2, &k.middle, p.ln2w, p.ln2b);
    P::product(&mut k.hidden, &k.normed2, p.fcw, p.fcb, c);
    gelu(&mut k.active, &k.hidden);
    P::product(&mut projected, &k.active, p.fcprojw, p.fcprojb, 4 * c);
    let mut out = vec![0.0; size];
    residual(&mut out, &k.middle, &projected);
    (kept, out)
}

/// `dx` is the derivative of what the layer gives, and then of what it was given. A residual leaves
/// it as it is and adds to it.
fn backward<P: Product>(
    kept: Kept,
    dx: &mut [f32],
    parameters: &Parameters,
    gradients: &mut Parameters,
    config: &Config,
    layer: usize,
    length: usize,
) {
    let p = parameters.layer(layer, config.channels);
    let d = gradients.layer_mut(layer, config.channels);
    let (c, size) = (config.channels, dx.len());

    let mut dactive = vec![0.0; 4 * size];
    P::backward(
        dx,
        (&kept.active, &mut dactive),
        (p.fcprojw, d.fcprojw),
        d.fcprojb,
        4 * c,
    );
    let mut dhidden = vec![0.0; 4 * size];
    gelu::by_hand::gelu(&dactive, &kept.hidden, &mut dhidden);
    let mut dnormed = vec![0.0; size];
    P::backward(
        &dhidden,
        (&kept.normed2, &mut dnormed),
        (p.fcw, d.fcw),
        d.fcb,
        c,
    );
    layer_norm::by_hand::layer_norm(&dnormed, (&kept.middle, dx), (p.ln2w, d.ln2w), d.ln2b);

    let mut dattended = vec![0.0; size];
    P::backward(
        dx,
        (&kept.attended, &mut dattended),
        (p.attprojw, d.attprojw),
        d.attprojb,
        c,
    );
    let mut dqkv = vec![0.0; 3 * size];
    let qkv = (&kept.qkv[..], &mut dqkv[..]);
    attention::by_hand::attention(&dattended, &kept.weights, qkv, length, c, config.heads);
    dnormed.fill(0.0);
    P::backward(
        &dqkv,
        (&kept.normed1, &mut dnormed),
        (p.qkvw, d.qkvw),
        d.qkvb,
        c,
    );
    layer_norm::by_hand::layer_norm(&dnormed, (&kept.x, dx), (p.ln1w, d.ln1w), d.ln1b);
}
