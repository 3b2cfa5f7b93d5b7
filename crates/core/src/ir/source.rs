//! Types of the source program, as far as they say what memory holds.
//!
//! Debug information tells how the program declares its variables. That is less than what its
//! instructions do: a pointer may have been cast. So it counts only where nothing else is known.

use super::{FloatKind, SourceType};

/// A type of the source program: which scalars are where. Bytes that no part covers may hold
/// anything, as in unions and buffers of bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceTypeData {
    /// How many bytes it has.
    pub size: u64,
    /// The parts with their offsets, in order, without overlap.
    pub parts: Vec<(u64, SourcePart)>,
}

/// A part of a type of the source program.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SourcePart {
    /// So many bytes that are neither float nor pointer, or that are never used.
    Int(u64),
    /// A float.
    Float(FloatKind),
    /// A pointer, and what the program says is behind it.
    Ptr(Option<SourceType>),
}

/// What the program says of the memory behind a pointer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Declared {
    /// It is the memory of a variable of this type.
    Object(SourceType),
    /// It is an element of this type, or of an array of such elements.
    Element(SourceType),
    /// The program calls it this type, which has integers only. It may have put floats there by
    /// other means, so that counts only where nothing else is known.
    Integers(SourceType),
}
