//! What is known about a sequence of bytes: the content of a value, or the memory behind a
//! pointer.

use crate::ir::FloatKind;
use std::collections::BTreeMap;
use std::fmt;
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

    /// Whether no more than so many pointers lead on from here.
    fn fits(&self, depth: u32) -> bool {
        match self {
            Cell::Ptr(shape) if depth == 0 => shape.is_empty(),
            Cell::Ptr(shape) => {
                let mut cells = shape.at.values().chain(shape.every.values());
                cells.all(|cell| cell.fits(depth - 1))
            }
            _ => true,
        }
    }

    fn merge(&mut self, other: &Cell, depth: u32) -> bool {
        match (&mut *self, other) {
            (Cell::Conflict, _) => false,
            (mine, theirs) if *mine == *theirs => false,
            (Cell::Ptr(mine), Cell::Ptr(theirs)) => {
                let mut both = (**mine).clone();
                let changed = both.merge_limited(theirs, depth);
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

/// What is known about a sequence of bytes. Nothing is known of bytes that no cell covers.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Shape {
    /// Cells at one offset.
    at: BTreeMap<i64, Cell>,
    /// Cells that repeat: at every `start + k·stride`, under the key (stride, start).
    every: BTreeMap<(i64, i64), Cell>,
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

    /// Whether something is known, and nothing of it is or may be an address.
    pub fn holds_no_address(&self) -> bool {
        let full = self.at.len() >= MAX_CELLS || self.every.len() >= MAX_CELLS;
        let mut cells = self.at.values().chain(self.every.values());
        let plain = |cell: &Cell| matches!(cell, Cell::Int | Cell::Float(_));
        !self.is_empty() && !full && cells.all(plain)
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

fn limited(cell: &Cell, depth: u32) -> Cell {
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

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Int => write!(f, "int"),
            Cell::Float(kind) => write!(f, "{}", kind.name()),
            Cell::Ptr(shape) => write!(f, "ptr {shape}"),
            Cell::Conflict => write!(f, "conflict"),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Bytes of integers in a row are one entry.
        let single = self.at.iter().map(|(&at, cell)| (None, at, cell));
        let repeated = self.every.iter();
        let repeated = repeated.map(|(&(stride, at), cell)| (Some(stride), at, cell));
        let mut runs: Vec<(Option<i64>, i64, i64, &Cell)> = Vec::new();
        for (stride, at, cell) in single.chain(repeated) {
            match runs.last_mut() {
                Some((s, _, end, Cell::Int))
                    if (*s, *end) == (stride, at) && *cell == Cell::Int =>
                {
                    *end += 1;
                }
                _ => runs.push((stride, at, at + cell.bytes(), cell)),
            }
        }
        let mut separator = "{";
        for (stride, start, end, cell) in &runs {
            write!(f, "{separator}{start}")?;
            if **cell == Cell::Int && *end > start + 1 {
                write!(f, "..{end}")?;
            }
            if let Some(stride) = stride {
                write!(f, " + {stride}k")?;
            }
            write!(f, ": {cell}")?;
            separator = ", ";
        }
        write!(f, "{}", if runs.is_empty() { "{}" } else { "}" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double() -> Cell {
        Cell::Float(FloatKind::F64)
    }

    #[test]
    fn an_indexed_access_describes_the_whole_array() {
        let element = Shape::cell(0, double());
        let array = element.unindexed(8);
        assert_eq!(array.get(80), Some(&double()));
        assert_eq!(array.indexed(16).shifted(8).get(8), Some(&double()));
        assert_eq!(array.indexed(4).get(0), None);
    }

    #[test]
    fn a_single_access_counts_before_a_repeated_one() {
        let mut shape = Shape::cell(0, double()).unindexed(8);
        for byte in 24..32 {
            shape.insert(byte, Cell::Int);
        }
        let pieces = shape.pieces(16, 16);
        assert_eq!(pieces[0], (0, Piece::Float(FloatKind::F64)));
        assert!(pieces[1..].iter().all(|(_, piece)| *piece == Piece::Int));
        assert_eq!(pieces.len(), 9);
    }

    #[test]
    fn what_two_shapes_know_in_common() {
        let mut shape = Shape::cell(0, double());
        shape.insert(8, double());
        let moved = shape.shifted(8);
        assert_eq!(shape.common(&moved), Shape::cell(0, double()));
    }

    #[test]
    fn memory_of_any_length_repeats_one_period() {
        let doubles = Shape::cell(0, double()).unindexed(8);
        assert_eq!(doubles.period(1), Some(8));
        let mut single = Shape::cell(0, double());
        single.insert(24, double());
        assert_eq!(single.period(1), Some(8));
        single.insert(12, double());
        assert_eq!(single.period(1), None);
        // The first eight bytes are a length, say: no one period describes that.
        let mut after_a_header = doubles;
        for byte in 0..8 {
            after_a_header.insert(byte, Cell::Int);
        }
        assert_eq!(after_a_header.period(8), None);
        assert_eq!(Shape::default().period(8), None);
    }

    #[test]
    fn an_array_in_a_structure_does_not_hide_the_fields_behind_it() {
        // struct { double x[3]; int kind; float mass; } bodies[];
        let mut bodies = Shape::cell(0, double()).unindexed(8);
        for byte in 24..28 {
            bodies.insert_every(32, byte, Cell::Int);
        }
        bodies.insert_every(32, 28, Cell::Float(FloatKind::F32));
        let pieces = bodies.pieces(32, 32);
        let floats = |kind: FloatKind| {
            let found = pieces.iter().filter(|(_, p)| *p == Piece::Float(kind));
            found.map(|(at, _)| *at).collect::<Vec<_>>()
        };
        assert_eq!(floats(FloatKind::F64), [0, 8, 16]);
        assert_eq!(floats(FloatKind::F32), [28]);
        // If only the last field is seen, nothing is known of the one before it.
        let mut part = Shape::cell(0, double()).unindexed(8);
        part.insert_every(32, 28, Cell::Float(FloatKind::F32));
        assert_eq!(part.pieces(24, 8)[0], (0, Piece::Conflict));
    }

    #[test]
    fn disagreement_is_kept() {
        let mut shape = Shape::cell(0, double());
        assert!(shape.insert(0, Cell::Float(FloatKind::F32)));
        assert_eq!(shape.get(0), Some(&Cell::Conflict));
    }

    #[test]
    fn recursive_shapes_are_cut() {
        let mut node = Shape::cell(0, double());
        for _ in 0..20 {
            let next = Cell::Ptr(Arc::new(node.clone()));
            node.insert(8, next);
        }
        assert!(node.to_string().len() < 200, "{node}");
    }
}
