//! Sums that live in slots move to the memory where the program stores them in the end.
//!
//! `s = 0; for k: s += …; c[i] = s · x` becomes `c[i] = 0; for k: c[i] += …; c[i] = c[i] · x`. A slot
//! is one number for all iterations of the loops around it, and keeps these from being distributed;
//! `c[i]` is another one in each. The same additions happen in the same order.
//!
//! What is stored earlier than before must not be looked at in between, by whatever name.

use super::arrays;
use super::conditions::Terms;
use super::tree::{Id, Item, Moment, Node, Place, Tree};
use crate::ir::Value;

/// Moves what can be moved.
pub fn settle(terms: &mut Terms, tree: &mut Tree) {
    let mut items = std::mem::take(&mut tree.items);
    settle_row(terms, tree, &mut items);
    tree.items = items;
}

fn settle_row(terms: &mut Terms, tree: &mut Tree, items: &mut Vec<Item>) {
    for item in items.iter_mut() {
        if let Item::Loop(_, _, inside) = item {
            settle_row(terms, tree, inside);
        }
    }
    arrays::replace(terms, tree, items);
    let slots: Vec<Value> = terms.analyses.slots.values().copied().collect();
    let mut start = 0;
    while start < items.len() {
        let slot = match &items[start] {
            Item::Write(write) if write.join.is_store() => {
                slots.iter().copied().find(|&slot| write.place.is_at(slot))
            }
            _ => None,
        };
        if let Some(slot) = slot {
            let before = terms.conditions.clone();
            if settle_slot(terms, tree, items, start, slot).is_none() {
                terms.conditions = before;
            }
        }
        start += 1;
    }
    // What only says again what is there.
    items.retain(|item| match item {
        Item::Write(write) if write.join.is_store() => {
            !matches!(tree.node(write.value), Node::Load(place, _) if place.is(&write.place))
        }
        _ => true,
    });
}

/// Moves the sum of a slot whose first value is stored by the item at `start`.
fn settle_slot(
    terms: &mut Terms,
    tree: &mut Tree,
    items: &mut [Item],
    start: usize,
    slot: Value,
) -> Option<()> {
    // The store that takes the sum.
    let takes = |item: &Item| {
        matches!(item, Item::Write(write) if tree.loads_from(write.value, slot)
            && !write.place.is_at(slot))
    };
    let end = start + 1 + items[start + 1..].iter().position(takes)?;
    let (Item::Write(first), Item::Write(last)) = (&items[start], &items[end]) else {
        return None;
    };
    let (place, value) = (last.place.clone(), last.value);
    if !last.join.is_store() || place.ty != first.place.ty {
        return None;
    }
    let is_all = tree.is_load_from(value, slot);
    // Another sum of the same slot begins, or the old one is used again.
    for (i, item) in items.iter().enumerate() {
        let mut used = false;
        item.for_each_write(&mut |write| {
            let begins = write.place.is_at(slot) && write.join.is_store() && i > start;
            let read = tree.loads_from(write.value, slot) && i != end && (i < end || !is_all);
            used |= begins || read;
        });
        if used {
            return None;
        }
    }
    if tree
        .results
        .iter()
        .flatten()
        .any(|&id| tree.loads_from(id, slot))
    {
        return None;
    }
    let (from, to) = (first.at, last.at);
    are_unseen(terms, tree, items, slot, &place, (from, to))?;
    for node in &mut tree.nodes {
        match node {
            Node::Load(old, at) if old.is_at(slot) && *at > from => *old = place.clone(),
            _ => {}
        }
    }
    for item in &mut items[start..=end] {
        item.for_each_write_mut(&mut |write| {
            if write.place.is_at(slot) {
                write.place = place.clone();
            }
        });
    }
    Some(())
}

/// Whether nothing between two moments reads or writes a place, but for what is read from the
/// place itself to begin the sum with.
pub fn are_unseen(
    terms: &mut Terms,
    tree: &Tree,
    items: &[Item],
    slot: Value,
    place: &Place,
    (from, to): (Moment, Moment),
) -> Option<()> {
    let mut touched: Vec<Place> = Vec::new();
    let mut values: Vec<Id> = Vec::new();
    for item in items {
        item.for_each_write(&mut |write| {
            if from < write.at && write.at < to && !write.place.is_at(slot) {
                touched.push(write.place.clone());
            }
            values.push(write.value);
        });
    }
    for value in values {
        tree.for_each_load(value, &mut |_, place, at| {
            if from < at && at < to && !place.is_at(slot) {
                touched.push(place.clone());
            }
        });
    }
    touched
        .iter()
        .all(|other| terms.are_apart(other, place))
        .then_some(())
}

/// Whether nothing in a loop, from its first moment to its last, reads or writes a place that is
/// stored to after it.
pub fn is_unseen_in(
    terms: &mut Terms,
    tree: &Tree,
    place: &Place,
    during: (Moment, Moment),
) -> Option<()> {
    let mut touched: Vec<Place> = Vec::new();
    let is_during = |at: Moment| during.0 < at && at <= during.1;
    for item in &tree.items {
        item.for_each_write(&mut |write| {
            if is_during(write.at) {
                touched.push(write.place.clone());
            }
            tree.for_each_load(write.value, &mut |_, loaded, at| {
                if is_during(at) {
                    touched.push(loaded.clone());
                }
            });
        });
    }
    let mut all = touched.iter();
    all.all(|other| terms.are_apart(other, place)).then_some(())
}
