//! What must hold for the raised version of a loop to do what the loop does.
//!
//! Nothing here is assumed: conditions are computed before the loop is entered, and where one does
//! not hold the loop itself runs. There are two kinds. Ranges of addresses have no byte in common.
//! And *exact* forms are never negative: products of sizes and counts, computed without wrapping.
//! That they do not wrap is part of the condition: each symbol must be small enough for the
//! products that it is in.

use super::Analyses;
use super::read::{Check, Runs};
use super::tree::Place;
use crate::analysis::affine::{Affine, Base, Factor, Wrap};
use crate::analysis::alias::Moment;
use crate::analysis::facts::is_natural;
use crate::analysis::loops::Loop;
use crate::analysis::ranges::{Ends, Range};
use crate::analysis::trip_count::{Count, End};
use crate::ir::{BinaryOp, Builder, Callee, InstData, IntPred, Module, Op, Type, UnaryOp, Value};
use crate::planted::Defect;
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
        match self.bounds.get(&l) {
            Some(Bound::Form(form) | Bound::Fixed(Some(form))) => form.clone(),
            _ => Affine::product(vec![Factor::Counter(l)], 1),
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

    /// Whether a condition for a loop to run says only that its count is positive, which nests know.
    /// With `ask`, what cannot be known may become a condition.
    pub fn is_implied(&mut self, l: Loop, condition: Value, expected: bool, ask: bool) -> bool {
        let known = match self.bounds.get(&l) {
            Some(Bound::Fixed(Some(form)) | Bound::Form(form)) => Some(form.clone()),
            Some(Bound::Fixed(None)) | None => None,
        };
        let Some(count) = known.clone().or_else(|| self.count_if_any(l)) else {
            return false;
        };
        let positive = self.positive(l, condition, expected);
        let is_implied = positive.is_some_and(|forms| {
            let mut forms = forms.iter();
            forms.any(|form| *form == count || ask && self.is_same(form, &count))
        });
        if is_implied && known.is_none() {
            self.bounds.insert(l, Bound::Fixed(Some(count)));
        }
        is_implied
    }

    /// How often a loop runs whose body comes before its test, if it runs at all.
    fn count_if_any(&self, l: Loop) -> Option<Affine> {
        let Count::AtEntry(progression) = &self.analyses.trips[l].count else {
            return None;
        };
        let counts_up = progression.step == 1 && progression.end == End::NotBelow;
        let once_more = self.runs.get(&l) == Some(&Runs::OnceMore);
        let back = progression.upper.minus(&progression.lower)?;
        let count = back.plus(&Affine::number(1))?;
        let is_plain = self.analyses.is_plain(&count, self.region) && count.base.is_none();
        (counts_up && once_more && !progression.unsigned && is_plain).then_some(count)
    }

    /// The forms that are positive if a condition for a loop to run holds, and not if it does not.
    fn positive(&self, l: Loop, condition: Value, expected: bool) -> Option<Vec<Affine>> {
        let func = self.analyses.func;
        let data = func.inst(func.def_inst(condition)?);
        let (x, y) = (*data.args.first()?, *data.args.get(1)?);
        let at = self.analyses.loops.preheader(l)?;
        let form = |value: Value| self.analyses.affine.integer(value, Wrap::Signed, at);
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
                    let terms = form.terms.values().all(|&n| n >= 0);
                    terms && form.constant >= 0 && form.factors().all(is_natural)
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
    fn is_same(&mut self, a: &Affine, b: &Affine) -> bool {
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
                self.never_negative(&form).is_some()
            })
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

    /// Whether two places are never the same memory, at any two points of the region; if that is not
    /// known, it becomes a condition where it can.
    pub fn are_apart(&mut self, a: &Place, b: &Place) -> bool {
        let unchecked = self.analyses.planted == Some(Defect::OverlapOfNestsUnchecked);
        if unchecked || self.are_known_apart(a, b) {
            return true;
        }
        let (Some(x), Some(y)) = (self.range(a), self.range(b)) else {
            return false;
        };
        if x.is_disjoint(&y) {
            return true;
        }
        // The same range, or one that begins or ends at the same place, is not worth a question; nor are
        // two places that are the same in the first iteration.
        if x.low == y.low || x.high == y.high || self.meet_first(a, b) {
            return false;
        }
        let pair = (x, y);
        if !self.conditions.apart.contains(&pair) {
            self.conditions.apart.push(pair);
        }
        true
    }

    /// Whether two places are the same in the first iteration of all loops of the region.
    fn meet_first(&self, a: &Place, b: &Place) -> bool {
        let first = |place: &Place| {
            let mut first = place.address.clone();
            for l in self.loops_of(&place.address) {
                (_, first) = first.split(l)?;
            }
            Some(first)
        };
        first(a).is_some_and(|address| first(b) == Some(address))
    }

    fn are_known_apart(&self, a: &Place, b: &Place) -> bool {
        let (Some(x), Some(y)) = (a.address.base, b.address.base) else {
            return false;
        };
        let is_slot = |base: Base| {
            let mut slots = self.analyses.slots.values();
            matches!(base, Base::Value(value) if slots.any(|&slot| slot == value))
        };
        // A slot is no part of the function yet, and other analyses know nothing of it.
        if is_slot(x) || is_slot(y) {
            return x != y;
        }
        let aliases = self.analyses.aliases;
        let objects = match (x, y) {
            (Base::Value(x), Base::Value(y)) => aliases.objects_overlap(x, y),
            (Base::Symbol(x), Base::Symbol(y)) => x == y,
            _ => true,
        };
        let moment = match self.begins_scopes {
            true => Moment::Any,
            false => Moment::Same,
        };
        !objects || x != y && !aliases.accesses_overlap(&a.access, &b.access, moment)
    }

    /// Whether frame memory is only loaded from and stored to, and only in the region.
    pub fn is_private(&self, memory: Value) -> bool {
        let func = self.analyses.func;
        let mut addresses = vec![memory];
        let mut next = 0;
        while let Some(&address) = addresses.get(next) {
            next += 1;
            for &block in func.blocks() {
                let inside = self.analyses.loops.contains(self.region, block);
                for &inst in func.block_insts(block) {
                    let data = func.inst(inst);
                    let mut uses = false;
                    data.for_each_operand(|value| uses |= value == address);
                    if !uses || is_lifetime(data, self.analyses.module) {
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

    /// The addresses that a place covers in the region.
    fn range(&self, place: &Place) -> Option<Range> {
        let loops = self.analyses.loops;
        let inside = loops.iter().filter(|&l| loops.is_inside(l, self.region));
        let mut nest: Vec<Loop> = inside.collect();
        nest.sort_unstable_by_key(|&l| std::cmp::Reverse((loops.depth(l), l)));
        let size = Affine::number(place.size());
        let range = Range::over(&place.address, &size, &nest, self.analyses.trips)?;
        let known = |form: &&Affine| {
            self.analyses.is_plain(form, self.region) && self.loops_of(form).is_empty()
        };
        range.forms().iter().all(known).then_some(range)
    }

    /// Whether two places are the same memory in the same iteration of a loop, all iterations of the
    /// loops inside of it taken together.
    pub fn cover_the_same(&self, a: &Place, b: &Place, l: Loop) -> bool {
        let parts = |place: &Place| {
            let mut rest = place.address.clone();
            let mut moves = Vec::new();
            for m in self.loops_of(&place.address) {
                if m != l && self.analyses.loops.is_inside(m, l) {
                    let (step, without) = rest.split(m)?;
                    moves.push((step, self.count(m)));
                    rest = without;
                }
            }
            Some((rest, moves))
        };
        let (Some((x, mut first)), Some((y, second))) = (parts(a), parts(b)) else {
            return false;
        };
        for part in second {
            match first.iter().position(|other| *other == part) {
                Some(at) => first.swap_remove(at),
                None => return false,
            };
        }
        first.is_empty() && x == y && a.ty == b.ty
    }

    /// Whether two places lie in rows that a loop goes through, each time in one row, so that they are
    /// apart in different iterations; what is not known becomes a condition where it can.
    pub fn are_in_rows(&mut self, a: &Place, b: &Place, l: Loop) -> bool {
        let before = self.conditions.clone();
        let are_in_rows = self.find_rows(a, b, l).is_some();
        if !are_in_rows {
            self.conditions = before;
        }
        are_in_rows
    }

    fn find_rows(&mut self, a: &Place, b: &Place, l: Loop) -> Option<()> {
        let (step, x) = a.address.split(l)?;
        let (other, y) = b.address.split(l)?;
        if step != other || step == Affine::default() || !sign(&step)? {
            return None;
        }
        self.are_natural(&step);
        // What the loops inside of this one add at most, and what is left without them.
        let (x, most_of_x) = self.within(&x, l)?;
        let (y, most_of_y) = self.within(&y, l)?;
        let distance = x.minus(&y)?;
        if distance.base.is_some() {
            return None;
        }
        // The end of either is not beyond where the other begins in the next row.
        let room = step.plus(&Affine::number(-a.size().max(b.size())))?;
        self.never_negative(&room.minus(&most_of_x)?.minus(&distance)?)?;
        self.never_negative(&room.minus(&most_of_y)?.plus(&distance)?)
    }

    fn within(&mut self, form: &Affine, l: Loop) -> Option<(Affine, Affine)> {
        let (mut rest, mut most) = (form.clone(), Affine::default());
        for m in self.loops_of(form) {
            if m == l || !self.analyses.loops.is_inside(m, l) {
                continue;
            }
            let (step, without) = rest.split(m)?;
            if !sign(&step)? {
                return None;
            }
            self.are_natural(&step);
            let last = self.count(m).plus(&Affine::number(-1))?;
            most = most.plus(&step.times(&last)?)?;
            rest = without;
        }
        Some((rest, most))
    }

    /// Whether a place is another one at each point of these loops, counters of other loops being
    /// equal; if that is not known, it becomes a condition where it can.
    pub fn are_different(&mut self, place: &Place, loops: &[Loop]) -> bool {
        if self.analyses.planted == Some(Defect::RaisedAcrossDependence) {
            return true;
        }
        let before = self.conditions.clone();
        let different = self.find_different(place, loops).is_some();
        if !different {
            self.conditions = before;
        }
        different
    }

    fn find_different(&mut self, place: &Place, loops: &[Loop]) -> Option<()> {
        let mut moves = Vec::new();
        for &l in loops {
            let (step, _) = place.address.split(l)?;
            self.are_natural(&step);
            let step = match sign(&step)? {
                true => step,
                false => step.scaled(-1)?,
            };
            if step == Affine::default() {
                return None;
            }
            moves.push((step, l));
        }
        // From the smallest step to the largest, as far as can be told: each must be wider than all
        // that the smaller ones cover.
        moves.sort_by_key(|(step, l)| {
            (
                weight(step),
                std::cmp::Reverse(self.analyses.loops.depth(*l)),
            )
        });
        let mut covered = Affine::number(place.size());
        for (step, l) in moves {
            self.never_negative(&step.minus(&covered)?)?;
            let last = self.count(l).plus(&Affine::number(-1))?;
            covered = covered.plus(&step.times(&last)?)?;
        }
        Some(())
    }
}

/// How large a step is likely to be: how many sizes are multiplied in it, then its factor.
fn weight(step: &Affine) -> (usize, i128) {
    let factors = step.terms.keys().map(Vec::len).max().unwrap_or(0);
    let numbers = step.terms.values().copied().max();
    (factors, numbers.unwrap_or(step.constant))
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

/// Whether an instruction says where the life of frame memory begins or ends.
pub fn is_lifetime(data: &InstData, module: &Module) -> bool {
    match data.op.call().map(|call| call.callee) {
        Some(Callee::Direct(callee)) => module.funcs[callee].name.starts_with("llvm.lifetime."),
        _ => false,
    }
}
