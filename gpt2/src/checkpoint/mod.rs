//! Models in files: safetensors, with everything that training needs to go on, and the layout of llm.c,
//! which has the parameters only.

mod llm_c;
mod safe_write;
mod safetensors;

pub use safe_write::write_safely;

use crate::data::Position;
use crate::error::{Error, Result};
use crate::optimizer::Moments;
use crate::parameters::shapes;
use crate::tokenizer::Tokenizer;
use crate::train::Settings;
use crate::{Config, Parameters};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A model, and where its training is.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The shape.
    pub config: Config,
    /// What was learned.
    pub parameters: Parameters,
    /// How the model reads text; not known if its file says nothing and its vocabulary is unusual.
    pub tokenizer: Option<Tokenizer>,
    /// What training goes on from.
    pub training: Option<Training>,
}

/// What training goes on from.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// How it was started.
    pub settings: Settings,
    /// How many steps are done.
    pub step: u64,
    /// Where the loader is.
    pub position: Position,
    /// How many tokens the data had: with another number, the position means nothing.
    pub tokens: usize,
    /// What the optimizer remembers.
    pub moments: Moments,
    /// The losses so far.
    pub history: History,
}

/// The losses so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Of each step.
    pub training: Vec<f32>,
    /// After how many steps each validation was.
    pub validation_steps: Vec<u32>,
    /// What was found there.
    pub validation: Vec<f32>,
}

/// The two kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.safetensors`.
    Safetensors,
    /// `.bin`, as llm.c has it.
    LlmC,
}

impl Format {
    /// By the end of the name.
    pub fn of(path: &Path) -> Result<Format> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("safetensors") => Ok(Format::Safetensors),
            Some("bin") => Ok(Format::LlmC),
            _ => Err(Error::file(
                path,
                "the name does not say which format is meant",
                "let it end in .safetensors or .bin",
            )),
        }
    }
}

impl Checkpoint {
    /// Reads a file of either kind.
    pub fn read(path: &Path) -> Result<Checkpoint> {
        let file = File::open(path).map_err(Error::io(path, "read"))?;
        let mut start = Vec::new();
        file.take(4)
            .read_to_end(&mut start)
            .map_err(Error::io(path, "read"))?;
        if start == llm_c::MAGIC.to_le_bytes() {
            llm_c::read(path)
        } else {
            safetensors::read(path)
        }
    }

    /// Writes a file of the kind that its name says. Whatever happens, there is either what was there
    /// before or all of the new file.
    pub fn write(&self, path: &Path) -> Result<()> {
        Parts {
            config: &self.config,
            parameters: &self.parameters,
            tokenizer: self.tokenizer.as_ref(),
            training: self.training.as_ref(),
        }
        .write(path)
    }
}

/// A checkpoint that is somewhere else, so that nothing has to be copied to be written.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// The shape.
    pub config: &'a Config,
    /// What was learned.
    pub parameters: &'a Parameters,
    /// How the model reads text.
    pub tokenizer: Option<&'a Tokenizer>,
    /// What training goes on from.
    pub training: Option<&'a Training>,
}

impl Parts<'_> {
    /// As [`Checkpoint::write`].
    pub fn write(self, path: &Path) -> Result<()> {
        match Format::of(path)? {
            Format::Safetensors => safetensors::write(self, path),
            Format::LlmC => llm_c::write(self, path),
        }
    }
}

/// How many numbers each tensor of a model has; none if it is more than can be counted.
pub fn sizes(config: &Config) -> Option<[usize; 16]> {
    let mut sizes = [0; 16];
    for (size, shape) in sizes.iter_mut().zip(shapes(config)) {
        *size = shape
            .iter()
            .try_fold(1usize, |size, &n| size.checked_mul(n))?;
    }
    Some(sizes)
}

/// How many numbers a model has; none if their bytes cannot be counted.
pub fn count(config: &Config) -> Option<usize> {
    let count = sizes(config)?
        .iter()
        .try_fold(0usize, |sum, &n| sum.checked_add(n))?;
    count.checked_mul(4)?;
    Some(count)
}
