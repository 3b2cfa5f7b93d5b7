//! One scalar in a sequence of bytes.

use super::Shape;
use crate::ir::FloatKind;
use std::sync::Arc;

/// What one scalar in a sequence of bytes is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cell {
    /// One byte of something that is neither a float nor a pointer.
    Int,
    /// A float that starts here.
    Float(FloatKind),
    /// A pointer that starts here, and what is known of the memory behind it. Shapes of structures
    /// full of pointers are large and go everywhere, so they are shared and not copied.
    Ptr(Arc<Shape>),
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

    /// Whether no more than so many pointers lead on from here.
    fn fits(&self, depth: u32) -> bool {
        match self {
            Cell::Ptr(shape) if depth == 0 => shape.is_empty(),
            Cell::Ptr(shape) => {
                let cells = shape.at.values().chain(shape.every.values());
                let mut cells = cells.chain(shape.declared.values());
                cells.all(|cell| cell.fits(depth - 1))
            }
            _ => true,
        }
    }

    /// Learns what another cell knows, following so many pointers.
    pub(super) fn merge(&mut self, other: &Cell, depth: u32) -> bool {
        match (&mut *self, other) {
            (Cell::Conflict, _) => false,
            (mine, theirs) if *mine == *theirs => false,
            (Cell::Ptr(_), Cell::Ptr(_)) if depth == 0 => false,
            (Cell::Ptr(mine), Cell::Ptr(theirs)) => {
                let mut both = (**mine).clone();
                let changed = both.merge_limited(theirs, depth - 1);
                if changed {
                    *mine = Arc::new(both);
                }
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
        cell if cell.fits(depth) => cell.clone(),
        Cell::Ptr(_) if depth == 0 => Cell::Ptr(Arc::default()),
        Cell::Ptr(shape) => {
            let mut inner = Shape::default();
            inner.merge_limited(shape, depth - 1);
            Cell::Ptr(Arc::new(inner))
        }
        other => other.clone(),
    }
}
