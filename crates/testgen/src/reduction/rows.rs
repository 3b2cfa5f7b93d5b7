//! Writes what is computed of rows.

use super::{RowKind, RowTwist, RowWise};
use crate::contraction::Precision;
use crate::contraction::memory::{add_up, filled, number};
use crate::contraction::write::{Sink, Ty};

/// How many numbers all rows have at most, with what is between them.
const AREA: i64 = 12;

/// Writes the loops over rows.
pub(crate) fn write<S: Sink>(s: &mut S, of: &RowWise) {
    let (stored, summed) = match of.precision {
        Precision::Double => (Ty::Double, Ty::Double),
        Precision::Single => (Ty::Single, Ty::Single),
        Precision::Mixed => (Ty::Single, Ty::Double),
    };
    let scalar = s.slot(of.scalar);
    let scalar = s.math("sin", Ty::Double, &[&scalar]);
    let scalar = s.convert(&scalar, Ty::Double, summed);
    let rows = number(s, &of.rows, 2, 3);
    let length = number(s, &of.length, 4, 2);
    let memory = filled(s, of.from, stored, of.heap, 2 * AREA);
    let sums = of.in_memory.then(|| s.make(summed, false, AREA));
    let zero = s.whole(0);
    s.counted(of.written, [&zero, &rows], &[], |s, row, _| {
        let plan = Plan {
            of,
            stored,
            summed,
            memory: memory.clone(),
            sums: sums.clone(),
            row: row.to_string(),
            length: length.clone(),
            scalar: scalar.clone(),
        };
        plan.row(s);
        (Vec::new(), None)
    });
    add_up(s, of.result, stored, &memory, 2 * AREA);
    if of.heap {
        s.end(&memory);
    }
}

/// A row whose operands are known.
struct Plan<'a> {
    of: &'a RowWise,
    stored: Ty,
    summed: Ty,
    memory: String,
    /// Where sums are that are not in registers.
    sums: Option<String>,
    row: String,
    length: String,
    scalar: String,
}

impl Plan<'_> {
    fn row<S: Sink>(&self, s: &mut S) {
        let ty = self.summed;
        let count = s.of_int(ty, &self.length);
        let quarter = s.float(ty, 0.25);
        let count = s.float_op("fadd", ty, &count, &quarter);
        let center = match self.of.kind {
            RowKind::Softmax | RowKind::LessLog => self.largest(s),
            RowKind::Norm => {
                let sum = self.reduced(s, 0.0, false, &|s, now, x, _| {
                    s.float_op("fadd", ty, now, x)
                });
                s.float_op("fdiv", ty, &sum, &count)
            }
            RowKind::Squares | RowKind::Product => s.float(ty, 0.0),
        };
        let first = match self.of.kind {
            RowKind::Product => 1.0,
            _ => 0.05,
        };
        let sum = self.reduced(s, first, true, &|s, now, x, j| {
            let mut part = self.part(s, x, &center);
            if self.of.twist == RowTwist::ReadsSum {
                let small = self.tame(s, now);
                part = s.float_op("fmul", ty, &part, &small);
            }
            if self.of.fused {
                self.store(s, j, &part);
            }
            match self.of.kind {
                RowKind::Product => s.float_op("fmul", ty, now, &part),
                RowKind::Softmax | RowKind::LessLog => s.float_op("fadd", ty, now, &part),
                RowKind::Norm | RowKind::Squares => {
                    let square = s.float_op("fmul", ty, &part, &part);
                    s.float_op("fadd", ty, now, &square)
                }
            }
        });
        let by = match self.of.kind {
            RowKind::Softmax | RowKind::Product => sum,
            RowKind::LessLog => self.function(s, "log", &sum),
            RowKind::Norm => {
                let mean = s.float_op("fdiv", ty, &sum, &count);
                self.function(s, "sqrt", &mean)
            }
            RowKind::Squares => self.function(s, "sqrt", &sum),
        };
        let zero = s.whole(0);
        s.counted(self.of.written, [&zero, &self.length], &[], |s, j, _| {
            let result = self.result(s, j, &center, &by);
            self.store(s, j, &result);
            (Vec::new(), None)
        });
    }

    /// What becomes of a number in the end.
    fn result<S: Sink>(&self, s: &mut S, j: &str, center: &str, by: &str) -> String {
        let ty = self.summed;
        let part = match self.of.fused {
            // What was stored before is read again.
            true => self.load(s, j, !self.of.in_place),
            false => {
                let x = self.load(s, j, false);
                self.part(s, &x, center)
            }
        };
        match self.of.kind {
            RowKind::Softmax | RowKind::Squares => s.float_op("fdiv", ty, &part, by),
            RowKind::LessLog => s.float_op("fsub", ty, &part, by),
            RowKind::Norm => {
                let part = s.float_op("fdiv", ty, &part, by);
                s.float_op("fmul", ty, &part, &self.scalar)
            }
            RowKind::Product => s.float_op("fmul", ty, &part, by),
        }
    }

    /// What is computed of a number before anything is known of the row but its center.
    fn part<S: Sink>(&self, s: &mut S, x: &str, center: &str) -> String {
        let ty = self.summed;
        match self.of.kind {
            RowKind::Softmax | RowKind::LessLog => {
                let less = s.float_op("fsub", ty, x, center);
                self.function(s, "exp", &less)
            }
            RowKind::Norm => s.float_op("fsub", ty, x, center),
            RowKind::Squares => x.to_string(),
            RowKind::Product => {
                let more = s.float(ty, 1.25);
                s.float_op("fadd", ty, x, &more)
            }
        }
    }

    fn largest<S: Sink>(&self, s: &mut S) -> String {
        let ty = self.summed;
        self.reduced(s, -100.0, false, &|s, now, x, _| match self.of.selects {
            true => {
                let more = s.greater(ty, x, now);
                s.either(ty, &more, x, now)
            }
            false => s.math("fmax", ty, &[now, x]),
        })
    }

    /// Reduces the row to a number. `twisted` loops have what is odd about them.
    fn reduced<S: Sink>(
        &self,
        s: &mut S,
        first: f64,
        twisted: bool,
        by: &dyn Fn(&mut S, &str, &str, &str) -> String,
    ) -> String {
        let ty = self.summed;
        let twist = self.of.twist;
        let first = s.float(ty, first);
        let zero = s.whole(0);
        let bounds = [zero.as_str(), &self.length];
        let next = |s: &mut S, now: &str, j: &str| {
            let at = match twist == RowTwist::Skips {
                true => {
                    let (three, one) = (s.whole(3), s.whole(1));
                    let far = s.int_op("mul", j, &three);
                    let far = s.int_op("add", &far, &one);
                    s.int_op("and", &far, &three)
                }
                false => j.to_string(),
            };
            let x = self.load(s, &at, false);
            let next = by(s, now, &x, &at);
            if twisted && twist == RowTwist::StoresSum {
                let small = self.tame(s, &next);
                let place = self.place(s, j, false);
                let small = s.convert(&small, ty, self.stored);
                s.write(self.stored, &small, &place);
            }
            next
        };
        let Some(sums) = &self.sums else {
            let last = s.counted(self.of.written, bounds, &[(ty, first)], |s, j, now| {
                let next = next(s, &now[0], j);
                let leaves = (twisted && twist == RowTwist::Breaks).then(|| {
                    let enough = s.float(ty, 1.200_137);
                    s.greater(ty, &next, &enough)
                });
                (vec![next], leaves)
            });
            return last[0].clone();
        };
        let at = s.at(ty, sums, &self.row);
        s.write(ty, &first, &at);
        s.counted(self.of.written, bounds, &[], |s, j, _| {
            let now = s.read(ty, &at);
            let next = next(s, &now, j);
            s.write(ty, &next, &at);
            (Vec::new(), None)
        });
        s.read(ty, &at)
    }

    /// The place of a number, or of what it becomes.
    fn place<S: Sink>(&self, s: &mut S, j: &str, result: bool) -> String {
        let (rows, along) = match (self.of.columns, self.of.twist == RowTwist::Overlaps) {
            (_, true) => (2, 1),
            (true, false) => (1, 3),
            (false, false) => (4, 1),
        };
        let (rows, along) = (s.whole(rows), s.whole(along));
        let row = s.int_op("mul", &self.row, &rows);
        let column = s.int_op("mul", j, &along);
        let mut index = s.int_op("add", &row, &column);
        if result {
            let area = s.whole(AREA);
            index = s.int_op("add", &index, &area);
        }
        s.at(self.stored, &self.memory, &index)
    }

    fn load<S: Sink>(&self, s: &mut S, j: &str, result: bool) -> String {
        let at = self.place(s, j, result);
        let x = s.read(self.stored, &at);
        s.convert(&x, self.stored, self.summed)
    }

    fn store<S: Sink>(&self, s: &mut S, j: &str, x: &str) {
        let at = self.place(s, j, !self.of.in_place);
        let x = s.convert(x, self.summed, self.stored);
        s.write(self.stored, &x, &at);
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
}
