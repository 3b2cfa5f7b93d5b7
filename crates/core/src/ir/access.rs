//! What instructions promise and permit, and how they access memory.

use super::ops::named_enum;
use super::{Ordering, Scope, SyncScope, Tbaa};
use bitflags::bitflags;

bitflags! {
    /// Promises about operands and permissions for rounding.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Flags: u32 {
        /// No signed wrap.
        const NSW = 1;
        /// No unsigned wrap.
        const NUW = 1 << 1;
        /// A division or shift without remainder.
        const EXACT = 1 << 2;
        /// The operands of an `or` have no bit in common.
        const DISJOINT = 1 << 3;
        /// The operand of a `zext` or `uitofp` is not negative.
        const NNEG = 1 << 4;
        /// The operands of a comparison have the same sign.
        const SAMESIGN = 1 << 5;
        /// An address stays in its object.
        const INBOUNDS = 1 << 6;
        /// Address arithmetic does not wrap, scaled offsets read as signed.
        const NUSW = 1 << 7;
        /// No operand or result is NaN.
        const NNAN = 1 << 8;
        /// No operand or result is infinite.
        const NINF = 1 << 9;
        /// The sign of a zero does not matter.
        const NSZ = 1 << 10;
        /// A division may become a multiplication by the reciprocal.
        const ARCP = 1 << 11;
        /// Operations may be fused.
        const CONTRACT = 1 << 12;
        /// Functions may be approximated.
        const AFN = 1 << 13;
        /// Operations may be reordered.
        const REASSOC = 1 << 14;
        /// The edge back of a loop: each iteration has work for whole vectors in itself, so they are
        /// not to be made of several iterations.
        const WIDE = 1 << 15;
    }
}

impl Flags {
    /// All permissions that fast-math gives.
    pub const FAST: Flags = Flags::NNAN
        .union(Flags::NINF)
        .union(Flags::NSZ)
        .union(Flags::ARCP)
        .union(Flags::CONTRACT)
        .union(Flags::AFN)
        .union(Flags::REASSOC);
    /// The order of an adjoint sum is not defined by the source program.
    pub const ADJOINT_SUM: Flags = Flags::REASSOC.union(Flags::NSZ).union(Flags::CONTRACT);
}

/// How memory is accessed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// The alignment in bytes that the address is known to have; 0 means 1.
    pub align: u32,
    /// Whether the access itself is observable.
    pub volatile: bool,
    /// For an atomic access, its ordering and scope.
    pub atomic: Option<(Ordering, SyncScope)>,
    /// The type-based alias class.
    pub tbaa: Option<Tbaa>,
    /// The alias scopes the access belongs to.
    pub scopes: Vec<Scope>,
    /// The alias scopes the access does not touch.
    pub noalias: Vec<Scope>,
    /// Whose memory it is.
    pub region: Region,
}

impl Access {
    /// A plain access of this alignment.
    pub fn aligned(align: u32) -> Access {
        Access {
            align,
            ..Access::default()
        }
    }
}

named_enum! {
    /// Whose memory an access touches, as far as the one who made the instruction knows. Memory
    /// of different regions is never the same memory, except that `user` may be any.
    Region {
        /// Nothing is known.
        User "user",
        /// Memory of the differentiated program.
        Primal "primal",
        /// A tape: memory that Zymase allocates to carry values to the reverse sweep.
        Tape "tape",
        /// Floats in shadow memory.
        Shadow "shadow",
        /// A slot of the derivative's own frame.
        Frame "frame",
    }
}

#[allow(clippy::derivable_impls)] // The variants come from a macro.
impl Default for Region {
    fn default() -> Region {
        Region::User
    }
}
