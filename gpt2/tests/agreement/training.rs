//! Training with either gradient.

use super::model::{Case, config, method};
use super::seed;
use zymase_gpt2::Parameters;
use zymase_gpt2::checkpoint::{Checkpoint, History};
use zymase_gpt2::data::{Data, Input, embedded};
use zymase_gpt2::method::{Backward, Kernel};
use zymase_gpt2::optimizer::{AdamW, Moments};
use zymase_gpt2::random::Random;
use zymase_gpt2::tokenizer::Tokenizer;
use zymase_gpt2::train::{Settings, Trainer};

/// A model that sees one batch again and again knows it by heart.
#[test]
fn one_batch_is_learned_by_heart() {
    let mut random = Random::stream(seed(), 20);
    for recompute in [false, true] {
        let mut case = Case::new(&mut random, config([2, 2, 32, 16, 27, 32]), 2, 16);
        case.parameters = Parameters::random(&case.config, random.bits());
        let method = method(Backward::Synthesized, Kernel::Blocked, recompute);
        let optimizer = AdamW {
            beta1: 0.9,
            beta2: 0.95,
            epsilon: 1e-8,
            weight_decay: 0.0,
        };
        let mut moments = Moments::zeros(&case.config);
        let zeros = Parameters::zeros(&case.config);
        let mut losses = Vec::new();
        for step in 0..150 {
            let (loss, gradients) = case.gradient(method, &zeros, 1.0);
            losses.push(loss);
            optimizer.update(
                &mut case.parameters,
                &gradients,
                &mut moments,
                step,
                1e-2,
                1,
            );
        }
        let (first, last) = (losses[0], losses[losses.len() - 1]);
        println!("from {first} to {last}");
        // A model that knows nothing is at ln 27 = 3.3.
        assert!(first > 3.0 && last < 0.01, "{losses:?}");
    }
}

fn forty_steps(backward: Backward, kernel: Kernel) -> History {
    let config = config([2, 2, 32, 32, 256, 256]);
    let checkpoint = Checkpoint {
        parameters: Parameters::random(&config, seed()),
        config,
        tokenizer: Some(Tokenizer::Bytes),
        training: None,
    };
    let settings = Settings {
        steps: 40,
        length: 32,
        accumulate: 1,
        warmup: 5,
        validate_sequences: 8,
        ..Settings::default()
    };
    let data = Data::new("text", &Input::Text(embedded()), &Tokenizer::Bytes).unwrap();
    let method = method(backward, kernel, false);
    let mut trainer = Trainer::new(checkpoint, settings, data, method, 1).unwrap();
    trainer.validate().unwrap();
    for _ in 0..40 {
        trainer.step(|| false).unwrap();
        trainer.validate().unwrap();
    }
    trainer.training().history.clone()
}

/// Losses of training and validation lie on each other.
///
/// The gradients of the first step are the same to 1e-6 or so. AdamW divides each number of a gradient
/// by its own size, so that where it is nothing but rounding errors (the derivative of a bias of the
/// keys is 0, as the softmax does not see it), parameters go apart by the learning rate: but only
/// those that the loss hardly depends on. What is left grows from step to step, here to some 1e-5,
/// and a wrong term would be seen at 1e-2.
#[test]
fn forty_steps_have_the_same_losses() {
    for kernel in [Kernel::Naive, Kernel::Blocked, Kernel::Tuned] {
        let [found, expected] =
            [Backward::Synthesized, Backward::ByHand].map(|backward| forty_steps(backward, kernel));
        assert_eq!((found.training.len(), found.validation.len()), (40, 41));
        assert!(expected.validation[40] < 0.8 * expected.validation[0]);
        let losses = [
            ("training", &found.training, &expected.training),
            ("validation", &found.validation, &expected.validation),
        ];
        for (name, found, expected) in losses {
            let pairs = found.iter().zip(expected);
            let differences: Vec<f32> = pairs.map(|(a, b)| (a - b).abs() / b).collect();
            let most = differences.iter().fold(0.0, |most: f32, &x| most.max(x));
            println!("{kernel:?} {name}: {most:.1e}");
            for (step, difference) in differences.iter().enumerate() {
                let tolerance = 1e-6 + 5e-6 * step as f32;
                assert!(
                    *difference <= tolerance,
                    "{name}, step {step}: {differences:?}"
                );
            }
        }
    }
}
