//! Planted defects: switches that break differentiation on purpose.
//!
//! A test that cannot fail tests nothing. Each defect here is a mistake that is easy to make, and
//! the generated programs must find it. No front end offers them.

/// A mistake to make.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Defect {
    /// The adjoint of a place stays after the store to it was reversed.
    StoreKeepsAdjoint,
    /// The adjoint of a value stays after its definition was reversed.
    SlotNotReset,
    /// The shadow of frame memory is not zeroed.
    FrameShadowNotZeroed,
    /// Where paths meet, the last edge is taken for the first.
    WrongEdge,
    /// The reverse of a loop stops one iteration early.
    LoopOneShort,
    /// The reverse of an overlapping copy runs in the wrong direction.
    OverlapBackwards,
    /// A shift of the bits of a float moves its adjoint nowhere.
    ShiftIgnored,
    /// Derivatives do not flow through copies of memory.
    CopiesIgnored,
    /// A value that is used after its loop is taken from the first iteration.
    LiveOutFromFirst,
    /// Both arms of a select get its adjoint.
    SelectBothArms,
    /// Memory that was set keeps its adjoint.
    SetKeepsAdjoint,
    /// In forward mode, a store of an inactive value leaves the old tangent.
    StaleTangent,
    /// Memory is read again in the reverse sweep though it was overwritten.
    OverwriteIgnored,
    /// The adjoint of what a nest stored stays.
    NestKeepsAdjoint,
}

impl Defect {
    /// Every defect.
    pub const ALL: &'static [Defect] = &[
        Defect::StoreKeepsAdjoint,
        Defect::SlotNotReset,
        Defect::FrameShadowNotZeroed,
        Defect::WrongEdge,
        Defect::LoopOneShort,
        Defect::OverlapBackwards,
        Defect::ShiftIgnored,
        Defect::CopiesIgnored,
        Defect::LiveOutFromFirst,
        Defect::SelectBothArms,
        Defect::SetKeepsAdjoint,
        Defect::StaleTangent,
        Defect::OverwriteIgnored,
        Defect::NestKeepsAdjoint,
    ];
}
