//! `gpt2 tokenize`: a text file to a file of tokens.

use std::path::PathBuf;
use zymase_gpt2::checkpoint::Checkpoint;
use zymase_gpt2::data::{read_text, write_token_file};
use zymase_gpt2::error::{Error, Result};
use zymase_gpt2::tokenizer::Tokenizer;

/// What is turned into tokens.
#[derive(clap::Args)]
pub struct Arguments {
    /// A text in UTF-8
    text: PathBuf,
    /// The new file; its name should end in .bin
    to: PathBuf,
    /// Tokens are bytes, instead of those of GPT-2
    #[arg(long)]
    bytes: bool,
    /// Tokens are those of this model
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "bytes")]
    model: Option<PathBuf>,
}

/// Writes the file.
pub fn run(arguments: &Arguments) -> Result<()> {
    let tokenizer = match &arguments.model {
        Some(model) => Checkpoint::read(model)?.tokenizer.ok_or_else(|| {
            Error::file(
                model,
                "it does not say which tokenizer it is for",
                "choose a .safetensors file",
            )
        })?,
        None if arguments.bytes => Tokenizer::Bytes,
        None => Tokenizer::Gpt2,
    };
    let text = read_text(&arguments.text)?;
    let tokens = tokenizer.encode(&text);
    write_token_file(&arguments.to, &tokens)?;
    say!(
        "{}: {} tokens of {} bytes",
        arguments.to.display(),
        tokens.len(),
        text.len()
    );
    Ok(())
}
