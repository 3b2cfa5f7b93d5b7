//! The model once more, in double precision and as it is defined, to be differentiated by finite
//! differences: these are right to ten digits, more than single precision has.

use zymase_gpt2::Config;

/// A row for each token plus one for each position.
pub fn encode(
    tokens: &[u32],
    wte: &[f64],
    wpe: &[f64],
    length: usize,
    channels: usize,
) -> Vec<f64> {
    let mut out = Vec::new();
    for (index, &token) in tokens.iter().enumerate() {
        for channel in 0..channels {
            let position = index % length;
            out.push(wte[token as usize * channels + channel] + wpe[position * channels + channel]);
        }
    }
    out
}

/// Rows of mean zero and variance one, scaled and moved.
pub fn layer_norm(x: &[f64], weight: &[f64], bias: &[f64]) -> Vec<f64> {
    let count = weight.len() as f64;
    let mut out = Vec::new();
    for row in x.chunks_exact(weight.len()) {
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let deviation = (variance + 1e-5).sqrt();
        let scaled = row.iter().zip(weight).zip(bias);
        out.extend(scaled.map(|((x, weight), bias)| (x - mean) / deviation * weight + bias));
    }
    out
}

/// x weightᵀ + bias; there may be no bias.
pub fn product(x: &[f64], weight: &[f64], bias: &[f64], channels: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for row in x.chunks_exact(channels) {
        for (output, weight) in weight.chunks_exact(channels).enumerate() {
            let sum: f64 = row.iter().zip(weight).map(|(x, weight)| x * weight).sum();
            out.push(sum + bias.get(output).unwrap_or(&0.0));
        }
    }
    out
}

/// Causal attention.
pub fn attention(qkv: &[f64], length: usize, channels: usize, heads: usize) -> Vec<f64> {
    let size = channels / heads;
    let rows = qkv.len() / (3 * channels);
    let mut out = vec![0.0; rows * channels];
    for row in 0..rows {
        let first = row - row % length;
        for head in 0..heads {
            let at = |row: usize, which: usize, i: usize| {
                qkv[(3 * row + which) * channels + head * size + i]
            };
            let score = |seen: usize| -> f64 {
                let products = (0..size).map(|i| at(row, 0, i) * at(seen, 1, i));
                products.sum::<f64>() / (size as f64).sqrt()
            };
            let weights: Vec<f64> = (first..=row).map(|seen| score(seen).exp()).collect();
            let sum: f64 = weights.iter().sum();
            for i in 0..size {
                let values = weights.iter().zip(first..=row);
                let mixed: f64 = values.map(|(weight, seen)| weight * at(seen, 2, i)).sum();
                out[row * channels + head * size + i] = mixed / sum;
            }
        }
    }
    out
}

/// The nonlinearity, with tanh.
pub fn gelu(x: &[f64]) -> Vec<f64> {
    let scale = std::f64::consts::FRAC_2_PI.sqrt();
    let gelu = |x: &f64| 0.5 * x * (1.0 + (scale * (x + 0.044715 * x.powi(3))).tanh());
    x.iter().map(gelu).collect()
}

/// The sum.
pub fn residual(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// The mean over rows of −ln softmax(logits)[target].
pub fn cross_entropy(logits: &[f64], targets: &[u32], vocabulary: usize, padded: usize) -> f64 {
    let mut loss = 0.0;
    for (row, &target) in logits.chunks_exact(padded).zip(targets) {
        let sum: f64 = row[..vocabulary].iter().map(|x| x.exp()).sum();
        loss += sum.ln() - row[target as usize];
    }
    loss / targets.len() as f64
}

/// The loss of the model; `p` are the tensors in the order of checkpoints.
pub fn loss(
    p: &[Vec<f64>],
    config: &Config,
    tokens: &[u32],
    targets: &[u32],
    length: usize,
) -> f64 {
    let c = config.channels;
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
    ] = p
    else {
        panic!("{} tensors", p.len())
    };
    let mut x = encode(tokens, wte, wpe, length, c);
    for layer in 0..config.layers {
        let part = |tensor: &[f64], size: usize| tensor[layer * size..][..size].to_vec();
        let normed = layer_norm(&x, &part(ln1w, c), &part(ln1b, c));
        let qkv = product(&normed, &part(qkvw, 3 * c * c), &part(qkvb, 3 * c), c);
        let attended = attention(&qkv, length, c, config.heads);
        let projected = product(&attended, &part(attprojw, c * c), &part(attprojb, c), c);
        x = residual(&x, &projected);
        let normed = layer_norm(&x, &part(ln2w, c), &part(ln2b, c));
        let hidden = product(&normed, &part(fcw, 4 * c * c), &part(fcb, 4 * c), c);
        let projected = product(
            &gelu(&hidden),
            &part(fcprojw, 4 * c * c),
            &part(fcprojb, c),
            4 * c,
        );
        x = residual(&x, &projected);
    }
    let logits = product(&layer_norm(&x, lnfw, lnfb), wte, &[], c);
    cross_entropy(
        &logits,
        targets,
        config.vocabulary,
        config.padded_vocabulary,
    )
}

/// How far to go to either side: the error is about its square, and 1e-16 over it.
const STEP: f64 = 1e-5;

/// The gradient of a function of several tensors, number by number.
pub fn differences(tensors: &[Vec<f64>], function: &dyn Fn(&[Vec<f64>]) -> f64) -> Vec<Vec<f64>> {
    let mut moved = tensors.to_vec();
    let mut gradients = Vec::new();
    for (index, tensor) in tensors.iter().enumerate() {
        let mut gradient = Vec::new();
        for (place, &number) in tensor.iter().enumerate() {
            let mut at = |number: f64| {
                moved[index][place] = number;
                function(&moved)
            };
            gradient.push((at(number + STEP) - at(number - STEP)) / (2.0 * STEP));
            moved[index][place] = number;
        }
        gradients.push(gradient);
    }
    gradients
}

/// The derivative along a direction in one of several tensors.
pub fn along(
    tensors: &[Vec<f64>],
    index: usize,
    direction: &[f64],
    function: &dyn Fn(&[Vec<f64>]) -> f64,
) -> f64 {
    let at = |step: f64| {
        let mut moved = tensors.to_vec();
        for (number, direction) in moved[index].iter_mut().zip(direction) {
            *number += step * direction;
        }
        function(&moved)
    };
    (at(STEP) - at(-STEP)) / (2.0 * STEP)
}

/// In double precision.
pub fn wide(tensor: &[f32]) -> Vec<f64> {
    tensor.iter().map(|&x| x.into()).collect()
}
