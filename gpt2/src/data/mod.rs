//! What is learned from: a text or a file of tokens, in a part for training and one for validation.

mod embedded;
mod loader;
mod token_file;

pub use embedded::embedded;
pub use loader::{Batch, Loader, Position, validation};
pub use token_file::write as write_token_file;

use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use token_file::TokenFile;

/// What a file has in it, before a tokenizer is chosen.
pub enum Input {
    /// Text.
    Text(String),
    /// Tokens.
    Tokens(TokenFile),
}

impl Input {
    /// Reads a file: tokens if it begins as a file of tokens does, text otherwise.
    pub fn read(path: &Path) -> Result<Input> {
        let mut start = Vec::new();
        let file = fs::File::open(path).map_err(Error::io(path, "read"))?;
        file.take(4)
            .read_to_end(&mut start)
            .map_err(Error::io(path, "read"))?;
        let is_named_so = path.extension().is_some_and(|extension| extension == "bin");
        if is_named_so || start == token_file::MAGIC.to_le_bytes() {
            Ok(Input::Tokens(TokenFile::open(path)?))
        } else {
            read_text(path).map(Input::Text)
        }
    }
}

/// Reads a text that is not empty.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
    let text = String::from_utf8(bytes).map_err(|error| Error::NotUtf8 {
        path: path.to_path_buf(),
        at: error.utf8_error().valid_up_to(),
    })?;
    if text.is_empty() {
        return Err(Error::Empty {
            path: path.to_path_buf(),
        });
    }
    Ok(text)
}

/// Tokens with a name for messages.
pub struct Data {
    name: String,
    tokens: Tokens,
    training: usize,
}

enum Tokens {
    Memory(Vec<u16>),
    File(TokenFile),
}

impl Data {
    /// The last tenth is for validation.
    pub fn new(name: impl Into<String>, input: &Input, tokenizer: &Tokenizer) -> Result<Data> {
        let tokens = match input {
            Input::Text(text) => Tokens::Memory(
                // No vocabulary is larger than 65536.
                tokenizer.encode(text).iter().map(|&t| t as u16).collect(),
            ),
            Input::Tokens(file) => Tokens::File(file.clone()),
        };
        let mut data = Data {
            name: name.into(),
            tokens,
            training: 0,
        };
        data.training = data.len() - data.len() / 10;
        Ok(data)
    }

    /// How messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        match &self.tokens {
            Tokens::Memory(tokens) => tokens.len(),
            Tokens::File(file) => file.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The part for training.
    pub fn training(&self) -> Range<usize> {
        0..self.training
    }

    /// The part for validation.
    pub fn validation(&self) -> Range<usize> {
        self.training..self.len()
    }

    /// Whether there is a batch of `batch` sequences of `length` for training and a sequence for
    /// validation, each with one more token as the last target.
    pub fn check(&self, batch: usize, length: usize) -> Result<()> {
        let needed = batch.saturating_mul(length).saturating_add(1);
        let parts = [
            ("the part for training", self.training(), needed),
            (
                "the part for validation (a tenth)",
                self.validation(),
                length.saturating_add(1),
            ),
        ];
        for (part, range, needed) in parts {
            if range.len() < needed {
                return Err(Error::TooShort {
                    name: self.name.clone(),
                    part,
                    tokens: range.len(),
                    needed,
                });
            }
        }
        Ok(())
    }

    fn token(&self, at: usize) -> u32 {
        match &self.tokens {
            Tokens::Memory(tokens) => tokens[at].into(),
            Tokens::File(file) => file.token(at).into(),
        }
    }

    /// Adds a sequence and its targets to a batch.
    fn sequence(
        &self,
        batch: &mut Batch,
        start: usize,
        length: usize,
        vocabulary: usize,
    ) -> Result<()> {
        for at in start..start + length + 1 {
            let token = self.token(at);
            // A file of tokens may be of another vocabulary. Checking it all would take long for a
            // large one, so it is done as it is read.
            if token as usize >= vocabulary {
                return Err(Error::UnknownToken {
                    name: self.name.clone(),
                    token,
                    at,
                    vocabulary,
                });
            }
            if at < start + length {
                batch.tokens.push(token);
            }
            if at > start {
                batch.targets.push(token);
            }
        }
        Ok(())
    }
}
