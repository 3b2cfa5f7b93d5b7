//! Why the reverse sweep gets a value the way it does.

use crate::ir::Inst;

/// Why a need is met the way it is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// Cached: computing it again costs more.
    CostsMore,
    /// Cached: the user asks for a plan that keeps everything.
    KeepsEverything,
    /// Cached: it is used after the loop that computes it.
    UsedAfterLoop,
    /// Cached: it depends on the way control came.
    DependsOnWay,
    /// Cached: this instruction may overwrite the memory it was read from.
    OverwrittenBy(Inst),
    /// Cached: this instruction may overwrite the memory it was read from if ranges overlap.
    OverwrittenIfOverlap(Option<Inst>),
    /// Cached: the memory it was read from ends with the function.
    FrameEnds,
    /// Cached: the caller may overwrite the memory it was read from.
    CallerOverwrites,
    /// Cached: to read it is an effect.
    Observable,
    /// Cached: it was undefined, and every use must see the same.
    Frozen,
    /// Cached: it decides on a computed float, and two computations may decide differently.
    Decision,
    /// Cached: it comes from a call.
    FromCall,
    /// Cached: it is the address of frame memory.
    FrameAddress,
    /// Cached: it cannot be computed twice.
    Once,
    /// Recomputed: that costs less than keeping it.
    CostsLess,
    /// Recomputed: it follows from the counter of the loop.
    FollowsFromCounter,
    /// Recomputed: it follows from the conditions of the branches above.
    FollowsFromConditions,
    /// Recomputed: the program asks for that.
    AskedFor,
    /// Reloaded: nothing overwrites its memory.
    Intact,
    /// Reloaded: nothing overwrites its memory, which this instruction would free and which stays.
    Kept(Inst),
    /// Reloaded: this instruction writes elsewhere, which is checked when the function is entered.
    IntactIfChecked(Option<Inst>),
}

impl Why {
    /// The reason in words: what comes before and after the place of the instruction it names.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Why::CostsMore => ("computing it again costs more", ""),
            Why::KeepsEverything => ("the plan keeps everything", ""),
            Why::UsedAfterLoop => ("it is used after the loop that computes it", ""),
            Why::DependsOnWay => ("it depends on the way control came", ""),
            Why::OverwrittenBy(_) => ("its memory may be overwritten", ""),
            Why::OverwrittenIfOverlap(_) => ("its memory may be overwritten", "if ranges overlap"),
            Why::FrameEnds => ("its memory ends with the function", ""),
            Why::CallerOverwrites => ("the caller may overwrite its memory", ""),
            Why::Observable => ("reading it is observable", ""),
            Why::Frozen => ("it is frozen", ""),
            Why::Decision => ("it decides on a computed float", ""),
            Why::FromCall => ("it comes from a call", ""),
            Why::FrameAddress => ("it is the address of frame memory", ""),
            Why::Once => ("it cannot be computed twice", ""),
            Why::CostsLess => ("that costs less than keeping it", ""),
            Why::FollowsFromCounter => ("it follows from the counter of its loop", ""),
            Why::FollowsFromConditions => ("it follows from the conditions above", ""),
            Why::AskedFor => ("the program asks for that", ""),
            Why::Intact => ("nothing overwrites its memory", ""),
            Why::Kept(_) => (
                "nothing overwrites its memory, which is freed later than",
                "",
            ),
            Why::IntactIfChecked(_) => (
                "what is written",
                "does not overlap its memory, which is checked at the start",
            ),
        }
    }

    /// The instruction that it names.
    pub fn by(self) -> Option<Inst> {
        match self {
            Why::OverwrittenBy(inst) | Why::Kept(inst) => Some(inst),
            Why::OverwrittenIfOverlap(inst) | Why::IntactIfChecked(inst) => inst,
            _ => None,
        }
    }
}
