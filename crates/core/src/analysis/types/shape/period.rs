//! Memory of any length: the period with which its scalars repeat.

use super::{Cell, MAX_CELLS, Piece, Shape, gcd};

impl Shape {
    /// The period with which the cells repeat from offset 0 on, if everything that is known
    /// agrees with one, and its scalars, which then describe memory of any length.
    ///
    /// The memory is known to have a length of some multiple of `factor`. That is the size of
    /// what the program thinks of as one element. If the period is that long, or longer, then
    /// something was seen in each part of an element. If it is shorter, then an array in a
    /// structure may be all that was seen: that is enough only where the program declares it.
    ///
    /// All of that is about the memory of programs. Of memory that is `ours`, everything was seen.
    pub fn period(&self, factor: i64, ours: bool) -> Option<(i64, Vec<(i64, Piece)>)> {
        let strides = self.every.keys().map(|&(stride, _)| stride);
        let element = self.element.at_start();
        let period = strides.chain(element).reduce(lcm).unwrap_or(factor);
        let enough = ours || element.is_some() || factor == 1 || period % factor == 0;
        let pieces = self.one_period(period, ours || period == factor)?;
        enough.then_some((period, pieces))
    }

    /// The longest stride at which something was seen, or 1.
    pub fn longest_stride(&self) -> i64 {
        let longest = self.every.keys().map(|&(stride, _)| stride).max();
        longest.unwrap_or(1).min(MAX_CELLS as i64)
    }

    /// The scalars of one period, if every cell that is known agrees with the one in the first
    /// period, and with those that repeat.
    fn one_period(&self, period: i64, whole_elements: bool) -> Option<Vec<(i64, Piece)>> {
        if period <= 0 || period > MAX_CELLS as i64 {
            return None;
        }
        let trusts = |_, cell: &Cell| whole_elements || *cell != Cell::Int;
        let pieces = self.scalars(0, period, trusts);
        let unclear = |(_, piece): &(i64, Piece)| matches!(piece, Piece::Unknown | Piece::Conflict);
        let pattern = self.pattern();
        // A header before an array, say, counts in the first period but not in the others, unless
        // the array is declared to have such headers.
        let cells = self.at.range(0..).chain(self.likely.range(0..));
        let cells = cells.chain(self.declared.range(0..));
        let element = self.element.at_start();
        let agrees = element.is_some_and(|size| period % size == 0)
            || cells.into_iter().all(|(&offset, cell)| {
                let repeated = pattern.get(offset);
                repeated.is_none_or(|same| same.is_like(cell))
            });
        let later = self.at.range(period..).chain(self.likely.range(period..));
        let repeats = agrees
            && later.into_iter().all(|(offset, cell)| {
                let same = self.get(offset.rem_euclid(period));
                same.is_some_and(|same| same.is_like(cell))
            });
        (repeats && !pieces.iter().any(unclear)).then_some(pieces)
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
