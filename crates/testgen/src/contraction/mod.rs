//! Loops that multiply and add up, as data: everything that may be different about them.
//!
//! They are written once ([`mod@write`]), for whoever can write loops: the IR and C.

pub(crate) mod memory;
pub(crate) mod write;

use crate::tree::{Base, Cond, Index, Slot};

/// Loops that multiply and add up: `t[i, j] += x[i, k] * y[k, j]`, with any of the loops left out, in
/// any order, and with much that keeps them from being a product of matrices.
#[derive(Clone, PartialEq, Debug)]
pub struct Contraction {
    /// Where the numbers are.
    pub memory: Held,
    /// Where `t` is.
    pub to: Spot,
    /// Where `t` is if a condition holds.
    pub either: Option<(Cond, Spot)>,
    /// Where `x` and `y` are.
    pub from: [Spot; 2],
    /// The formats of floats in memory and of sums.
    pub precision: Precision,
    /// The loops, from the outermost to the innermost.
    pub loops: Vec<Axis>,
    /// How often the loops run, by axis.
    pub sizes: [Size; 4],
    /// How `t`, `x` and `y` lie in memory.
    pub views: [View; 3],
    /// Whether only every second element of memory is used.
    pub strided: bool,
    /// Where the sum is while it grows.
    pub style: Style,
    /// What it begins with.
    pub start: Start,
    /// What is added to it.
    pub term: Term,
    /// How it is added.
    pub adds: Combine,
    /// Another sum beside it, if it is in a register.
    pub beside: Option<Combine>,
    /// What becomes of the sum.
    pub finish: Finish,
    /// The bounds of the loop that adds up.
    pub limit: Limit,
    /// What else is in the innermost loop.
    pub inner: Inner,
    /// The elements of `x` that are read.
    pub reads: Reads,
    /// What is done with each row of `t` when it is complete.
    pub rows: Option<Rows>,
    /// Whether loops that begin and end the sums stand apart from the others.
    pub apart: bool,
    /// How the loops are written.
    pub written: Written,
    /// A float that is used everywhere.
    pub scalar: Slot,
    /// The slot that gets a sum without a place of its own, or all of it.
    pub result: Slot,
}

/// Where a contraction has its numbers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// On the heap, made for it.
    Heap,
    /// In the frame, made for it.
    Frame,
    /// In memory that others use, too.
    Given,
}

/// The place of an operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The memory, or what memory that is made for it is filled from.
    pub base: Base,
    /// Which third of memory that is made for it.
    pub area: u8,
    /// How far behind its beginning.
    pub shift: Shift,
}

/// A distance between operands.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Shift {
    /// So many elements.
    By(u8),
    /// A row of `x`.
    Row,
}

/// Formats of floats.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Doubles.
    Double,
    /// Singles.
    Single,
    /// Singles in memory, doubles in sums.
    Mixed,
}

/// A loop of a contraction, and the dimension that belongs to it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Axis {
    /// Contractions side by side.
    Batch,
    /// Rows of `t` and `x`.
    I,
    /// Columns of `t` and `y`.
    J,
    /// What is added up.
    K,
}

/// How often a loop runs: a number from zero on, and something more.
#[derive(Clone, PartialEq, Debug)]
pub struct Size {
    /// The number.
    pub index: Index,
    /// What is added.
    pub more: u8,
}

/// How a matrix lies in memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// Whether its columns come one after the other.
    pub transposed: bool,
    /// Where a row begins.
    pub rows: Lead,
}

/// Where the next row of a matrix begins.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Lead {
    /// Behind the longest row that there may be.
    Fixed,
    /// Behind the row, so that sizes say where.
    Dense,
    /// One element further, so that rows overlap.
    Sliding,
    /// Where all rows do.
    Same,
}

/// Where a sum is while it grows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Style {
    /// In a register, if the loops have the order for it.
    Register,
    /// In its place.
    Memory,
    /// Two sums side by side in a small array, if the loops have the order for it.
    Block,
}

/// What a sum begins with.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// Zero.
    Zero,
    /// An element of `x`.
    Bias,
    /// A number.
    Scalar,
    /// What is in its place.
    Old,
}

/// What is added up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// `x * y`
    Product,
    /// `x * y * s`
    Scaled,
    /// `x * y`, and the product of the transposed.
    Two,
    /// `sin(x) * y`
    Sine,
    /// `x`
    Alone,
}

/// How numbers become one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Combine {
    /// By addition.
    Add,
    /// By addition, in one instruction with the multiplication.
    Fused,
    /// By subtraction.
    Subtract,
    /// By multiplication.
    Multiply,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

/// What becomes of a sum.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Finish {
    /// It is stored.
    Plain,
    /// It is stored after a multiplication.
    Scaled,
    /// It is stored after a function.
    Tanh,
    /// It is added to what is in the place.
    Added,
}

/// The bounds of the loop that adds up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// All of them.
    Whole,
    /// Less than the counter of another loop.
    Below(Axis),
    /// Not more than the counter of another loop.
    UpTo(Axis),
    /// From the counter of another loop on.
    From(Axis),
}

/// What else is in the innermost loop.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Inner {
    /// Nothing.
    Nothing,
    /// What is added depends on the sum.
    ReadsSum,
    /// The sum is stored into `x`.
    StoresSum,
    /// Something is stored elsewhere.
    StoresBeside,
    /// Only some are added.
    If,
    /// Zero is added in place of some.
    Select,
    /// The loop ends when the sum is large enough.
    Breaks,
}

/// The elements of `x` that are read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reads {
    /// Those of the view.
    Straight,
    /// Every third, around the end.
    Skipping,
    /// A float says which.
    ByData,
}

/// What is done with rows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Rows {
    /// They are divided by the sum of their squares.
    Squares,
    /// They are divided by the sum of their exponentials, less the maximum.
    Softmax,
}

/// How loops are written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The test comes last, after one before the loop.
    pub rotated: bool,
    /// Addresses advance loop by loop, and are not computed inside of all.
    pub hoisted: bool,
    /// Counters have 32 bits.
    pub narrow: bool,
}

impl Contraction {
    /// The loops that it really has.
    pub fn axes(&self) -> Vec<Axis> {
        let given = self.memory == Held::Given;
        let axes = self.loops.iter().copied();
        axes.filter(|&axis| axis != Axis::Batch || !given).collect()
    }

    /// Whether a loop is among them.
    pub fn has(&self, axis: Axis) -> bool {
        self.axes().contains(&axis)
    }

    /// The axes of `t`, `x` or `y`, from the slowest to the fastest if it is not transposed.
    pub fn axes_of(&self, operand: usize) -> Vec<Axis> {
        let mut all = match operand {
            0 => [Axis::I, Axis::J],
            1 => [Axis::I, Axis::K],
            _ => [Axis::K, Axis::J],
        };
        if self.views[operand].transposed {
            all.reverse();
        }
        all.into_iter().filter(|&axis| self.has(axis)).collect()
    }

    /// How far apart neighbours are.
    pub fn stride(&self) -> i64 {
        1 + i64::from(self.strided && self.memory != Held::Given)
    }

    /// How often a loop runs at most.
    pub fn most(&self) -> i64 {
        let single = (0..3).all(|operand| self.axes_of(operand).len() < 2);
        match (self.memory, single) {
            (Held::Given, true) => 4,
            (Held::Given, false) => 2,
            _ if self.has(Axis::Batch) || self.strided => 2,
            (_, true) => 5,
            (_, false) => 4,
        }
    }

    /// How many elements an operand has at most.
    pub fn area(&self) -> i64 {
        let dimensions = (0..3).map(|operand| self.axes_of(operand).len()).max();
        let one = match dimensions {
            Some(2) => self.most() * self.most(),
            _ => self.most(),
        };
        one * self.stride() * if self.has(Axis::Batch) { 2 } else { 1 }
    }
}
