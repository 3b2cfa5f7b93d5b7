//! Memory of any length: the period with which its scalars repeat.

use super::{Cell, MAX_CELLS, Piece, Shape, gcd};

impl Shape {
    /// The period with which the cells repeat from offset 0 on, if everything that is known
    /// agrees with one: the scalars of one period then describe memory of any length. Where no
    /// access has told a period, `stride` or the size of the first scalar is tried.
    pub fn period(&self, stride: i64) -> Option<i64> {
        let strides = self.every.keys().map(|&(stride, _)| stride);
        let element = self.element.at_start().filter(|size| stride % size == 0);
        let told = strides.chain(element).reduce(lcm);
        let first = self.get(0).map(Cell::bytes);
        let candidates = match told {
            Some(period) => vec![period],
            None => vec![stride, first.unwrap_or(0)],
        };
        candidates.into_iter().find(|&p| self.repeats_with(p))
    }

    /// The longest stride at which something was seen, or 1.
    pub fn longest_stride(&self) -> i64 {
        let longest = self.every.keys().map(|&(stride, _)| stride).max();
        longest.unwrap_or(1).min(MAX_CELLS as i64)
    }

    /// Whether every cell that is known agrees with the one in the first period, and with those that
    /// repeat.
    fn repeats_with(&self, period: i64) -> bool {
        if period <= 0 || period > MAX_CELLS as i64 {
            return false;
        }
        let known = self
            .pieces(0, period)
            .iter()
            .all(|(_, piece)| !matches!(piece, Piece::Unknown | Piece::Conflict));
        let pattern = self.pattern();
        // A header before an array, say, counts in the first period but not in the others, unless
        // the array is declared to have such headers.
        let cells = self.at.range(0..).chain(self.declared.range(0..));
        let element = self.element.at_start();
        let agrees = element.is_some_and(|size| period % size == 0)
            || cells.into_iter().all(|(&offset, cell)| {
                let repeated = pattern.get(offset);
                repeated.is_none_or(|same| same.is_like(cell))
            });
        let later = self.at.range(period..);
        known
            && agrees
            && later.into_iter().all(|(offset, cell)| {
                let same = self.get(offset.rem_euclid(period));
                same.is_some_and(|same| same.is_like(cell))
            })
    }

    /// What repeats.
    pub(super) fn pattern(&self) -> Shape {
        Shape {
            every: self.every.clone(),
            ..Shape::default()
        }
    }
}

fn lcm(a: i64, b: i64) -> i64 {
    (a / gcd(a, b)).saturating_mul(b)
}
