//! Small local arrays of sums become the memory that they are copied to in the end.
//!
//! A product that is computed eight rows at a time keeps eight sums in an array of the frame, and
//! copies them out: `for k: s[k] = 0; for i: for k: s[k] += …; for k: c[k·n] = s[k]`. The array is
//! the same memory in all iterations of the loops around that, which keeps them from being
//! distributed. So each `s[k]` is replaced by the `c[k·n]` that it is copied to, as
//! [`settle`](super::settle) does it for single sums.
//!
//! The array must be nothing else: not seen outside of the loops, filled before it is read in each
//! iteration, and indexed in the same way everywhere.

use super::conditions::Terms;
use super::settle::are_unseen;
use super::tree::{Id, Item, Node, Place, Tree};
use crate::analysis::affine::{Affine, Base, Factor};
use crate::analysis::loops::Loop;
use crate::ir::{Callee, InstData, Module, Op, Value};

/// Replaces local arrays in a row of items.
pub fn replace(terms: &mut Terms, tree: &mut Tree, items: &mut Vec<Item>) {
    for array in arrays(terms, tree, items) {
        let before = terms.conditions.clone();
        if replace_array(terms, tree, items, array).is_none() {
            terms.conditions = before;
        }
    }
}

/// The local arrays that a row writes and reads.
fn arrays(terms: &Terms, tree: &Tree, items: &[Item]) -> Vec<Value> {
    let func = terms.analyses.func;
    let mut found = Vec::new();
    for item in items.iter().filter(|item| matches!(item, Item::Loop(..))) {
        item.for_each_write(&mut |write| {
            tree.for_each_load(write.value, &mut |_, place, _| {
                let Some(Base::Value(base)) = place.address.base else {
                    return;
                };
                let inst = func.def_inst(base).map(|inst| &func.inst(inst).op);
                let is_new = !found.contains(&base) && !place.is_at_slot(terms.analyses.slots);
                if is_new && matches!(inst, Some(Op::Alloca { .. })) {
                    found.push(base);
                }
            });
        });
    }
    found.retain(|&array| is_private(terms, array));
    found
}

/// Whether frame memory is only loaded from and stored to, and only in the region.
fn is_private(terms: &Terms, memory: Value) -> bool {
    let func = terms.analyses.func;
    let mut addresses = vec![memory];
    let mut next = 0;
    while let Some(&address) = addresses.get(next) {
        next += 1;
        for &block in func.blocks() {
            let inside = terms.analyses.loops.contains(terms.region, block);
            for &inst in func.block_insts(block) {
                let data = func.inst(inst);
                let mut uses = false;
                data.for_each_operand(|value| uses |= value == address);
                if !uses || is_lifetime(data, terms.analyses.module) {
                    continue;
                }
                match data.op {
                    Op::Address { .. } if data.args[0] == address => {
                        addresses.extend(func.result(inst));
                    }
                    Op::Load(_) if inside => {}
                    Op::Store(_) if inside && data.args[0] != address => {}
                    _ => return false,
                }
            }
        }
    }
    true
}

/// Whether an instruction says where the life of frame memory begins or ends.
pub fn is_lifetime(data: &InstData, module: &Module) -> bool {
    match data.op.call().map(|call| call.callee) {
        Some(Callee::Direct(callee)) => module.funcs[callee].name.starts_with("llvm.lifetime."),
        _ => false,
    }
}

/// How an array is indexed: a constant, and for each loop how far an element is from the next.
fn index(place: &Place) -> Option<(i128, Vec<(i128, Loop)>)> {
    let mut steps = Vec::new();
    for (product, &number) in &place.address.terms {
        match product[..] {
            [Factor::Counter(l)] => steps.push((number, l)),
            _ => return None,
        }
    }
    steps.sort_unstable();
    Some((place.address.constant, steps))
}

fn replace_array(
    terms: &mut Terms,
    tree: &mut Tree,
    items: &mut Vec<Item>,
    array: Value,
) -> Option<()> {
    let touches = |item: &Item| {
        let mut any = false;
        item.for_each_write(&mut |write| {
            any |= write.place.is_at(array) || tree.loads_from(write.value, array);
        });
        any
    };
    let first = items.iter().position(touches)?;
    let last = items.iter().rposition(touches)?;
    let filled = only_write(&items[first])?;
    let copied = only_write(&items[last])?;
    let (filling, copying) = (filled.clone(), copied.clone());
    let is_filled = filling.place.is_at(array) && filling.join.is_store();
    if first == last || !is_filled || !copying.join.is_store() || copying.place.is_at(array) {
        return None;
    }
    if tree.loads_from(filling.value, array) {
        return None;
    }
    // Everything else is indexed as what is copied out.
    let mut loads = Vec::new();
    tree.for_each_load(copying.value, &mut |_, place, _| {
        if place.is_at(array) {
            loads.push(place.clone());
        }
    });
    let (offset, steps) = index(loads.first()?)?;
    let counts = |steps: &[(i128, Loop)]| -> Option<Vec<i128>> {
        steps
            .iter()
            .map(|&(_, l)| terms.count(l).as_number())
            .collect()
    };
    let sizes = counts(&steps)?;
    let mut all: Vec<Place> = loads;
    for item in &items[first..=last] {
        item.for_each_write(&mut |write| {
            if write.place.is_at(array) {
                all.push(write.place.clone());
            }
            tree.for_each_load(write.value, &mut |_, place, _| {
                if place.is_at(array) {
                    all.push(place.clone());
                }
            });
        });
    }
    for place in &all {
        let (other, others) = index(place)?;
        let distances = |steps: &[(i128, Loop)]| -> Vec<i128> {
            steps.iter().map(|(distance, _)| *distance).collect()
        };
        let same = other == offset && distances(&others) == distances(&steps);
        if !same || counts(&others)? != sizes || place.ty != copying.place.ty {
            return None;
        }
    }
    // Distances are all different, so that a loop can be told by its own.
    if steps.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    are_unseen(
        terms,
        tree,
        items,
        array,
        &copying.place,
        (filling.at, copying.at),
    )?;
    let target = copying.place.clone();
    let moved = |place: &Place| -> Option<Place> {
        let (_, others) = index(place)?;
        let mut address = target.address.clone();
        for (&(_, from), &(_, to)) in steps.iter().zip(&others) {
            let (step, rest) = address.split(from)?;
            let counter = Affine::product(vec![Factor::Counter(to)], 1);
            address = rest.plus(&step.times(&counter)?)?;
        }
        Some(Place {
            address,
            ..target.clone()
        })
    };
    let replaced: Option<Vec<(Place, Place)>> = all
        .iter()
        .map(|place| Some((place.clone(), moved(place)?)))
        .collect();
    let replaced = replaced?;
    let new = |place: &Place| {
        let found = replaced.iter().find(|(old, _)| old.is(place));
        found.map(|(_, new)| new.clone())
    };
    for node in &mut tree.nodes {
        if let Node::Load(place, _) = node
            && place.is_at(array)
        {
            *place = new(place)?;
        }
    }
    for item in &mut items[first..=last] {
        item.for_each_write_mut(&mut |write| {
            if write.place.is_at(array)
                && let Some(new) = new(&write.place)
            {
                write.place = new;
            }
        });
    }
    if is_same(tree, copying.value, &target) {
        items.remove(last);
    }
    Some(())
}

fn is_same(tree: &Tree, value: Id, place: &Place) -> bool {
    matches!(tree.node(value), Node::Load(loaded, _) if loaded.is(place))
}

/// The write of an item that is one write in some loops.
fn only_write(item: &Item) -> Option<&super::tree::Write> {
    match item {
        Item::Write(write) => Some(write),
        Item::Loop(_, guards, items) => match &items[..] {
            [item] if guards.is_empty() => only_write(item),
            _ => None,
        },
    }
}
