//! The text form of shapes, as file tests print it.

use super::{Cell, Shape};
use std::fmt;

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Int => write!(f, "int"),
            Cell::Float(kind) => write!(f, "{}", kind.name()),
            Cell::Ptr(shape) => write!(f, "ptr {}", **shape),
            Cell::Conflict(_) => write!(f, "conflict"),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Bytes of integers in a row are one entry.
        let single = self.at.iter().map(|(&at, cell)| (None, at, cell));
        let likely = self.likely.iter();
        let likely = likely.map(|(&at, cell)| (Some(-1), at, cell));
        let declared = self.declared.iter();
        let declared = declared.map(|(&at, cell)| (Some(0), at, cell));
        let repeated = self.every.iter();
        let repeated = repeated.map(|(&(stride, at), cell)| (Some(stride), at, cell));
        let mut runs: Vec<(Option<i64>, i64, i64, &Cell)> = Vec::new();
        for (stride, at, cell) in single.chain(likely).chain(repeated).chain(declared) {
            match runs.last_mut() {
                Some((s, _, end, Cell::Int))
                    if (*s, *end) == (stride, at) && *cell == Cell::Int =>
                {
                    *end += 1;
                }
                _ => runs.push((stride, at, at + cell.bytes(), cell)),
            }
        }
        let mut separator = "{";
        for (stride, start, end, cell) in &runs {
            write!(f, "{separator}{start}")?;
            if **cell == Cell::Int && *end > start + 1 {
                write!(f, "..{end}")?;
            }
            match stride {
                Some(0) => write!(f, " declared")?,
                Some(-1) => write!(f, " likely")?,
                Some(stride) => write!(f, " + {stride}k")?,
                None => {}
            }
            write!(f, ": {cell}")?;
            separator = ", ";
        }
        write!(f, "{}", if runs.is_empty() { "{}" } else { "}" })
    }
}
