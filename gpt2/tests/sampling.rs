//! Tokens are drawn as often as they should be.

use crate::common::model;
use zymase_gpt2::method::Kernel;
use zymase_gpt2::random::Random;
use zymase_gpt2::sample::{Sampling, draw, generate};

/// How often each token is drawn, of 40000.
fn frequencies(logits: &[f32], temperature: f64, top_k: usize) -> Vec<f64> {
    let seed = 5;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let sampling = Sampling { temperature, top_k };
    let mut counts = vec![0.0; logits.len()];
    for _ in 0..40000 {
        counts[draw(logits, &sampling, &mut random) as usize] += 1.0 / 40000.0;
    }
    counts
}

#[test]
fn tokens_are_drawn_by_their_probability() {
    let logits = [1.0f32, 3.0, 0.0, 2.0, f32::NEG_INFINITY, 2.5];
    for (temperature, top_k) in [(1.0, 0), (0.5, 0), (2.0, 3), (1.0, 1), (0.0, 0), (1.0, 99)] {
        let mut sorted = logits;
        sorted.sort_by(|a, b| b.total_cmp(a));
        let kept = match top_k {
            _ if temperature == 0.0 => 1,
            0 | 99 => logits.len(),
            k => k,
        };
        let weights = logits.map(|logit| {
            if logit < sorted[kept - 1] {
                0.0
            } else if temperature == 0.0 {
                1.0
            } else {
                (f64::from(logit) / temperature).exp()
            }
        });
        let sum: f64 = weights.iter().sum();
        for (found, weight) in frequencies(&logits, temperature, top_k).iter().zip(weights) {
            let expected = weight / sum;
            // Five standard deviations.
            let allowed = 5.0 * (expected * (1.0 - expected) / 40000.0).sqrt() + 1e-9;
            assert!(
                (found - expected).abs() <= allowed,
                "temperature {temperature}, top {top_k}: {found} {expected}"
            );
        }
    }
}

#[test]
fn what_is_no_number_is_no_problem() {
    let sampling = Sampling {
        temperature: 1.0,
        top_k: 2,
    };
    let mut random = Random::new(1);
    assert_eq!(
        draw(
            &[f32::NAN, 1.0, f32::NAN],
            &Sampling {
                top_k: 1,
                ..sampling
            },
            &mut random
        ),
        1
    );
    for logits in [[f32::NAN; 3], [f32::INFINITY; 3], [f32::NEG_INFINITY; 3]] {
        assert!(draw(&logits, &sampling, &mut random) < 3);
    }
}

#[test]
fn a_seed_gives_the_same_text_and_windows_are_cut() {
    let model = model();
    let sampling = Sampling {
        temperature: 1.0,
        top_k: 0,
    };
    let write = |seed, prompt: usize| {
        let mut tokens = vec![65; prompt];
        let shape = (&model.parameters, &model.config, Kernel::Blocked);
        let mut random = Random::new(seed);
        generate(shape, &mut tokens, 30, &sampling, &mut random, |_| true);
        tokens
    };
    for prompt in [1, 12, 13, 40] {
        let text = write(1, prompt);
        assert_eq!(text.len(), prompt + 30);
        assert_eq!(text, write(1, prompt));
        assert_ne!(text, write(2, prompt));
    }
}
