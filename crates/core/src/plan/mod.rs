//! What the reverse sweep needs of the forward sweep, and how it gets it.
//!
//! A *need* is a value at a *level*: the innermost loop that contains both its definition and its
//! use, or the whole function. A value that is used in the loop that defines it is needed once
//! for each iteration; one that is used after the loop is needed as it was in the last iteration.
//!
//! Values that exist in both sweeps (constants, arguments, counters of the loops around) are no
//! needs. For every other one the plan names its [`Source`].

mod everything;

pub use everything::everything;

use crate::analysis::loops::Loop;
use crate::diagnostic::Result;
use crate::ir::{Block, Function, Inst, Value, ValueDef};
use crate::primal::Primal;
use crate::synthesis::Synthesis;
use cranelift_entity::SecondaryMap;
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
    /// Why a need is not met for less, where that is known.
    pub reasons: HashMap<Need, String>,
}

impl Plan {
    /// How the reverse sweep gets a value.
    pub fn source(&self, need: Need) -> Source {
        self.sources.get(&need).copied().unwrap_or(Source::Cache)
    }

    /// Why a need is met the way it is; empty where nothing is known.
    pub fn why(&self, need: Need) -> String {
        self.reasons.get(&need).cloned().unwrap_or_default()
    }

    /// The values on the tape, in a stable order.
    pub fn cached(&self) -> Vec<Need> {
        let cached = self.sources.iter().filter(|(_, s)| **s == Source::Cache);
        let mut needs: Vec<Need> = cached.map(|(&need, _)| need).collect();
        needs.sort();
        needs
    }
}

/// The function that is planned for: the forward sweep before it fills the tape.
pub struct View<'a> {
    /// The function, with shadow pointers.
    pub func: &'a Function,
    /// The block that each instruction stands in.
    pub blocks: &'a SecondaryMap<Inst, Option<Block>>,
    /// The parameters of the derivative, which both sweeps have.
    pub params: &'a [Value],
}

impl View<'_> {
    /// The block that a value is defined in; none for constants.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.func.def(value) {
            ValueDef::Param(block, _) => Some(*block),
            ValueDef::Result(inst) => self.blocks[*inst],
            ValueDef::Const(_) => None,
        }
    }
}

/// Decides for every need.
pub fn choose(
    synthesis: &Synthesis,
    _primal: &Primal,
    _view: &View<'_>,
    needs: BTreeSet<Need>,
) -> Result<Plan> {
    match synthesis.options.plan {
        PlanKind::Everything => Ok(everything(needs)),
    }
}

/// The plans there are.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum PlanKind {
    /// Cache every value that the reverse sweep needs: always legal.
    #[default]
    Everything,
}
