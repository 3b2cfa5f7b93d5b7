//! `gpt2 convert`: from one format of checkpoints to the other.

use std::path::PathBuf;
use zymase_gpt2::checkpoint::{Checkpoint, Format};
use zymase_gpt2::error::Result;

/// What is converted.
#[derive(clap::Args)]
pub struct Arguments {
    /// A checkpoint in either format
    from: PathBuf,
    /// The new file: a name that ends in .safetensors or .bin (the layout of llm.c) says the format
    to: PathBuf,
}

/// Converts a model. Where its training is stays behind: what comes out is a model only.
pub fn run(arguments: &Arguments) -> Result<()> {
    let format = Format::of(&arguments.to)?;
    let mut checkpoint = Checkpoint::read(&arguments.from)?;
    checkpoint.training = None;
    checkpoint.write(&arguments.to)?;
    let count = checkpoint.parameters.count();
    say!("{}: {count} parameters", arguments.to.display());
    if format == Format::LlmC && checkpoint.config.vocabulary != 50257 {
        say!("This format has no place for the tokenizer, which is not that of GPT-2.");
    }
    Ok(())
}
