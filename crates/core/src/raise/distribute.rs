//! Gives every write of a tree a nest of its own, as far as that is legal.
//!
//! From the inside out, the body of each loop is a row of *units*: writes that have become nests,
//! and loops that stay. A loop is distributed over them: first all iterations of the first unit,
//! then all of the second. That keeps their meaning unless something that a later unit does in an
//! earlier iteration concerns an earlier unit in a later iteration; such units stay in one loop. A
//! unit that is alone and whose points do not concern each other takes the loop in as one more
//! loop of its nest.

use super::conditions::Terms;
use super::tree::{Item, Moment, Place, Tree, Write};
use crate::analysis::affine::{Affine, Base};
use crate::analysis::loops::Loop;
use crate::ir::{Combiner, Value};

/// A part of a region.
#[derive(Clone, Debug)]
pub enum Unit {
    /// A write at every point of some loops.
    Nest(Domain, Write),
    /// A loop that stays.
    Loop(Loop, Vec<Unit>),
}

/// The points of a nest.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    /// The loops, from the outside in.
    pub loops: Vec<Loop>,
    /// How often loops run that stand for two of the program.
    pub merged: Vec<(Loop, Affine)>,
}

impl Unit {
    /// Calls `f` on every write in the unit.
    pub fn for_each_write<'a>(&'a self, f: &mut dyn FnMut(&'a Write)) {
        self.for_each_nest(&mut |_, write| f(write));
    }

    /// Calls `f` on every write in the unit, with the points that it is made at.
    pub fn for_each_nest<'a>(&'a self, f: &mut dyn FnMut(&'a Domain, &'a Write)) {
        match self {
            Unit::Loop(_, units) => units.iter().for_each(|unit| unit.for_each_nest(f)),
            Unit::Nest(domain, write) => f(domain, write),
        }
    }
}

/// A region in parts, with the conditions under which each of its loops runs at all.
pub struct Parts {
    /// The parts, in order.
    pub units: Vec<Unit>,
    /// For each loop that may not run, the conditions.
    pub guards: Vec<(Loop, Vec<(Value, bool)>)>,
}

impl Parts {
    /// The memory that the parts touch.
    pub fn bases(&self, tree: &Tree) -> Vec<Base> {
        let mut bases = Vec::new();
        for unit in &self.units {
            unit.for_each_write(&mut |write| {
                bases.extend(write.place.address.base);
                let mut note = |_, place: &Place, _| bases.extend(place.address.base);
                tree.for_each_load(write.value, &mut note);
            });
        }
        for id in tree.results.iter().flatten() {
            tree.for_each_load(*id, &mut |_, place, _| bases.extend(place.address.base));
        }
        bases
    }
}

/// Distributes the loops of a tree. None if what is loaded may be written before it is used.
pub fn distribute(terms: &mut Terms, tree: &Tree) -> Option<Parts> {
    let mut parts = Parts {
        units: Vec::new(),
        guards: Vec::new(),
    };
    let mut writes = Vec::new();
    tree.items
        .iter()
        .for_each(|item| item.for_each_write(&mut |write| writes.push(write.clone())));
    stay(terms, tree, &writes)?;
    parts.units = units(terms, tree, &tree.items, &mut parts.guards);
    Some(parts)
}

/// Whether what is loaded is still there when it is used.
fn stay(terms: &mut Terms, tree: &Tree, writes: &[Write]) -> Option<()> {
    let mut uses: Vec<_> = writes.iter().map(|write| (write.value, write.at)).collect();
    uses.extend(tree.results.iter().flatten().map(|&id| (id, Moment::MAX)));
    for (value, used) in uses {
        let mut loads = Vec::new();
        tree.for_each_load(value, &mut |_, place, at| loads.push((place.clone(), at)));
        for (place, at) in loads {
            for write in writes
                .iter()
                .filter(|write| at < write.at && write.at < used)
            {
                if !terms.are_apart(&place, &write.place) {
                    return None;
                }
            }
        }
    }
    Some(())
}

fn units(
    terms: &mut Terms,
    tree: &Tree,
    items: &[Item],
    guards: &mut Vec<(Loop, Vec<(Value, bool)>)>,
) -> Vec<Unit> {
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Write(write) => found.push(Unit::Nest(Domain::default(), write.clone())),
            Item::Loop(l, conditions, items) => {
                if !conditions.is_empty() {
                    guards.push((*l, conditions.clone()));
                }
                let inside = units(terms, tree, items, guards);
                found.extend(over(terms, tree, *l, inside));
            }
        }
    }
    found
}

/// Distributes one loop over the units in it.
fn over(terms: &mut Terms, tree: &Tree, l: Loop, units: Vec<Unit>) -> Vec<Unit> {
    // Units stay together with all that lies between them.
    let mut together: Vec<usize> = (0..units.len()).collect();
    for later in 1..units.len() {
        for earlier in 0..later {
            if together[later] > earlier
                && !are_independent(terms, tree, l, &units[earlier], &units[later])
            {
                let first = together[earlier];
                together[later] = together[later].min(first);
            }
        }
        let first = together[later];
        together[first..=later]
            .iter_mut()
            .for_each(|group| *group = first);
    }
    let mut found: Vec<Unit> = Vec::new();
    let mut group: Vec<Unit> = Vec::new();
    let count = units.len();
    for (i, unit) in units.into_iter().enumerate() {
        group.push(unit);
        if i + 1 < count && together[i + 1] == together[i] {
            continue;
        }
        found.push(match &group[..] {
            [Unit::Nest(domain, write)] if is_nest(terms, tree, l, &domain.loops, write) => {
                let loops = [&[l], &domain.loops[..]].concat();
                Unit::Nest(
                    Domain {
                        loops,
                        ..Domain::default()
                    },
                    write.clone(),
                )
            }
            _ => Unit::Loop(l, std::mem::take(&mut group)),
        });
        group.clear();
    }
    found
}

/// Whether a later unit in an earlier iteration of a loop never concerns an earlier unit in a later
/// one.
fn are_independent(terms: &mut Terms, tree: &Tree, l: Loop, a: &Unit, b: &Unit) -> bool {
    let before = terms.conditions.clone();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    accesses(tree, a, &mut first);
    accesses(tree, b, &mut second);
    for x in &first {
        for y in &second {
            if x.kind == Kind::Read && y.kind == Kind::Read {
                continue;
            }
            // Sums without an order commute.
            if matches!(x.kind, Kind::Free(_)) && x.kind == y.kind && x.place.is(&y.place) {
                continue;
            }
            let same = terms.cover_the_same(&x.place, &y.place, l) && {
                let loops = terms.loops_of(&x.place.address).into_iter();
                let inside = |m: &Loop| terms.analyses.loops.is_inside(*m, l);
                let loops: Vec<Loop> = loops.filter(inside).collect();
                loops.contains(&l) && terms.are_different(&x.place, &loops)
            };
            let is_clear = same
                || terms.are_in_rows(&x.place, &y.place, l)
                || terms.are_apart(&x.place, &y.place);
            if !is_clear {
                terms.conditions = before;
                return false;
            }
        }
    }
    true
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// A sum, or something else like it, whose order does not matter.
    Free(Combiner),
}

struct Touched {
    place: Place,
    kind: Kind,
}

fn accesses(tree: &Tree, unit: &Unit, found: &mut Vec<Touched>) {
    match unit {
        Unit::Loop(_, units) => units.iter().for_each(|unit| accesses(tree, unit, found)),
        Unit::Nest(_, write) => {
            tree.for_each_load(write.value, &mut |_, place, _| {
                found.push(Touched {
                    place: place.clone(),
                    kind: Kind::Read,
                });
            });
            let kind = match write.join.is_free() {
                true => Kind::Free(write.join.combiner),
                false => Kind::Write,
            };
            found.push(Touched {
                place: write.place.clone(),
                kind,
            });
        }
    }
}

/// Whether a write at all points of some loops, and of one more around them, is a nest: no point
/// reads what another one writes, and no two store to the same place.
fn is_nest(terms: &mut Terms, tree: &Tree, l: Loop, loops: &[Loop], write: &Write) -> bool {
    let before = terms.conditions.clone();
    let place = &write.place;
    let size = place.size();
    let even = place.address.terms.values().all(|n| n % size == 0);
    let all = [&[l], loops].concat();
    let mut legal = even && (!write.join.is_store() || terms.are_different(place, &all));
    let mut loads = Vec::new();
    tree.for_each_load(write.value, &mut |_, place, _| loads.push(place.clone()));
    for load in loads {
        let in_place = write.join.is_store() && load.is(place);
        legal = legal && (in_place || terms.are_apart(&load, place));
    }
    if !legal {
        terms.conditions = before;
    }
    legal
}
