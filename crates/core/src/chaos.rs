//! Chaos: random legal choices wherever the compiler chooses.
//!
//! Most choices are made for speed: what to cache, where a tape stands, how a nest is ordered. Any of
//! them must give the same gradient, so in this mode, which is for tests, they are made by chance.
//! What is chosen rarely or in few programs otherwise is then tried all the time, and together with
//! everything else. A choice follows from the seed, the kind of choice, and what it is about, so that
//! the two sweeps of a derivative agree however often and in whatever order they ask.

use crate::pipeline::Options;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is chosen.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// What a value costs to cache, or to compute again, in the minimum cut.
    Cost,
    /// Whether a request calls two sweeps though it asks for both at once.
    Split,
    /// Whether there is no second version for memory that does not overlap.
    OneVersion,
    /// Whether the records of a loop are an array for each of its runs, though one array for all of
    /// them could be made before, and whether that array grows, though its size is known.
    Records,
    /// How many records a tape that grows begins with.
    FirstRecords,
    /// Whether the frame of a callee has memory of its own.
    OwnFrame,
    /// Whether a tape is on the heap that could be on the stack of tapes.
    HeapTape,
    /// Whether an adjoint that never leaves its block has a slot.
    Slot,
    /// Whether a slot becomes zero where the sweep begins, and not near its uses.
    FirstZero,
    /// Whether loops become nests: none, those of which it is worth it, or all that can.
    Raise,
    /// Whether a nest is expanded before it is differentiated.
    ExpandNest,
    /// In what order the loops of a nest run.
    LoopOrder,
    /// Whether products of any size call a kernel.
    Kernel,
    /// In what order the addresses of functions are compared.
    Targets,
    /// Whether a shadow is put on the list of delayed frees, though it is known where its life ends.
    DelayFree,
    /// Whether both sweeps of an iteration run in the reverse sweep.
    Replay,
    /// Whether a call is reversed with the others, though its adjoint is known when it returns.
    Early,
}

impl Choice {
    /// All of them.
    pub const ALL: [Choice; 17] = [
        Choice::Cost,
        Choice::Split,
        Choice::OneVersion,
        Choice::Records,
        Choice::FirstRecords,
        Choice::OwnFrame,
        Choice::HeapTape,
        Choice::Slot,
        Choice::FirstZero,
        Choice::Raise,
        Choice::ExpandNest,
        Choice::LoopOrder,
        Choice::Kernel,
        Choice::Targets,
        Choice::DelayFree,
        Choice::Replay,
        Choice::Early,
    ];
}

impl Options {
    /// A random number for a choice; none if it is made for speed.
    pub(crate) fn chance(&self, choice: Choice, about: impl Hash) -> Option<u64> {
        let by_chance = self.chaos_only.is_none_or(|only| only == choice);
        self.chaos.filter(|_| by_chance).map(|seed| {
            let mut hasher = DefaultHasher::new();
            (seed, choice).hash(&mut hasher);
            about.hash(&mut hasher);
            hasher.finish()
        })
    }

    /// Whether to choose otherwise than for speed: never, unless choices are made by chance.
    pub(crate) fn flips(&self, choice: Choice, about: impl Hash) -> bool {
        self.chance(choice, about).is_some_and(|n| n % 2 == 1)
    }
}
