//! Forty steps of training by either gradient, drawn on each other.

use super::pictures;
use super::report::Report;
use std::path::Path;
use zymase_gpt2::checkpoint::{Checkpoint, History};
use zymase_gpt2::data::{Data, Input, embedded};
use zymase_gpt2::method::{Backward, Kernel, Method};
use zymase_gpt2::tokenizer::Tokenizer;
use zymase_gpt2::train::{Settings, Trainer};
use zymase_gpt2::{Config, Error, Parameters};

/// Trains twice, draws the losses, and notes how far they are apart.
pub fn draw(folder: &Path, report: &mut Report) -> Result<(), String> {
    eprintln!("Rust forty steps");
    let train = |backward| losses(backward).map_err(|error| error.to_string());
    let (synthesized, by_hand) = (train(Backward::Synthesized)?, train(Backward::ByHand)?);
    let all = |history: &History| [&history.training[..], &history.validation].concat();
    let pairs = all(&synthesized).into_iter().zip(all(&by_hand));
    let differences = pairs.map(|(a, b)| f64::from((a - b).abs() / b));
    report.set_losses(differences.fold(0.0, f64::max));
    pictures::draw_losses(&synthesized, &by_hand, &folder.join("losses.svg"))
}

fn losses(backward: Backward) -> Result<History, Error> {
    let config = Config {
        positions: 32,
        vocabulary: 256,
        padded_vocabulary: 256,
        layers: 2,
        heads: 2,
        channels: 32,
    };
    let checkpoint = Checkpoint {
        config,
        parameters: Parameters::random(&config, 1),
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
    let data = Data::new("text", &Input::Text(embedded()), &Tokenizer::Bytes)?;
    let method = Method {
        backward,
        kernel: Kernel::Blocked,
        recompute: false,
    };
    let mut trainer = Trainer::new(checkpoint, settings, data, method, 1)?;
    trainer.validate()?;
    for _ in 0..40 {
        trainer.step(|| false)?;
        trainer.validate()?;
    }
    Ok(trainer.training().history.clone())
}
