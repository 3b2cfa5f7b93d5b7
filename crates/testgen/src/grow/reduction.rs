//! Searches and rows at random.

use super::Grower;
use crate::contraction::{Precision, Size, Written};
use crate::reduction::{Chooses, Cost, First, RowKind, RowTwist, RowWise, Search, SearchTwist};
use crate::tree::{Base, Kind, Stmt};

impl Grower {
    pub(super) fn search(&mut self) -> Stmt {
        // What nobody writes later is read again when the sweep comes back.
        let first = match self.rng.bool() {
            true => Base::Second,
            false => self.readable(),
        };
        let search = Search {
            from: [first, self.readable()],
            around: match self.rng.bool() {
                true => Some(self.index()),
                false => None,
            },
            count: self.small_size(&[0, 1, 2]),
            cost: self.pick(&[
                Cost::Distance,
                Cost::Distance,
                Cost::Formula,
                Cost::Formula,
                Cost::Bare,
                Cost::Most,
            ]),
            largest: self.rng.bool(),
            equal: self.rng.u8(..3) == 0,
            ties: self.rng.u8(..4) == 0,
            start: self.pick(&[
                First::Far,
                First::Far,
                First::Near,
                First::Scalar,
                First::Candidate,
            ]),
            chooses: self.pick(&[
                Chooses::Select,
                Chooses::Select,
                Chooses::Select,
                Chooses::Branch,
                Chooses::Library,
            ]),
            keeps_index: self.rng.bool(),
            twist: match self.rng.u8(..12) {
                0 => SearchTwist::ReadsBest,
                1 => SearchTwist::ReadsIndex,
                2 => SearchTwist::Stores,
                3 => SearchTwist::StoresBest,
                4 => SearchTwist::Breaks,
                5 => SearchTwist::Beside,
                _ => SearchTwist::Nothing,
            },
            written: self.written(),
            scalar: self.slot(Kind::Float),
            result: self.slot(Kind::Float),
        };
        Stmt::Search(Box::new(search))
    }

    pub(super) fn row_wise(&mut self) -> Stmt {
        let rows = RowWise {
            from: [self.readable(), self.readable()],
            kind: self.pick(&[
                RowKind::Softmax,
                RowKind::Softmax,
                RowKind::LessLog,
                RowKind::Norm,
                RowKind::Norm,
                RowKind::Squares,
                RowKind::Product,
            ]),
            rows: self.small_size(&[0, 1, 2]),
            length: self.small_size(&[0, 1]),
            columns: self.rng.u8(..4) == 0,
            in_place: self.rng.bool(),
            fused: self.rng.bool(),
            in_memory: self.rng.u8(..3) == 0,
            selects: self.rng.bool(),
            twist: match self.rng.u8(..9) {
                0 => RowTwist::Overlaps,
                1 => RowTwist::ReadsSum,
                2 => RowTwist::StoresSum,
                3 => RowTwist::Breaks,
                4 => RowTwist::Skips,
                _ => RowTwist::Nothing,
            },
            heap: self.rng.bool(),
            precision: self.pick(&[
                Precision::Double,
                Precision::Double,
                Precision::Single,
                Precision::Mixed,
            ]),
            written: self.written(),
            scalar: self.slot(Kind::Float),
            result: self.slot(Kind::Float),
        };
        Stmt::RowWise(Box::new(rows))
    }

    fn small_size(&mut self, more: &[u8]) -> Size {
        Size {
            index: self.index(),
            more: self.pick(more),
        }
    }

    fn written(&mut self) -> Written {
        Written {
            rotated: self.rng.u8(..3) > 0,
            hoisted: false,
            narrow: self.rng.u8(..5) == 0,
        }
    }
}
