//! What must hold for the raised version of a loop to do what the loop does.
//!
//! Nothing here is assumed: conditions are computed before the loop is entered, and where one does
//! not hold the loop itself runs. There are two kinds. Ranges of addresses have no byte in common.
//! And *exact* forms are never negative: products of sizes and counts, computed without wrapping.
//! That they do not wrap is part of the condition: each symbol must be small enough for the
//! products that it is in.
//!
//! Before: a region that has been read. After: [`Terms`] has the conditions that passes asked for on
//! its tree. A pass that gives up puts back the conditions from before.

mod apart;

use super::Analyses;
use super::read::{Check, Runs};
use crate::analysis::affine::{Affine, Factor, Wrap};
use crate::analysis::facts::is_natural;
use crate::analysis::loops::Loop;
use crate::analysis::ranges::{Ends, Range};
use crate::analysis::trip_count::{Count, End};
use crate::ir::{BinaryOp, Builder, IntPred, Op, Type, UnaryOp, Value};
use std::collections::{BTreeMap, HashMap};

/// Conditions for a region. In exact forms, the counter of a loop of the region stands for the
/// number of times that its body runs.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Forms that are never negative.
    exact: Vec<Affine>,
    /// Ranges without a common byte.
    apart: Vec<(Range, Range)>,
}

/// How often the body of a loop runs.
#[derive(Clone, Debug)]
pub enum Bound {
    /// As often as is known when the region is entered, if it runs at all; in some cases as a form.
    Fixed(Option<Affine>),
    /// So often, in terms of the counters of loops around it.
    Form(Affine),
}

/// A region under examination.
pub struct Terms<'a> {
    /// What is known of the function.
    pub analyses: &'a Analyses<'a>,
    /// The outermost loop.
    pub region: Loop,
    /// How the body of each loop of the region runs, compared with its back edge.
    pub runs: &'a HashMap<Loop, Runs>,
    /// Whether alias scopes begin in the region, so that they say nothing of two iterations.
    pub begins_scopes: bool,
    /// What must hold.
    pub conditions: Conditions,
    /// How often the body of each loop runs.
    pub bounds: HashMap<Loop, Bound>,
}

impl Terms<'_> {
    /// Finds how often the loops of the region run; none if that depends on what they do.
    pub fn find_bounds(&mut self) -> Option<()> {
        let loops = self.analyses.loops;
        let region = self.region;
        for l in loops.iter().filter(|&l| loops.is_inside(l, region)) {
            let bound = self.bound(l)?;
            self.bounds.insert(l, bound);
        }
        Some(())
    }

    fn bound(&mut self, l: Loop) -> Option<Bound> {
        let trips = &self.analyses.trips[l];
        if trips.is_invariant(&self.analyses.affine, self.region) {
            return Some(Bound::Fixed(self.fixed_count(l)));
        }
        let Count::AtEntry(progression) = &trips.count else {
            return None;
        };
        let mut back = progression.upper.minus(&progression.lower)?;
        if progression.end == End::Above {
            back = back.plus(&Affine::number(1))?;
        }
        let exact = progression.end == End::Equal || !progression.unsigned;
        if progression.step != 1 || !exact || !self.analyses.is_plain(&back, self.region) {
            return None;
        }
        match self.runs.get(&l)? {
            Runs::AsOften => Some(Bound::Form(back)),
            Runs::OnceMore => {
                if progression.end != End::Equal {
                    self.never_negative(&back)?;
                }
                Some(Bound::Form(back.plus(&Affine::number(1))?))
            }
        }
    }

    /// Loops of the region whose counters are in a form, from the inside out.
    pub fn loops_of(&self, form: &Affine) -> Vec<Loop> {
        let loops = self.analyses.loops;
        let mut found: Vec<Loop> = form
            .factors()
            .filter_map(|factor| match factor {
                Factor::Counter(l) if loops.is_inside(l, self.region) => Some(l),
                _ => None,
            })
            .collect();
        found.sort_unstable_by_key(|&l| std::cmp::Reverse((loops.depth(l), l)));
        found.dedup();
        found
    }

    /// How often a loop runs, as a form.
    pub fn count(&self, l: Loop) -> Affine {
        let itself = || Affine::product(vec![Factor::Counter(l)], 1);
        self.known_count(l).unwrap_or_else(itself)
    }

    /// How often a loop runs, as a form without a symbol for that.
    pub fn known_count(&self, l: Loop) -> Option<Affine> {
        match self.bounds.get(&l) {
            Some(Bound::Form(form) | Bound::Fixed(Some(form))) => Some(form.clone()),
            Some(Bound::Fixed(None)) | None => None,
        }
    }

    fn fixed_count(&self, l: Loop) -> Option<Affine> {
        let back = match &self.analyses.trips[l].count {
            Count::Constant(n) => Affine::number(i128::from(*n)),
            Count::AtEntry(p) if p.end == End::Equal && p.step == 1 => p.upper.minus(&p.lower)?,
            _ => return None,
        };
        let more = i128::from(self.runs.get(&l) == Some(&Runs::OnceMore));
        back.plus(&Affine::number(more))
            .filter(|form| form.base.is_none())
    }

    /// The symbols of a form must not be negative.
    fn are_natural(&mut self, form: &Affine) {
        for factor in form.factors().filter(|&factor| !is_natural(factor)) {
            let form = Affine::product(vec![factor], 1);
            if !self.conditions.exact.contains(&form) {
                self.conditions.exact.push(form);
            }
        }
    }

    /// The smallest value of a form at all points of the region. Symbols are not negative.
    fn least(&mut self, form: &Affine) -> Option<Affine> {
        let mut form = form.clone();
        let mut done: Vec<Loop> = Vec::new();
        loop {
            let mut open = self.loops_of(&form).into_iter();
            let Some(l) = open.find(|l| !done.contains(l)) else {
                return Some(form);
            };
            done.push(l);
            let (step, rest) = form.split(l)?;
            self.are_natural(&step);
            form = match sign(&step)? {
                true => rest,
                false => {
                    let last = self.count(l).plus(&Affine::number(-1))?;
                    rest.plus(&step.times(&last)?)?
                }
            };
        }
    }

    /// A form of what is known when the region is entered must not be negative. Counters in it stand
    /// for counts.
    pub fn always(&mut self, form: &Affine) -> Option<()> {
        if form.base.is_some() || !self.analyses.is_plain(form, self.region) {
            return None;
        }
        match form.as_number() {
            Some(n) => (n >= 0).then_some(()),
            None => {
                self.conditions.exact.push(form.clone());
                Some(())
            }
        }
    }

    /// A form must not be negative at any point.
    pub fn never_negative(&mut self, form: &Affine) -> Option<()> {
        let least = self.least(form)?;
        if least.base.is_some() || !self.analyses.is_plain(&least, self.region) {
            return None;
        }
        match least.as_number() {
            Some(n) if n >= 0 => return Some(()),
            Some(_) => return None,
            None => {}
        }
        if !self.conditions.exact.contains(&least) {
            self.conditions.exact.push(least);
        }
        Some(())
    }

    /// A check of the program must succeed at every point.
    pub fn succeeds(&mut self, check: &Check) -> Option<()> {
        let Check {
            condition,
            expected,
            at,
        } = *check;
        let affine = &self.analyses.affine;
        let data = self
            .analyses
            .func
            .inst(self.analyses.func.def_inst(condition)?);
        let Op::ICmp(pred) = data.op else {
            return None;
        };
        let (x, y) = (data.args[0], data.args[1]);
        let wrap = match pred {
            IntPred::Slt | IntPred::Sle | IntPred::Sgt | IntPred::Sge => Wrap::Signed,
            _ => Wrap::Unsigned,
        };
        let wrap = match self.analyses.func.ty(x) == Type::i64() {
            true => Wrap::Modular,
            false => wrap,
        };
        let (x, y) = (affine.integer(x, wrap, at), affine.integer(y, wrap, at));
        // All of them as `small < large` or `small <= large`.
        let (small, large, gap) = match (pred, expected) {
            (IntPred::Ult | IntPred::Slt, true) | (IntPred::Uge | IntPred::Sge, false) => (x, y, 1),
            (IntPred::Ule | IntPred::Sle, true) | (IntPred::Ugt | IntPred::Sgt, false) => (x, y, 0),
            (IntPred::Ugt | IntPred::Sgt, true) | (IntPred::Ule | IntPred::Sle, false) => (y, x, 1),
            (IntPred::Uge | IntPred::Sge, true) | (IntPred::Ult | IntPred::Slt, false) => (y, x, 0),
            (IntPred::Ne, true) | (IntPred::Eq, false) => match self.loops_of(&x).is_empty() {
                true => (y, x, 1),
                false => (x, y, 1),
            },
            (IntPred::Eq, true) | (IntPred::Ne, false) => return None,
        };
        self.never_negative(&small)?;
        self.never_negative(&large)?;
        self.never_negative(&large.minus(&small)?.plus(&Affine::number(-gap))?)
    }

    /// A narrow integer must be what its form says.
    pub fn fits(&mut self, form: &Affine, bits: u32, signed: bool) -> Option<()> {
        let most = match signed {
            true => (1i128 << (bits - 1)) - 1,
            false => (1i128 << bits) - 1,
        };
        self.never_negative(form)?;
        self.never_negative(&Affine::number(most).minus(form)?)
    }
}

/// Whether a form of symbols that are not negative is not negative, or not positive.
fn sign(form: &Affine) -> Option<bool> {
    let numbers = || form.terms.values().chain([&form.constant]);
    if numbers().all(|&n| n >= 0) {
        return Some(true);
    }
    numbers().all(|&n| n <= 0).then_some(false)
}

impl Conditions {
    /// How many bits each symbol of an exact form may have, so that none of the forms wraps; none if
    /// that would be too few.
    pub fn limits(&self) -> Option<BTreeMap<Factor, u32>> {
        const ROOM: u32 = 62;
        const FEWEST: u32 = 16;
        let mut limits: BTreeMap<Factor, u32> = BTreeMap::new();
        for form in &self.exact {
            // Each term gets as much room as every other one.
            let width = |n: i128| 128 - n.unsigned_abs().leading_zeros();
            let all = ROOM - width(form.terms.len() as i128 + 1);
            if width(form.constant) > all {
                return None;
            }
            for (product, &number) in &form.terms {
                let bits = all.checked_sub(width(number))? / product.len() as u32;
                for &factor in product {
                    let limit = limits.entry(factor).or_insert(bits);
                    *limit = bits.min(*limit);
                }
            }
        }
        limits
            .values()
            .all(|&bits| bits >= FEWEST)
            .then_some(limits)
    }

    /// Code for whether all of them hold. `count` says how often loops run.
    pub fn materialize(&self, b: &mut Builder, count: &dyn Fn(Loop) -> Value) -> Option<Value> {
        let mut all = Vec::new();
        for (&factor, &bits) in &self.limits()? {
            let value = Affine::product(vec![factor], 1).materialize(b, count);
            let limit = b.func.iconst(Type::i64(), 1 << bits);
            all.push(b.icmp(IntPred::Ult, value, limit));
        }
        let zero = b.func.iconst(Type::i64(), 0);
        for form in &self.exact {
            let value = form.materialize(b, count);
            all.push(b.icmp(IntPred::Sge, value, zero));
        }
        let mut ends = Ends::new();
        for (x, y) in &self.apart {
            all.push(x.materialize_disjoint(y, b, &mut ends, count));
        }
        let both = all
            .into_iter()
            .reduce(|x, y| b.binary(BinaryOp::And, x, y))?;
        // Sizes of loops that do not run need not be anything.
        let ty = Type::i1();
        Some(b.value(Op::Unary(UnaryOp::Freeze), vec![both], ty))
    }
}
