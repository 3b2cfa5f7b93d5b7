//! Why a program was stopped.

use std::fmt;

/// A program that was stopped, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// The kind of error, for tests to compare.
    pub kind: TrapKind,
    /// What happened, in words.
    pub message: String,
    /// The functions that were running, innermost first, each with a source location if known.
    pub backtrace: Vec<String>,
}

/// The kinds of errors.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum TrapKind {
    /// An access outside of an object.
    OutOfBounds,
    /// An access to freed heap memory.
    UseAfterFree,
    /// An access to frame memory of a function that has returned.
    DeadFrame,
    /// Heap memory freed a second time.
    DoubleFree,
    /// A free of something that the heap did not return.
    InvalidFree,
    /// Poison where a definite value is needed.
    Poison,
    /// A division by zero or one that overflows.
    Division,
    /// An address that is less aligned than the access promises.
    Misaligned,
    /// An access through the null pointer.
    NullDereference,
    /// An access through an address that belongs to no object.
    NoProvenance,
    /// A copy between ranges that overlap where the copy promises that they do not, or a nest that
    /// touches bytes more often than a nest may.
    Overlap,
    /// A write to a constant or to code.
    ReadOnly,
    /// An `unreachable` was reached.
    Unreachable,
    /// A call of a function that has no body and is not known by name.
    UnknownFunction,
    /// A call that does not fit the function it calls.
    BadCall,
    /// The program ended itself (`abort`, `exit`, `llvm.trap`).
    Aborted,
    /// More steps than allowed.
    StepLimit,
    /// More nested calls than allowed.
    DepthLimit,
    /// More memory than allowed.
    MemoryLimit,
    /// Something that the interpreter does not model.
    Unsupported,
    /// IR that the verifier would have refused.
    Malformed,
}

impl Trap {
    /// A trap of this kind.
    pub fn new(kind: TrapKind, message: impl Into<String>) -> Trap {
        Trap {
            kind,
            message: message.into(),
            backtrace: Vec::new(),
        }
    }

    /// Something that the interpreter does not model.
    pub(super) fn unsupported(message: impl Into<String>) -> Trap {
        Trap::new(TrapKind::Unsupported, message)
    }

    /// IR that the verifier would have refused.
    pub(super) fn malformed(message: impl Into<String>) -> Trap {
        Trap::new(TrapKind::Malformed, message)
    }

    /// Poison where a definite value is needed.
    pub(super) fn poison(message: impl Into<String>) -> Trap {
        Trap::new(TrapKind::Poison, message)
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for line in &self.backtrace {
            write!(f, "\n  in {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Trap {}
