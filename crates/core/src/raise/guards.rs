//! Forgets the conditions of loops that say only what their counts say.
//!
//! Before: a loop that may be empty has the conditions of the branches around it. After: it has those
//! that its count does not imply, all of which are known before the region begins.

use super::conditions::Terms;
use super::tree::{Item, Tree};
use crate::analysis::loops::Loop;

/// Settles the conditions of all loops of a tree; fails with a loop if one of its own is not known
/// beforehand.
pub fn settle(terms: &mut Terms, tree: &mut Tree) -> Result<(), Loop> {
    let mut items = std::mem::take(&mut tree.items);
    let settled = row(terms, &mut items);
    tree.items = items;
    settled
}

fn row(terms: &mut Terms, items: &mut [Item]) -> Result<(), Loop> {
    for item in items {
        if let Item::Loop(l, conditions, inside) = item {
            let loops = terms.analyses.loops;
            let changes = |terms: &Terms, condition| {
                let block = terms.analyses.affine.def_block(condition);
                block.is_some_and(|block| loops.contains(terms.region, block))
            };
            conditions.retain(|&(condition, way)| {
                let ask = changes(terms, condition);
                !terms.is_implied(*l, condition, way, ask)
            });
            if conditions
                .iter()
                .any(|&(condition, _)| changes(terms, condition))
            {
                return Err(*l);
            }
            row(terms, inside)?;
        }
    }
    Ok(())
}
