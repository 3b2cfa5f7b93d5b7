//! Loops that keep one of many numbers, and rows that are divided by what is computed of them, as
//! data: everything that may be different about them.
//!
//! As contractions, they are written once, for whoever can write loops: the IR and C.

pub(crate) mod rows;
pub(crate) mod search;

use crate::contraction::{Precision, Size, Written};
use crate::tree::{Base, Index, Slot};

/// A loop that keeps the smallest or largest of the numbers that its iterations compute, or almost.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    /// Where the candidates are, and what they are compared with.
    pub from: [Base; 2],
    /// How many searches there are, whose results are added up, if there may be several.
    pub around: Option<Index>,
    /// How many candidates there are.
    pub count: Size,
    /// What is computed of each.
    pub cost: Cost,
    /// Whether the largest is looked for.
    pub largest: bool,
    /// Whether one that is equal to the best so far takes its place.
    pub equal: bool,
    /// Whether candidates come in pairs that are equal: the same numbers, computed twice.
    pub ties: bool,
    /// What the search begins with.
    pub start: First,
    /// How it chooses.
    pub chooses: Chooses,
    /// Whether it also keeps where the best is.
    pub keeps_index: bool,
    /// What else is in the loop.
    pub twist: SearchTwist,
    /// How the loop is written.
    pub written: Written,
    /// A float that is used everywhere.
    pub scalar: Slot,
    /// The slot that gets the result.
    pub result: Slot,
}

/// What a search computes of a candidate.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Its distance, by a loop.
    Distance,
    /// A few operations.
    Formula,
    /// Next to nothing.
    Bare,
    /// The largest of some numbers, by a search in the search.
    Most,
}

/// What a search begins with.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum First {
    /// A number that any candidate beats.
    Far,
    /// A number that hardly any candidate beats.
    Near,
    /// A float of the program.
    Scalar,
    /// The first candidate.
    Candidate,
}

/// How a search chooses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Chooses {
    /// By a select.
    Select,
    /// By a branch.
    Branch,
    /// By a function of the library.
    Library,
}

/// What else is in the loop of a search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SearchTwist {
    /// Nothing.
    Nothing,
    /// What is computed depends on the best so far.
    ReadsBest,
    /// What is computed depends on where the best so far is.
    ReadsIndex,
    /// What is computed is stored.
    Stores,
    /// The best so far is stored.
    StoresBest,
    /// The loop ends when a candidate is good enough.
    Breaks,
    /// There is another number that iterations hand on.
    Beside,
}

/// Rows of numbers, each of which is mapped by what was computed of the whole row.
#[derive(Clone, PartialEq, Debug)]
pub struct RowWise {
    /// What memory is filled from.
    pub from: [Base; 2],
    /// What is computed.
    pub kind: RowKind,
    /// How many rows there are.
    pub rows: Size,
    /// How long they are.
    pub length: Size,
    /// Whether the rows are columns of memory.
    pub columns: bool,
    /// Whether the results take the place of the numbers.
    pub in_place: bool,
    /// Whether the loop that adds up also stores what it has computed of each number.
    pub fused: bool,
    /// Whether sums are in memory while they grow.
    pub in_memory: bool,
    /// Whether the largest number is chosen by a select, and not by the library.
    pub selects: bool,
    /// What else is in the loop that adds up.
    pub twist: RowTwist,
    /// Whether memory is on the heap.
    pub heap: bool,
    /// The formats of floats in memory and of sums.
    pub precision: Precision,
    /// How the loops are written.
    pub written: Written,
    /// A float that is used everywhere.
    pub scalar: Slot,
    /// The slot that gets the sum of all memory.
    pub result: Slot,
}

/// What is computed of rows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// Exponentials, divided by their sum.
    Softmax,
    /// Exponentials, less the logarithm of their sum.
    LessLog,
    /// Distances from the mean, divided by the deviation.
    Norm,
    /// The numbers, divided by the root of the sum of their squares.
    Squares,
    /// The numbers, multiplied by the product of the row.
    Product,
}

/// What else is in the loop that adds up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RowTwist {
    /// Nothing.
    Nothing,
    /// Rows overlap.
    Overlaps,
    /// What is added depends on the sum.
    ReadsSum,
    /// The sum is stored into the row.
    StoresSum,
    /// The loop ends when the sum is large enough.
    Breaks,
    /// The numbers are read in another order.
    Skips,
}
