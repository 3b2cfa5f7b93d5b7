//! AdamW against the same thing written plainly with numbers of 64 bits, and the limit on gradients.

use crate::common::TINY;
use zymase_gpt2::optimizer::{AdamW, Moments, clip, is_decayed};
use zymase_gpt2::parameters::NAMES;
use zymase_gpt2::random::Random;
use zymase_gpt2::{Config, Parameters};

fn random(random: &mut Random, scale: f64) -> Parameters {
    let mut parameters = Parameters::zeros(&TINY);
    for tensor in parameters.tensors_mut() {
        for number in tensor {
            *number = (random.normal() * scale) as f32;
        }
    }
    parameters
}

#[test]
fn steps_are_those_of_the_definition() {
    let seed = 11;
    println!("seed {seed}");
    let mut source = Random::new(seed);
    let adam = AdamW {
        beta1: 0.9,
        beta2: 0.95,
        epsilon: 1e-8,
        weight_decay: 0.3,
    };
    let mut parameters = random(&mut source, 0.5);
    let mut moments = Moments::zeros(&TINY);
    let wide = |parameters: &Parameters| -> Vec<Vec<f64>> {
        let tensors = parameters.tensors();
        tensors
            .iter()
            .map(|tensor| tensor.iter().map(|&x| x.into()).collect())
            .collect()
    };
    let mut expected = wide(&parameters);
    let mut m = wide(&moments.first);
    let mut v = wide(&moments.second);
    for step in 0..20u64 {
        let rate = 1e-2 / (step + 1) as f64;
        let gradients = random(&mut source, 10f64.powi(step as i32 % 5 - 3));
        adam.update(&mut parameters, &gradients, &mut moments, step, rate, 1);
        let gradients = wide(&gradients);
        for (index, name) in NAMES.iter().enumerate() {
            for at in 0..expected[index].len() {
                let g = gradients[index][at];
                m[index][at] = 0.9 * m[index][at] + 0.1 * g;
                v[index][at] = 0.95 * v[index][at] + 0.05 * g * g;
                let mean = m[index][at] / (1.0 - 0.9f64.powi(step as i32 + 1));
                let square = v[index][at] / (1.0 - 0.95f64.powi(step as i32 + 1));
                let p = &mut expected[index][at];
                if is_decayed(name) {
                    *p -= rate * 0.3 * *p;
                }
                *p -= rate * mean / (square.sqrt() + 1e-8);
            }
        }
    }
    for (name, (found, expected)) in NAMES.iter().zip(wide(&parameters).iter().zip(&expected)) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-6, "{name} {found} {expected}");
        }
    }
}

#[test]
fn matrices_and_embeddings_are_decayed_and_nothing_else() {
    let decayed: Vec<&str> = NAMES.into_iter().filter(|name| is_decayed(name)).collect();
    let matrices = ["wte", "wpe", "qkvw", "attprojw", "fcw", "fcprojw"];
    assert_eq!(decayed, matrices);
    let adam = AdamW {
        beta1: 0.9,
        beta2: 0.95,
        epsilon: 1e-8,
        weight_decay: 0.5,
    };
    let mut parameters = Parameters::zeros(&TINY);
    for tensor in parameters.tensors_mut() {
        tensor.fill(1.0);
    }
    let zero = Parameters::zeros(&TINY);
    adam.update(
        &mut parameters,
        &zero,
        &mut Moments::zeros(&TINY),
        0,
        0.1,
        1,
    );
    for (name, tensor) in NAMES.iter().zip(parameters.tensors()) {
        let expected = if is_decayed(name) { 0.95 } else { 1.0 };
        assert!(tensor.iter().all(|&number| number == expected), "{name}");
    }
}

#[test]
fn long_gradients_become_as_long_as_allowed() {
    let seed = 12;
    println!("seed {seed}");
    let gradients = random(&mut Random::new(seed), 1.0);
    let norm = |parameters: &Parameters| clip(&mut parameters.clone(), 0.0);
    let length = norm(&gradients);
    let expected = (gradients.count() as f64).sqrt();
    assert!((length / expected - 1.0).abs() < 0.1);
    let mut clipped = gradients.clone();
    assert_eq!(clip(&mut clipped, 1.0), length);
    assert!((norm(&clipped) - 1.0).abs() < 1e-5);
    let mut short = gradients.clone();
    clip(&mut short, 2.0 * length);
    assert_eq!(short, gradients);
}

#[test]
fn threads_change_nothing() {
    let seed = 5;
    println!("seed {seed}");
    let config = Config {
        vocabulary: 5000,
        padded_vocabulary: 5008,
        channels: 128,
        ..TINY
    };
    let adam = AdamW {
        beta1: 0.9,
        beta2: 0.95,
        epsilon: 1e-8,
        weight_decay: 0.1,
    };
    let gradients = Parameters::random(&config, seed);
    let after = |threads: usize| {
        let mut parameters = Parameters::random(&config, seed + 1);
        let mut moments = Moments::zeros(&config);
        for step in 0..3 {
            adam.update(
                &mut parameters,
                &gradients,
                &mut moments,
                step,
                0.1,
                threads,
            );
        }
        (parameters, moments)
    };
    let one = after(1);
    assert!(one == after(3));
    let mut zeros = one.0;
    zeros.zero(3);
    assert!(zeros == Parameters::zeros(&config));
}
