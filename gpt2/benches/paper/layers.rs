//! The layers.

use super::measure::Layer;
use super::report::Line;
use zymase::autodiff_reverse;
use zymase_gpt2::Config;
use zymase_gpt2::layers::attention::{self, attention, d_attention};
use zymase_gpt2::layers::cross_entropy::{self, cross_entropy, d_cross_entropy};
use zymase_gpt2::layers::gelu::{self, d_gelu, gelu};
use zymase_gpt2::layers::layer_norm::{self, d_layer_norm, layer_norm};
use zymase_gpt2::layers::product::{Blocked, Naive, Product, d_blocked, d_naive};
use zymase_gpt2::layers::tuned::{Tuned, tuned};
use zymase_gpt2::random::Random;

/// As the program in C names them.
pub const NAMES: [&str; 7] = [
    "attention",
    "matmul naive",
    "matmul blocked",
    "matmul tuned",
    "layer norm",
    "cross-entropy",
    "gelu",
];

/// Measures the layer of this name, if there is one.
pub fn measure(name: &str, is_tiny: bool) -> Option<Line> {
    let sizes = match is_tiny {
        true => Sizes::TINY,
        false => Sizes::PAPER,
    };
    Some(match name {
        "attention" => attentions(sizes),
        "matmul naive" => products::<Naive>(name, sizes, |s| {
            d_naive(
                &mut s.out,
                &mut s.dout,
                &s.x,
                &mut s.dx,
                &s.weight,
                &mut s.dweight,
                &s.bias,
                &mut s.dbias,
                s.sizes.channels,
            );
        }),
        "matmul blocked" => products::<Blocked>(name, sizes, |s| {
            d_blocked(
                &mut s.out,
                &mut s.dout,
                &s.x,
                &mut s.dx,
                &s.weight,
                &mut s.dweight,
                &s.bias,
                &mut s.dbias,
                s.sizes.channels,
            );
        }),
        "matmul tuned" => products::<Tuned>(name, sizes, |s| {
            d_through_tuned(
                &mut s.out,
                &mut s.dout,
                &s.x,
                &mut s.dx,
                &s.weight,
                &mut s.dweight,
                &s.bias,
                &mut s.dbias,
                s.sizes.channels,
            );
        }),
        "layer norm" => layer_norms(sizes),
        "cross-entropy" => cross_entropies(sizes),
        "gelu" => gelus(sizes),
        _ => return None,
    })
}

/// A derivative that goes through the one that is given for the product of the crate gemm.
#[autodiff_reverse(d_through_tuned, Duplicated, Duplicated, Duplicated, Duplicated, Const)]
fn through_tuned(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
    tuned(out, x, weight, bias, channels);
}

#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    length: usize,
    channels: usize,
    heads: usize,
    vocabulary: usize,
    padded: usize,
}

impl Sizes {
    const PAPER: Sizes = Sizes {
        batch: 4,
        length: 64,
        channels: 768,
        heads: 12,
        vocabulary: Config::GPT2_124M.vocabulary,
        padded: Config::GPT2_124M.padded_vocabulary,
    };
    const TINY: Sizes = Sizes {
        batch: 2,
        length: 5,
        channels: 24,
        heads: 2,
        vocabulary: 40,
        padded: 48,
    };

    fn rows(self) -> usize {
        self.batch * self.length
    }
}

/// Whatever a layer needs; what it does not need is empty.
#[derive(Default)]
struct State {
    x: Vec<f32>,
    dx: Vec<f32>,
    weight: Vec<f32>,
    dweight: Vec<f32>,
    bias: Vec<f32>,
    dbias: Vec<f32>,
    out: Vec<f32>,
    dout: Vec<f32>,
    /// What `dout` is before each gradient: a gradient leaves zeros.
    seed: Vec<f32>,
    weights: Vec<f32>,
    dweights: Vec<f32>,
    targets: Vec<u32>,
    sizes: Sizes,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes::PAPER
    }
}

impl State {
    /// Random numbers: so many that are given, of weights, of biases, and of results.
    fn new(sizes: Sizes, [x, weight, bias, out]: [usize; 4]) -> State {
        let mut random = Random::new(1);
        let mut numbers =
            |count: usize| -> Vec<f32> { (0..count).map(|_| random.normal() as f32).collect() };
        State {
            x: numbers(x),
            dx: vec![0.0; x],
            weight: numbers(weight),
            dweight: vec![0.0; weight],
            bias: numbers(bias),
            dbias: vec![0.0; bias],
            out: vec![0.0; out],
            dout: vec![0.0; out],
            seed: numbers(out),
            sizes,
            ..State::default()
        }
    }

    fn prepare(&mut self) {
        self.dout.copy_from_slice(&self.seed);
    }

    fn gradients(&mut self) -> Vec<&mut Vec<f32>> {
        vec![&mut self.dx, &mut self.dweight, &mut self.dbias]
    }
}

fn is_tiny(sizes: Sizes) -> bool {
    sizes.channels < Sizes::PAPER.channels
}

fn attentions(sizes: Sizes) -> Line {
    let Sizes {
        batch,
        length,
        channels,
        heads,
        ..
    } = sizes;
    let n = sizes.rows() * channels;
    let mut state = State::new(sizes, [3 * n, 0, 0, n]);
    state.weights = vec![0.0; sizes.rows() * heads * length];
    state.dweights = state.weights.clone();
    let shape = format!("B={batch} T={length} C={channels} NH={heads}");
    Layer {
        prepare: State::prepare,
        forward: |s: &mut State| {
            let Sizes {
                length,
                channels,
                heads,
                ..
            } = s.sizes;
            attention(&mut s.out, &mut s.weights, &s.x, length, channels, heads);
        },
        backward: |s| {
            let Sizes {
                length,
                channels,
                heads,
                ..
            } = s.sizes;
            let qkv = (&s.x[..], &mut s.dx[..]);
            attention::by_hand::attention(&s.dout, &s.weights, qkv, length, channels, heads);
        },
        synthesized: |s| {
            let Sizes {
                length,
                channels,
                heads,
                ..
            } = s.sizes;
            d_attention(
                &mut s.out,
                &mut s.dout,
                &mut s.weights,
                &mut s.dweights,
                &s.x,
                &mut s.dx,
                length,
                channels,
                heads,
            );
        },
        gradients: State::gradients,
    }
    .run("attention", shape, is_tiny(sizes), state)
}

fn products<P: Product>(name: &str, sizes: Sizes, synthesized: fn(&mut State)) -> Line {
    let Sizes {
        batch,
        length,
        channels,
        ..
    } = sizes;
    let n = sizes.rows() * channels;
    let state = State::new(sizes, [n, channels * channels, channels, n]);
    let shape = format!("B={batch} T={length} C={channels} OC={channels}");
    Layer {
        prepare: State::prepare,
        forward: |s: &mut State| {
            P::product(&mut s.out, &s.x, &s.weight, &s.bias, s.sizes.channels);
        },
        backward: |s| {
            let (x, weight) = (
                (&s.x[..], &mut s.dx[..]),
                (&s.weight[..], &mut s.dweight[..]),
            );
            P::backward(&s.dout, x, weight, &mut s.dbias, s.sizes.channels);
        },
        synthesized,
        gradients: State::gradients,
    }
    .run(name, shape, is_tiny(sizes), state)
}

fn layer_norms(sizes: Sizes) -> Line {
    let Sizes {
        batch,
        length,
        channels,
        ..
    } = sizes;
    let n = sizes.rows() * channels;
    let state = State::new(sizes, [n, channels, channels, n]);
    Layer {
        prepare: State::prepare,
        forward: |s: &mut State| layer_norm(&mut s.out, &s.x, &s.weight, &s.bias),
        backward: |s| {
            let (x, weight) = (
                (&s.x[..], &mut s.dx[..]),
                (&s.weight[..], &mut s.dweight[..]),
            );
            layer_norm::by_hand::layer_norm(&s.dout, x, weight, &mut s.dbias);
        },
        synthesized: |s| {
            d_layer_norm(
                &mut s.out,
                &mut s.dout,
                &s.x,
                &mut s.dx,
                &s.weight,
                &mut s.dweight,
                &s.bias,
                &mut s.dbias,
            );
        },
        gradients: State::gradients,
    }
    .run(
        "layer norm",
        format!("B={batch} T={length} C={channels}"),
        is_tiny(sizes),
        state,
    )
}

fn cross_entropies(sizes: Sizes) -> Line {
    let Sizes {
        batch,
        length,
        vocabulary,
        padded,
        ..
    } = sizes;
    let mut state = State::new(sizes, [sizes.rows() * padded, 0, 0, 0]);
    let mut random = Random::new(2);
    state.targets = (0..sizes.rows())
        .map(|_| random.below(vocabulary) as u32)
        .collect();
    Layer {
        prepare: |_| (),
        forward: |s: &mut State| {
            let Sizes {
                vocabulary, padded, ..
            } = s.sizes;
            std::hint::black_box(cross_entropy(&s.x, &s.targets, vocabulary, padded));
        },
        backward: |s| {
            let Sizes {
                vocabulary, padded, ..
            } = s.sizes;
            let (dx, targets) = (&mut s.dx, &s.targets);
            cross_entropy::by_hand::cross_entropy(&s.x, dx, targets, vocabulary, padded, 1.0);
        },
        synthesized: |s| {
            let Sizes {
                vocabulary, padded, ..
            } = s.sizes;
            d_cross_entropy(&s.x, &mut s.dx, &s.targets, vocabulary, padded, 1.0);
        },
        gradients: State::gradients,
    }
    .run(
        "cross-entropy",
        format!("B={batch} T={length} Vp={padded}"),
        is_tiny(sizes),
        state,
    )
}

fn gelus(sizes: Sizes) -> Line {
    let n = sizes.rows() * 4 * sizes.channels;
    let state = State::new(sizes, [n, 0, 0, n]);
    Layer {
        prepare: State::prepare,
        forward: |s: &mut State| gelu(&mut s.out, &s.x),
        backward: |s| gelu::by_hand::gelu(&s.dout, &s.x, &mut s.dx),
        synthesized: |s| d_gelu(&mut s.out, &mut s.dout, &s.x, &mut s.dx),
        gradients: State::gradients,
    }
    .run("gelu", format!("n={n}"), is_tiny(sizes), state)
}
