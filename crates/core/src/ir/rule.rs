//! Derivatives that the program gives itself.

use super::ops::named_enum;
use super::{Activity, Func};

/// A rule that the program registers for the derivative of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomRule {
    /// The function that it is about; it need not have a body.
    pub func: Func,
    /// What the rule gives.
    pub kind: RuleKind,
    /// The functions that make up the rule.
    pub parts: Vec<Func>,
    /// For each argument, what the rule handles; none if it handles everything. An argument that
    /// is `const` here must be `const` where the rule is used.
    pub handles: Option<Vec<Activity>>,
}

named_enum! {
    /// What a rule gives, and which functions it has.
    RuleKind {
        /// Reverse mode: the augmented forward sweep, the reverse sweep.
        Gradient "gradient",
        /// Reverse mode: as a gradient, with one argument more for the augmented sweep, an integer. It
        /// has a bit for each parameter of the function: whether memory behind it may be overwritten
        /// before the reverse sweep, so that what is needed of it must be kept.
        Pullback "pullback",
        /// Forward mode: the tangent.
        Derivative "derivative",
        /// Forward mode with a tape: the augmented forward sweep, the tangent.
        SplitDerivative "splitderivative",
        /// Both modes: a function that has the same derivative.
        Like "like",
    }
}

impl RuleKind {
    /// How many functions make up a rule of this kind.
    pub fn part_count(self) -> usize {
        match self {
            RuleKind::Gradient | RuleKind::Pullback | RuleKind::SplitDerivative => 2,
            RuleKind::Derivative | RuleKind::Like => 1,
        }
    }

    /// Whether a rule of this kind serves reverse mode, or else forward mode.
    pub fn serves(self, reverse: bool) -> bool {
        match self {
            RuleKind::Gradient | RuleKind::Pullback => reverse,
            RuleKind::Derivative | RuleKind::SplitDerivative => !reverse,
            RuleKind::Like => true,
        }
    }
}
