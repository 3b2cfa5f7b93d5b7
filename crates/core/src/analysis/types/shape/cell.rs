//! One scalar in a sequence of bytes.

use super::Shared;
use crate::ir::FloatKind;
use bitflags::bitflags;

/// What one scalar in a sequence of bytes is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cell {
    /// One byte of something that is neither a float nor a pointer.
    Int,
    /// A float that starts here.
    Float(FloatKind),
    /// A pointer that starts here, and what is known of the memory behind it.
    Ptr(Shared),
    /// Uses disagree: it was used as all of these.
    Conflict(Kinds),
}

bitflags! {
    /// Kinds of scalars.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Kinds: u8 {
        /// Neither a float nor a pointer.
        const INT = 1;
        /// A pointer.
        const PTR = 2;
        /// A float of four bytes.
        const SINGLE = 4;
        /// A float of eight bytes.
        const DOUBLE = 8;
        /// A float of another size.
        const OTHER_FLOAT = 16;
    }
}

impl Kinds {
    /// All floats.
    pub const FLOATS: Kinds = Kinds::SINGLE.union(Kinds::DOUBLE).union(Kinds::OTHER_FLOAT);
}

impl Cell {
    /// How many bytes the cell covers.
    pub fn bytes(&self) -> i64 {
        match self {
            Cell::Int | Cell::Conflict(_) => 1,
            Cell::Float(kind) => i64::from(kind.bytes()),
            Cell::Ptr(_) => 8,
        }
    }

    /// What it is, or was used as.
    pub fn kinds(&self) -> Kinds {
        match self {
            Cell::Int => Kinds::INT,
            Cell::Float(FloatKind::F32) => Kinds::SINGLE,
            Cell::Float(FloatKind::F64) => Kinds::DOUBLE,
            Cell::Float(_) => Kinds::OTHER_FLOAT,
            Cell::Ptr(_) => Kinds::PTR,
            Cell::Conflict(kinds) => *kinds,
        }
    }

    /// Whether both are the same but for what is behind pointers.
    pub(super) fn is_like(&self, other: &Cell) -> bool {
        self == other || matches!((self, other), (Cell::Ptr(_), Cell::Ptr(_)))
    }

    /// How many pointers in a row lead on from here.
    pub(super) fn height(&self) -> u32 {
        match self {
            Cell::Ptr(shape) => shape.height(),
            _ => 0,
        }
    }

    /// Learns what another cell knows, following so many pointers.
    pub(super) fn merge(&mut self, other: &Cell, depth: u32) -> bool {
        match (&mut *self, other) {
            (Cell::Conflict(mine), theirs) => {
                let both = *mine | theirs.kinds();
                std::mem::replace(mine, both) != both
            }
            (mine, theirs) if *mine == *theirs => false,
            (Cell::Ptr(_), Cell::Ptr(_)) if depth == 0 => false,
            (Cell::Ptr(mine), Cell::Ptr(theirs)) => {
                let both = mine.merged(theirs, depth - 1);
                let changed = *mine != both;
                *mine = both;
                changed
            }
            (mine, theirs) => {
                *mine = Cell::Conflict(mine.kinds() | theirs.kinds());
                true
            }
        }
    }
}

/// A scalar found in a range of bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// One byte that holds neither float nor pointer.
    Int,
    /// A float.
    Float(FloatKind),
    /// A pointer.
    Ptr,
    /// One byte of which nothing is known.
    Unknown,
    /// One byte of which uses disagree.
    Conflict,
}

/// A cell without what is behind more pointers in a row than `depth`.
pub(super) fn limited(cell: &Cell, depth: u32) -> Cell {
    match cell {
        Cell::Ptr(shape) if shape.height() > depth => Cell::Ptr(match depth {
            0 => Shared::default(),
            _ => Shared::default().merged(shape, depth - 1),
        }),
        cell => cell.clone(),
    }
}
