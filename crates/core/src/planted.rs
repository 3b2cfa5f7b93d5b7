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
    /// A slot is set to zero between the turns of a loop.
    ZeroedInTurn,
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
    /// Two pointers of different origin never meet.
    WrongAlias,
    /// The last write of a function is not looked at when memory is read again.
    WindowOneStoreShort,
    /// The bounds of loops are taken for one tighter than they are.
    BoundsTooTight,
    /// Memory counts as intact if only a later iteration overwrites it.
    LaterIterationsIgnored,
    /// Where a loop moves what it reads and writes, the next iteration's writes are not looked at.
    NextIterationIgnored,
    /// Memory counts as intact if only a callee overwrites it.
    CalleeWritesIgnored,
    /// Memory counts as intact if only the caller overwrites it.
    CallerWritesIgnored,
    /// Frame memory is read again when its frame has ended.
    FrameOutlives,
    /// Memory is taken for disjoint where that should be found out at run time.
    OverlapUnchecked,
    /// The shadow of heap memory is not zeroed.
    HeapShadowNotZeroed,
    /// The shadow of heap memory is freed with it, before the reverse sweep.
    ShadowFreedEarly,
    /// Memory that the reverse sweep reads is freed where the program frees it.
    KeptMemoryFreed,
    /// The reverse of a load replaces the adjoint of the place instead of adding to it.
    LoadReplacesAdjoint,
    /// Of a structure that is copied, only what it begins with is taken for a float.
    LaterFloatsIgnored,
    /// The adjoint of a converted float ends at the conversion.
    ConversionIgnored,
    /// The reverse of a subtraction adds to both operands.
    SubtractionAdds,
    /// In forward mode, the last operand of an instruction contributes nothing.
    TangentTermMissing,
    /// Of several numbers that a callee takes, the last gets no adjoint.
    LastArgumentForgotten,
    /// An edge that leaves several loops at once restores only the innermost counter.
    OuterCounterStale,
    /// Records of an inner loop are found without the counters of the loops around it.
    RecordsMixedUp,
    /// A tape has room for all iterations but the last.
    TapeOneShort,
    /// A tape is not freed.
    TapeLeaked,
    /// A value that advances with a counter is computed again for the next iteration.
    InductionOffByOne,
    /// A value that is used after its loop is computed again outside of the loop.
    LiveOutRecomputed,
    /// A decision on a computed float is made again in the reverse sweep.
    DecisionRecomputed,
    /// A global variable is taken for its own shadow.
    GlobalIsItsShadow,
    /// The reverse of a store clears the primal memory, too.
    PrimalWritten,
    /// An iteration is replayed though what it reads was overwritten.
    ReplayOfOverwritten,
    /// Loops become nests though the memory that they read and write may overlap.
    OverlapOfNestsUnchecked,
    /// Loops become nests though their iterations may write the same memory.
    RaisedAcrossDependence,
    /// Of a search, the last iteration is repeated and not the one that it has chosen.
    SearchRepeatsLast,
}

impl Defect {
    /// Every defect.
    pub const ALL: &'static [Defect] = &[
        Defect::StoreKeepsAdjoint,
        Defect::SlotNotReset,
        Defect::ZeroedInTurn,
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
        Defect::WrongAlias,
        Defect::WindowOneStoreShort,
        Defect::BoundsTooTight,
        Defect::LaterIterationsIgnored,
        Defect::NextIterationIgnored,
        Defect::CalleeWritesIgnored,
        Defect::CallerWritesIgnored,
        Defect::FrameOutlives,
        Defect::OverlapUnchecked,
        Defect::HeapShadowNotZeroed,
        Defect::ShadowFreedEarly,
        Defect::KeptMemoryFreed,
        Defect::LoadReplacesAdjoint,
        Defect::LaterFloatsIgnored,
        Defect::ConversionIgnored,
        Defect::SubtractionAdds,
        Defect::TangentTermMissing,
        Defect::LastArgumentForgotten,
        Defect::OuterCounterStale,
        Defect::RecordsMixedUp,
        Defect::TapeOneShort,
        Defect::TapeLeaked,
        Defect::InductionOffByOne,
        Defect::LiveOutRecomputed,
        Defect::DecisionRecomputed,
        Defect::GlobalIsItsShadow,
        Defect::PrimalWritten,
        Defect::ReplayOfOverwritten,
        Defect::OverlapOfNestsUnchecked,
        Defect::RaisedAcrossDependence,
        Defect::SearchRepeatsLast,
    ];
}
