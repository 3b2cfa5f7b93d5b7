//! One scalar in a sequence of bytes.

use super::Shared;
use crate::ir::FloatKind;

/// What one scalar in a sequence of bytes is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cell {
    /// One byte of something that is neither a float nor a pointer.
    Int,
    /// A float that starts here.
    Float(FloatKind),
    /// A pointer that starts here, and what is known of the memory behind it.
    Ptr(Shared),
    /// Uses disagree.
    Conflict,
}

impl Cell {
    /// How many bytes the cell covers.
    pub fn bytes(&self) -> i64 {
        match self {
            Cell::Int | Cell::Conflict => 1,
            Cell::Float(kind) => i64::from(kind.bytes()),
            Cell::Ptr(_) => 8,
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
            (Cell::Conflict, _) => false,
            (mine, theirs) if *mine == *theirs => false,
            (Cell::Ptr(_), Cell::Ptr(_)) if depth == 0 => false,
            (Cell::Ptr(mine), Cell::Ptr(theirs)) => {
                let both = mine.merged(theirs, depth - 1);
                let changed = *mine != both;
                *mine = both;
                changed
            }
            (mine, _) => {
                *mine = Cell::Conflict;
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
