//! Two loops of a nest become one where the outer one goes on where the inner one ends.
//!
//! A product that is computed eight rows at a time has a loop over blocks and one over the rows of a
//! block. As one loop over all rows, the nest is the one that the definition of the product would
//! have given, and its size is a size of the program's again, which other analyses understand: that
//! the number of rows is a multiple of eight becomes a condition, if it is not known.

use super::conditions::{Bound, Terms};
use super::distribute::{Domain, Unit};
use super::read::Runs;
use super::tree::{Id, Node, Place, Tree, Write};
use crate::analysis::affine::{Affine, Factor};
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::{Count, End};

/// Merges loops of all nests of some units.
pub fn merge(terms: &mut Terms, tree: &mut Tree, units: &mut [Unit]) {
    for unit in units {
        match unit {
            Unit::Loop(_, units) => merge(terms, tree, units),
            Unit::Nest(domain, write) => while merge_pair(terms, tree, domain, write).is_some() {},
        }
    }
}

/// Merges two loops of a nest, if there are any to be merged.
fn merge_pair(
    terms: &mut Terms,
    tree: &mut Tree,
    domain: &mut Domain,
    write: &mut Write,
) -> Option<()> {
    let mut places = vec![write.place.clone()];
    tree.for_each_load(write.value, &mut |_, place, _| places.push(place.clone()));
    for outer in 0..domain.loops.len() {
        for inner in outer + 1..domain.loops.len() {
            let (r, k) = (domain.loops[outer], domain.loops[inner]);
            let is_merged = |l: Loop| domain.merged.iter().any(|(merged, _)| *merged == l);
            let Some(size) = terms.count(k).as_number().filter(|&n| n > 1) else {
                continue;
            };
            if is_merged(r) || is_merged(k) || has_counters(terms, tree, write.value, k) {
                continue;
            }
            // Sums are made in the order of points, unless any order will do.
            let (step, _) = write.place.address.split(k)?;
            let any_order = write.join.is_store() || write.join.is_free();
            if !any_order && step == Affine::default() && inner != outer + 1 {
                continue;
            }
            let follows = |place: &Place| {
                let (outer, _) = place.address.split(r)?;
                let (inner, _) = place.address.split(k)?;
                Some(inner.scaled(size)? == outer)
            };
            if !places.iter().all(|place| follows(place) == Some(true)) {
                continue;
            }
            let before = terms.conditions.clone();
            let Some(total) = total(terms, r, size) else {
                terms.conditions = before;
                continue;
            };
            domain.loops.remove(inner);
            domain.merged.push((r, total));
            write.place = joined(&write.place, r, k)?;
            write.value = rewritten(tree, write.value, r, k)?;
            return Some(());
        }
    }
    None
}

/// How often the merged loop runs.
fn total(terms: &mut Terms, r: Loop, size: i128) -> Option<Affine> {
    if let Some(Bound::Fixed(Some(count)) | Bound::Form(count)) = terms.bounds.get(&r) {
        return count.scaled(size);
    }
    let Count::AtEntry(progression) = &terms.analyses.trips[r].count else {
        return None;
    };
    if i128::from(progression.step) != size || progression.end == End::Above {
        return None;
    }
    let mut total = progression.upper.minus(&progression.lower)?;
    if terms.runs.get(&r) == Some(&Runs::OnceMore) {
        total = total.plus(&Affine::number(size))?;
    }
    let counted = terms.count(r).scaled(size)?;
    terms.always(&total.minus(&counted)?)?;
    terms.always(&counted.minus(&total)?)?;
    Some(total)
}

/// Whether an expression computes with the counter of a loop itself.
fn has_counters(terms: &Terms, tree: &Tree, id: Id, l: Loop) -> bool {
    match tree.node(id) {
        Node::Integer(form, _) => {
            let mut factors = form.factors();
            factors.any(|factor| factor == Factor::Counter(l)) || !terms.loops_of(form).is_empty()
        }
        Node::Op(_, _, args) => args.iter().any(|&arg| has_counters(terms, tree, arg, l)),
        Node::Outside(_) | Node::Load(..) => false,
    }
}

/// A place in terms of the merged loop, which has the counter of the outer one.
fn joined(place: &Place, r: Loop, k: Loop) -> Option<Place> {
    let (_, rest) = place.address.split(r)?;
    let (step, rest) = rest.split(k)?;
    let counter = Affine::product(vec![Factor::Counter(r)], 1);
    Some(Place {
        address: rest.plus(&step.times(&counter)?)?,
        ..place.clone()
    })
}

/// A copy of an expression in terms of the merged loop. Other nests may share the old one.
fn rewritten(tree: &mut Tree, id: Id, r: Loop, k: Loop) -> Option<Id> {
    let node = match tree.node(id).clone() {
        Node::Load(place, at) => Node::Load(joined(&place, r, k)?, at),
        Node::Op(data, ty, args) => {
            let args = args.into_iter().map(|arg| rewritten(tree, arg, r, k));
            Node::Op(data, ty, args.collect::<Option<_>>()?)
        }
        node => node,
    };
    Some(tree.add(node))
}
