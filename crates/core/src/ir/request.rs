//! Requests for derivatives.

use super::Func;
use super::ops::named_enum;

/// A request for a derivative of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The function to differentiate.
    pub func: Func,
    /// Forward or reverse, and which part of it.
    pub mode: Mode,
    /// How many derivatives at once.
    pub width: u32,
    /// The activity of each argument of the function.
    pub args: Vec<Activity>,
    /// The activity of its result.
    pub ret: ReturnActivity,
    /// Whether the primal result is returned before the derivatives.
    pub primal_return: bool,
    /// Whether 0·∞ is 0 everywhere.
    pub strong_zero: bool,
    /// Whether a shadow that equals its primal means inactive.
    pub runtime_activity: bool,
    /// What is said about the tape between the two halves of reverse mode.
    pub tape: TapeTerms,
}

/// What a request for a half of reverse mode says about the tape.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TapeTerms {
    /// The arguments, by position, whose memory the caller promises not to change between the two
    /// halves.
    pub not_overwritten: Vec<u32>,
    /// Whether the tape is memory of the caller, and not of the heap.
    pub caller: bool,
    /// How many bytes the caller has for it, where that is a constant.
    pub bytes: Option<u64>,
    /// Whether the reverse half leaves the tape as it is, so that it can run again.
    pub keep: bool,
}

named_enum! {
    /// The modes of differentiation.
    Mode {
        /// Tangents along with primal values.
        Forward "forward",
        /// The same, and it tells what it touches: for those who check derivatives.
        Recording "recording",
        /// Forward and reverse sweep in one function.
        Combined "combined",
        /// The forward sweep that leaves a tape.
        Augmented "augmented",
        /// The reverse sweep that reads the tape.
        Gradient "gradient",
        /// The size of the tape in bytes, a constant; it takes no operands.
        TapeSize "tape_size",
    }
}

named_enum! {
    /// What the derivative does about an argument.
    Activity {
        /// No derivative.
        Const "const",
        /// A shadow follows the primal.
        Dup "dup",
        /// A shadow follows the primal, and the primal output behind it is not needed.
        DupNoNeed "dupnoneed",
        /// A scalar whose derivative is returned.
        Out "out",
    }
}

impl Mode {
    /// Whether this is forward mode.
    pub fn is_forward(self) -> bool {
        matches!(self, Mode::Forward | Mode::Recording)
    }

    /// Whether this is about one half of reverse mode.
    pub fn is_split(self) -> bool {
        matches!(self, Mode::Augmented | Mode::Gradient | Mode::TapeSize)
    }
}

impl Activity {
    /// How many shadow operands follow the primal one.
    pub fn shadow_count(self, width: u32) -> usize {
        match self {
            Activity::Const | Activity::Out => 0,
            Activity::Dup | Activity::DupNoNeed => width as usize,
        }
    }
}

named_enum! {
    /// What the derivative does about the result.
    ReturnActivity {
        /// No derivative flows out of the result.
        Const "const",
        /// Reverse: the adjoint of the result is seeded. Forward: its tangent is returned.
        Active "active",
        /// The result is a pointer with a shadow.
        Dup "dup",
    }
}
