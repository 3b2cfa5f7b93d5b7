//! Type hints: what a program says of the memory at a pointer.

use super::{Cell, Shape, Shared};
use crate::ir::FloatKind;

/// What memory holds. In programs a hint is a call of the function [`Hint::symbol`] with the
/// pointer and how many bytes the hint is about, -1 for all that is there.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// Floats of this kind, one after the other.
    Float(FloatKind),
    /// Integers.
    Integer,
    /// Pointers.
    Pointer,
}

const SYMBOLS: &[(&str, Hint)] = &[
    ("zymase.hint.f32", Hint::Float(FloatKind::F32)),
    ("zymase.hint.f64", Hint::Float(FloatKind::F64)),
    ("zymase.hint.integer", Hint::Integer),
    ("zymase.hint.pointer", Hint::Pointer),
];

/// How many bytes are noted one by one.
const LARGEST: i64 = 4096;

impl Hint {
    /// The name of the function that gives this hint.
    pub fn symbol(self) -> &'static str {
        let found = SYMBOLS.iter().find(|(_, hint)| *hint == self);
        found.map_or("zymase.hint.integer", |(name, _)| name)
    }

    /// The hint that a function of this name gives.
    pub fn of_symbol(name: &str) -> Option<Hint> {
        let found = SYMBOLS.iter().find(|(symbol, _)| *symbol == name);
        found.map(|(_, hint)| *hint)
    }

    /// What the hint says of this many bytes behind a pointer.
    pub(super) fn shape(self, bytes: Option<i64>) -> Shape {
        let cell = match self {
            Hint::Float(kind) => Cell::Float(kind),
            Hint::Integer => Cell::Int,
            Hint::Pointer => Cell::Ptr(Shared::default()),
        };
        let size = cell.bytes();
        let mut shape = Shape::default();
        match bytes {
            Some(bytes) if (0..=LARGEST).contains(&bytes) => {
                for offset in (0..bytes).step_by(size as usize) {
                    if offset + size <= bytes {
                        shape.insert(offset, cell.clone());
                    }
                }
            }
            _ => {
                shape.insert_every(size, 0, cell.clone());
                shape.declare(0, cell);
                shape.declare_element(size);
            }
        }
        shape
    }
}
