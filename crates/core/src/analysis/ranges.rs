//! The interval of addresses that an access covers while the loops around it run.
//!
//! The ends of the interval are expressions of values that do not change in those loops. They may
//! be too wide, never too narrow, as long as no loop runs so often that its addresses wrap.

use super::affine::Affine;
use super::loops::Loop;
use super::trip_count::{Count, TripCount};
use crate::ir::{Builder, IntPred, Type, Value};
use cranelift_entity::SecondaryMap;
use std::fmt;

/// The addresses from `low` up to but not including `high`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first byte.
    pub low: End,
    /// The byte after the last.
    pub high: End,
}

/// An end of a [`Range`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// An affine form.
    Affine(Affine),
    /// A sum.
    Sum(Vec<End>),
    /// The larger of this and zero.
    AtLeastZero(Box<End>),
    /// The smaller of this and zero.
    AtMostZero(Box<End>),
}

/// What a nest touches through one view, at one moment.
#[derive(Clone, Debug)]
pub struct Extent {
    /// The address of the element at the origin.
    pub origin: Affine,
    /// The number of bytes of an element.
    pub size: Affine,
    /// How far the elements move along each loop of the nest.
    pub moves: Vec<Affine>,
}

impl Range {
    /// What a nest touches through a view while the loops around it, listed from the inside out,
    /// run. None if a trip count is unknown or an address is not affine in a counter.
    pub fn of_extent(
        extent: &Extent,
        around: &[Loop],
        trips: &SecondaryMap<Loop, TripCount>,
    ) -> Option<Range> {
        let end = |from: &Affine, high: bool| {
            let fixed = extent.moves.iter().filter_map(Affine::as_number);
            let fixed = fixed.filter(|&n| (n > 0) == high).sum();
            let from = from.plus(&Affine::number(fixed))?;
            let mut parts = vec![extreme(&from, around, trips, high)?];
            for moved in extent.moves.iter().filter(|m| m.as_number().is_none()) {
                let inner = Box::new(extreme(moved, around, trips, high)?);
                parts.push(match high {
                    true => End::AtLeastZero(inner),
                    false => End::AtMostZero(inner),
                });
            }
            Some(match parts.len() {
                1 => parts.remove(0),
                _ => End::Sum(parts),
            })
        };
        Some(Range {
            low: end(&extent.origin, false)?,
            high: end(&extent.origin.plus(&extent.size)?, true)?,
        })
    }

    /// What accesses of `size` bytes at `address` cover while the loops of a nest, listed from the
    /// inside out, run. None if a trip count is unknown or the address is not affine in a counter.
    pub fn over(
        address: &Affine,
        size: &Affine,
        nest: &[Loop],
        trips: &SecondaryMap<Loop, TripCount>,
    ) -> Option<Range> {
        let last = address.plus(size)?;
        Some(Range {
            low: extreme(address, nest, trips, false)?,
            high: extreme(&last, nest, trips, true)?,
        })
    }

    /// The range with each form in its ends replaced.
    pub fn map(&self, new: &dyn Fn(&Affine) -> Option<Affine>) -> Option<Range> {
        Some(Range {
            low: self.low.map(new)?,
            high: self.high.map(new)?,
        })
    }

    /// What this covers while the loops of a nest run whose counters its ends mention.
    pub fn while_running(
        &self,
        nest: &[Loop],
        trips: &SecondaryMap<Loop, TripCount>,
    ) -> Option<Range> {
        Some(Range {
            low: self.low.extreme(nest, trips, false)?,
            high: self.high.extreme(nest, trips, true)?,
        })
    }

    /// Whether the ranges are known to have no byte in common.
    pub fn is_disjoint(&self, other: &Range) -> bool {
        let below = |high: &End, low: &End| match (high, low) {
            (End::Affine(high), End::Affine(low)) => low
                .minus(high)
                .and_then(|difference| difference.as_number())
                .is_some_and(|n| n >= 0),
            _ => false,
        };
        below(&self.high, &other.low) || below(&other.high, &self.low)
    }

    /// How far the start of another range is from the start of this one, apart from what loops
    /// add to them, if that is a constant.
    pub fn distance(&self, other: &Range) -> Option<i128> {
        let (from, to) = (self.low.fixed_part()?, other.low.fixed_part()?);
        to.minus(from)?.as_number()
    }

    /// Every affine form in the ends.
    pub fn forms(&self) -> Vec<&Affine> {
        let mut forms = Vec::new();
        self.low.collect(&mut forms);
        self.high.collect(&mut forms);
        forms
    }

    /// Code for a truth value: whether the ranges have no byte in common.
    pub fn materialize_disjoint(&self, other: &Range, b: &mut Builder) -> Value {
        let own_high = self.high.materialize(b);
        let other_low = other.low.materialize(b);
        let other_high = other.high.materialize(b);
        let own_low = self.low.materialize(b);
        let below = b.icmp(IntPred::Ule, own_high, other_low);
        let above = b.icmp(IntPred::Ule, other_high, own_low);
        let yes = b.func.iconst(Type::i1(), 1);
        b.select(below, yes, above)
    }
}

impl End {
    /// Code that computes the end as an `i64`. No counter may occur in it.
    pub fn materialize(&self, b: &mut Builder) -> Value {
        let no_counter = |l: Loop| -> Value { panic!("a range mentions the counter of {l}") };
        let clamped = |b: &mut Builder, inner: &End, pred: IntPred| {
            let inner = inner.materialize(b);
            let zero = b.func.iconst(Type::i64(), 0);
            let keep = b.icmp(pred, inner, zero);
            b.select(keep, inner, zero)
        };
        match self {
            End::Affine(form) => form.materialize(b, &no_counter),
            End::Sum(parts) => {
                let zero = b.func.iconst(Type::i64(), 0);
                let values: Vec<Value> = parts.iter().map(|part| part.materialize(b)).collect();
                let sum = values.into_iter().reduce(|x, y| b.add(x, y));
                sum.unwrap_or(zero)
            }
            End::AtLeastZero(inner) => clamped(b, inner, IntPred::Sgt),
            End::AtMostZero(inner) => clamped(b, inner, IntPred::Slt),
        }
    }

    fn map(&self, new: &dyn Fn(&Affine) -> Option<Affine>) -> Option<End> {
        Some(match self {
            End::Affine(form) => End::Affine(new(form)?),
            End::Sum(parts) => End::Sum(parts.iter().map(|p| p.map(new)).collect::<Option<_>>()?),
            End::AtLeastZero(inner) => End::AtLeastZero(Box::new(inner.map(new)?)),
            End::AtMostZero(inner) => End::AtMostZero(Box::new(inner.map(new)?)),
        })
    }

    /// The largest or smallest value over the iterations of a nest, or beyond. Sums and the
    /// clamps at zero grow with their parts.
    fn extreme(
        &self,
        nest: &[Loop],
        trips: &SecondaryMap<Loop, TripCount>,
        high: bool,
    ) -> Option<End> {
        let of = |end: &End| end.extreme(nest, trips, high);
        Some(match self {
            End::Affine(form) => extreme(form, nest, trips, high)?,
            End::Sum(parts) => End::Sum(parts.iter().map(of).collect::<Option<_>>()?),
            End::AtLeastZero(inner) => End::AtLeastZero(Box::new(of(inner)?)),
            End::AtMostZero(inner) => End::AtMostZero(Box::new(of(inner)?)),
        })
    }

    /// The part of the end that is no clamped movement of a loop.
    fn fixed_part(&self) -> Option<&Affine> {
        match self {
            End::Affine(form) => Some(form),
            End::Sum(parts) => parts.first()?.fixed_part(),
            End::AtLeastZero(_) | End::AtMostZero(_) => None,
        }
    }

    fn collect<'a>(&'a self, forms: &mut Vec<&'a Affine>) {
        match self {
            End::Affine(form) => forms.push(form),
            End::Sum(parts) => parts.iter().for_each(|part| part.collect(forms)),
            End::AtLeastZero(inner) | End::AtMostZero(inner) => inner.collect(forms),
        }
    }
}

/// The largest or smallest value of a form over the iterations of a nest.
fn extreme(
    form: &Affine,
    nest: &[Loop],
    trips: &SecondaryMap<Loop, TripCount>,
    high: bool,
) -> Option<End> {
    let mut rest = form.clone();
    let mut parts = Vec::new();
    for (i, &l) in nest.iter().enumerate() {
        let (coefficient, others) = rest.split(l)?;
        rest = others;
        let fixed = coefficient.as_number();
        if fixed == Some(0) {
            continue;
        }
        // The counter at its end moves the form by at most this much.
        let most = match &trips[l].count {
            Count::Constant(n) => coefficient.scaled(i128::from(*n))?,
            Count::AtEntry(progression) if trips[l].exact => {
                let step = i128::from(progression.step);
                let extent = progression.extent()?;
                match fixed {
                    Some(c) if c % step == 0 => extent.scaled(c / step)?,
                    _ => extent.times(&coefficient)?,
                }
            }
            _ => return None,
        };
        if fixed.is_some_and(|c| (c > 0) != high) {
            continue;
        }
        if let Some(n) = most.as_number() {
            let n = if high { n.max(0) } else { n.min(0) };
            rest = rest.plus(&Affine::number(n))?;
            continue;
        }
        let inner = Box::new(extreme(&most, &nest[i + 1..], trips, high)?);
        parts.push(match high {
            true => End::AtLeastZero(inner),
            false => End::AtMostZero(inner),
        });
    }
    let rest = End::Affine(rest);
    Some(match parts.is_empty() {
        true => rest,
        false => {
            parts.insert(0, rest);
            End::Sum(parts)
        }
    })
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Affine(form) => form.fmt(f),
            End::Sum(parts) => {
                let parts: Vec<String> = parts.iter().map(End::to_string).collect();
                write!(f, "{}", parts.join(" + "))
            }
            End::AtLeastZero(inner) => write!(f, "max(0, {inner})"),
            End::AtMostZero(inner) => write!(f, "min(0, {inner})"),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.low, self.high)
    }
}
