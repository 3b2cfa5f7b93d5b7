//! The options of `gpt2 train`.

use std::path::PathBuf;
use zymase_gpt2::Config;
use zymase_gpt2::data::Input;
use zymase_gpt2::error::{Error, Result};
use zymase_gpt2::method::{Backward, Kernel, Method};
use zymase_gpt2::tokenizer::{Learned, Tokenizer};
use zymase_gpt2::train::Settings;

/// How a model is trained. What is not given is as it was saved, or as the default is.
#[derive(clap::Args)]
pub struct Arguments {
    /// A text in UTF-8, or a file of tokens [default: a text that is built in]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The folder for what is written [default: gpt2-run, or that of the checkpoint]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Go on where this checkpoint is [default: that in the folder]
    #[arg(long, value_name = "CHECKPOINT", num_args = 0..=1)]
    pub resume: Option<Option<PathBuf>>,
    /// Begin with the parameters of this model, in either format
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "resume")]
    pub from: Option<PathBuf>,

    /// Blocks of attention and perceptron [default: 4]
    #[arg(long, help_heading = "Shape", conflicts_with_all = ["resume", "from"])]
    layers: Option<usize>,
    /// Heads of each attention [default: 4]
    #[arg(long, help_heading = "Shape", conflicts_with_all = ["resume", "from"])]
    heads: Option<usize>,
    /// Numbers for each position [default: 96]
    #[arg(long, help_heading = "Shape", conflicts_with_all = ["resume", "from"])]
    channels: Option<usize>,
    /// The longest sequence that the model can read [default: the length of sequences]
    #[arg(long, help_heading = "Shape", conflicts_with_all = ["resume", "from"])]
    positions: Option<usize>,
    /// How text is read [default: learned; gpt2 for a file of tokens]
    #[arg(long, value_enum, help_heading = "Shape", conflicts_with_all = ["resume", "from"])]
    tokenizer: Option<Kind>,
    /// The most tokens that are learned from the text [default: 512]
    #[arg(long, help_heading = "Shape", conflicts_with_all = ["resume", "from"])]
    vocabulary: Option<usize>,

    /// Steps [default: 1600]
    #[arg(long, help_heading = "Training")]
    steps: Option<u64>,
    /// Sequences that are computed at once [default: 4]
    #[arg(long, help_heading = "Training")]
    batch: Option<usize>,
    /// Tokens of each sequence [default: 64]
    #[arg(long, help_heading = "Training")]
    length: Option<usize>,
    /// Batches for each step [default: 2]
    #[arg(long, help_heading = "Training")]
    accumulate: Option<usize>,
    /// The largest learning rate [default: 0.004]
    #[arg(long, help_heading = "Training")]
    learning_rate: Option<f64>,
    /// The learning rate at the end, as a part of the largest, 0 to 1 [default: 0.05]
    #[arg(long, help_heading = "Training")]
    final_rate: Option<f64>,
    /// Steps until the largest learning rate [default: 60]
    #[arg(long, help_heading = "Training")]
    warmup: Option<u64>,
    /// Weight decay, 0 or more [default: 0.1]
    #[arg(long, help_heading = "Training")]
    weight_decay: Option<f64>,
    /// What AdamW keeps of the mean, 0 to less than 1 [default: 0.9]
    #[arg(long, help_heading = "Training")]
    beta1: Option<f64>,
    /// What AdamW keeps of the mean square, 0 to less than 1 [default: 0.95]
    #[arg(long, help_heading = "Training")]
    beta2: Option<f64>,
    /// The largest norm of a gradient; 0 is no limit [default: 1]
    #[arg(long, help_heading = "Training")]
    clip: Option<f64>,
    /// Steps between validations [default: 100]
    #[arg(long, help_heading = "Training")]
    validate_every: Option<u64>,
    /// Sequences of each validation [default: 32]
    #[arg(long, help_heading = "Training")]
    validate_sequences: Option<usize>,
    /// Steps between checkpoints; 0 is one at the end [default: 400]
    #[arg(long, help_heading = "Training")]
    save_every: Option<u64>,
    /// What everything random depends on [default: 1]
    #[arg(long, help_heading = "Training", conflicts_with = "resume")]
    seed: Option<u64>,

    /// Who wrote the backward pass
    #[arg(long, value_enum, default_value_t, help_heading = "Method")]
    backward: Backward,
    /// The matrix product
    #[arg(long, value_enum, default_value_t, help_heading = "Method")]
    kernel: Kernel,
    /// Compute layers again in the backward pass instead of keeping them
    #[arg(long, help_heading = "Method")]
    recompute: bool,
    /// Batches that are computed at the same time [default: as many as there are cores]
    #[arg(long, help_heading = "Method")]
    threads: Option<usize>,
}

/// The tokenizers.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Byte pairs, learned from the text
    Learned,
    /// Bytes
    Bytes,
    /// The vocabulary of GPT-2
    Gpt2,
}

impl Arguments {
    /// Puts what was given into the settings.
    pub fn change(&self, settings: &mut Settings) -> Result<()> {
        fn put<T: Clone>(to: &mut T, from: &Option<T>) {
            if let Some(from) = from {
                *to = from.clone();
            }
        }
        if let Some(path) = &self.data {
            let text = path.to_str().ok_or_else(|| {
                Error::file(path, "its name is not UTF-8", "give it another name")
            })?;
            settings.data = Some(text.into());
        }
        put(&mut settings.steps, &self.steps);
        put(&mut settings.batch, &self.batch);
        put(&mut settings.length, &self.length);
        put(&mut settings.accumulate, &self.accumulate);
        put(&mut settings.learning_rate, &self.learning_rate);
        put(&mut settings.final_rate, &self.final_rate);
        put(&mut settings.warmup, &self.warmup);
        put(&mut settings.weight_decay, &self.weight_decay);
        put(&mut settings.beta1, &self.beta1);
        put(&mut settings.beta2, &self.beta2);
        put(&mut settings.clip, &self.clip);
        put(&mut settings.validate_every, &self.validate_every);
        put(&mut settings.validate_sequences, &self.validate_sequences);
        put(&mut settings.save_every, &self.save_every);
        put(&mut settings.seed, &self.seed);
        Ok(())
    }

    /// How gradients are computed.
    pub fn method(&self) -> Method {
        Method {
            backward: self.backward,
            kernel: self.kernel,
            recompute: self.recompute,
        }
    }

    /// How many batches are computed at the same time.
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores)
    }

    /// The shape of a new model, and how it reads text.
    pub fn shape(&self, settings: &Settings, input: &Input) -> Result<(Config, Tokenizer)> {
        let kind = match (self.tokenizer, input) {
            (Some(Kind::Learned), Input::Tokens(_)) => {
                return Err(Error::option(
                    "nothing can be learned from a file of tokens by --tokenizer learned",
                    "give a text, or choose the tokenizer that the file was made by",
                ));
            }
            (Some(kind), _) => kind,
            (None, Input::Tokens(_)) => Kind::Gpt2,
            (None, Input::Text(_)) => Kind::Learned,
        };
        if self.vocabulary.is_some() && kind != Kind::Learned {
            return Err(Error::option(
                "--vocabulary is for --tokenizer learned only",
                "leave one of them out",
            ));
        }
        let vocabulary = self.vocabulary.unwrap_or(512);
        if !(256..=65536).contains(&vocabulary) {
            return Err(Error::option(
                format!("--vocabulary is {vocabulary}"),
                "choose 256 (the bytes) to 65536",
            ));
        }
        let tokenizer = match (kind, input) {
            (Kind::Learned, Input::Text(text)) => {
                Tokenizer::Learned(Learned::learn(text, vocabulary))
            }
            (Kind::Gpt2, _) => Tokenizer::Gpt2,
            _ => Tokenizer::Bytes,
        };
        let config = Config {
            positions: self.positions.unwrap_or(settings.length),
            vocabulary: tokenizer.vocabulary(),
            padded_vocabulary: tokenizer.vocabulary().next_multiple_of(128),
            layers: self.layers.unwrap_or(4),
            heads: self.heads.unwrap_or(4),
            channels: self.channels.unwrap_or(96),
        };
        Ok((config, tokenizer))
    }
}
