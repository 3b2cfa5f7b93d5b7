//! `gpt2 sample`: text from a model.

use std::io::Write;
use std::path::PathBuf;
use zymase_gpt2::checkpoint::Checkpoint;
use zymase_gpt2::error::{Error, Result};
use zymase_gpt2::method::Kernel;
use zymase_gpt2::random::Random;
use zymase_gpt2::sample::{Sampling, generate};
use zymase_gpt2::tokenizer::Tokenizer;
use zymase_gpt2::{Config, Parameters};

/// What is written, and how.
#[derive(clap::Args)]
pub struct Arguments {
    /// A checkpoint in either format
    #[arg(default_value = "gpt2-run/checkpoint.safetensors")]
    checkpoint: PathBuf,
    /// What the text begins with
    #[arg(long, default_value = "")]
    prompt: String,
    /// How many tokens are added
    #[arg(long, default_value_t = 200)]
    tokens: usize,
    /// Above 1 more is tried, below 1 less; 0 takes the likeliest token always
    #[arg(long, default_value_t = 0.8)]
    temperature: f64,
    /// Draw from so many of the likeliest tokens; 0 is all
    #[arg(long, default_value_t = 40)]
    top_k: usize,
    /// What the draws depend on
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The matrix product
    #[arg(long, value_enum, default_value_t)]
    kernel: Kernel,
}

/// Writes the text.
pub fn run(arguments: &Arguments) -> Result<()> {
    if !(0.0..=f64::MAX).contains(&arguments.temperature) {
        return Err(Error::option(
            format!("--temperature is {}", arguments.temperature),
            "choose 0 or more",
        ));
    }
    let path = &arguments.checkpoint;
    let checkpoint = Checkpoint::read(path)?;
    let tokenizer = checkpoint.tokenizer.as_ref().ok_or_else(|| {
        Error::file(
            path,
            format!(
                "it does not say which tokenizer it is for, and none has {} tokens",
                checkpoint.config.vocabulary
            ),
            "choose a .safetensors file",
        )
    })?;
    let sampling = Sampling {
        temperature: arguments.temperature,
        top_k: arguments.top_k,
    };
    write_text(
        (&checkpoint.parameters, &checkpoint.config, arguments.kernel),
        tokenizer,
        &arguments.prompt,
        arguments.tokens,
        &sampling,
        arguments.seed,
    );
    Ok(())
}

/// Writes a text as it is drawn.
pub fn write_text(
    model: (&Parameters, &Config, Kernel),
    tokenizer: &Tokenizer,
    prompt: &str,
    count: usize,
    sampling: &Sampling,
    seed: u64,
) {
    let mut tokens = tokenizer.encode(prompt);
    if tokens.is_empty() {
        tokens.push(tokenizer.start());
    }
    let mut out = std::io::stdout().lock();
    let mut bytes = prompt.as_bytes().to_vec();
    let _ = out.write_all(printable(&mut bytes).as_bytes());
    let mut random = Random::stream(seed, 0);
    generate(model, &mut tokens, count, sampling, &mut random, |token| {
        bytes.extend(tokenizer.decode(token));
        let text = printable(&mut bytes);
        // When nobody reads any more, nothing more has to be drawn.
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .is_ok()
    });
    let _ = writeln!(out, "{}", String::from_utf8_lossy(&bytes));
}

/// Takes whole characters from the front; the start of a character stays, as its rest may follow.
fn printable(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    loop {
        match std::str::from_utf8(bytes) {
            Ok(valid) => {
                text.push_str(valid);
                bytes.clear();
                return text;
            }
            Err(error) => {
                let end = error.valid_up_to();
                text.push_str(&String::from_utf8_lossy(&bytes[..end]));
                let Some(wrong) = error.error_len() else {
                    bytes.drain(..end);
                    return text;
                };
                text.push(char::REPLACEMENT_CHARACTER);
                bytes.drain(..end + wrong);
            }
        }
    }
}
