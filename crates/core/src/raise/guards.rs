//! Forgets the conditions of loops that say only what their counts say.
//!
//! Before: a loop that may be empty has the conditions of the branches around it. After: it has those
//! that its count does not imply, all of which are known before the region begins. A count that was
//! known only where the loop runs at all is its bound now, if a condition for it to run says that it
//! is positive.

use super::conditions::{Bound, Terms};
use super::read::Runs;
use super::tree::{Item, Tree};
use crate::analysis::affine::{Affine, Factor, Wrap};
use crate::analysis::facts::is_natural;
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::{Count, End};
use crate::ir::{IntPred, Op, Value};

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
                match implying(terms, *l, condition, way, ask) {
                    Some(count) => {
                        if terms.known_count(*l).is_none() {
                            terms.bounds.insert(*l, Bound::Fixed(Some(count)));
                        }
                        false
                    }
                    None => true,
                }
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

/// How often a loop runs, if a condition for it to run says only that this is positive, which nests
/// know. With `ask`, what cannot be known may become a condition.
fn implying(
    terms: &mut Terms,
    l: Loop,
    condition: Value,
    expected: bool,
    ask: bool,
) -> Option<Affine> {
    let count = terms.known_count(l).or_else(|| count_if_any(terms, l))?;
    let mut forms = positive(terms, l, condition, expected)?.into_iter();
    let is_implied = forms.any(|form| form == count || ask && is_same(terms, &form, &count));
    is_implied.then_some(count)
}

/// How often a loop runs whose body comes before its test, if it runs at all.
fn count_if_any(terms: &Terms, l: Loop) -> Option<Affine> {
    let Count::AtEntry(progression) = &terms.analyses.trips[l].count else {
        return None;
    };
    let counts_up = progression.step == 1 && progression.end == End::NotBelow;
    let once_more = terms.runs.get(&l) == Some(&Runs::OnceMore);
    let back = progression.upper.minus(&progression.lower)?;
    let count = back.plus(&Affine::number(1))?;
    let is_plain = terms.analyses.is_plain(&count, terms.region) && count.base.is_none();
    (counts_up && once_more && !progression.unsigned && is_plain).then_some(count)
}

/// The forms that are positive if a condition for a loop to run holds, and not if it does not.
fn positive(terms: &Terms, l: Loop, condition: Value, expected: bool) -> Option<Vec<Affine>> {
    let func = terms.analyses.func;
    let data = func.inst(func.def_inst(condition)?);
    let (x, y) = (*data.args.first()?, *data.args.get(1)?);
    let at = terms.analyses.loops.preheader(l)?;
    let form = |value: Value| terms.analyses.affine.integer(value, Wrap::Signed, at);
    // `large > small`, as signed numbers.
    let (large, small, gap) = match (&data.op, expected) {
        (Op::ICmp(IntPred::Sgt), true) | (Op::ICmp(IntPred::Sle), false) => (x, y, 0),
        (Op::ICmp(IntPred::Slt), true) | (Op::ICmp(IntPred::Sge), false) => (y, x, 0),
        (Op::ICmp(IntPred::Sge), true) | (Op::ICmp(IntPred::Slt), false) => (x, y, 1),
        (Op::ICmp(IntPred::Sle), true) | (Op::ICmp(IntPred::Sgt), false) => (y, x, 1),
        // Of what is never negative, it says the same that it is not zero.
        (Op::ICmp(IntPred::Ne), true) | (Op::ICmp(IntPred::Eq), false) => {
            let differences = [form(x).minus(&form(y))?, form(y).minus(&form(x))?];
            let is_natural = |form: &Affine| {
                let numbers = form.terms.values().all(|&n| n >= 0);
                numbers && form.constant >= 0 && form.factors().all(is_natural)
            };
            return Some(differences.into_iter().filter(is_natural).collect());
        }
        _ => return None,
    };
    let more = form(large).minus(&form(small))?;
    Some(vec![more.plus(&Affine::number(gap))?])
}

/// Whether two forms are the same. Narrow integers are so however they are widened if they are not
/// negative, which becomes a condition.
fn is_same(terms: &mut Terms, a: &Affine, b: &Affine) -> bool {
    let mut widened = Vec::new();
    let mut signed = |form: &Affine| {
        let mut sum = form.clone();
        sum.terms.clear();
        for (product, &n) in &form.terms {
            let factors = product.iter().map(|&factor| match factor {
                Factor::Unsigned(value) => {
                    widened.push(value);
                    Factor::Signed(value)
                }
                factor => factor,
            });
            sum = sum.plus(&Affine::product(factors.collect(), n))?;
        }
        Some(sum)
    };
    let is_same = signed(a).is_some_and(|a| signed(b) == Some(a));
    is_same
        && widened.into_iter().all(|value| {
            let form = Affine::product(vec![Factor::Signed(value)], 1);
            terms.never_negative(&form).is_some()
        })
}
