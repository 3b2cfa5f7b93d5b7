//! What is known about a sequence of bytes: the content of a value, or the memory behind a
//! pointer.

mod cell;
mod copied;
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
    /// Cells at one offset that are there if what repeats reaches that far, or if the pointer is
    /// the one of several that they were seen behind.
    likely: BTreeMap<i64, Cell>,
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
/// How close a cell is that came here with a copy, from where it was known to repeat.
const LIKELY: i64 = i64::MAX - 2;
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
        self.cells().next().is_none()
    }

    /// Whether something is known, and nothing of it is or may be an address.
    pub fn holds_no_address(&self) -> bool {
        let full = self.at.len() >= MAX_CELLS || self.every.len() >= MAX_CELLS;
        let plain = |cell: &Cell| matches!(cell, Cell::Int | Cell::Float(_));
        !self.is_empty() && !full && self.cells().all(plain)
    }

    /// Whether there may be floats.
    pub fn may_hold_floats(&self) -> bool {
        let other = |cell: &Cell| !matches!(cell, Cell::Int | Cell::Ptr(_));
        self.is_empty() || self.cells().any(other)
    }

    /// Whether some bytes, here or behind an address that is found here, are a float at one time and
    /// an address at another.
    pub fn has_floats_and_addresses(&self) -> bool {
        let offsets = self.at.keys().chain(self.likely.keys());
        let offsets = offsets.chain(self.declared.keys()).copied();
        let mut offsets = offsets.chain(self.every.keys().map(|&(_, start)| start));
        let both = |kinds: Kinds| kinds.contains(Kinds::PTR) && kinds.intersects(Kinds::FLOATS);
        offsets.any(|offset| both(self.kinds(offset, 8)))
            || self.cells().any(|cell| match cell {
                Cell::Ptr(inner) => inner.has_floats_and_addresses(),
                _ => false,
            })
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        let seen = self.at.values().chain(self.likely.values());
        let seen = seen.chain(self.every.values());
        seen.chain(self.declared.values())
    }

    /// Learns of a cell; says whether that was new.
    pub fn insert(&mut self, offset: i64, cell: Cell) -> bool {
        insert_limited(&mut self.at, offset, &cell, MAX_DEPTH)
    }

    /// Learns what another shape knows; says whether anything was new.
    pub fn merge(&mut self, other: &Shape) -> bool {
        self.merge_limited(other, MAX_DEPTH)
    }

    fn merge_limited(&mut self, other: &Shape, depth: u32) -> bool {
        let mut changed = merge_cells(&mut self.at, &other.at, depth);
        changed |= merge_cells(&mut self.likely, &other.likely, depth);
        for (&(stride, start), cell) in &other.every {
            changed |= self.insert_every_limited(stride, start, cell, depth);
        }
        if !other.declared.is_empty() {
            changed |= self.merge_declared(other, depth);
        }
        changed
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
        let is_plain = |cell: &Cell| matches!(cell, Cell::Float(_) | Cell::Ptr(_));
        let declared = self.declared.get(&offset);
        let likely = self.likely.get(&offset);
        match (self.at.get(&offset), declared, likely) {
            // Integer arithmetic on what is declared as a float or pointer, or was copied from
            // where such are: nobody knows.
            (Some(Cell::Int), Some(other), _) | (Some(Cell::Int), None, Some(other))
                if is_plain(other) =>
            {
                return Some((SEEN, &Cell::Conflict(Kinds::INT)));
            }
            (Some(cell), ..) => return Some((SEEN, cell)),
            (None, Some(Cell::Int), Some(other)) if is_plain(other) => {
                return Some((DECLARED, &Cell::Conflict(Kinds::INT)));
            }
            (None, Some(cell), _) => return Some((DECLARED, cell)),
            (None, None, Some(cell)) => return Some((LIKELY, cell)),
            (None, None, None) => {}
        }
        let matching = self.every.iter().rev();
        let mut matching =
            matching.filter(|((stride, start), _)| offset.rem_euclid(*stride) == *start);
        let repeated = matching.next().map(|((stride, _), cell)| (*stride, cell));
        match (repeated, self.in_other_element(offset)) {
            // Integers that repeat are not believed: there may be bytes before or behind an array.
            (Some((_, Cell::Int)), Some(declared)) => Some((OTHER_ELEMENT, declared)),
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
            let noted = [self.declared.get(&offset), self.likely.get(&offset)];
            for kinds in noted.into_iter().chain([self.get(offset)]).flatten() {
                let reaching = SIZES.iter().filter(|(_, size)| offset + size > start);
                let reaching = reaching.fold(Kinds::default(), |all, (kind, _)| all | *kind);
                found |= kinds.kinds() & reaching;
            }
        }
        found
    }

    /// The scalars in `start..start + len`, with offsets from `start`.
    ///
    /// What repeats is believed of floats and pointers, but not of integers: an array may end, and
    /// what follows it be floats, which would lose their derivatives without a word. An array of
    /// integers is one only where it is declared, or seen.
    pub fn pieces(&self, start: i64, len: i64) -> Vec<(i64, Piece)> {
        self.scalars(start, len, |_, cell| *cell != Cell::Int)
    }

    /// The scalars in a range, where what repeats with a stride is believed as `trusts` says.
    pub(super) fn scalars(
        &self,
        start: i64,
        len: i64,
        trusts: impl Fn(i64, &Cell) -> bool,
    ) -> Vec<(i64, Piece)> {
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
            let (piece, bytes) = match found {
                Some(_) if overlapped || offset + bytes > len => (Piece::Conflict, 1),
                None => (Piece::Unknown, 1),
                Some((_, Cell::Conflict(_))) => (Piece::Conflict, 1),
                Some((stride, cell))
                    if !matches!(stride, SEEN | DECLARED | OTHER_ELEMENT)
                        && !trusts(stride, cell) =>
                {
                    (Piece::Unknown, 1)
                }
                Some((_, Cell::Int)) => (Piece::Int, 1),
                Some((_, Cell::Float(kind))) => (Piece::Float(*kind), bytes),
                Some((_, Cell::Ptr(_))) => (Piece::Ptr, bytes),
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
        shape.insert_as(closeness, offset, cell);
        Some((shape, cell.bytes()))
    }

    /// Notes a cell that is as close as it was found to be.
    fn insert_as(&mut self, closeness: i64, offset: i64, cell: &Cell) {
        let cells = match closeness {
            SEEN => &mut self.at,
            DECLARED | OTHER_ELEMENT => &mut self.declared,
            _ => &mut self.likely,
        };
        cells.insert(offset, cell.clone());
    }

    /// What is known and not in dispute.
    pub fn without_conflicts(&self) -> Shape {
        self.filtered(|cell| !matches!(cell, Cell::Conflict(_)))
    }

    /// What is known to be integers and floats here.
    pub fn plain(&self) -> Shape {
        self.filtered(|cell| matches!(cell, Cell::Int | Cell::Float(_)))
    }

    fn filtered(&self, keep: impl Fn(&Cell) -> bool) -> Shape {
        let mut shape = self.clone();
        shape.at.retain(|_, cell| keep(cell));
        shape.every.retain(|_, cell| keep(cell));
        shape.declared.retain(|_, cell| keep(cell));
        shape.likely.retain(|_, cell| keep(cell));
        shape
    }

    /// What was seen, for a pointer that may be another one.
    pub(super) fn as_likely(&self) -> Shape {
        Shape {
            likely: self.at.clone(),
            ..Shape::default()
        }
    }

    /// All that was seen, found likely or declared, for memory that may end before.
    pub(super) fn in_doubt(&self) -> Shape {
        let mut shape = self.as_likely();
        merge_cells(&mut shape.likely, &self.likely, MAX_DEPTH);
        merge_cells(&mut shape.likely, &self.declared, MAX_DEPTH);
        shape
    }

    /// What is known without what is only likely.
    pub(super) fn without_likely(&self) -> Shape {
        Shape {
            likely: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// What both shapes know.
    pub fn common(&self, other: &Shape) -> Shape {
        let both = &|mine: &Cell, theirs: Option<&Cell>| match (mine, theirs?) {
            (Cell::Ptr(mine), Cell::Ptr(theirs)) => {
                Some(Cell::Ptr(Shared::new(mine.common(theirs))))
            }
            (mine, theirs) => (mine == theirs).then(|| mine.clone()),
        };
        let at = self.at.iter();
        let likely = self.likely.iter();
        let every = self.every.iter();
        let declared = self.declared.iter();
        let mut shape = Shape {
            at: at
                .filter_map(|(&k, cell)| Some((k, both(cell, other.at.get(&k))?)))
                .collect(),
            likely: likely
                .filter_map(|(&k, cell)| Some((k, both(cell, other.likely.get(&k))?)))
                .collect(),
            every: every
                .filter_map(|(&k, cell)| Some((k, both(cell, other.every.get(&k))?)))
                .collect(),
            declared: declared
                .filter_map(|(&k, cell)| Some((k, both(cell, other.declared.get(&k))?)))
                .collect(),
            element: Element::None,
        };
        shape.declare_common_element(self, other, both);
        for known in [self, other] {
            shape.forget_contradicted(known);
        }
        shape
    }

    /// What repeats, as far as nothing that was seen or declared says otherwise.
    pub fn repeating(&self) -> Shape {
        let mut shape = self.pattern();
        shape.forget_contradicted(self);
        shape
    }

    /// Forgets what another shape knows better: a cell that was seen counts before a declared one,
    /// and both before one that repeats, so whoever forgets the one must not go on with the others.
    fn forget_contradicted(&mut self, known: &Shape) {
        let Shape {
            at,
            every,
            declared,
            element,
            ..
        } = self;
        for (&k, cell) in known.at.iter().filter(|(k, _)| !at.contains_key(k)) {
            let before = declared.len();
            declared.retain(|&start, other| {
                let apart = start >= k.saturating_add(cell.bytes()) || start + other.bytes() <= k;
                apart || (start == k && other.is_like(cell))
            });
            if declared.len() != before {
                *element = Element::Several;
            }
            every.retain(|&place, other| agrees_with(place, other, k, cell));
        }
        let others = known.declared.iter().chain(&known.likely);
        for (&k, cell) in others.filter(|(k, _)| !declared.contains_key(k)) {
            every.retain(|&place, other| agrees_with(place, other, k, cell));
        }
    }

    /// This shape seen from `offset` bytes further on.
    pub fn shifted(&self, offset: i64) -> Shape {
        let moved = |cells: &BTreeMap<i64, Cell>| {
            let cells = cells.iter();
            cells
                .map(|(at, cell)| (at.wrapping_sub(offset), cell.clone()))
                .collect()
        };
        let every = self.every.iter();
        Shape {
            at: moved(&self.at),
            likely: moved(&self.likely),
            every: every
                .map(|(&(stride, start), cell)| {
                    let start = start.wrapping_sub(offset).rem_euclid(stride);
                    ((stride, start), cell.clone())
                })
                .collect(),
            declared: moved(&self.declared),
            element: match self.element {
                Element::One(start, size) => Element::One(start.wrapping_sub(offset), size),
                element => element,
            },
        }
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
                shape.insert_as(closeness, offset, cell);
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
        if let Some((period, _)) = self.period(factor, false) {
            shape.merge(&self.cut(period).unindexed(period));
        }
        shape
    }

    /// What is known of memory of this size, if more than that is known here. What is before its
    /// beginning or behind its end is not about it.
    pub fn trimmed(&self, size: i64) -> Option<Shape> {
        let inside =
            |(&at, cell): (&i64, &Cell)| at >= 0 && at.saturating_add(cell.bytes()) <= size;
        let all = [&self.at, &self.likely, &self.declared];
        let mut ends = all.iter().flat_map(|cells| {
            let ends = [cells.first_key_value(), cells.last_key_value()];
            ends.into_iter().flatten()
        });
        if ends.all(inside) {
            return None;
        }
        Some(Shape {
            at: within(&self.at, size),
            likely: within(&self.likely, size),
            declared: within(&self.declared, size),
            ..self.clone()
        })
    }

    /// What holds behind `p + k·stride` for unknown `k`, given this shape of `p`.
    pub fn indexed(&self, stride: i64) -> Shape {
        let mut shape = Shape::default();
        for (&(period, start), cell) in &self.every {
            if stride % period == 0 {
                shape.every.insert((period, start), cell.clone());
            }
        }
        match self.element {
            Element::One(_, size) if stride % size == 0 => shape.declare_any_element(self),
            _ => shape.declare_steps(self, stride),
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
        for (&offset, cell) in self.at.iter().chain(&self.likely) {
            shape.insert_every(stride, offset, cell.clone());
        }
        for (&(period, start), cell) in &self.every {
            shape.insert_every(gcd(stride, period), start, cell.clone());
        }
        shape
    }
}

/// Learns of a cell, following so many pointers.
fn insert_limited(cells: &mut BTreeMap<i64, Cell>, offset: i64, cell: &Cell, depth: u32) -> bool {
    if let Some(known) = cells.get_mut(&offset) {
        return known.merge(cell, depth);
    }
    if cells.len() >= MAX_CELLS {
        return false;
    }
    cells.insert(offset, limited(cell, depth));
    true
}

/// Learns of cells, following so many pointers. Most of the time all of them are known already, so
/// both sides are walked together, unless a few are to be found among many.
fn merge_cells(cells: &mut BTreeMap<i64, Cell>, others: &BTreeMap<i64, Cell>, depth: u32) -> bool {
    let mut changed = false;
    if others.len() * 8 < cells.len() {
        for (&offset, cell) in others {
            changed |= insert_limited(cells, offset, cell, depth);
        }
        return changed;
    }
    let mut new = Vec::new();
    let mut known = cells.iter_mut().peekable();
    for (offset, cell) in others {
        while known.next_if(|(at, _)| *at < offset).is_some() {}
        match known.next_if(|(at, _)| *at == offset) {
            Some((_, known)) => changed |= known.merge(cell, depth),
            None => new.push((*offset, cell)),
        }
    }
    let room = MAX_CELLS.saturating_sub(cells.len());
    for (offset, cell) in new.into_iter().take(room) {
        cells.insert(offset, limited(cell, depth));
        changed = true;
    }
    changed
}

/// Whether a cell that repeats, at a stride from a start, leaves one at an offset alone or is like it.
fn agrees_with((stride, start): (i64, i64), repeated: &Cell, at: i64, cell: &Cell) -> bool {
    let from_start = at.wrapping_sub(start).rem_euclid(stride);
    let overlap = from_start < repeated.bytes() || from_start + cell.bytes() > stride;
    !overlap || (from_start == 0 && repeated.is_like(cell))
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
        0 => a.saturating_abs(),
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests;
