//! What the reverse sweep needs of the forward sweep, and how it gets it.
//!
//! A *need* is a value at a *level*: the innermost loop that contains both its definition and its
//! use, or the whole function. A value that is used in the loop that defines it is needed once
//! for each iteration; one that is used after the loop is needed as it was in the last iteration.
//!
//! Values that exist in both sweeps (constants, arguments, counters of the loops around) are no
//! needs. For every other one the plan names its [`Source`].

mod everything;
mod flow;
mod kept;
mod min_cut;
mod recipe;
mod reloads;
mod why;

pub use everything::everything;
pub use kept::constant_bytes;
pub use min_cut::min_cut;
pub(crate) use min_cut::weight;
pub(crate) use recipe::{called_again, cost};
pub use reloads::{Reloads, reloads};
pub use why::Why;

use crate::analysis::activity::keepable::Group;
use crate::analysis::loops::Loop;
use crate::ir::{Module, Value};
use crate::pipeline::Options;
use crate::primal::Primal;
use crate::reverse::Augmented;
use std::collections::{BTreeSet, HashMap};

/// A value that the reverse sweep needs.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Need {
    /// The value, in the function with shadows.
    pub value: Value,
    /// The loop in whose iterations it is told apart.
    pub level: Option<Loop>,
}

/// How the reverse sweep gets a value.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The forward sweep stores it on the tape.
    Cache,
    /// The reverse sweep runs the instruction again, on operands that it gets in turn.
    Recompute,
}

/// The decisions for one function.
#[derive(Clone, Default, Debug)]
pub struct Plan {
    /// The source of every need.
    pub sources: HashMap<Need, Source>,
    /// Why a need is met the way it is.
    pub reasons: HashMap<Need, Why>,
    /// The memory whose frees wait for the reverse sweep.
    pub kept: BTreeSet<Group>,
}

impl Plan {
    /// How the reverse sweep gets a value.
    pub fn source(&self, need: Need) -> Source {
        self.sources.get(&need).copied().unwrap_or(Source::Cache)
    }

    /// The values on the tape, in a stable order.
    pub fn cached(&self) -> Vec<Need> {
        let cached = self.sources.iter().filter(|(_, s)| **s == Source::Cache);
        let mut needs: Vec<Need> = cached.map(|(&need, _)| need).collect();
        needs.sort();
        needs
    }
}

/// Decides for every need.
pub fn choose(
    module: &Module,
    options: &Options,
    primal: &Primal,
    augmented: &Augmented,
    needs: BTreeSet<Need>,
) -> Plan {
    match options.plan {
        PlanKind::Everything => everything(module, primal, augmented, needs),
        PlanKind::MinCut => min_cut(module, options, primal, augmented, needs),
    }
}

/// The plans there are.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum PlanKind {
    /// Cache every value that the reverse sweep needs: always legal.
    Everything,
    /// Keep, recompute, reload or cache, whatever costs least.
    #[default]
    MinCut,
}
