//! Each layer, on shapes with ends that do not fill a block or a vector.

use super::{assert_near, normal, reference, seed, tokens};
use zymase::autodiff_reverse;
use zymase_gpt2::layers::attention::{self, attention, d_attention};
use zymase_gpt2::layers::cross_entropy::{self, cross_entropy, d_cross_entropy};
use zymase_gpt2::layers::encoder::{self, d_encode};
use zymase_gpt2::layers::gelu::{self, d_gelu};
use zymase_gpt2::layers::layer_norm::{self, d_layer_norm};
use zymase_gpt2::layers::product::{Blocked, Naive, Product, d_blocked, d_naive};
use zymase_gpt2::layers::residual::{self, d_residual};
use zymase_gpt2::layers::tuned::{Tuned, tuned};
use zymase_gpt2::random::Random;

/// Sums of some hundred products have errors of a few units in the last place, which is 6e-8.
const ROUNDING: f64 = 4e-6;

/// Adds gradients of some tensors to what it is given.
type Gradient<'a> = &'a dyn Fn(&mut [Vec<f32>]);

/// Compares three gradients of a layer: the two of the package with each other, beginning with zeros
/// and with something that they must add to, and both with finite differences of `objective`.
fn check(
    what: &str,
    random: &mut Random,
    tensors: &[(&str, &[f32])],
    synthesized: Gradient,
    by_hand: Gradient,
    objective: &dyn Fn(&[Vec<f64>]) -> f64,
) {
    let run = |gradient: Gradient, start: &[Vec<f32>]| {
        let mut gradients = start.to_vec();
        gradient(&mut gradients);
        gradients
    };
    let zeros: Vec<Vec<f32>> = tensors.iter().map(|(_, x)| vec![0.0; x.len()]).collect();
    let start: Vec<Vec<f32>> = tensors
        .iter()
        .map(|(_, x)| normal(random, x.len()))
        .collect();
    let wide: Vec<Vec<f64>> = tensors.iter().map(|(_, x)| reference::wide(x)).collect();
    let expected = reference::differences(&wide, objective);
    let found = run(synthesized, &zeros);
    let hand = run(by_hand, &zeros);
    let more = run(synthesized, &start);
    let hand_more = run(by_hand, &start);
    for (index, (name, _)) in tensors.iter().enumerate() {
        let near = |which: &str, found: &[f32], expected: &[f64], tolerance: f64| {
            assert_near(
                &format!("{what}, {name}, {which}"),
                found,
                expected,
                tolerance,
            );
        };
        let wide = reference::wide;
        near("by hand", &found[index], &wide(&hand[index]), ROUNDING);
        near("added", &more[index], &wide(&hand_more[index]), ROUNDING);
        near("differences", &found[index], &expected[index], ROUNDING);
        near(
            "differences by hand",
            &hand[index],
            &expected[index],
            ROUNDING,
        );
    }
}

/// Σ seed · out.
fn weighted(seed: &[f32], out: &[f64]) -> f64 {
    assert_eq!(seed.len(), out.len());
    seed.iter()
        .zip(out)
        .map(|(&seed, out)| f64::from(seed) * out)
        .sum()
}

/// Nothing depends on what was overwritten.
fn assert_zero(what: &str, shadow: &[f32]) {
    assert!(
        shadow.iter().all(|&x| x == 0.0),
        "the shadow of {what} is not zero"
    );
}

/// Sizes up to `most`, with those that are easily forgotten first.
fn sizes<const N: usize>(
    random: &mut Random,
    fixed: &[[usize; N]],
    most: [usize; N],
) -> Vec<[usize; N]> {
    let mut sizes = fixed.to_vec();
    sizes.extend((0..6).map(|_| most.map(|most| 1 + random.below(most))));
    sizes
}

#[test]
fn encoder() {
    let mut random = Random::stream(seed(), 1);
    for [batch, length, channels] in sizes(&mut random, &[[1, 1, 1], [3, 5, 17]], [4, 9, 20]) {
        let (rows, vocabulary) = (batch * length, 7);
        let tokens = tokens(&mut random, rows, vocabulary);
        let wte = normal(&mut random, vocabulary * channels);
        let wpe = normal(&mut random, (length + 2) * channels);
        let seed = normal(&mut random, rows * channels);
        check(
            &format!("encoder {batch}×{length}×{channels}"),
            &mut random,
            &[("wte", &wte), ("wpe", &wpe)],
            &|d| {
                let [dwte, dwpe] = d else { unreachable!() };
                let (mut out, mut dout) = (vec![0.0; seed.len()], seed.clone());
                d_encode(
                    &mut out, &mut dout, &tokens, &wte, dwte, &wpe, dwpe, length, channels,
                );
                assert_zero("out", &dout);
            },
            &|d| {
                let [dwte, dwpe] = d else { unreachable!() };
                encoder::by_hand::encode(&seed, &tokens, dwte, dwpe, length, channels);
            },
            &|x| {
                weighted(
                    &seed,
                    &reference::encode(&tokens, &x[0], &x[1], length, channels),
                )
            },
        );
    }
}

#[test]
fn layer_norms() {
    let mut random = Random::stream(seed(), 2);
    let fixed = [[1, 16], [1, 33], [17, 5], [16, 32], [5, 31]];
    for [rows, more] in sizes(&mut random, &fixed, [19, 40]) {
        // Two numbers alone may be so near to each other that rounding errors are all there is.
        let channels = more.max(4);
        let x = normal(&mut random, rows * channels);
        let [weight, bias] = [(); 2].map(|()| normal(&mut random, channels));
        let seed = normal(&mut random, rows * channels);
        check(
            &format!("layer norm {rows}×{channels}"),
            &mut random,
            &[("x", &x), ("weight", &weight), ("bias", &bias)],
            &|d| {
                let [dx, dweight, dbias] = d else {
                    unreachable!()
                };
                let (mut out, mut dout) = (vec![0.0; seed.len()], seed.clone());
                d_layer_norm(&mut out, &mut dout, &x, dx, &weight, dweight, &bias, dbias);
                assert_zero("out", &dout);
            },
            &|d| {
                let [dx, dweight, dbias] = d else {
                    unreachable!()
                };
                layer_norm::by_hand::layer_norm(&seed, (&x, dx), (&weight, dweight), dbias);
            },
            &|x| weighted(&seed, &reference::layer_norm(&x[0], &x[1], &x[2])),
        );
    }
}

/// A derivative that goes through the one that is given by hand for the product of the crate gemm.
#[autodiff_reverse(d_through_tuned, Duplicated, Duplicated, Duplicated, Duplicated, Const)]
fn through_tuned(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
    tuned(out, x, weight, bias, channels);
}

/// What all derivatives of products take.
type Pullback =
    fn(&mut [f32], &mut [f32], &[f32], &mut [f32], &[f32], &mut [f32], &[f32], &mut [f32], usize);

fn products<P: Product>(what: &str, synthesized: Pullback) {
    let mut random = Random::stream(seed(), 3);
    let fixed = [
        [1, 1, 1],
        [16, 16, 16],
        [17, 31, 3],
        [33, 5, 1],
        [1, 48, 20],
        [15, 33, 24],
    ];
    for [rows, channels, outputs] in sizes(&mut random, &fixed, [40, 36, 20]) {
        for biases in [0, outputs] {
            let x = normal(&mut random, rows * channels);
            let weight = normal(&mut random, outputs * channels);
            let bias = normal(&mut random, biases);
            let seed = normal(&mut random, rows * outputs);
            check(
                &format!("{what} {rows}×{channels}×{outputs} with {biases} biases"),
                &mut random,
                &[("x", &x), ("weight", &weight), ("bias", &bias)],
                &|d| {
                    let [dx, dweight, dbias] = d else {
                        unreachable!()
                    };
                    // What was there before does not matter.
                    let (mut out, mut dout) = (vec![7.0; seed.len()], seed.clone());
                    synthesized(
                        &mut out, &mut dout, &x, dx, &weight, dweight, &bias, dbias, channels,
                    );
                    assert_zero("out", &dout);
                },
                &|d| {
                    let [dx, dweight, dbias] = d else {
                        unreachable!()
                    };
                    P::backward(&seed, (&x, dx), (&weight, dweight), dbias, channels);
                },
                &|x| weighted(&seed, &reference::product(&x[0], &x[1], &x[2], channels)),
            );
        }
    }
}

#[test]
fn naive_products() {
    products::<Naive>("naive product", d_naive);
}

#[test]
fn blocked_products() {
    products::<Blocked>("blocked product", d_blocked);
}

#[test]
fn tuned_products() {
    products::<Tuned>("tuned product", d_through_tuned);
}

#[test]
fn attentions() {
    let mut random = Random::stream(seed(), 4);
    let fixed = [[1, 1, 1, 8], [2, 7, 1, 5], [1, 17, 3, 16], [3, 4, 4, 1]];
    for [batch, length, heads, size] in sizes(&mut random, &fixed, [3, 18, 4, 18]) {
        let channels = heads * size;
        let rows = batch * length;
        let qkv = normal(&mut random, rows * 3 * channels);
        let seed = normal(&mut random, rows * channels);
        let pairs = batch * heads * length * length;
        check(
            &format!("attention {batch}×{length}×{heads}×{size}"),
            &mut random,
            &[("qkv", &qkv)],
            &|d| {
                let (mut out, mut dout) = (vec![0.0; seed.len()], seed.clone());
                let (mut weights, mut dweights) = (vec![7.0; pairs], vec![0.0; pairs]);
                let (weights, dweights) = (&mut weights, &mut dweights);
                let dqkv = &mut d[0];
                d_attention(
                    &mut out, &mut dout, weights, dweights, &qkv, dqkv, length, channels, heads,
                );
                assert_zero("out", &dout);
                assert_zero("weights", dweights);
            },
            &|d| {
                let (mut out, mut weights) = (vec![0.0; seed.len()], vec![0.0; pairs]);
                attention(&mut out, &mut weights, &qkv, length, channels, heads);
                let qkv = (&qkv[..], &mut d[0][..]);
                attention::by_hand::attention(&seed, &weights, qkv, length, channels, heads);
            },
            &|x| weighted(&seed, &reference::attention(&x[0], length, channels, heads)),
        );
    }
}

#[test]
fn gelus_and_residuals() {
    let mut random = Random::stream(seed(), 5);
    for [count] in sizes(&mut random, &[[1], [16], [101]], [200]) {
        let [a, b, seed] = [(); 3].map(|()| normal(&mut random, count));
        let a: Vec<f32> = a.iter().map(|x| 2.0 * x).collect();
        check(
            &format!("gelu {count}"),
            &mut random,
            &[("x", &a)],
            &|d| {
                let (mut out, mut dout) = (vec![0.0; count], seed.clone());
                d_gelu(&mut out, &mut dout, &a, &mut d[0]);
                assert_zero("out", &dout);
            },
            &|d| gelu::by_hand::gelu(&seed, &a, &mut d[0]),
            &|x| weighted(&seed, &reference::gelu(&x[0])),
        );
        check(
            &format!("residual {count}"),
            &mut random,
            &[("a", &a), ("b", &b)],
            &|d| {
                let [da, db] = d else { unreachable!() };
                let (mut out, mut dout) = (vec![0.0; count], seed.clone());
                d_residual(&mut out, &mut dout, &a, da, &b, db);
                assert_zero("out", &dout);
            },
            &|d| {
                let [da, db] = d else { unreachable!() };
                residual::by_hand::residual(&seed, da, db);
            },
            &|x| weighted(&seed, &reference::residual(&x[0], &x[1])),
        );
    }
}

#[test]
fn cross_entropies() {
    let mut random = Random::stream(seed(), 6);
    for [rows, others, more] in sizes(
        &mut random,
        &[[1, 40, 1], [5, 13, 4], [17, 1, 15]],
        [20, 60, 9],
    ) {
        // With one token alone, the derivative is 0. There may be no padding at all.
        let vocabulary = 1 + others;
        let padded = vocabulary + more - 1;
        let logits = normal(&mut random, rows * padded);
        let targets = tokens(&mut random, rows, vocabulary);
        let seed = 0.7;
        let expected = cross_entropy(&logits, &targets, vocabulary, padded);
        check(
            &format!("cross-entropy {rows}×{vocabulary} of {padded}"),
            &mut random,
            &[("logits", &logits)],
            &|d| {
                let value = d_cross_entropy(&logits, &mut d[0], &targets, vocabulary, padded, seed);
                assert_near("its value", &[value], &[expected], 1e-6);
            },
            &|d| {
                let dlogits = &mut d[0];
                cross_entropy::by_hand::cross_entropy(
                    &logits, dlogits, &targets, vocabulary, padded, seed,
                );
            },
            &|x| f64::from(seed) * reference::cross_entropy(&x[0], &targets, vocabulary, padded),
        );
    }
}
