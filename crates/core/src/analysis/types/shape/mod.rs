//! What is known about a sequence of bytes: the content of a value, or the memory behind a
//! pointer.

mod cell;
mod display;

pub use cell::{Cell, Piece};

use cell::limited;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known about a sequence of bytes. Nothing is known of bytes that no cell covers.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Shape {
    /// Cells at one offset.
    at: BTreeMap<i64, Cell>,
    /// Cells that repeat: at every `start + k·stride`, under the key (stride, start).
    every: BTreeMap<(i64, i64), Cell>,
}

/// Pointers to pointers are followed this deep; recursive structures repeat from there on.
const MAX_DEPTH: u32 = 4;
/// A shape with more cells than this learns nothing new.
const MAX_CELLS: usize = 256;

impl Shape {
    /// A shape with one cell.
    pub fn cell(offset: i64, cell: Cell) -> Shape {
        let mut shape = Shape::default();
        shape.insert(offset, cell);
        shape
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty() && self.every.is_empty()
    }

    /// Learns of a cell; says whether that was new.
    pub fn insert(&mut self, offset: i64, cell: Cell) -> bool {
        self.insert_limited(offset, &cell, MAX_DEPTH)
    }

    /// Learns what another shape knows; says whether anything was new.
    pub fn merge(&mut self, other: &Shape) -> bool {
        self.merge_limited(other, MAX_DEPTH)
    }

    fn merge_limited(&mut self, other: &Shape, depth: u32) -> bool {
        let mut changed = false;
        for (&offset, cell) in &other.at {
            changed |= self.insert_limited(offset, cell, depth);
        }
        for (&(stride, start), cell) in &other.every {
            changed |= self.insert_every_limited(stride, start, cell, depth);
        }
        changed
    }

    fn insert_limited(&mut self, offset: i64, cell: &Cell, depth: u32) -> bool {
        if let Some(known) = self.at.get_mut(&offset) {
            return depth > 0 && known.merge(cell, depth - 1);
        }
        if self.at.len() >= MAX_CELLS {
            return false;
        }
        self.at.insert(offset, limited(cell, depth));
        true
    }

    /// Learns of a cell that repeats at every `start + k·stride`.
    pub fn insert_every(&mut self, stride: i64, start: i64, cell: Cell) -> bool {
        self.insert_every_limited(stride, start, &cell, MAX_DEPTH)
    }

    fn insert_every_limited(&mut self, stride: i64, start: i64, cell: &Cell, depth: u32) -> bool {
        let start = start.rem_euclid(stride);
        if start + cell.bytes() > stride {
            return false;
        }
        if let Some(known) = self.every.get_mut(&(stride, start)) {
            return depth > 0 && known.merge(cell, depth - 1);
        }
        // A coarser stride that a finer one already covers adds nothing.
        let covered = self.every.iter().any(|(&(fine, at), known)| {
            fine < stride && stride % fine == 0 && start.rem_euclid(fine) == at && known == cell
        });
        if covered || self.every.len() >= MAX_CELLS {
            return false;
        }
        self.every.insert((stride, start), limited(cell, depth));
        true
    }

    /// The cell at an offset.
    ///
    /// An access at a variable index is taken to speak for every element of its stride, although
    /// it may be about an array inside of a structure. So what was seen at the offset itself
    /// counts first, and then the longer stride: in an array of structures, a field is seen at the
    /// stride of the structure, and an array in it at that of its elements.
    pub fn get(&self, offset: i64) -> Option<&Cell> {
        self.closest(offset).map(|(_, cell)| cell)
    }

    /// The cell at an offset, and the stride at which it was seen.
    fn closest(&self, offset: i64) -> Option<(i64, &Cell)> {
        if let Some(cell) = self.at.get(&offset) {
            return Some((i64::MAX, cell));
        }
        let matching = self.every.iter().rev();
        let mut matching =
            matching.filter(|((stride, start), _)| offset.rem_euclid(*stride) == *start);
        matching.next().map(|((stride, _), cell)| (*stride, cell))
    }

    /// The scalars in `start..start + len`, with offsets from `start`.
    pub fn pieces(&self, start: i64, len: i64) -> Vec<(i64, Piece)> {
        let mut pieces = Vec::new();
        let mut offset = 0;
        while offset < len {
            let found = self.closest(start + offset);
            let bytes = found.map_or(1, |(_, cell)| cell.bytes());
            // A scalar that was seen more closely begins inside of this one.
            let overlapped = (1..bytes).any(|k| {
                let inside = self.closest(start + offset + k);
                inside.is_some_and(|(stride, _)| found.is_some_and(|(own, _)| stride >= own))
            });
            let (piece, bytes) = match found.map(|(_, cell)| cell) {
                Some(_) if overlapped || offset + bytes > len => (Piece::Conflict, 1),
                None => (Piece::Unknown, 1),
                Some(Cell::Int) => (Piece::Int, 1),
                Some(Cell::Float(kind)) => (Piece::Float(*kind), bytes),
                Some(Cell::Ptr(_)) => (Piece::Ptr, bytes),
                Some(Cell::Conflict) => (Piece::Conflict, 1),
            };
            pieces.push((offset, piece));
            offset += bytes;
        }
        pieces
    }

    /// What both shapes know.
    pub fn common(&self, other: &Shape) -> Shape {
        let both = |mine: &Cell, theirs: Option<&Cell>| match (mine, theirs?) {
            (Cell::Ptr(mine), Cell::Ptr(theirs)) => Some(Cell::Ptr(Arc::new(mine.common(theirs)))),
            (mine, theirs) => (mine == theirs).then(|| mine.clone()),
        };
        let at = self.at.iter();
        let every = self.every.iter();
        Shape {
            at: at
                .filter_map(|(&k, cell)| Some((k, both(cell, other.at.get(&k))?)))
                .collect(),
            every: every
                .filter_map(|(&k, cell)| Some((k, both(cell, other.every.get(&k))?)))
                .collect(),
        }
    }

    /// The period with which the cells repeat from offset 0 on, if everything that is known
    /// agrees with one: the scalars of one period then describe memory of any length. Where no
    /// access has told a period, `stride` or the size of the first scalar is tried.
    pub fn period(&self, stride: i64) -> Option<i64> {
        let strides = self.every.keys().map(|&(stride, _)| stride);
        let told = strides.reduce(lcm);
        let first = self.get(0).map(Cell::bytes);
        let candidates = match told {
            Some(period) => vec![period],
            None => vec![stride, first.unwrap_or(0)],
        };
        candidates.into_iter().find(|&p| self.repeats_with(p))
    }

    /// The longest stride at which something was seen, or 1.
    pub fn longest_stride(&self) -> i64 {
        let longest = self.every.keys().map(|&(stride, _)| stride).max();
        longest.unwrap_or(1).min(MAX_CELLS as i64)
    }

    /// Whether every cell that is known agrees with the one in the first period, and with those that
    /// repeat.
    fn repeats_with(&self, period: i64) -> bool {
        if period <= 0 || period > MAX_CELLS as i64 {
            return false;
        }
        let known = self
            .pieces(0, period)
            .iter()
            .all(|(_, piece)| !matches!(piece, Piece::Unknown | Piece::Conflict));
        let pattern = Shape {
            at: BTreeMap::new(),
            every: self.every.clone(),
        };
        // A header before an array, say, counts in the first period but not in the others.
        let agrees = self.at.range(0..).all(|(&offset, cell)| {
            let repeated = pattern.get(offset);
            repeated.is_none_or(|same| same == cell || (is_ptr(same) && is_ptr(cell)))
        });
        let later = self.at.range(period..);
        known
            && agrees
            && later.into_iter().all(|(offset, cell)| {
                let same = self.get(offset.rem_euclid(period));
                same.is_some_and(|same| same == cell || (is_ptr(same) && is_ptr(cell)))
            })
    }

    /// This shape seen from `offset` bytes further on.
    pub fn shifted(&self, offset: i64) -> Shape {
        let mut shape = Shape::default();
        for (&at, cell) in &self.at {
            shape.at.insert(at - offset, cell.clone());
        }
        for (&(stride, start), cell) in &self.every {
            let start = (start - offset).rem_euclid(stride);
            shape.every.insert((stride, start), cell.clone());
        }
        shape
    }

    /// What is known of `0..len` only, at single offsets.
    pub fn cut(&self, len: i64) -> Shape {
        let mut shape = Shape::default();
        let mut offset = 0;
        while offset < len {
            let Some(cell) = self.get(offset) else {
                offset += 1;
                continue;
            };
            let cell = cell.clone();
            let bytes = cell.bytes();
            if offset + bytes <= len {
                shape.at.insert(offset, cell);
            }
            offset += bytes;
        }
        shape
    }

    /// What was seen in `0..len` itself.
    pub fn seen(&self, len: i64) -> Shape {
        let inside = |(at, cell): &(&i64, &Cell)| **at + cell.bytes() <= len;
        let cells = self.at.range(0..len).filter(inside);
        Shape {
            at: cells.map(|(&at, cell)| (at, cell.clone())).collect(),
            every: BTreeMap::new(),
        }
    }

    /// What is known of memory that is moved and whose length is known to be a multiple of
    /// `factor` only: what repeats, and one period of it if there is one. A fact about a single
    /// offset says nothing, because the memory may end before.
    pub fn repeated(&self, factor: i64) -> Shape {
        let mut shape = Shape {
            at: BTreeMap::new(),
            every: self.every.clone(),
        };
        if let Some(period) = self.period(factor) {
            shape.merge(&self.cut(period).unindexed(period));
        }
        shape
    }

    /// What holds behind `p + k·stride` for unknown `k`, given this shape of `p`.
    pub fn indexed(&self, stride: i64) -> Shape {
        let mut shape = Shape::default();
        for (&(period, start), cell) in &self.every {
            if stride % period == 0 {
                shape.every.insert((period, start), cell.clone());
            }
        }
        shape
    }

    /// What a shape of `p + k·stride`, for unknown `k`, says of `p`.
    pub fn unindexed(&self, stride: i64) -> Shape {
        let mut shape = Shape::default();
        for (&offset, cell) in &self.at {
            shape.insert_every(stride, offset, cell.clone());
        }
        for (&(period, start), cell) in &self.every {
            shape.insert_every(gcd(stride, period), start, cell.clone());
        }
        shape
    }
}

fn is_ptr(cell: &Cell) -> bool {
    matches!(cell, Cell::Ptr(_))
}

/// The greatest common divisor of two numbers that are not both zero.
pub fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.abs(),
        _ => gcd(b, a % b),
    }
}

fn lcm(a: i64, b: i64) -> i64 {
    (a / gcd(a, b)).saturating_mul(b)
}

#[cfg(test)]
mod tests;
