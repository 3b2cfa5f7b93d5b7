//! Writes contractions.
//!
//! Phases: memory is made and filled, the steps of every operand along every axis are computed, the
//! loops are written, and what memory holds in the end is added up.

use super::{
    Axis, Combine, Contraction, Finish, Held, Inner, Lead, Limit, Reads, Rows, Shift, Spot, Start,
    Style, Term, Written,
};
use crate::contraction::Precision;
use crate::contraction::memory::{add_up, filled, number};
use crate::tree::{Base, Cond, Index, Slot};

/// A type of values.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ty {
    Double,
    Single,
    /// An integer of 64 bits.
    Whole,
}

/// The next values of a loop, and a condition to leave it with them.
pub(crate) type Step = (Vec<String>, Option<String>);

/// Whoever can write loops. Values have names; integers have 64 bits.
pub(crate) trait Sink: Sized {
    fn whole(&self, n: i64) -> String;
    fn float(&self, ty: Ty, x: f64) -> String;
    /// `add`, `mul`, `and`, `lshr`.
    fn int_op(&mut self, op: &str, x: &str, y: &str) -> String;
    /// `fadd`, `fsub`, `fmul`, `fdiv`.
    fn float_op(&mut self, op: &str, ty: Ty, x: &str, y: &str) -> String;
    /// `x * y + z`, rounded once or twice.
    fn fused(&mut self, ty: Ty, x: &str, y: &str, z: &str) -> String;
    /// A function of the library.
    fn math(&mut self, name: &str, ty: Ty, args: &[&str]) -> String;
    fn convert(&mut self, x: &str, from: Ty, to: Ty) -> String;
    fn of_int(&mut self, ty: Ty, x: &str) -> String;
    fn rounded(&mut self, x: &str) -> String;
    fn greater(&mut self, ty: Ty, x: &str, y: &str) -> String;
    fn either(&mut self, ty: Ty, cond: &str, x: &str, y: &str) -> String;
    fn either_pointer(&mut self, ty: Ty, cond: &str, x: &str, y: &str) -> String;
    /// The address of an element.
    fn at(&mut self, ty: Ty, base: &str, index: &str) -> String;
    fn read(&mut self, ty: Ty, at: &str) -> String;
    fn write(&mut self, ty: Ty, x: &str, at: &str);
    /// Memory that is zero.
    fn make(&mut self, ty: Ty, heap: bool, count: i64) -> String;
    fn end(&mut self, memory: &str);
    /// The element of memory that is there, with some behind it.
    fn given(&mut self, base: Base, at: u8, count: i64) -> String;
    fn count(&mut self, index: &Index, modulo: i64) -> String;
    fn decide(&mut self, cond: &Cond) -> String;
    fn slot(&mut self, slot: Slot) -> String;
    fn set_slot(&mut self, slot: Slot, value: String);
    /// A loop from a number to another, with values that are handed on; what they were last.
    fn counted(
        &mut self,
        written: Written,
        bounds: [&str; 2],
        first: &[(Ty, String)],
        body: impl FnOnce(&mut Self, &str, &[String]) -> Step,
    ) -> Vec<String>;
    /// A value that is another if a condition holds.
    fn when(
        &mut self,
        ty: Ty,
        cond: &str,
        old: &str,
        body: impl FnOnce(&mut Self) -> String,
    ) -> String;
}

/// Writes a contraction.
pub(crate) fn write<S: Sink>(s: &mut S, of: &Contraction) {
    let scalar = s.slot(of.scalar);
    let (stored, summed) = match of.precision {
        Precision::Double => (Ty::Double, Ty::Double),
        _ if of.memory == Held::Given => (Ty::Double, Ty::Double),
        Precision::Single => (Ty::Single, Ty::Single),
        Precision::Mixed => (Ty::Single, Ty::Double),
    };
    let sizes = [0, 1, 2, 3].map(|axis| size(s, of, axis));
    let field = match of.memory {
        Held::Given => None,
        held => {
            let from = of.from.map(|spot| spot.base);
            let count = 3 * of.area() + BEHIND;
            Some(filled(s, from, stored, held == Held::Heap, count))
        }
    };
    let steps = [0, 1, 2].map(|operand| steps(s, of, operand, &sizes));
    let place = |s: &mut S, spot: &Spot| locate(s, of, field.as_deref(), stored, &steps, spot);
    let (x, y) = (place(s, &of.from[0]), place(s, &of.from[1]));
    let mut t = place(s, &of.to);
    if let Some((cond, spot)) = &of.either {
        let cond = s.decide(cond);
        let other = place(s, spot);
        t = s.either_pointer(stored, &cond, &other, &t);
    }
    let scalar = s.convert(&scalar, Ty::Double, summed);
    let plan = Plan {
        of,
        stored,
        summed,
        sizes,
        steps,
        field: field.clone(),
        scalar,
        bases: [t.clone(), x.clone(), y.clone()],
    };
    let env = Env {
        counters: Default::default(),
        pointers: [t, x, y],
    };
    let result = plan.all(s, &env);
    if let Some(field) = field {
        add_up(s, of.result, stored, &field, 3 * of.area() + BEHIND);
        if of.memory == Held::Heap {
            s.end(&field);
        }
    }
    if let Some(result) = result {
        let result = s.convert(&result, summed, Ty::Double);
        let old = s.slot(of.result);
        let half = s.float(Ty::Double, 0.5);
        let old = s.float_op("fmul", Ty::Double, &old, &half);
        let new = s.float_op("fadd", Ty::Double, &old, &result);
        s.set_slot(of.result, new);
    }
}

fn number_of(axis: Axis) -> usize {
    match axis {
        Axis::Batch => 0,
        Axis::I => 1,
        Axis::J => 2,
        Axis::K => 3,
    }
}

fn size<S: Sink>(s: &mut S, of: &Contraction, axis: usize) -> String {
    let (modulo, kinds) = match of.most() {
        2 => (2, 2),
        5 => (4, 3),
        _ => (4, 2),
    };
    number(s, &of.sizes[axis], modulo, kinds)
}

/// How many elements are behind the three areas.
const BEHIND: i64 = 8;

/// A number that may be known.
#[derive(Clone, Debug)]
enum Amount {
    Const(i64),
    Value(String),
}

impl Amount {
    fn times<S: Sink>(&self, s: &mut S, x: &str) -> String {
        match self {
            Amount::Const(1) => x.to_string(),
            Amount::Const(n) => {
                let n = s.whole(*n);
                s.int_op("mul", x, &n)
            }
            Amount::Value(value) => s.int_op("mul", x, value),
        }
    }
}

/// How far an operand moves along each axis.
type Steps = [Option<Amount>; 4];

fn steps<S: Sink>(s: &mut S, of: &Contraction, operand: usize, sizes: &[String; 4]) -> Steps {
    let mut steps = Steps::default();
    if of.has(Axis::Batch) {
        steps[0] = Some(Amount::Const(of.area() / 2));
    }
    let axes = of.axes_of(operand);
    if let Some(&last) = axes.last() {
        steps[number_of(last)] = Some(Amount::Const(of.stride()));
    }
    if let [first, last] = axes[..] {
        let stride = Amount::Const(of.stride());
        steps[number_of(first)] = match of.views[operand].rows {
            Lead::Fixed => Some(Amount::Const(of.most() * of.stride())),
            Lead::Dense => Some(Amount::Value(stride.times(s, &sizes[number_of(last)]))),
            Lead::Sliding => Some(stride),
            Lead::Same => None,
        };
    }
    steps
}

/// The address of an operand.
fn locate<S: Sink>(
    s: &mut S,
    of: &Contraction,
    field: Option<&str>,
    ty: Ty,
    steps: &[Steps; 3],
    spot: &Spot,
) -> String {
    let Some(field) = field else {
        let at = match spot.shift {
            Shift::By(n) => n,
            Shift::Row => 2,
        };
        return s.given(spot.base, at, of.area());
    };
    let area = i64::from(spot.area % 3) * of.area();
    match spot.shift {
        Shift::By(n) => {
            let index = s.whole(area + i64::from(n) % (BEHIND + 1));
            s.at(ty, field, &index)
        }
        Shift::Row => {
            let row = of.axes_of(1).first().copied().unwrap_or(Axis::K);
            let area = s.whole(area);
            let start = s.at(ty, field, &area);
            match &steps[1][number_of(row)] {
                // A row is at most as long as what is behind all areas.
                Some(Amount::Value(row)) => s.at(ty, &start, row),
                _ => {
                    let row = s.whole(of.most().min(BEHIND));
                    s.at(ty, &start, &row)
                }
            }
        }
    }
}

/// What loops around have computed.
#[derive(Clone)]
struct Env {
    counters: [Option<String>; 4],
    pointers: [String; 3],
}

/// A contraction whose operands are known.
struct Plan<'a> {
    of: &'a Contraction,
    stored: Ty,
    summed: Ty,
    sizes: [String; 4],
    steps: [Steps; 3],
    field: Option<String>,
    scalar: String,
    bases: [String; 3],
}

impl Plan<'_> {
    /// Writes everything; a sum that has no place is the result.
    fn all<S: Sink>(&self, s: &mut S, env: &Env) -> Option<String> {
        let axes = self.of.axes();
        if axes == [Axis::K] && self.of.style == Style::Register && !self.of.apart {
            return Some(self.in_register(s, env, &axes));
        }
        let has_rows = [Axis::I, Axis::J].iter().all(|axis| axes.contains(axis));
        let rows = self.of.rows.filter(|_| has_rows);
        let (first, rest) = axes.split_first()?;
        match rows {
            Some(rows) if *first == Axis::I && !self.of.apart => {
                self.over(s, env, &[Axis::I], &|s, env| {
                    self.sums(s, env, rest);
                    self.row(s, env, rows);
                });
            }
            Some(rows) => {
                self.sums(s, env, &axes);
                let around: Vec<Axis> = axes
                    .iter()
                    .copied()
                    .filter(|axis| [Axis::Batch, Axis::I].contains(axis))
                    .collect();
                self.over(s, env, &around, &|s, env| self.row(s, env, rows));
            }
            None => self.sums(s, env, &axes),
        }
        None
    }

    /// The loops that compute all sums.
    fn sums<S: Sink>(&self, s: &mut S, env: &Env, loops: &[Axis]) {
        let own = loops.iter().take_while(|&&axis| axis != Axis::K).count();
        let (before, inside) = loops.split_at(own);
        let in_order = inside.iter().all(|&axis| axis == Axis::K);
        match (self.of.style, before.split_last()) {
            (Style::Register, _) if in_order => self.over(s, env, before, &|s, env| {
                let sum = self.in_register(s, env, inside);
                let at = self.place(s, env, 0);
                let sum = s.convert(&sum, self.summed, self.stored);
                s.write(self.stored, &sum, &at);
            }),
            (Style::Block, Some((&last, before))) if in_order && last != Axis::Batch => {
                let sums = s.make(self.summed, false, 2);
                self.over(s, env, before, &|s, env| {
                    self.in_blocks(s, env, last, inside, &sums);
                });
            }
            _ => self.in_memory(s, env, if self.of.apart { &[] } else { before }, loops),
        }
    }

    /// Runs something in loops.
    fn over<S: Sink>(&self, s: &mut S, env: &Env, loops: &[Axis], inside: &dyn Fn(&mut S, &Env)) {
        let Some((&axis, rest)) = loops.split_first() else {
            inside(s, env);
            return;
        };
        let [from, to] = self.bounds(s, env, axis);
        s.counted(self.of.written, [&from, &to], &[], |s, i, _| {
            let env = self.enter(s, env, axis, i);
            self.over(s, &env, rest, inside);
            (Vec::new(), None)
        });
    }

    fn bounds<S: Sink>(&self, s: &mut S, env: &Env, axis: Axis) -> [String; 2] {
        let whole = [s.whole(0), self.sizes[number_of(axis)].clone()];
        if axis != Axis::K {
            return whole;
        }
        let counter = |axis| env.counters[number_of(axis)].clone();
        match self.of.limit {
            Limit::Whole => whole,
            Limit::Below(other) => match counter(other) {
                Some(counter) => [whole[0].clone(), counter],
                None => whole,
            },
            Limit::UpTo(other) => match counter(other) {
                Some(counter) => {
                    let one = s.whole(1);
                    [whole[0].clone(), s.int_op("add", &counter, &one)]
                }
                None => whole,
            },
            Limit::From(other) => match counter(other) {
                Some(counter) => [counter, whole[1].clone()],
                None => whole,
            },
        }
    }

    fn enter<S: Sink>(&self, s: &mut S, env: &Env, axis: Axis, counter: &str) -> Env {
        let mut env = env.clone();
        env.counters[number_of(axis)] = Some(counter.to_string());
        if self.of.written.hoisted {
            for operand in 0..3 {
                if let Some(step) = &self.steps[operand][number_of(axis)] {
                    let moved = step.times(s, counter);
                    env.pointers[operand] = s.at(self.stored, &env.pointers[operand], &moved);
                }
            }
        }
        env
    }

    /// The number of an element of an operand, with two axes swapped or not.
    fn linear<S: Sink>(&self, s: &mut S, env: &Env, operand: usize, swapped: bool) -> String {
        let mut sum: Option<String> = None;
        for (axis, step) in self.steps[operand].iter().enumerate() {
            let axis = match (swapped, operand, axis) {
                (true, 1, 1) | (true, 2, 2) => 3,
                (true, 1, 3) => 1,
                (true, 2, 3) => 2,
                _ => axis,
            };
            if let (Some(step), Some(counter)) = (step, &env.counters[axis]) {
                let moved = step.times(s, counter);
                sum = Some(match sum {
                    Some(sum) => s.int_op("add", &sum, &moved),
                    None => moved,
                });
            }
        }
        sum.unwrap_or_else(|| s.whole(0))
    }

    /// The address of the element of an operand.
    fn place<S: Sink>(&self, s: &mut S, env: &Env, operand: usize) -> String {
        if self.of.written.hoisted {
            return env.pointers[operand].clone();
        }
        let index = self.linear(s, env, operand, false);
        s.at(self.stored, &self.bases[operand], &index)
    }

    fn load<S: Sink>(&self, s: &mut S, at: &str) -> String {
        let x = s.read(self.stored, at);
        s.convert(&x, self.stored, self.summed)
    }

    /// An index that is not one of the view, but within the operand.
    fn around<S: Sink>(&self, s: &mut S, index: &str) -> String {
        let mask = s.whole(self.within() - 1);
        s.int_op("and", index, &mask)
    }

    /// The power of two that is not more than an operand has.
    fn within(&self) -> i64 {
        1 << self.of.area().ilog2()
    }

    fn operand<S: Sink>(&self, s: &mut S, env: &Env, operand: usize) -> String {
        let at = match self.of.reads {
            reads if operand == 1 && reads != Reads::Straight => {
                let index = self.linear(s, env, 1, false);
                let index = match reads {
                    Reads::ByData => {
                        let other = self.place(s, env, 2);
                        let other = self.load(s, &other);
                        let other = s.convert(&other, self.summed, Ty::Double);
                        let by = s.rounded(&other);
                        s.int_op("add", &index, &by)
                    }
                    _ => {
                        let (three, one) = (s.whole(3), s.whole(1));
                        let index = s.int_op("mul", &index, &three);
                        s.int_op("add", &index, &one)
                    }
                };
                let index = self.around(s, &index);
                s.at(self.stored, &self.bases[1], &index)
            }
            _ => self.place(s, env, operand),
        };
        self.load(s, &at)
    }

    fn start<S: Sink>(&self, s: &mut S, env: &Env) -> String {
        match self.of.start {
            Start::Zero => s.float(self.summed, 0.0),
            Start::Scalar => self.scalar.clone(),
            Start::Bias => {
                let row = env.counters[1].clone().or(env.counters[2].clone());
                let row = row.unwrap_or_else(|| s.whole(0));
                let at = s.at(self.stored, &self.bases[1], &row);
                self.load(s, &at)
            }
            Start::Old => {
                let at = self.place(s, env, 0);
                self.load(s, &at)
            }
        }
    }

    fn in_register<S: Sink>(&self, s: &mut S, env: &Env, inside: &[Axis]) -> String {
        let mut first = vec![(self.summed, self.start(s, env))];
        if let Some(beside) = self.of.beside {
            first.push((self.summed, s.float(self.summed, neutral(beside))));
        }
        let last = match inside {
            [] => self.add(s, env, &[first[0].1.clone()]).0,
            _ => {
                let [from, to] = self.bounds(s, env, Axis::K);
                s.counted(self.of.written, [&from, &to], &first, |s, k, now| {
                    let env = self.enter(s, env, Axis::K, k);
                    self.add(s, &env, now)
                })
            }
        };
        let mut sum = last[0].clone();
        if let Some(other) = last.get(1) {
            let one = s.float(self.summed, 1.0);
            let square = s.float_op("fmul", self.summed, other, other);
            let more = s.float_op("fadd", self.summed, &square, &one);
            sum = s.float_op("fdiv", self.summed, &sum, &more);
        }
        self.finish(s, env, sum)
    }

    fn in_memory<S: Sink>(&self, s: &mut S, env: &Env, before: &[Axis], loops: &[Axis]) {
        let inside = &loops[before.len()..];
        let own: Vec<Axis> = inside
            .iter()
            .copied()
            .filter(|&axis| axis != Axis::K)
            .collect();
        let change = |s: &mut S, env: &Env, with: &dyn Fn(&mut S, &Env) -> String| {
            let new = with(s, env);
            let new = s.convert(&new, self.summed, self.stored);
            let at = self.place(s, env, 0);
            s.write(self.stored, &new, &at);
        };
        let old = |s: &mut S, env: &Env| {
            let at = self.place(s, env, 0);
            self.load(s, &at)
        };
        self.over(s, env, before, &|s, env| {
            if self.of.start != Start::Old {
                self.over(s, env, &own, &|s, env| {
                    change(s, env, &|s, env| self.start(s, env));
                });
            }
            self.over(s, env, inside, &|s, env| {
                change(s, env, &|s, env| {
                    let now = old(s, env);
                    self.add(s, env, &[now]).0[0].clone()
                });
            });
            if self.of.finish != Finish::Plain {
                self.over(s, env, &own, &|s, env| {
                    change(s, env, &|s, env| {
                        let sum = old(s, env);
                        self.finish(s, env, sum)
                    });
                });
            }
        });
    }

    /// Two sums at a time, in a small array.
    fn in_blocks<S: Sink>(&self, s: &mut S, env: &Env, axis: Axis, inside: &[Axis], sums: &str) {
        let size = &self.sizes[number_of(axis)];
        let (zero, one, two) = (s.whole(0), s.whole(1), s.whole(2));
        let blocks = s.int_op("lshr", size, &one);
        let written = self.of.written;
        s.counted(written, [&zero, &blocks], &[], |s, block, _| {
            let first = s.int_op("mul", block, &two);
            let both = |s: &mut S, env: &Env, inside: &dyn Fn(&mut S, &Env, &str)| {
                let (zero, two) = (s.whole(0), s.whole(2));
                s.counted(written, [&zero, &two], &[], |s, r, _| {
                    let counter = s.int_op("add", &first, r);
                    let env = self.enter(s, env, axis, &counter);
                    let at = s.at(self.summed, sums, r);
                    inside(s, &env, &at);
                    (Vec::new(), None)
                });
            };
            both(s, env, &|s, env, at| {
                let start = self.start(s, env);
                s.write(self.summed, &start, at);
            });
            self.over(s, env, inside, &|s, env| {
                both(s, env, &|s, env, at| {
                    let now = s.read(self.summed, at);
                    let next = self.add(s, env, &[now]).0;
                    s.write(self.summed, &next[0], at);
                });
            });
            both(s, env, &|s, env, at| {
                let sum = s.read(self.summed, at);
                let sum = self.finish(s, env, sum);
                let sum = s.convert(&sum, self.summed, self.stored);
                let at = self.place(s, env, 0);
                s.write(self.stored, &sum, &at);
            });
            (Vec::new(), None)
        });
    }

    /// Adds one term, and whether the loop ends.
    fn add<S: Sink>(&self, s: &mut S, env: &Env, now: &[String]) -> Step {
        let ty = self.summed;
        let mut x = self.operand(s, env, 1);
        let y = self.operand(s, env, 2);
        match self.of.inner {
            Inner::ReadsSum => {
                let one = s.float(ty, 1.0);
                let square = s.float_op("fmul", ty, &now[0], &now[0]);
                let more = s.float_op("fadd", ty, &square, &one);
                x = s.float_op("fdiv", ty, &x, &more);
            }
            Inner::Select => {
                let limit = s.float(ty, 0.100_137);
                let zero = s.float(ty, 0.0);
                let keeps = s.greater(ty, &x, &limit);
                x = s.either(ty, &keeps, &x, &zero);
            }
            _ => {}
        }
        let sum = match self.of.inner {
            Inner::If => {
                let limit = s.float(ty, 0.100_137);
                let keeps = s.greater(ty, &x, &limit);
                s.when(ty, &keeps, &now[0], |s| {
                    self.combine(s, env, &now[0], &x, &y)
                })
            }
            _ => self.combine(s, env, &now[0], &x, &y),
        };
        match (self.of.inner, &self.field) {
            (Inner::StoresSum, Some(_)) => {
                let index = self.linear(s, env, 2, false);
                let small = self.tame(s, &sum);
                let small = s.convert(&small, ty, self.stored);
                let at = s.at(self.stored, &self.bases[1], &index);
                s.write(self.stored, &small, &at);
            }
            (Inner::StoresBeside, Some(field)) => {
                let sine = self.function(s, "sin", &x);
                let sine = s.convert(&sine, ty, self.stored);
                let index = env.counters[3].clone().unwrap_or_else(|| s.whole(0));
                let start = s.whole(3 * self.of.area());
                let index = s.int_op("add", &index, &start);
                let at = s.at(self.stored, field, &index);
                s.write(self.stored, &sine, &at);
            }
            _ => {}
        }
        let mut next = vec![sum];
        if let (Some(beside), Some(other)) = (self.of.beside, now.get(1)) {
            next.push(self.combined(s, beside, other, &x));
        }
        let breaks = self.of.inner == Inner::Breaks && self.of.style == Style::Register;
        let leaves = breaks.then(|| {
            let limit = s.float(ty, 0.500_137);
            s.greater(ty, &next[0], &limit)
        });
        (next, leaves)
    }

    fn combine<S: Sink>(&self, s: &mut S, env: &Env, now: &str, x: &str, y: &str) -> String {
        let ty = self.summed;
        if (self.of.adds, self.of.term) == (Combine::Fused, Term::Product) {
            return s.fused(ty, x, y, now);
        }
        let term = match self.of.term {
            Term::Product => s.float_op("fmul", ty, x, y),
            Term::Scaled => {
                let product = s.float_op("fmul", ty, x, y);
                s.float_op("fmul", ty, &product, &self.scalar)
            }
            Term::Two => {
                let product = s.float_op("fmul", ty, x, y);
                let [x, y] = [1, 2].map(|operand| {
                    let index = self.linear(s, env, operand, true);
                    let at = s.at(self.stored, &self.bases[operand], &index);
                    self.load(s, &at)
                });
                let other = s.float_op("fmul", ty, &x, &y);
                s.float_op("fadd", ty, &product, &other)
            }
            Term::Sine => {
                let sine = self.function(s, "sin", x);
                s.float_op("fmul", ty, &sine, y)
            }
            Term::Alone => x.to_string(),
        };
        self.combined(s, self.of.adds, now, &term)
    }

    fn combined<S: Sink>(&self, s: &mut S, by: Combine, now: &str, x: &str) -> String {
        let ty = self.summed;
        match by {
            Combine::Add | Combine::Fused => s.float_op("fadd", ty, now, x),
            Combine::Subtract => s.float_op("fsub", ty, now, x),
            Combine::Multiply => {
                let half = s.float(ty, 0.75);
                let factor = s.float_op("fadd", ty, x, &half);
                s.float_op("fmul", ty, now, &factor)
            }
            Combine::Max => s.math("fmax", ty, &[now, x]),
            Combine::Min => s.math("fmin", ty, &[now, x]),
        }
    }

    fn finish<S: Sink>(&self, s: &mut S, env: &Env, sum: String) -> String {
        let ty = self.summed;
        match self.of.finish {
            Finish::Plain => sum,
            Finish::Scaled => s.float_op("fmul", ty, &sum, &self.scalar),
            Finish::Tanh => self.function(s, "tanh", &sum),
            Finish::Added => {
                let at = self.place(s, env, 0);
                let old = self.load(s, &at);
                s.float_op("fadd", ty, &sum, &old)
            }
        }
    }

    /// A function, in double precision: libraries round others in their own ways.
    fn function<S: Sink>(&self, s: &mut S, name: &str, x: &str) -> String {
        let x = s.convert(x, self.summed, Ty::Double);
        let y = s.math(name, Ty::Double, &[&x]);
        s.convert(&y, Ty::Double, self.summed)
    }

    /// Something of the same sign that is at most ½.
    fn tame<S: Sink>(&self, s: &mut S, x: &str) -> String {
        let one = s.float(self.summed, 1.0);
        let square = s.float_op("fmul", self.summed, x, x);
        let more = s.float_op("fadd", self.summed, &square, &one);
        s.float_op("fdiv", self.summed, x, &more)
    }

    /// Divides a row by a sum over it.
    fn row<S: Sink>(&self, s: &mut S, env: &Env, rows: Rows) {
        let ty = self.summed;
        let [from, to] = self.bounds(s, env, Axis::J);
        let along = |s: &mut S, first: f64, by: &dyn Fn(&mut S, &str, &str) -> String| {
            let first = (ty, s.float(ty, first));
            let last = s.counted(self.of.written, [&from, &to], &[first], |s, j, now| {
                let env = self.enter(s, env, Axis::J, j);
                let at = self.place(s, &env, 0);
                let x = self.load(s, &at);
                (vec![by(s, &now[0], &x)], None)
            });
            last[0].clone()
        };
        let most = match rows {
            Rows::Squares => s.float(ty, 0.0),
            Rows::Softmax => along(s, -100.0, &|s, now, x| s.math("fmax", ty, &[now, x])),
        };
        let part = |s: &mut S, x: &str| match rows {
            Rows::Squares => x.to_string(),
            Rows::Softmax => {
                let less = s.float_op("fsub", ty, x, &most);
                self.function(s, "exp", &less)
            }
        };
        let sum = along(s, 0.5, &|s, now, x| {
            let x = part(s, x);
            let x = match rows {
                Rows::Squares => s.float_op("fmul", ty, &x, &x),
                Rows::Softmax => x,
            };
            s.float_op("fadd", ty, now, &x)
        });
        self.over(s, env, &[Axis::J], &|s, env| {
            let at = self.place(s, env, 0);
            let x = self.load(s, &at);
            let x = part(s, &x);
            let x = s.float_op("fdiv", ty, &x, &sum);
            let x = s.convert(&x, ty, self.stored);
            s.write(self.stored, &x, &at);
        });
    }
}

/// What a combination begins with.
fn neutral(by: Combine) -> f64 {
    match by {
        Combine::Add | Combine::Fused | Combine::Subtract => 0.0,
        Combine::Multiply => 1.0,
        Combine::Max => -100.0,
        Combine::Min => 100.0,
    }
}
