//! Writes searches.

use super::{Chooses, Cost, First, Search, SearchTwist};
use crate::contraction::memory::{add_up, number};
use crate::contraction::write::{Sink, Ty};
use crate::tree::REACH;

/// How many numbers are stored.
const STORED: i64 = 8;

/// Writes a search.
pub(crate) fn write<S: Sink>(s: &mut S, of: &Search) {
    let scalar = s.slot(of.scalar);
    let scalar = tame(s, &scalar);
    let count = number(s, &of.count, 4, 3);
    let [x, y] = of.from.map(|base| s.given(base, 0, REACH));
    let stores = matches!(of.twist, SearchTwist::Stores | SearchTwist::StoresBest);
    let stored = stores.then(|| s.make(Ty::Double, false, STORED));
    let plan = Plan {
        of,
        scalar,
        count,
        x,
        y,
        stored,
    };
    let zero = s.whole(0);
    let found = match &of.around {
        None => plan.search(s, &zero),
        Some(times) => {
            let times = s.count(times, 4);
            let none = (Ty::Double, s.float(Ty::Double, 0.0));
            let last = s.counted(of.written, [&zero, &times], &[none], |s, i, now| {
                let found = plan.search(s, i);
                let sum = s.float_op("fadd", Ty::Double, &now[0], &found);
                (vec![sum], None)
            });
            last[0].clone()
        }
    };
    if let Some(stored) = &plan.stored {
        add_up(s, of.result, Ty::Double, stored, STORED);
    }
    let old = s.slot(of.result);
    let half = s.float(Ty::Double, 0.5);
    let old = s.float_op("fmul", Ty::Double, &old, &half);
    let new = s.float_op("fadd", Ty::Double, &old, &found);
    s.set_slot(of.result, new);
}

/// Something of the same sign that is at most ½, in arithmetic that is rounded in one way only.
fn tame<S: Sink>(s: &mut S, x: &str) -> String {
    let one = s.float(Ty::Double, 1.0);
    let square = s.float_op("fmul", Ty::Double, x, x);
    let more = s.float_op("fadd", Ty::Double, &square, &one);
    s.float_op("fdiv", Ty::Double, x, &more)
}

/// A search whose operands are known.
struct Plan<'a> {
    of: &'a Search,
    scalar: String,
    count: String,
    x: String,
    y: String,
    stored: Option<String>,
}

impl Plan<'_> {
    /// The search by number `i`, and what is made of its result.
    fn search<S: Sink>(&self, s: &mut S, i: &str) -> String {
        let of = self.of;
        let zero = s.whole(0);
        let sign = if of.largest { -1.0 } else { 1.0 };
        let start = match of.start {
            First::Far => s.float(Ty::Double, 100.0 * sign),
            First::Near => s.float(Ty::Double, -0.200_137 * sign),
            First::Scalar => self.scalar.clone(),
            First::Candidate => self.cost(s, i, &zero),
        };
        let mut first = vec![(Ty::Double, start)];
        let has_index = of.keeps_index || of.twist == SearchTwist::ReadsIndex;
        if has_index {
            first.push((Ty::Whole, zero.clone()));
        }
        if of.twist == SearchTwist::Beside {
            first.push((Ty::Double, s.float(Ty::Double, 0.25)));
        }
        let bounds = [zero.as_str(), &self.count];
        let last = s.counted(of.written, bounds, &first, |s, j, now| {
            let new = self.candidate(s, [i, j], now);
            let (better, if_true) = self.is_better(s, &new, &now[0]);
            let chosen = |s: &mut S, ty: Ty, new: &str, old: &str| match if_true {
                true => s.either(ty, &better, new, old),
                false => s.either(ty, &better, old, new),
            };
            let best = match (of.chooses, of.largest) {
                (Chooses::Select, _) => chosen(s, Ty::Double, &new, &now[0]),
                (Chooses::Branch, _) => {
                    let (old, other) = match if_true {
                        true => (&now[0], &new),
                        false => (&new, &now[0]),
                    };
                    s.when(Ty::Double, &better, old, |_| other.clone())
                }
                (Chooses::Library, false) => s.math("fmin", Ty::Double, &[&now[0], &new]),
                (Chooses::Library, true) => s.math("fmax", Ty::Double, &[&now[0], &new]),
            };
            let mut next = vec![best];
            if has_index {
                next.push(chosen(s, Ty::Whole, j, &now[1]));
            }
            if let (SearchTwist::Beside, Some(other)) = (of.twist, now.last()) {
                let sum = s.float_op("fadd", Ty::Double, other, &new);
                next.push(tame(s, &sum));
            }
            self.store(s, j, &new, &next[0]);
            let leaves = (of.twist == SearchTwist::Breaks).then(|| {
                let enough = s.float(Ty::Double, 0.300_137 * sign);
                match of.largest {
                    true => s.greater(Ty::Double, &new, &enough),
                    false => s.greater(Ty::Double, &enough, &new),
                }
            });
            (next, leaves)
        });
        let mut result = tame(s, &last[0]);
        if of.keeps_index {
            let there = self.element(s, &self.x, &last[1], &zero);
            result = s.float_op("fmul", Ty::Double, &result, &there);
        }
        if let (SearchTwist::Beside, Some(other)) = (of.twist, last.last()) {
            result = s.float_op("fadd", Ty::Double, &result, other);
        }
        result
    }

    /// A comparison, and whether the new number is chosen if it holds.
    fn is_better<S: Sink>(&self, s: &mut S, new: &str, old: &str) -> (String, bool) {
        let (x, y) = match self.of.largest != self.of.equal {
            true => (new, old),
            false => (old, new),
        };
        (s.greater(Ty::Double, x, y), !self.of.equal)
    }

    /// What is computed of a candidate, with what it must not depend on.
    fn candidate<S: Sink>(&self, s: &mut S, [i, j]: [&str; 2], now: &[String]) -> String {
        let cost = self.cost(s, i, j);
        let other = match self.of.twist {
            SearchTwist::ReadsBest => tame(s, &now[0]),
            SearchTwist::ReadsIndex => {
                let zero = s.whole(0);
                self.element(s, &self.y, &now[1], &zero)
            }
            _ => return cost,
        };
        let part = s.float(Ty::Double, 0.3);
        let other = s.float_op("fmul", Ty::Double, &other, &part);
        s.float_op("fadd", Ty::Double, &cost, &other)
    }

    /// What is computed of a candidate of the search by number `i`.
    fn cost<S: Sink>(&self, s: &mut S, i: &str, j: &str) -> String {
        let (zero, three) = (s.whole(0), s.whole(3));
        let place = self.apart(s, j, 0.3713);
        match self.of.cost {
            Cost::Distance => {
                let first = [(Ty::Double, place)];
                let sum = s.counted(self.of.written, [&zero, &three], &first, |s, k, now| {
                    let x = self.element(s, &self.x, j, k);
                    let y = self.element(s, &self.y, i, k);
                    let less = s.float_op("fsub", Ty::Double, &x, &y);
                    let square = s.float_op("fmul", Ty::Double, &less, &less);
                    let square = s.float_op("fmul", Ty::Double, &square, &self.scalar);
                    (vec![s.float_op("fadd", Ty::Double, &now[0], &square)], None)
                });
                sum[0].clone()
            }
            Cost::Formula => {
                let x = self.element(s, &self.x, j, &zero);
                let y = self.element(s, &self.y, i, &zero);
                let sine = s.math("sin", Ty::Double, &[&x]);
                let product = s.float_op("fmul", Ty::Double, &sine, &y);
                let product = s.float_op("fmul", Ty::Double, &product, &self.scalar);
                let sum = s.float_op("fadd", Ty::Double, &product, &x);
                s.float_op("fadd", Ty::Double, &sum, &place)
            }
            Cost::Bare => {
                let x = self.element(s, &self.x, j, i);
                s.float_op("fadd", Ty::Double, &x, &place)
            }
            Cost::Most => {
                let first = [(Ty::Double, s.float(Ty::Double, -3.0))];
                let most = s.counted(self.of.written, [&zero, &three], &first, |s, k, now| {
                    let x = self.element(s, &self.x, j, k);
                    let y = self.element(s, &self.y, i, k);
                    let product = s.float_op("fmul", Ty::Double, &x, &y);
                    let sum = s.float_op("fadd", Ty::Double, &product, &place);
                    let there = s.of_int(Ty::Double, k);
                    let by = s.float(Ty::Double, 0.1171);
                    let there = s.float_op("fmul", Ty::Double, &there, &by);
                    let sum = s.float_op("fadd", Ty::Double, &sum, &there);
                    let more = s.greater(Ty::Double, &sum, &now[0]);
                    (vec![s.either(Ty::Double, &more, &sum, &now[0])], None)
                });
                most[0].clone()
            }
        }
    }

    /// A number that keeps candidates from being equal, unless they are meant to be.
    fn apart<S: Sink>(&self, s: &mut S, j: &str, by: f64) -> String {
        let j = self.pair(s, j);
        let place = s.of_int(Ty::Double, &j);
        let by = s.float(Ty::Double, by);
        s.float_op("fmul", Ty::Double, &place, &by)
    }

    /// Where candidates are equal, two have one number.
    fn pair<S: Sink>(&self, s: &mut S, j: &str) -> String {
        match self.of.ties {
            true => {
                let one = s.whole(1);
                s.int_op("lshr", j, &one)
            }
            false => j.to_string(),
        }
    }

    /// The element of an array for a candidate and another number.
    fn element<S: Sink>(&self, s: &mut S, array: &str, j: &str, k: &str) -> String {
        let j = self.pair(s, j);
        let sum = s.int_op("add", &j, k);
        let mask = s.whole(REACH - 1);
        let index = s.int_op("and", &sum, &mask);
        let at = s.at(Ty::Double, array, &index);
        s.read(Ty::Double, &at)
    }

    fn store<S: Sink>(&self, s: &mut S, j: &str, new: &str, best: &str) {
        let Some(stored) = &self.stored else {
            return;
        };
        let value = match self.of.twist {
            SearchTwist::StoresBest => best,
            _ => new,
        };
        let value = tame(s, value);
        let mask = s.whole(STORED - 1);
        let index = s.int_op("and", j, &mask);
        let at = s.at(Ty::Double, stored, &index);
        s.write(Ty::Double, &value, &at);
    }
}
