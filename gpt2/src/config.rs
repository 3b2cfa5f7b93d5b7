//! The shape of a model.

use std::fmt;

/// How large a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The longest sequence.
    pub positions: usize,
    /// How many tokens there are.
    pub vocabulary: usize,
    /// Rows of the table of tokens: at least the vocabulary, and a multiple of 128 in GPT-2.
    pub padded_vocabulary: usize,
    /// How many blocks of attention and perceptron are stacked.
    pub layers: usize,
    /// How many heads the attention of each layer has.
    pub heads: usize,
    /// Numbers for each position.
    pub channels: usize,
}

impl Config {
    /// The smallest of the published models.
    pub const GPT2_124M: Config = Config {
        positions: 1024,
        vocabulary: 50257,
        padded_vocabulary: 50304,
        layers: 12,
        heads: 12,
        channels: 768,
    };

    /// Numbers of each head.
    pub fn head_size(&self) -> usize {
        self.channels / self.heads
    }

    /// Whether a model can have this shape.
    pub fn check(&self) -> Result<(), ConfigError> {
        let complain = |reason: String| Err(ConfigError(reason));
        let sizes = [
            ("positions", self.positions),
            ("vocabulary", self.vocabulary),
            ("layers", self.layers),
            ("heads", self.heads),
            ("channels", self.channels),
        ];
        for (name, size) in sizes {
            if size == 0 {
                return complain(format!("{name} must not be 0"));
            }
            if size > i32::MAX as usize {
                return complain(format!("{name} is {size}: more than a checkpoint can say"));
            }
        }
        if !self.channels.is_multiple_of(self.heads) {
            return complain(format!(
                "{} channels cannot be divided among {} heads: choose a multiple of {}",
                self.channels, self.heads, self.heads
            ));
        }
        if self.padded_vocabulary < self.vocabulary {
            return complain(format!(
                "the padded vocabulary ({}) is smaller than the vocabulary ({})",
                self.padded_vocabulary, self.vocabulary
            ));
        }
        Ok(())
    }
}

/// Why no model can have a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}
