//! What there is about searches and rows.

use crate::contraction::{Precision, Size};
use crate::reduction::{Chooses, Cost, RowKind, RowTwist, RowWise, Search, SearchTwist};
use crate::tree::Index;

/// Notes the constructs of a search.
pub(super) fn note_search(of: &Search, note: &mut dyn FnMut(&'static str)) {
    let library = of.chooses == Chooses::Library;
    let facts = [
        (true, "search for the best of many numbers"),
        (of.around.is_some(), "searches one after the other"),
        (of.keeps_index, "search for a place"),
        (of.ties, "candidates that are equal"),
        (of.chooses == Chooses::Branch, "search by branches"),
        (library, "search by the library"),
        (of.cost == Cost::Most, "search in a search"),
        (may_be_empty(&of.count), "search among none"),
        (
            of.twist == SearchTwist::ReadsBest,
            "best so far read in a search",
        ),
        (
            of.twist == SearchTwist::ReadsIndex,
            "place of the best so far read in a search",
        ),
        (
            matches!(of.twist, SearchTwist::Stores | SearchTwist::StoresBest),
            "store in a search",
        ),
        (of.twist == SearchTwist::Breaks, "search left early"),
        (of.twist == SearchTwist::Beside, "sum beside a search"),
    ];
    facts
        .iter()
        .filter(|fact| fact.0)
        .for_each(|fact| note(fact.1));
}

/// Notes the constructs of rows.
pub(super) fn note_rows(of: &RowWise, note: &mut dyn FnMut(&'static str)) {
    let centered = matches!(of.kind, RowKind::Softmax | RowKind::LessLog);
    let facts = [
        (true, "rows divided by what is computed of them"),
        (centered, "rows of exponentials"),
        (of.kind == RowKind::Norm, "rows of deviations"),
        (of.kind == RowKind::Squares, "rows of a certain length"),
        (of.kind == RowKind::Product, "product of a row"),
        (of.columns, "rows that are columns"),
        (of.in_place, "rows in place"),
        (of.fused, "map in the loop that adds up"),
        (of.in_memory, "sum of a row in memory"),
        (centered && of.selects, "largest of a row by selects"),
        (
            of.precision != Precision::Double,
            "rows in single precision",
        ),
        (may_be_empty(&of.length), "row without numbers"),
        (
            !matches!(of.twist, RowTwist::Nothing),
            "rows with something odd about them",
        ),
    ];
    facts
        .iter()
        .filter(|fact| fact.0)
        .for_each(|fact| note(fact.1));
}

fn may_be_empty(size: &Size) -> bool {
    let none = match &size.index {
        Index::Const(n) => n % 4 == 0,
        Index::Int(_) => true,
    };
    none && size.more == 0
}
