//! Loops over points at random.

use super::Grower;
use crate::tree::{Base, Carries, Expr, Fun2, Goal, Kind, Part, Points, Routine, Scratch, Stmt};

impl Grower {
    /// Ends a function with such a loop, whose sum is only added to the result: nobody writes what it
    /// reads afterwards, and the forward sweep need not run it.
    pub(super) fn end_with_points(&mut self, routine: &mut Routine) {
        let points = self.points();
        if let Stmt::Points(Points {
            goal: Goal::Sum(slot),
            ..
        }) = points
        {
            let sum = Box::new(Expr::Slot(slot));
            let result = Box::new(routine.result.clone());
            routine.result = Expr::Fun2(Fun2::Op("fadd"), sum, result);
        }
        routine.body.push(points);
    }

    pub(super) fn points(&mut self) -> Stmt {
        let parts = [
            Part::Sum,
            Part::Product,
            Part::Least,
            Part::Until,
            Part::Powers,
        ];
        let how_many = self.rng.usize(1..=2);
        let parts = (0..how_many).map(|_| self.pick(&parts)).collect();
        let scratch = match self.rng.u8(..3) {
            0 => Some(Scratch {
                heap: self.rng.bool(),
                carries: self.pick(&[
                    Carries::Nothing,
                    Carries::Nothing,
                    Carries::Nothing,
                    Carries::Last,
                    Carries::First,
                    Carries::Beyond,
                ]),
            }),
            _ => None,
        };
        let goal = match self.rng.u8(..3) {
            0 => Goal::Element(self.writable()),
            _ => Goal::Sum(self.slot(Kind::Float)),
        };
        // What nobody writes later is read again when the sweep comes back.
        let first = match self.rng.bool() {
            true => Base::Second,
            false => self.readable(),
        };
        let second = match self.rng.bool() {
            true => first,
            false => self.readable(),
        };
        Stmt::Points(Points {
            from: [first, second],
            count: self.index(),
            inner: self.index(),
            parts,
            scratch,
            goal,
            scalar: self.slot(Kind::Float),
        })
    }
}
