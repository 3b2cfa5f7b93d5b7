//! Everything that decides what training does, with what it is if nothing is said.

use crate::error::{Error, Result};
use crate::optimizer::AdamW;
use crate::schedule::Schedule;
use serde::{Deserialize, Serialize};

/// How a model is trained. Saved with it, so that training goes on as it began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What everything random is drawn from.
    pub seed: u64,
    /// The text or the file of tokens; the embedded text if there is none.
    pub data: Option<String>,
    /// How many steps there are.
    pub steps: u64,
    /// Sequences that are computed at once.
    pub batch: usize,
    /// Tokens of each sequence.
    pub length: usize,
    /// Batches of which the gradients are added for one step.
    pub accumulate: usize,
    /// The largest learning rate.
    pub learning_rate: f64,
    /// The learning rate at the end, as a part of the largest.
    pub final_rate: f64,
    /// Steps until the largest learning rate is reached.
    pub warmup: u64,
    /// The part of each weight that is taken away, for each unit of the learning rate.
    pub weight_decay: f64,
    /// How much of the means of gradients is kept at each step.
    pub beta1: f64,
    /// How much of the means of their squares is kept at each step.
    pub beta2: f64,
    /// The largest norm of a gradient; 0 is no limit.
    pub clip: f64,
    /// Steps between validations.
    pub validate_every: u64,
    /// Sequences of each validation.
    pub validate_sequences: usize,
    /// Steps between checkpoints; 0 is only one at the end.
    pub save_every: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seed: 1,
            data: None,
            steps: 1600,
            batch: 4,
            length: 64,
            accumulate: 2,
            learning_rate: 4e-3,
            final_rate: 0.05,
            warmup: 60,
            weight_decay: 0.1,
            beta1: 0.9,
            beta2: 0.95,
            clip: 1.0,
            validate_every: 100,
            validate_sequences: 32,
            save_every: 400,
        }
    }
}

impl Settings {
    /// Whether training can be done like this, by a model with so many positions.
    pub fn check(&self, positions: usize) -> Result<()> {
        let counts = [
            ("--steps", self.steps),
            ("--batch", self.batch as u64),
            ("--length", self.length as u64),
            ("--accumulate", self.accumulate as u64),
            ("--validate-every", self.validate_every),
            ("--validate-sequences", self.validate_sequences as u64),
        ];
        for (name, count) in counts {
            if count == 0 {
                return Err(Error::option(format!("{name} is 0"), "choose at least 1"));
            }
            if count > u32::MAX.into() {
                return Err(Error::option(
                    format!("{name} is {count}"),
                    "choose at most 4294967295",
                ));
            }
        }
        if self.warmup > u32::MAX.into() {
            return Err(Error::option(
                format!("--warmup is {}", self.warmup),
                "choose at most 4294967295",
            ));
        }
        if self.length > positions {
            return Err(Error::option(
                format!(
                    "sequences of {} do not fit into a model with {positions} positions",
                    self.length
                ),
                "choose a smaller --length, or a model with more --positions",
            ));
        }
        let numbers = [
            ("--learning-rate", self.learning_rate, 0.0, f64::MAX),
            ("--final-rate", self.final_rate, 0.0, 1.0),
            ("--weight-decay", self.weight_decay, 0.0, f64::MAX),
            ("--beta1", self.beta1, 0.0, BELOW_1),
            ("--beta2", self.beta2, 0.0, BELOW_1),
            ("--clip", self.clip, 0.0, f64::MAX),
        ];
        for (name, number, smallest, largest) in numbers {
            // Not a number is in no range.
            if !(smallest..=largest).contains(&number) {
                return Err(Error::option(
                    format!("{name} is {number}"),
                    "choose a number of its range, see --help",
                ));
            }
        }
        Ok(())
    }

    /// The learning rate of each step.
    pub fn schedule(&self) -> Schedule {
        Schedule {
            peak: self.learning_rate,
            floor: self.learning_rate * self.final_rate,
            warmup: self.warmup,
            steps: self.steps,
        }
    }

    /// The optimizer.
    pub fn optimizer(&self) -> AdamW {
        AdamW {
            beta1: self.beta1,
            beta2: self.beta2,
            epsilon: 1e-8,
            weight_decay: self.weight_decay,
        }
    }
}

/// The largest number below 1.
const BELOW_1: f64 = 1.0 - f64::EPSILON / 2.0;
