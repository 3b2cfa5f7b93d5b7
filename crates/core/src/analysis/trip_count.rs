//! How many times a loop runs, where that is known when it is entered.
//!
//! The count is that of the back edge: one less than the number of times the header runs. A loop
//! is countable if in each iteration it compares a value that changes by a constant with one that
//! does not change, or what is left of a whole with the part that it takes away, and leaves when the
//! comparison says so. Exits that lead only to dead ends
//! (panics, aborts) do not count: when one of them is taken, nobody asks for a derivative any
//! more; the count is then still an upper bound of the iterations so far.

use super::affine::{Affine, AffineValues, Wrap};
use super::cfg::Cfg;
use super::dominators::Dominators;
use super::loops::{Exit, Loop, Loops};
use crate::ir::{BinaryOp, Block, Builder, Flags, Function, IntPred, Op, Type, Value};
use cranelift_entity::SecondaryMap;
use std::fmt;

/// The number of times the back edge of a loop is taken, for each time the loop is entered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TripCount {
    /// The number.
    pub count: Count,
    /// Whether the loop runs exactly so often whenever the function returns, and not less.
    pub exact: bool,
}

/// A number of iterations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Count {
    /// Always the same.
    Constant(u64),
    /// Computed from values that are available in the preheader.
    AtEntry(Progression),
    /// The same, for what goes down by parts of a size that is known only then.
    Parts(Parts),
    /// Not known before the loop has ended.
    #[default]
    Unknown,
}

/// How many terms of `lower, lower + step, lower + 2·step, …` come before the end of the interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progression {
    /// The first term.
    pub lower: Affine,
    /// The end of the interval.
    pub upper: Affine,
    /// The distance, at least 1.
    pub step: u64,
    /// What ends the progression.
    pub end: End,
    /// Whether `lower` and `upper` are read as unsigned.
    pub unsigned: bool,
}

/// How many parts of one size there are in a whole, both without sign. None has the size zero: taking
/// such parts away would never end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parts {
    /// The whole.
    pub whole: Affine,
    /// The size of a part.
    pub part: Affine,
}

/// What ends a [`Progression`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// A term that is not below `upper`.
    NotBelow,
    /// A term that is above `upper`.
    Above,
    /// The term that equals `upper`, which is known to come.
    Equal,
}

/// The trip counts of the loops of a function in canonical form.
pub fn trip_counts(
    func: &Function,
    cfg: &Cfg,
    dominators: &Dominators,
    loops: &Loops,
) -> SecondaryMap<Loop, TripCount> {
    let values = AffineValues::new(func, cfg, loops);
    let mut counts = SecondaryMap::new();
    for l in loops.iter() {
        counts[l] = trip_count(func, cfg, dominators, loops, &values, l);
    }
    counts
}

fn trip_count(
    func: &Function,
    cfg: &Cfg,
    dominators: &Dominators,
    loops: &Loops,
    values: &AffineValues,
    l: Loop,
) -> TripCount {
    let live: Vec<&Exit> = loops
        .exits(l)
        .iter()
        .filter(|exit| cfg.reaches_return(exit.to))
        .collect();
    let mut best = TripCount::default();
    for exit in loops.exits(l) {
        // The test must take place once in each iteration.
        let once = loops.innermost(exit.from) == Some(l)
            && loops
                .latches(l)
                .iter()
                .all(|&latch| dominators.dominates(exit.from, latch));
        let count = match once {
            true => counted(func, values, l, exit),
            false => Count::Unknown,
        };
        let exact = live[..] == [exit];
        let count = match count {
            // Another exit may be the reason that steps over the end do no harm.
            Count::AtEntry(progression)
                if loops.exits(l).len() > 1 && progression.may_miss_its_end() =>
            {
                Count::Unknown
            }
            count => count,
        };
        let better = match (&best.count, &count) {
            (_, Count::Unknown) => false,
            (Count::Unknown, _) => true,
            _ if exact != best.exact => exact,
            (Count::Constant(old), Count::Constant(new)) => new < old,
            (Count::AtEntry(_) | Count::Parts(_), Count::Constant(_)) => true,
            _ => false,
        };
        if better {
            best = TripCount { count, exact };
        }
    }
    best
}

/// What the test of an exit counts.
fn counted(func: &Function, values: &AffineValues, l: Loop, exit: &Exit) -> Count {
    // The condition under which the loop goes on: the other edge is taken.
    let Some((pred, _, x, y)) = comparison(func, exit.from, exit.edge ^ 1) else {
        return Count::Unknown;
    };
    let sides = [(pred, x, y), (swapped(pred), y, x)];
    let wraps: &[Wrap] = match pred {
        IntPred::Eq => return Count::Unknown,
        IntPred::Ne => &[Wrap::Signed, Wrap::Unsigned, Wrap::Modular],
        IntPred::Slt | IntPred::Sle | IntPred::Sgt | IntPred::Sge => &[Wrap::Signed, Wrap::Modular],
        _ => &[Wrap::Unsigned, Wrap::Modular],
    };
    // Where several readings give an answer, one in terms of counters says most.
    let mut first = None;
    for &wrap in wraps {
        let wide = func.ty(x) == Type::i64() || func.ty(x).is_ptr();
        if wrap == Wrap::Modular && !wide {
            continue;
        }
        for (pred, moving, fixed) in sides {
            let moving = values.integer(moving, wrap, exit.from);
            let fixed = values.integer(fixed, wrap, exit.from);
            if let Some(found) = solve(values, l, pred, wrap, &moving, &fixed) {
                if values.is_resolved(&found.lower) && values.is_resolved(&found.upper) {
                    return found.count();
                }
                first = first.or(Some(found));
            }
            let is_left = pred == IntPred::Uge && wrap == Wrap::Unsigned;
            if let Some(found) = parts(values, l, &moving, fixed).filter(|_| is_left) {
                return Count::Parts(found);
            }
        }
        let again = pred == IntPred::Ne && wrap == Wrap::Signed;
        if first.is_some() && !again {
            break;
        }
    }
    first.map_or(Count::Unknown, Progression::count)
}

/// How long what is left of a whole is at least one more part, if each iteration takes one away.
fn parts(values: &AffineValues, l: Loop, left: &Affine, part: Affine) -> Option<Parts> {
    let (change, whole) = left.split(l)?;
    let fits = part.scaled(-1)? == change && part.base.is_none();
    let fixed = values.is_invariant(&whole, l) && values.is_invariant(&part, l);
    (fits && fixed).then_some(Parts { whole, part })
}

/// The comparison that holds if control leaves a block along an edge of its branch, with the flags
/// of the instruction that makes it.
pub(super) fn comparison(
    func: &Function,
    from: Block,
    edge: usize,
) -> Option<(IntPred, Flags, Value, Value)> {
    let branch = func.inst(func.terminator(from)?);
    let Op::Branch { .. } = branch.op else {
        return None;
    };
    let (test, negated) = strip_not(func, branch.args[0]);
    let test = func.inst(func.def_inst(test)?);
    let Op::ICmp(pred) = test.op else {
        return None;
    };
    let is_true = (edge == 0) != negated;
    let pred = if is_true { pred } else { inverse(pred) };
    Some((pred, test.flags, test.args[0], test.args[1]))
}

/// How long `moving pred fixed` holds.
fn solve(
    values: &AffineValues,
    l: Loop,
    pred: IntPred,
    wrap: Wrap,
    moving: &Affine,
    fixed: &Affine,
) -> Option<Progression> {
    let (step, start) = moving.split(l)?;
    let step = i64::try_from(step.as_number()?).ok()?;
    if step == 0 || !values.is_invariant(&start, l) || !values.is_invariant(fixed, l) {
        return None;
    }
    let (up, end) = match pred {
        IntPred::Slt | IntPred::Ult => (true, End::NotBelow),
        IntPred::Sle | IntPred::Ule => (true, End::Above),
        IntPred::Sgt | IntPred::Ugt => (false, End::NotBelow),
        IntPred::Sge | IntPred::Uge => (false, End::Above),
        IntPred::Ne => (step > 0, End::Equal),
        IntPred::Eq => return None,
    };
    if up != (step > 0) {
        return None;
    }
    // Without a promise, steps of one still meet a bound that they stay below.
    if wrap == Wrap::Modular && (step.unsigned_abs() != 1 || end == End::Above) {
        return None;
    }
    // A progression that goes down is one that goes up between the negated ends, but negation
    // turns the order of unsigned numbers around only in the difference, so the ends are swapped.
    let (lower, upper) = match up {
        true => (start, fixed.clone()),
        false => (fixed.clone(), start),
    };
    Some(Progression {
        lower,
        upper,
        step: step.unsigned_abs(),
        end,
        unsigned: matches!(
            pred,
            IntPred::Ult | IntPred::Ule | IntPred::Ugt | IntPred::Uge
        ),
    })
}

impl Parts {
    fn materialize(&self, b: &mut Builder, counter: &dyn Fn(Loop) -> Value) -> Value {
        let i64 = Type::i64();
        let whole = self.whole.materialize(b, counter);
        let part = self.part.materialize(b, counter);
        let [zero, one] = [0, 1].map(|n| b.func.iconst(i64, n));
        let most = b.func.iconst(i64, i128::from(i64::MAX));
        // Where this is computed, it may not be known yet that the loop is entered.
        let is_nothing = b.icmp(IntPred::Eq, part, zero);
        let divisor = b.select(is_nothing, one, part);
        let quotient = b.binary(BinaryOp::UDiv, whole, divisor);
        let fits = b.icmp(IntPred::Ult, quotient, most);
        let cut = b.select(fits, quotient, most);
        b.select(is_nothing, zero, cut)
    }
}

impl Progression {
    /// Whether steps may go over the number that ends them, as far as this says.
    fn may_miss_its_end(&self) -> bool {
        let step = i128::from(self.step);
        // Forms are equal modulo a power of two, and so is what is left when they are divided by one.
        let is_multiple = || {
            let distance = self.upper.minus(&self.lower)?;
            let mut numbers = distance.terms.values().chain([&distance.constant]);
            Some(distance.base.is_none() && numbers.all(|number| number % step == 0))
        };
        let never = step == 1 || self.step.is_power_of_two() && is_multiple() == Some(true);
        self.end == End::Equal && !never
    }

    /// The number of terms, as a constant if it is one.
    pub fn count(self) -> Count {
        let (Some(lower), Some(upper)) = (self.lower.as_number(), self.upper.as_number()) else {
            return Count::AtEntry(self);
        };
        // 64-bit numbers are written as signed ones.
        let read = |n: i128| match self.unsigned {
            true => i128::from(n as u64),
            false => n,
        };
        let (lower, upper, step) = (read(lower), read(upper), i128::from(self.step));
        let count = match self.end {
            End::NotBelow if lower >= upper => 0,
            End::NotBelow => (upper - lower - 1) / step + 1,
            End::Above if lower > upper => 0,
            End::Above => (upper - lower) / step + 1,
            End::Equal if upper < lower || (upper - lower) % step != 0 => return Count::Unknown,
            End::Equal => (upper - lower) / step,
        };
        match u64::try_from(count) {
            Ok(count) if count <= i64::MAX as u64 => Count::Constant(count),
            _ => Count::Unknown,
        }
    }

    /// A number that is at least `step` times the count if that is not zero, as an affine form.
    pub fn extent(&self) -> Option<Affine> {
        let slack = match self.end {
            End::NotBelow => i128::from(self.step) - 1,
            End::Above => i128::from(self.step),
            End::Equal => 0,
        };
        self.upper.minus(&self.lower)?.plus(&Affine::number(slack))
    }

    fn materialize(&self, b: &mut Builder, counter: &dyn Fn(Loop) -> Value, exact: bool) -> Value {
        let i64 = Type::i64();
        // Equal bases of two addresses cancel.
        let (lower, upper) = match self.upper.minus(&self.lower) {
            Some(difference) if self.end == End::Equal => (Affine::default(), difference),
            _ => (self.lower.clone(), self.upper.clone()),
        };
        let lower = lower.materialize(b, counter);
        let upper = upper.materialize(b, counter);
        let distance = b.sub(upper, lower);
        let step = b.func.iconst(i64, i128::from(self.step));
        let one = b.func.iconst(i64, 1);
        let zero = b.func.iconst(i64, 0);
        // One less than the largest count, so that adding one to it is safe.
        let most = b.func.iconst(i64, i128::from(i64::MAX) - 1);
        let divided = |b: &mut Builder, x: Value| match self.step {
            1 => x,
            _ => b.binary(BinaryOp::UDiv, x, step),
        };
        let (less, less_equal) = match self.unsigned {
            true => (IntPred::Ult, IntPred::Ule),
            false => (IntPred::Slt, IntPred::Sle),
        };
        let (runs, before_last) = match self.end {
            End::Equal if exact => return divided(b, distance),
            End::Equal => {
                let quotient = divided(b, distance);
                let fits = b.icmp(IntPred::Ult, quotient, most);
                return b.select(fits, quotient, most);
            }
            End::NotBelow => {
                let less_one = b.sub(distance, one);
                (b.icmp(less, lower, upper), less_one)
            }
            End::Above => (b.icmp(less_equal, lower, upper), distance),
        };
        let quotient = divided(b, before_last);
        let fits = b.icmp(IntPred::Ult, quotient, most);
        let cut = b.select(fits, quotient, most);
        let count = b.add(cut, one);
        b.select(runs, count, zero)
    }
}

impl TripCount {
    /// Whether the number, or an upper bound of it, is known when the loop is entered.
    pub fn is_bounded(&self) -> bool {
        self.count != Count::Unknown
    }

    /// Whether the number is known when the loop is entered.
    pub fn is_known(&self) -> bool {
        self.exact && self.is_bounded()
    }

    /// Code that computes the number as an `i64`, at a place that the preheader of the loop
    /// dominates or in it; none if it is unknown. `counter` gives the counters of outer loops.
    pub fn materialize(&self, b: &mut Builder, counter: &dyn Fn(Loop) -> Value) -> Option<Value> {
        match &self.count {
            Count::Constant(n) => Some(b.func.iconst(Type::i64(), i128::from(*n))),
            Count::AtEntry(progression) => Some(progression.materialize(b, counter, self.exact)),
            Count::Parts(parts) => Some(parts.materialize(b, counter)),
            Count::Unknown => None,
        }
    }

    /// Whether the number is the same for each iteration of a loop around.
    pub fn is_invariant(&self, values: &AffineValues, around: Loop) -> bool {
        let fixed = |form: &Affine| values.is_invariant(form, around);
        match &self.count {
            Count::Constant(_) => true,
            Count::AtEntry(progression) => fixed(&progression.lower) && fixed(&progression.upper),
            Count::Parts(parts) => fixed(&parts.whole) && fixed(&parts.part),
            Count::Unknown => false,
        }
    }
}

fn strip_not(func: &Function, mut value: Value) -> (Value, bool) {
    let mut negated = false;
    while let Some(inst) = func.def_inst(value) {
        let data = func.inst(inst);
        let is_not = data.op == Op::Binary(BinaryOp::Xor)
            && func.as_int(data.args[1]).is_some_and(|n| n == -1)
            && func.ty(value) == Type::i1();
        if !is_not {
            break;
        }
        negated = !negated;
        value = data.args[0];
    }
    (value, negated)
}

/// The comparison that is true exactly if this one is false.
fn inverse(pred: IntPred) -> IntPred {
    match pred {
        IntPred::Eq => IntPred::Ne,
        IntPred::Ne => IntPred::Eq,
        IntPred::Ugt => IntPred::Ule,
        IntPred::Uge => IntPred::Ult,
        IntPred::Ult => IntPred::Uge,
        IntPred::Ule => IntPred::Ugt,
        IntPred::Sgt => IntPred::Sle,
        IntPred::Sge => IntPred::Slt,
        IntPred::Slt => IntPred::Sge,
        IntPred::Sle => IntPred::Sgt,
    }
}

/// The comparison with the operands in the other order.
pub(super) fn swapped(pred: IntPred) -> IntPred {
    match pred {
        IntPred::Eq | IntPred::Ne => pred,
        IntPred::Ugt => IntPred::Ult,
        IntPred::Uge => IntPred::Ule,
        IntPred::Ult => IntPred::Ugt,
        IntPred::Ule => IntPred::Uge,
        IntPred::Sgt => IntPred::Slt,
        IntPred::Sge => IntPred::Sle,
        IntPred::Slt => IntPred::Sgt,
        IntPred::Sle => IntPred::Sge,
    }
}

impl fmt::Display for TripCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = if self.exact { "" } else { "at most " };
        match &self.count {
            Count::Constant(n) => write!(f, "{most}{n}"),
            Count::Unknown => write!(f, "unknown"),
            Count::Parts(Parts { whole, part }) => {
                write!(f, "{most}so often as {part} is in {whole}")
            }
            Count::AtEntry(p) => {
                let until = match p.end {
                    End::NotBelow => "below",
                    End::Above => "up to",
                    End::Equal => "until",
                };
                let sign = if p.unsigned { " unsigned" } else { "" };
                let (lower, upper, step) = (&p.lower, &p.upper, p.step);
                write!(f, "{most}from {lower} {until}{sign} {upper} by {step}")
            }
        }
    }
}
