//! Which places in memory are apart, by their distance: at all points of a region, in different rows,
//! or at different points of a nest.
//!
//! A question is answered with yes, with no, or with yes under conditions, which are then among those
//! of the region. After no they are as before.

use super::{Terms, sign};
use crate::analysis::affine::{Affine, Base};
use crate::analysis::alias::Moment;
use crate::analysis::loops::Loop;
use crate::analysis::ranges::Range;
use crate::planted::Defect;
use crate::raise::tree::Place;

impl Terms<'_> {
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
