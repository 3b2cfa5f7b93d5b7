//! What the program declares of memory, and of the array that it may be in.

use super::cell::limited;
use super::{Cell, MAX_DECLARED, Shape, Shared};
use std::collections::BTreeMap;

/// What is known of the array that declared memory may be in.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) enum Element {
    /// Nothing.
    #[default]
    None,
    /// An element begins at this offset and has this size.
    One(i64, i64),
    /// Declarations disagree.
    Several,
}

impl Element {
    pub(super) fn merge(self, other: Element) -> Element {
        match (self, other) {
            (Element::None, element) | (element, Element::None) => element,
            (Element::One(a, size), Element::One(b, same))
                if size == same && (a - b) % size == 0 =>
            {
                self
            }
            _ => Element::Several,
        }
    }

    /// The size of elements, if one begins at offset 0.
    pub(super) fn at_start(self) -> Option<i64> {
        match self {
            Element::One(start, size) if start % size == 0 => Some(size),
            _ => None,
        }
    }
}

impl Shape {
    pub(super) fn merge_declared(&mut self, other: &Shape, depth: u32) -> bool {
        let mut changed = false;
        let element = self.element.merge(other.element);
        for (&offset, cell) in &other.declared {
            if let Some(known) = self.declared.get_mut(&offset) {
                changed |= known.merge(cell, depth);
            } else if self.declared.len() < MAX_DECLARED {
                self.declared.insert(offset, limited(cell, depth));
                changed = true;
            }
        }
        changed |= self.element != element;
        self.element = element;
        changed
    }

    /// Notes what the program declares at an offset.
    pub(in crate::analysis::types) fn declare(&mut self, offset: i64, cell: Cell) {
        self.declared.insert(offset, cell);
    }

    /// Notes that the declared cells are those of an element of this size.
    pub(in crate::analysis::types) fn declare_element(&mut self, size: i64) {
        self.element = Element::One(0, size);
    }

    /// Notes the declared element of another shape, of which it is not known which one of its
    /// array it is: the one around offset 0 stands for all. Were it left where it was, a pointer
    /// that runs over the array would find one more element declared in each round.
    pub(super) fn declare_any_element(&mut self, other: &Shape) {
        let Element::One(start, size) = other.element else {
            return;
        };
        let moved = start + (-start).rem_euclid(size);
        let cells = other.declared.range(start..start + size);
        self.declared = cells
            .map(|(&at, cell)| (at - moved, cell.clone()))
            .collect();
        self.element = Element::One(start - moved, size);
    }

    /// Notes the declared element that two shapes have in common. If they are shapes of pointers to
    /// different elements of one array, then the element around offset 0 stands for all, as above.
    pub(super) fn declare_common_element(
        &mut self,
        one: &Shape,
        other: &Shape,
        both: impl Fn(&Cell, Option<&Cell>) -> Option<Cell>,
    ) {
        let known = one.element != Element::None && other.element != Element::None;
        self.element = match known {
            true => one.element.merge(other.element),
            false => Element::None,
        };
        let Element::One(..) = self.element else {
            return;
        };
        if one.element == other.element {
            return;
        }
        let [one, other] = [one, other].map(|shape| {
            let mut around = Shape::default();
            around.declare_any_element(shape);
            around
        });
        for (at, cell) in &one.declared {
            if let Some(cell) = both(cell, other.declared.get(at)) {
                self.declared.entry(*at).or_insert(cell);
            }
        }
        self.element = one.element;
    }

    /// Notes what another shape declares at every `k·stride`, where that is not known to be the
    /// size of an element: words that run over a structure, or one of several arrays in it. What
    /// is declared the same at all of these places is known of each of them. Where declarations
    /// disagree, what was seen at some of these places says nothing of the others.
    pub(super) fn declare_steps(&mut self, other: &Shape, stride: i64) {
        let cells = &other.declared;
        let (range, step) = match other.element {
            Element::One(start, size) => (start..start + size, super::gcd(stride, size)),
            Element::Several => return,
            Element::None => {
                let first = cells.first_key_value().map_or(0, |(&at, _)| at);
                let last = cells.last_key_value();
                (
                    first..last.map_or(0, |(&at, cell)| at + cell.bytes()),
                    stride,
                )
            }
        };
        let mut found: BTreeMap<i64, (Cell, i64)> = BTreeMap::new();
        for (&at, cell) in cells.range(range.clone()) {
            let (same, count) = found
                .entry(at.rem_euclid(step))
                .or_insert_with(|| (cell.clone(), 0));
            *count += 1;
            if same != cell {
                *same = match same.is_like(cell) {
                    true => Cell::Ptr(Shared::default()),
                    false => Cell::Conflict(same.kinds() | cell.kinds()),
                };
            }
        }
        for (at, (cell, count)) in found {
            let first = range.start + (at - range.start).rem_euclid(step);
            let places = (range.end - first + step - 1) / step;
            if count == places && at + cell.bytes() <= step && !matches!(cell, Cell::Conflict(_)) {
                self.declared.insert(at, cell);
            } else {
                let apart = |stride: i64, start: i64| (at - start) % super::gcd(stride, step) != 0;
                self.every
                    .retain(|(stride, start), _| apart(*stride, *start));
            }
        }
    }

    /// What is declared at this offset if the declared element is one of an array.
    pub(super) fn in_other_element(&self, offset: i64) -> Option<&Cell> {
        let Element::One(start, size) = self.element else {
            return None;
        };
        let within = start + (offset - start).rem_euclid(size);
        self.declared.get(&within)
    }

    /// This shape with the declared element repeated over `len` bytes, if they are a multiple of
    /// its size.
    pub fn repeating_element(mut self, len: i64) -> Shape {
        if let Some(size) = self.element.at_start()
            && len % size == 0
        {
            let first: Vec<_> = self.declared.range(0..size).collect();
            let cells = |start| {
                let first = first.iter();
                first.map(move |(at, cell)| (start + **at, (*cell).clone()))
            };
            let later = (1..len / size).flat_map(|k| cells(k * size));
            for (at, cell) in later.collect::<Vec<_>>() {
                self.declared.entry(at).or_insert(cell);
            }
        }
        self
    }
}
