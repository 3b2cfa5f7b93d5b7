//! What is known about a sequence of bytes: the content of a value, or the memory behind a
//! pointer.

mod cell;
mod declared;
mod display;
mod period;
mod shared;

pub use cell::{Cell, Kinds, Piece};
pub use shared::Shared;

use cell::limited;
use declared::Element;
use std::collections::BTreeMap;

/// What is known about a sequence of bytes. Nothing is known of bytes that no cell covers.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Shape {
    /// Cells at one offset.
    at: BTreeMap<i64, Cell>,
    /// Cells that repeat: at every `start + k·stride`, under the key (stride, start).
    every: BTreeMap<(i64, i64), Cell>,
    /// What the program declares at one offset. It fills in what was not seen at that offset.
    declared: BTreeMap<i64, Cell>,
    /// Where the declared cells are those of an element that may be one of an array.
    element: Element,
}

/// Pointers to pointers are followed this deep; recursive structures repeat from there on.
const MAX_DEPTH: u32 = 4;
/// A shape with more cells than this learns nothing new.
const MAX_CELLS: usize = 256;
/// A declared type with more cells than this is not looked into.
pub(super) const MAX_DECLARED: usize = 512;
/// How close a cell that was seen at its very offset is, and one that was declared there.
const SEEN: i64 = i64::MAX;
const DECLARED: i64 = i64::MAX - 1;
/// A declaration of another element of the same array is the last to be asked.
const OTHER_ELEMENT: i64 = 0;

impl Shape {
    /// A shape with one cell.
    pub fn cell(offset: i64, cell: Cell) -> Shape {
        let mut shape = Shape::default();
        shape.insert(offset, cell);
        shape
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty() && self.every.is_empty() && self.declared.is_empty()
    }

    /// Whether something is known, and nothing of it is or may be an address.
    pub fn holds_no_address(&self) -> bool {
        let full = self.at.len() >= MAX_CELLS || self.every.len() >= MAX_CELLS;
        let plain = |cell: &Cell| matches!(cell, Cell::Int | Cell::Float(_));
        !self.is_empty() && !full && self.cells().all(plain)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        let seen = self.at.values().chain(self.every.values());
        seen.chain(self.declared.values())
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
        if !other.declared.is_empty() {
            changed |= self.merge_declared(other, depth);
        }
        changed
    }

    fn insert_limited(&mut self, offset: i64, cell: &Cell, depth: u32) -> bool {
        if let Some(known) = self.at.get_mut(&offset) {
            return known.merge(cell, depth);
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
            return known.merge(cell, depth);
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
        match (self.at.get(&offset), self.declared.get(&offset)) {
            // Integer arithmetic on what is declared as a float or pointer: nobody knows.
            (Some(Cell::Int), Some(Cell::Float(_) | Cell::Ptr(_))) => {
                return Some((SEEN, &Cell::Conflict(Kinds::INT)));
            }
            (Some(cell), _) => return Some((SEEN, cell)),
            (None, Some(cell)) => return Some((DECLARED, cell)),
            (None, None) => {}
        }
        let matching = self.every.iter().rev();
        let mut matching =
            matching.filter(|((stride, start), _)| offset.rem_euclid(*stride) == *start);
        let repeated = matching.next().map(|((stride, _), cell)| (*stride, cell));
        match (repeated, self.in_other_element(offset)) {
            // An array in the first structure, or an array of structures: nobody knows which.
            (Some((stride, seen)), Some(declared)) if !seen.is_like(declared) => {
                Some((stride, &Cell::Conflict(Kinds::INT)))
            }
            (None, Some(declared)) => Some((OTHER_ELEMENT, declared)),
            (repeated, _) => repeated,
        }
    }

    /// Whether something that repeats is known to be at an offset.
    fn every_covers(&self, offset: i64) -> bool {
        let mut keys = self.every.keys();
        keys.any(|(stride, start)| offset.rem_euclid(*stride) == *start)
    }

    /// What the bytes of `start..start + len` were used as, each by itself or as part of something
    /// that begins before.
    pub fn kinds(&self, start: i64, len: i64) -> Kinds {
        const SIZES: [(Kinds, i64); 4] = [
            (Kinds::INT, 1),
            (Kinds::SINGLE, 4),
            (Kinds::DOUBLE.union(Kinds::PTR), 8),
            (Kinds::OTHER_FLOAT, 16),
        ];
        let mut found = Kinds::default();
        for offset in start - 15..start + len {
            for kinds in [self.get(offset), self.declared.get(&offset)]
                .into_iter()
                .flatten()
            {
                let reaching = SIZES.iter().filter(|(_, size)| offset + size > start);
                let reaching = reaching.fold(Kinds::default(), |all, (kind, _)| all | *kind);
                found |= kinds.kinds() & reaching;
            }
        }
        found
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
                Some(Cell::Conflict(_)) => (Piece::Conflict, 1),
            };
            pieces.push((offset, piece));
            offset += bytes;
        }
        pieces
    }

    /// What is behind the pointers that may be at an offset.
    pub(super) fn behind(&self, offset: i64) -> impl Iterator<Item = Shared> + use<> {
        let cells = [self.get(offset), self.declared.get(&offset)];
        let inner = cells.map(|cell| match cell {
            Some(Cell::Ptr(inner)) => Some(inner.clone()),
            _ => None,
        });
        inner.into_iter().flatten()
    }

    /// The cell at an offset alone, known as it is known here.
    pub(super) fn only(&self, offset: i64) -> Option<(Shape, i64)> {
        let (closeness, cell) = self.closest(offset)?;
        let mut shape = Shape::default();
        let cells = match closeness {
            DECLARED | OTHER_ELEMENT => &mut shape.declared,
            _ => &mut shape.at,
        };
        cells.insert(offset, cell.clone());
        Some((shape, cell.bytes()))
    }

    /// What is known and not in dispute.
    pub fn without_conflicts(&self) -> Shape {
        let mut shape = self.clone();
        let known = |cell: &Cell| !matches!(cell, Cell::Conflict(_));
        shape.at.retain(|_, cell| known(cell));
        shape.every.retain(|_, cell| known(cell));
        shape.declared.retain(|_, cell| known(cell));
        shape
    }

    /// What both shapes know.
    pub fn common(&self, other: &Shape) -> Shape {
        let both = |mine: &Cell, theirs: Option<&Cell>| match (mine, theirs?) {
            (Cell::Ptr(mine), Cell::Ptr(theirs)) => {
                Some(Cell::Ptr(Shared::new(mine.common(theirs))))
            }
            (mine, theirs) => (mine == theirs).then(|| mine.clone()),
        };
        let at = self.at.iter();
        let every = self.every.iter();
        let declared = self.declared.iter();
        Shape {
            at: at
                .filter_map(|(&k, cell)| Some((k, both(cell, other.at.get(&k))?)))
                .collect(),
            every: every
                .filter_map(|(&k, cell)| Some((k, both(cell, other.every.get(&k))?)))
                .collect(),
            declared: declared
                .filter_map(|(&k, cell)| Some((k, both(cell, other.declared.get(&k))?)))
                .collect(),
            element: match self.element == other.element {
                true => self.element,
                false => Element::Several,
            },
        }
    }

    /// This shape seen from `offset` bytes further on.
    pub fn shifted(&self, offset: i64) -> Shape {
        let mut shape = Shape {
            element: match self.element {
                Element::One(start, size) => Element::One(start - offset, size),
                element => element,
            },
            ..Shape::default()
        };
        for (&at, cell) in &self.declared {
            shape.declared.insert(at - offset, cell.clone());
        }
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
            let Some((closeness, cell)) = self.closest(offset) else {
                offset += 1;
                continue;
            };
            let bytes = cell.bytes();
            if offset + bytes <= len {
                match closeness {
                    DECLARED | OTHER_ELEMENT => shape.declared.insert(offset, cell.clone()),
                    _ => shape.at.insert(offset, cell.clone()),
                };
            }
            offset += bytes;
        }
        shape.declared.extend(within(&self.declared, len));
        shape
    }

    /// What was seen or declared in `0..len` itself.
    pub fn seen(&self, len: i64) -> Shape {
        let mut declared = within(&self.declared, len);
        if self.element != Element::None {
            for offset in 0..len {
                if let Some(cell) = self.in_other_element(offset)
                    && offset + cell.bytes() <= len
                    && !self.every_covers(offset)
                {
                    declared.entry(offset).or_insert_with(|| cell.clone());
                }
            }
        }
        Shape {
            at: within(&self.at, len),
            declared,
            ..Shape::default()
        }
    }

    /// What is known of memory that is moved and whose length is known to be a multiple of
    /// `factor` only: what repeats, and one period of it if there is one. A fact about a single
    /// offset says nothing, because the memory may end before.
    pub fn repeated(&self, factor: i64) -> Shape {
        let mut shape = self.pattern();
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
        if let Element::One(_, size) = self.element
            && stride % size == 0
        {
            shape.declare_any_element(self);
        }
        shape
    }

    /// What holds behind another pointer into the same array.
    pub fn elsewhere(&self) -> Shape {
        let mut shape = self.pattern();
        shape.declare_any_element(self);
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

/// The cells that lie in `0..len`.
fn within(cells: &BTreeMap<i64, Cell>, len: i64) -> BTreeMap<i64, Cell> {
    let inside = cells.range(0..len.max(0));
    let inside = inside.filter(|(at, cell)| **at + cell.bytes() <= len);
    inside.map(|(&at, cell)| (at, cell.clone())).collect()
}

/// The greatest common divisor of two numbers that are not both zero.
pub fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.abs(),
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests;
