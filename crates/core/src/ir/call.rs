//! Calls, signatures, and what is known of functions and their parameters.

use super::ops::named_enum;
use super::{Func, Type};
use bitflags::bitflags;

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// The types that the call passes and expects; it may differ from the callee's declaration.
    pub sig: Signature,
    /// Attributes of the call site, on top of those of the function.
    pub attrs: FnAttrs,
    /// Attributes of the arguments at the call site, one for each.
    pub args: Vec<ParamAttrs>,
    /// The foreign calling convention, by number; 0 is C's.
    pub convention: u32,
}

/// What a call calls.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function of the module.
    Direct(Func),
    /// The function whose address is the first operand.
    Indirect,
}

/// The types of a function's parameters and result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The types of the fixed parameters.
    pub params: Vec<Type>,
    /// The type of the result, or void.
    pub ret: Type,
    /// Whether more arguments may follow.
    pub variadic: bool,
}

impl Signature {
    /// A signature with a fixed number of parameters.
    pub fn new(params: Vec<Type>, ret: Type) -> Signature {
        Signature {
            params,
            ret,
            variadic: false,
        }
    }
}

bitflags! {
    /// What is known of a parameter, an argument or a result.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ParamFlags: u32 {
        /// No other pointer touches what this one touches while the function runs.
        const NOALIAS = 1;
        /// The memory is not written through it.
        const READONLY = 1 << 1;
        /// The memory is not read through it.
        const WRITEONLY = 1 << 2;
        /// The memory is neither read nor written through it.
        const READNONE = 1 << 3;
        /// The callee keeps no copy of the pointer.
        const NOCAPTURE = 1 << 4;
        /// Not null.
        const NONNULL = 1 << 5;
        /// Not undef or poison.
        const NOUNDEF = 1 << 6;
        /// The memory is not freed through it.
        const NOFREE = 1 << 7;
        /// The function returns it.
        const RETURNED = 1 << 8;
        /// An integer extended by its sign in its register.
        const SIGNEXT = 1 << 9;
        /// An integer extended by zeros in its register.
        const ZEROEXT = 1 << 10;
        /// Passed in a register.
        const INREG = 1 << 11;
    }
}

/// Attributes of a parameter, an argument or a result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParamAttrs {
    /// What is known.
    pub flags: ParamFlags,
    /// How many bytes may be read through the pointer.
    pub dereferenceable: u64,
    /// The alignment of the pointer in bytes; 0 is unknown.
    pub align: u32,
    /// For an argument passed as a hidden copy in memory, its type.
    pub byval: Option<Type>,
    /// For a pointer to the memory of the result, its type.
    pub sret: Option<Type>,
}

bitflags! {
    /// What a function may do with some part of memory.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub struct ModRef: u8 {
        /// May read it.
        const READ = 1;
        /// May write it.
        const WRITE = 2;
    }
}

/// What a function may do with memory.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct MemoryEffects {
    /// Memory reached through its pointer arguments.
    pub arguments: ModRef,
    /// Memory that no IR of the program can reach.
    pub inaccessible: ModRef,
    /// All other memory.
    pub other: ModRef,
}

impl Default for MemoryEffects {
    fn default() -> MemoryEffects {
        MemoryEffects {
            arguments: ModRef::all(),
            inaccessible: ModRef::all(),
            other: ModRef::all(),
        }
    }
}

impl MemoryEffects {
    /// No effects at all.
    pub const NONE: MemoryEffects = MemoryEffects {
        arguments: ModRef::empty(),
        inaccessible: ModRef::empty(),
        other: ModRef::empty(),
    };
}

bitflags! {
    /// What is known of a function or a call.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct FnFlags: u32 {
        /// Never returns.
        const NORETURN = 1;
        /// Never unwinds.
        const NOUNWIND = 1 << 1;
        /// Always returns (or unwinds).
        const WILLRETURN = 1 << 2;
        /// Frees no memory.
        const NOFREE = 1 << 3;
        /// Is not to be inlined.
        const NOINLINE = 1 << 4;
        /// No derivative flows through it.
        const INACTIVE = 1 << 5;
        /// Is not the library function its name suggests.
        const NOBUILTIN = 1 << 6;
        /// What it returns is computed again rather than cached.
        const RECOMPUTE = 1 << 7;
        /// Frees memory that was made while the derivative it belongs to ran, such as a tape.
        const FREES_OWN = 1 << 8;
        /// Makes or frees memory of a tape: what is made last is freed first.
        const TAPE = 1 << 9;
        /// Makes memory for a derivative: if there is none, the program ends with a message.
        const MUST_SUCCEED = 1 << 10;
        /// Is the body of a loop: the reverse sweep may run both sweeps of it.
        const ITERATION = 1 << 11;
        /// Makes or frees memory of a tape of the derivative that it is in.
        const OWN_TAPE = 1 << 12;
        /// Runs rarely: its code is to be small rather than fast.
        const RARE = 1 << 13;
        /// Makes or frees a shadow that lasts until the reverse sweep comes back to where it was made:
        /// what is made last is freed first.
        const SHADOW = 1 << 14;
        /// Makes or frees memory of the program that is kept for as long.
        const COPY = 1 << 15;
    }
}

/// Attributes of a function or a call site.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FnAttrs {
    /// What is known.
    pub flags: FnFlags,
    /// What it may do with memory.
    pub memory: MemoryEffects,
    /// For allocation functions, what they do.
    pub alloc: Option<AllocInfo>,
}

/// What an allocation function does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocInfo {
    /// Which kind.
    pub kind: AllocKind,
    /// Whether new memory is zero.
    pub zeroed: bool,
    /// Allocation and deallocation functions fit together if their families are equal.
    pub family: String,
    /// The arguments whose product is the size in bytes.
    pub size_args: Vec<u32>,
    /// The pointer argument of a reallocation or deallocation.
    pub ptr_arg: Option<u32>,
    /// What frees memory that an allocation returns, where the family does not tell.
    pub freed: Option<Freed>,
}

/// How memory is freed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Freed {
    /// The name of the function that frees it.
    pub by: String,
    /// What that is called with: arguments of the allocation by their positions, and the memory.
    pub args: Vec<Option<u32>>,
}

named_enum! {
    /// The kinds of allocation functions.
    AllocKind {
        /// Returns new memory.
        Alloc "alloc",
        /// Returns new memory with the old content and frees the old memory.
        Realloc "realloc",
        /// Frees memory.
        Free "free",
    }
}
