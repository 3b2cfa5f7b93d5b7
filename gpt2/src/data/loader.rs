//! Batches of sequences, in an order that can be continued exactly.

use super::Data;
use crate::error::Result;
use crate::random::Random;
use serde::{Deserialize, Serialize};

/// Sequences, one after the other, and the token after each of theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// What is read.
    pub tokens: Vec<u32>,
    /// What comes next.
    pub targets: Vec<u32>,
}

/// Where a loader is: with the same data and shape, the same batches follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// What the order of sequences is drawn from.
    pub seed: u64,
    /// How many times all sequences were read.
    pub epoch: u64,
    /// How many sequences of this epoch were read.
    pub next: usize,
}

/// Reads the part for training in random order, all of it before anything again.
pub struct Loader {
    batch: usize,
    length: usize,
    vocabulary: usize,
    position: Position,
    /// The first tokens of the sequences of this epoch.
    starts: Vec<usize>,
}

impl Loader {
    /// Batches of `batch` sequences of `length`. The data must have passed [`Data::check`].
    pub fn new(
        data: &Data,
        (batch, length): (usize, usize),
        vocabulary: usize,
        position: Position,
    ) -> Loader {
        let mut loader = Loader {
            batch,
            length,
            vocabulary,
            position,
            starts: Vec::new(),
        };
        loader.order(data);
        loader
    }

    /// Where it is now.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Goes to another place.
    pub fn go_to(&mut self, data: &Data, position: Position) {
        let is_same_order =
            (position.seed, position.epoch) == (self.position.seed, self.position.epoch);
        self.position = position;
        if !is_same_order {
            self.order(data);
        }
    }

    /// The next batch.
    pub fn next(&mut self, data: &Data) -> Result<Batch> {
        let mut batch = Batch::default();
        for _ in 0..self.batch {
            if self.position.next >= self.starts.len() {
                self.position.epoch = self.position.epoch.wrapping_add(1);
                self.position.next = 0;
                self.order(data);
            }
            let start = self.starts[self.position.next];
            data.sequence(&mut batch, start, self.length, self.vocabulary)?;
            self.position.next += 1;
        }
        Ok(batch)
    }

    /// The order of an epoch: the data is cut at another place each time, so that sequences differ, and
    /// the pieces are shuffled.
    fn order(&mut self, data: &Data) {
        let Position { seed, epoch, .. } = self.position;
        let mut random = Random::stream(seed, epoch.wrapping_add(2));
        let range = data.training();
        let spare = range.len() - 1 - self.length;
        let first = range.start + random.below(spare.min(self.length - 1) + 1);
        // The last sequence needs one token after it.
        self.starts = (first..range.end - self.length)
            .step_by(self.length)
            .collect();
        random.shuffle(&mut self.starts);
    }
}

/// At most `count` sequences of the part for validation, always the same: evenly spread, as batches of
/// `batch`, of which the last may be smaller.
pub fn validation(
    data: &Data,
    (batch, length): (usize, usize),
    count: usize,
    vocabulary: usize,
) -> Result<Vec<Batch>> {
    let range = data.validation();
    let available = (range.len() - 1) / length;
    let count = count.clamp(1, available);
    let starts: Vec<usize> = (0..count)
        .map(|index| range.start + index * available / count * length)
        .collect();
    starts
        .chunks(batch)
        .map(|starts| {
            let mut batch = Batch::default();
            for &start in starts {
                data.sequence(&mut batch, start, length, vocabulary)?;
            }
            Ok(batch)
        })
        .collect()
}
