//! Searches and rows, with less about them.

use super::ints;
use crate::contraction::{Precision, Size, Written};
use crate::reduction::{Chooses, Cost, First, RowKind, RowTwist, RowWise, Search, SearchTwist};
use crate::tree::{Index, Stmt};

/// The usual loop.
const WRITTEN: Written = Written {
    rotated: true,
    hoisted: false,
    narrow: false,
};

/// The same search with one thing as it usually is.
pub(super) fn simpler_search(of: &Search) -> Vec<Stmt> {
    let mut all = Vec::new();
    let mut change = |how: &dyn Fn(&mut Search)| {
        let mut other = of.clone();
        how(&mut other);
        if other != *of {
            all.push(Stmt::Search(Box::new(other)));
        }
    };
    change(&|of| of.around = None);
    change(&|of| of.cost = Cost::Formula);
    change(&|of| of.cost = Cost::Bare);
    change(&|of| of.largest = false);
    change(&|of| of.equal = false);
    change(&|of| of.ties = false);
    change(&|of| of.start = First::Far);
    change(&|of| of.chooses = Chooses::Select);
    change(&|of| of.keeps_index = false);
    change(&|of| of.twist = SearchTwist::Nothing);
    change(&|of| of.written = WRITTEN);
    for count in smaller(&of.count) {
        change(&|of| of.count = count.clone());
    }
    all
}

/// The same rows with one thing as it usually is.
pub(super) fn simpler_rows(of: &RowWise) -> Vec<Stmt> {
    let mut all = Vec::new();
    let mut change = |how: &dyn Fn(&mut RowWise)| {
        let mut other = of.clone();
        how(&mut other);
        if other != *of {
            all.push(Stmt::RowWise(Box::new(other)));
        }
    };
    change(&|of| of.kind = RowKind::Squares);
    change(&|of| of.columns = false);
    change(&|of| of.in_place = false);
    change(&|of| of.fused = false);
    change(&|of| of.in_memory = false);
    change(&|of| of.selects = false);
    change(&|of| of.twist = RowTwist::Nothing);
    change(&|of| of.heap = false);
    change(&|of| of.precision = Precision::Double);
    change(&|of| of.written = WRITTEN);
    for rows in smaller(&of.rows) {
        change(&|of| of.rows = rows.clone());
    }
    for length in smaller(&of.length) {
        change(&|of| of.length = length.clone());
    }
    all
}

/// Sizes that are simpler.
fn smaller(size: &Size) -> Vec<Size> {
    let fixed = |n| Size {
        index: Index::Const(n),
        more: 1,
    };
    let mut all = vec![fixed(0), fixed(1)];
    if let Index::Int(int) = &size.index {
        let index = ints(int).into_iter().map(Index::Int);
        all.extend(index.map(|index| Size {
            index,
            more: size.more,
        }));
    }
    all
}
