//! The interval of addresses that an access covers while the loops around it run.
//!
//! The ends of the interval are expressions of values that do not change in those loops. They may
//! be too wide, never too narrow, as long as no loop runs so often that its addresses wrap.

use super::affine::{Affine, Base, Factor};
use super::loops::Loop;
use super::trip_count::{Count, TripCount};
use crate::ir::{BinaryOp, Builder, IntPred, Type, Value};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;
use std::fmt;

/// The addresses from `low` up to but not including `high`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// The first byte.
    pub low: End,
    /// The byte after the last.
    pub high: End,
}

/// An end of a [`Range`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// An affine form.
    Affine(Affine),
    /// A sum.
    Sum(Vec<End>),
    /// The larger of this and zero.
    AtLeastZero(Box<End>),
    /// The smaller of this and zero.
    AtMostZero(Box<End>),
    /// How often a number fits into another, as a number without sign, times a third.
    Steps {
        /// What it fits into.
        extent: Affine,
        /// What fits.
        step: u64,
        /// What each time counts.
        each: Affine,
    },
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

    /// The bytes of one access at one moment.
    pub fn at_once(address: &Affine, size: &Affine) -> Option<Range> {
        Some(Range {
            low: End::Affine(address.clone()),
            high: End::Affine(address.plus(size)?),
        })
    }

    /// One range for several that differ by multiples of one product, such as the rows of a block.
    /// None if some do not.
    pub fn around_all(ranges: &[Range]) -> Option<Range> {
        let (first, rest) = ranges.split_first()?;
        let start = first.low.fixed_part()?;
        let mut product: Option<Vec<Factor>> = None;
        let (mut least, mut most) = (0, 0);
        for range in rest {
            let moved = range.low.fixed_part()?.minus(start)?;
            if first.low.plus(&moved)? != range.low || first.high.plus(&moved)? != range.high {
                return None;
            }
            let (by, times) = match moved.as_number() {
                Some(n) => (Vec::new(), n),
                None => {
                    let mut terms = moved.terms.iter();
                    let (by, &times) = terms.next()?;
                    if terms.next().is_some() || moved.constant != 0 {
                        return None;
                    }
                    (by.clone(), times)
                }
            };
            if product.get_or_insert_with(|| by.clone()) != &by {
                return None;
            }
            (least, most) = (least.min(times), most.max(times));
        }
        let product = product.unwrap_or_default();
        let of = |n: i128| match product.is_empty() {
            true => Affine::number(n),
            false => Affine::product(product.clone(), n),
        };
        let from = of(least);
        let span = Box::new(End::Affine(of(most - least)));
        Some(Range {
            low: End::Sum(vec![first.low.plus(&from)?, End::AtMostZero(span.clone())]),
            high: End::Sum(vec![first.high.plus(&from)?, End::AtLeastZero(span)]),
        })
    }

    /// How far one iteration of a loop moves the range, and the range without that. None if its
    /// length depends on the iteration.
    pub fn split(&self, l: Loop) -> Option<(Affine, Range)> {
        let (low_step, low) = self.low.split(l)?;
        let (high_step, high) = self.high.split(l)?;
        (low_step == high_step).then_some((low_step, Range { low, high }))
    }

    /// A range that does not mention the counter of a loop, moved by a step in each iteration, in all
    /// iterations but the first.
    pub fn after_the_first(&self, step: &Affine, l: Loop) -> Option<Range> {
        let moves = step.times(&Affine::product(vec![Factor::Counter(l)], 1))?;
        let low = self.low.plus(&moves)?;
        Some(Range {
            low: low.plus(step)?,
            high: self.high.plus(&moves)?,
        })
    }

    /// The same bytes at another place.
    pub fn moved(&self, by: &Affine) -> Option<Range> {
        Some(Range {
            low: self.low.plus(by)?,
            high: self.high.plus(by)?,
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

    /// What the addresses are relative to.
    pub fn base(&self) -> Option<Base> {
        self.low.fixed_part()?.base
    }

    /// Every affine form in the ends.
    pub fn forms(&self) -> Vec<&Affine> {
        let mut forms = Vec::new();
        self.low.collect(&mut forms);
        self.high.collect(&mut forms);
        forms
    }

    /// Code that computes both ends. Those that were computed before are not computed again. `counter`
    /// gives the counters of loops.
    pub fn materialize(
        &self,
        b: &mut Builder,
        known: &mut Ends,
        counter: &dyn Fn(Loop) -> Value,
    ) -> [Value; 2] {
        [&self.low, &self.high].map(|end| match known.get(end) {
            Some(&value) => value,
            None => {
                let value = end.materialize(b, counter);
                known.insert(end.clone(), value);
                value
            }
        })
    }

    /// Code for whether the ranges have no byte in common. Ends that were computed before are not
    /// computed again. `counter` gives the counters of loops.
    pub fn materialize_disjoint(
        &self,
        other: &Range,
        b: &mut Builder,
        known: &mut Ends,
        counter: &dyn Fn(Loop) -> Value,
    ) -> Value {
        let own = self.materialize(b, known, counter);
        let other = other.materialize(b, known, counter);
        let below = b.icmp(IntPred::Ule, own[1], other[0]);
        let above = b.icmp(IntPred::Ule, other[1], own[0]);
        let yes = b.func.iconst(Type::i1(), 1);
        b.select(below, yes, above)
    }
}

/// Ends whose values are computed already.
pub type Ends = HashMap<End, Value>;

impl End {
    /// Code that computes the end as an `i64`. `counter` gives the counters of loops.
    pub fn materialize(&self, b: &mut Builder, counter: &dyn Fn(Loop) -> Value) -> Value {
        let clamped = |b: &mut Builder, inner: &End, pred: IntPred| {
            let inner = inner.materialize(b, counter);
            let zero = b.func.iconst(Type::i64(), 0);
            let keep = b.icmp(pred, inner, zero);
            b.select(keep, inner, zero)
        };
        match self {
            End::Affine(form) => form.materialize(b, counter),
            End::Sum(parts) => {
                let zero = b.func.iconst(Type::i64(), 0);
                let values: Vec<Value> = parts
                    .iter()
                    .map(|part| part.materialize(b, counter))
                    .collect();
                let sum = values.into_iter().reduce(|x, y| b.add(x, y));
                sum.unwrap_or(zero)
            }
            End::AtLeastZero(inner) => clamped(b, inner, IntPred::Sgt),
            End::AtMostZero(inner) => clamped(b, inner, IntPred::Slt),
            End::Steps { extent, step, each } => {
                let extent = extent.materialize(b, counter);
                let zero = b.func.iconst(Type::i64(), 0);
                let positive = b.icmp(IntPred::Sgt, extent, zero);
                let extent = b.select(positive, extent, zero);
                let step = b.func.iconst(Type::i64(), i128::from(*step));
                let count = b.binary(BinaryOp::UDiv, extent, step);
                let each = each.materialize(b, counter);
                b.mul(count, each)
            }
        }
    }

    /// This as `step · counter + rest`.
    fn split(&self, l: Loop) -> Option<(Affine, End)> {
        match self {
            End::Affine(form) => {
                let (step, rest) = form.split(l)?;
                Some((step, End::Affine(rest)))
            }
            End::Sum(parts) => {
                let mut sum = Affine::default();
                let mut rests = Vec::new();
                for part in parts {
                    let (step, rest) = part.split(l)?;
                    sum = sum.plus(&step)?;
                    rests.push(rest);
                }
                Some((sum, End::Sum(rests)))
            }
            End::AtLeastZero(_) | End::AtMostZero(_) | End::Steps { .. } => {
                let mut forms = Vec::new();
                self.collect(&mut forms);
                let counter = Factor::Counter(l);
                let free = forms
                    .iter()
                    .all(|form| form.factors().all(|f| f != counter));
                free.then(|| (Affine::default(), self.clone()))
            }
        }
    }

    fn plus(&self, form: &Affine) -> Option<End> {
        Some(match self {
            End::Affine(own) => End::Affine(own.plus(form)?),
            End::Sum(parts) => {
                let (first, rest) = parts.split_first()?;
                let mut parts = vec![first.plus(form)?];
                parts.extend_from_slice(rest);
                End::Sum(parts)
            }
            End::AtLeastZero(_) | End::AtMostZero(_) | End::Steps { .. } => {
                End::Sum(vec![End::Affine(form.clone()), self.clone()])
            }
        })
    }

    fn map(&self, new: &dyn Fn(&Affine) -> Option<Affine>) -> Option<End> {
        Some(match self {
            End::Affine(form) => End::Affine(new(form)?),
            End::Sum(parts) => End::Sum(parts.iter().map(|p| p.map(new)).collect::<Option<_>>()?),
            End::AtLeastZero(inner) => End::AtLeastZero(Box::new(inner.map(new)?)),
            End::AtMostZero(inner) => End::AtMostZero(Box::new(inner.map(new)?)),
            End::Steps { extent, step, each } => End::Steps {
                extent: new(extent)?,
                step: *step,
                each: new(each)?,
            },
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
            End::Steps { extent, each, .. } => {
                let fixed = |form: &Affine| {
                    let counts = |l: &Loop| form.factors().any(|f| f == Factor::Counter(*l));
                    !nest.iter().any(counts)
                };
                (fixed(extent) && fixed(each)).then(|| self.clone())?
            }
        })
    }

    /// The part of the end that is no clamped movement of a loop.
    fn fixed_part(&self) -> Option<&Affine> {
        match self {
            End::Affine(form) => Some(form),
            End::Sum(parts) => parts.first()?.fixed_part(),
            End::AtLeastZero(_) | End::AtMostZero(_) | End::Steps { .. } => None,
        }
    }

    fn collect<'a>(&'a self, forms: &mut Vec<&'a Affine>) {
        match self {
            End::Affine(form) => forms.push(form),
            End::Sum(parts) => parts.iter().for_each(|part| part.collect(forms)),
            End::AtLeastZero(inner) | End::AtMostZero(inner) => inner.collect(forms),
            End::Steps { extent, each, .. } => forms.extend([extent, each]),
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
                    // What is left over of the extent would be counted as well.
                    None if step > 1 => {
                        let steps = Box::new(End::Steps {
                            extent,
                            step: progression.step,
                            each: coefficient,
                        });
                        let around = &nest[i + 1..];
                        let inner = Box::new(steps.extreme(around, trips, high)?);
                        parts.push(match high {
                            true => End::AtLeastZero(inner),
                            false => End::AtMostZero(inner),
                        });
                        continue;
                    }
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
            End::Steps { extent, step, each } => write!(f, "(({extent}) / {step}) * ({each})"),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.low, self.high)
    }
}

/// For ranges that are known when a function is entered: no counter may occur in them.
pub fn no_counter(l: Loop) -> Value {
    panic!("a range mentions the counter of {l}")
}
