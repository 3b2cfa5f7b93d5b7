//! What is at each byte: an integer, a pointer to something, or which float.
//!
//! LLVM's types say this for loads and stores of floats and pointers. They do not where a program
//! moves floats as integers (struct copies, unions, small arrays in registers) or moves memory
//! whose type the instruction does not name (memcpy). There, every other use of the same bytes is
//! evidence, and this analysis carries it along: from a pointer to what is computed from it and
//! back, through loads, stores, copies, phis and calls, until nothing new is learned.
//!
//! A fact comes from an instruction that works on a float or a pointer, from integer arithmetic,
//! from an alias class with a telling name, from a hint in the program, or from the caller. That
//! the program calls something an integer counts only where nothing else is known. An access at a
//! variable index speaks for every element of its stride; an access at a fixed offset counts before
//! such a fact. Where facts disagree the answer is *conflict*, and where there is none it is *unknown*: what
//! needs the type then refuses the program.

mod advancing;
mod allocations;
mod apart;
mod bits;
mod bytes;
mod choices;
mod declared;
mod factor;
mod hint;
mod memory;
mod shape;
mod solver;
mod summaries;
mod tags;

pub use bytes::known_byte;
pub use factor::factor;
pub use hint::Hint;
pub use shape::{Cell, Kinds, Piece, Shape, Shared, gcd};
pub use summaries::Summaries;

use crate::ir::{Function, Inst, Module, Value};
use cranelift_entity::SecondaryMap;
use solver::Solver;

/// A copy of constant length is taken apart into scalars up to this many bytes; a longer one must
/// be of memory that repeats.
pub const LONGEST_COPY: i128 = 4096;

/// The types of a function's values, byte by byte.
#[derive(Clone, Debug)]
pub struct Types {
    /// For a pointer (or vector of pointers) what is behind it, otherwise the bytes themselves.
    shapes: SecondaryMap<Value, Shape>,
}

impl Types {
    /// Analyses a function, given what the caller knows of its arguments and, after them, of its
    /// result. Of calls that are alternatives only one runs, so they say what they agree in.
    pub fn new(
        module: &Module,
        function: &Function,
        known: &[Shape],
        alternatives: &[Vec<Inst>],
        summaries: &mut Summaries,
    ) -> Types {
        summaries.start();
        Types::with_summaries(module, function, known, alternatives, true, summaries)
    }

    fn with_summaries(
        module: &Module,
        function: &Function,
        known: &[Shape],
        alternatives: &[Vec<Inst>],
        tagged_integers: bool,
        summaries: &mut Summaries,
    ) -> Types {
        let mut solver = Solver::new(module, function, alternatives, summaries);
        solver.start(known);
        let shapes = match solver.solve(tagged_integers) {
            true => solver.shapes,
            false => SecondaryMap::new(),
        };
        Types { shapes }
    }

    /// What is behind a pointer, or the content of a value of another type.
    pub fn shape(&self, value: Value) -> &Shape {
        &self.shapes[value]
    }

    /// The scalars that a value consists of, with byte offsets.
    pub fn pieces(&self, module: &Module, function: &Function, value: Value) -> Vec<(i64, Piece)> {
        let ty = function.ty(value);
        let mut pieces = Vec::new();
        // Integers side by side are looked at as one: a double may lie in two lanes of a vector.
        let mut run: Option<(i64, i64)> = None;
        let end_run = |run: &mut Option<(i64, i64)>, pieces: &mut Vec<(i64, Piece)>| {
            if let Some((start, end)) = run.take() {
                let inner = self.shapes[value].pieces(start, end - start);
                pieces.extend(inner.into_iter().map(|(at, p)| (start + at, p)));
            }
        };
        for (offset, scalar) in module.layout.scalars(ty) {
            let offset = offset as i64;
            let is_int = scalar.float_kind().is_none() && !scalar.is_ptr();
            if !is_int || run.is_some_and(|(_, end)| end != offset) {
                end_run(&mut run, &mut pieces);
            }
            match scalar.float_kind() {
                Some(kind) => pieces.push((offset, Piece::Float(kind))),
                None if scalar.is_ptr() => pieces.push((offset, Piece::Ptr)),
                None => {
                    let start = run.map_or(offset, |(start, _)| start);
                    let bytes = module.layout.store_size(scalar) as i64;
                    run = Some((start, offset + bytes));
                }
            }
        }
        end_run(&mut run, &mut pieces);
        pieces
    }

    /// The scalars in `len` bytes of memory behind a pointer.
    pub fn memory_pieces(&self, pointer: Value, len: i64) -> Vec<(i64, Piece)> {
        self.shapes[pointer].pieces(0, len)
    }
}
