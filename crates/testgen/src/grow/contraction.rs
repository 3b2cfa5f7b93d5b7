//! Loops that multiply and add up, at random.

use super::Grower;
use crate::contraction::{
    Axis, Combine, Contraction, Finish, Held, Inner, Lead, Limit, Precision, Reads, Rows, Shift,
    Size, Spot, Start, Style, Term, View, Written,
};
use crate::tree::{Base, Cond, Kind, Stmt};

impl Grower {
    pub(super) fn contraction(&mut self) -> Stmt {
        let memory = self.pick(&[Held::Heap, Held::Frame, Held::Given, Held::Given]);
        let given = memory == Held::Given;
        // Most are products that differ from others in one or two things only.
        let odd = self.rng.u8(..3) == 0;
        let loops = self.axes(given);
        let (to, from, either) = self.spots(given);
        let sizes = [0, 1, 2, 3].map(|_| Size {
            index: self.index(),
            more: self.pick(&[0, 1, 1, 1, 1, 2]),
        });
        let views = [0, 1, 2].map(|_| View {
            transposed: self.rng.bool(),
            rows: self.pick(&[
                Lead::Fixed,
                Lead::Fixed,
                Lead::Fixed,
                Lead::Dense,
                Lead::Dense,
                Lead::Dense,
                Lead::Sliding,
                Lead::Same,
            ]),
        });
        // What is repeated must not grow without bound.
        let finish = match given && self.inside.loops > 0 {
            true => Finish::Tanh,
            false => self.pick(&[
                Finish::Plain,
                Finish::Plain,
                Finish::Scaled,
                Finish::Tanh,
                Finish::Added,
            ]),
        };
        let other = self.pick(&[Axis::I, Axis::J]);
        let inner = match self.rng.u8(..12) {
            0 => Inner::ReadsSum,
            1 => Inner::StoresSum,
            2 => Inner::StoresBeside,
            3 => Inner::If,
            4 => Inner::Select,
            5 => Inner::Breaks,
            _ => Inner::Nothing,
        };
        let contraction = Contraction {
            memory,
            to,
            either,
            from,
            precision: self.pick(&[
                Precision::Double,
                Precision::Double,
                Precision::Single,
                Precision::Mixed,
            ]),
            loops,
            sizes,
            views,
            strided: self.rng.u8(..6) == 0,
            style: match inner {
                Inner::Breaks => Style::Register,
                _ => self.pick(&[
                    Style::Register,
                    Style::Register,
                    Style::Memory,
                    Style::Memory,
                    Style::Block,
                ]),
            },
            start: self.pick(&[
                Start::Zero,
                Start::Zero,
                Start::Bias,
                Start::Scalar,
                Start::Old,
            ]),
            term: self.pick(&[
                Term::Product,
                Term::Product,
                Term::Product,
                Term::Scaled,
                Term::Two,
                Term::Sine,
                Term::Alone,
            ]),
            adds: match odd {
                true => self.pick(&[
                    Combine::Subtract,
                    Combine::Multiply,
                    Combine::Max,
                    Combine::Min,
                ]),
                false => self.pick(&[Combine::Add, Combine::Add, Combine::Fused]),
            },
            beside: match self.rng.u8(..5) {
                0 => {
                    Some(self.pick(&[Combine::Add, Combine::Multiply, Combine::Max, Combine::Min]))
                }
                _ => None,
            },
            finish,
            limit: match self.rng.u8(..6) {
                0 => Limit::Below(other),
                1 => Limit::UpTo(other),
                2 => Limit::From(other),
                _ => Limit::Whole,
            },
            inner,
            reads: match self.rng.u8(..8) {
                0 => Reads::Skipping,
                1 => Reads::ByData,
                _ => Reads::Straight,
            },
            rows: match self.rng.u8(..5) {
                0 => Some(self.pick(&[Rows::Squares, Rows::Softmax])),
                _ => None,
            },
            apart: self.rng.u8(..3) == 0,
            written: Written {
                rotated: self.rng.u8(..3) > 0,
                hoisted: self.rng.bool(),
                narrow: self.rng.u8(..5) == 0,
            },
            scalar: self.slot(Kind::Float),
            result: self.slot(Kind::Float),
        };
        Stmt::Contraction(Box::new(contraction))
    }

    /// The loops: a dot product, a matrix and a vector, an outer product, two matrices, or several.
    fn axes(&mut self, given: bool) -> Vec<Axis> {
        let mut axes = match self.rng.u8(..8) {
            0 => vec![Axis::K],
            1 => vec![Axis::I, Axis::K],
            2 => vec![Axis::J, Axis::K],
            3 => vec![Axis::I, Axis::J],
            _ => vec![Axis::I, Axis::J, Axis::K],
        };
        self.rng.shuffle(&mut axes);
        if !given && self.rng.u8(..5) == 0 {
            axes.insert(0, Axis::Batch);
        }
        axes
    }

    /// Where operands are: apart from each other, or not.
    fn spots(&mut self, given: bool) -> (Spot, [Spot; 2], Option<(Cond, Spot)>) {
        let base = match given {
            true => self.writable(),
            false => self.readable(),
        };
        let to = Spot {
            base,
            area: 0,
            shift: Shift::By(0),
        };
        let first = Spot {
            base: self.readable(),
            area: 1,
            shift: self.small_shift(given),
        };
        let second = match self.rng.u8(..6) {
            0 => first,
            _ => Spot {
                base: self.readable(),
                area: 2,
                shift: self.small_shift(given),
            },
        };
        let near = |s: &mut Self| match s.rng.u8(..5) {
            0 => first,
            1 | 2 => Spot {
                shift: Shift::Row,
                ..first
            },
            3 => Spot {
                area: 0,
                shift: Shift::By(s.rng.u8(1..6)),
                ..first
            },
            _ => Spot {
                shift: Shift::By(s.rng.u8(1..4)),
                ..s.pick(&[first, second])
            },
        };
        // What may only be read stays so: elsewhere, the output has memory of its own.
        let writable = |s: &mut Self, spot: Spot| {
            let only_read = given && s.inside.reads_second && spot.base == Base::Second;
            match only_read {
                true => Spot {
                    base: s.writable(),
                    ..spot
                },
                false => spot,
            }
        };
        let to = match self.rng.u8(..4) {
            0 => {
                let near = near(self);
                writable(self, near)
            }
            _ => to,
        };
        let either = match self.rng.u8(..6) {
            0 => {
                let near = near(self);
                Some((self.cond(), writable(self, near)))
            }
            _ => None,
        };
        (to, [first, second], either)
    }

    fn small_shift(&mut self, given: bool) -> Shift {
        match given {
            true => Shift::By(self.pick(&[0, 0, 1, 2, 4])),
            false => Shift::By(0),
        }
    }
}
