//! What Zymase tells a user about their program: what cannot be done, where, why, and what to
//! write instead.

use crate::ir::{Loc, Module};
use std::fmt;

/// A message about the user's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What could not be done, one line without a full stop.
    pub message: String,
    /// Where, innermost call first; empty if the program has no debug information.
    pub places: Vec<Place>,
    /// Why.
    pub reason: String,
    /// What to do about it.
    pub help: String,
}

/// A place in the source program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 is unknown.
    pub column: u32,
    /// The function.
    pub function: String,
}

/// The result of anything that may refuse a program.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

impl Diagnostic {
    /// A message without a place.
    pub fn new(
        message: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Box<Diagnostic> {
        Box::new(Diagnostic {
            message: message.into(),
            places: Vec::new(),
            reason: reason.into(),
            help: help.into(),
        })
    }

    /// The same message at the place of a location and of the calls it was inlined through.
    pub fn at(mut self: Box<Self>, module: &Module, loc: Option<Loc>) -> Box<Diagnostic> {
        self.places.extend(Place::chain(module, loc));
        self
    }

    /// The same message in a function, where no location is known.
    pub fn in_function(mut self: Box<Self>, name: &str) -> Box<Diagnostic> {
        if self.places.is_empty() {
            self.places.push(Place {
                file: String::new(),
                line: 0,
                column: 0,
                function: name.to_string(),
            });
        }
        self
    }
}

impl Place {
    /// The place of a location, and behind it the calls it was inlined through.
    pub fn chain(module: &Module, loc: Option<Loc>) -> Vec<Place> {
        let mut places = Vec::new();
        let mut next = loc;
        while let Some(loc) = next {
            let data = &module.locs[loc];
            places.push(Place {
                file: data.file.clone(),
                line: data.line,
                column: data.column,
                function: data.function.clone(),
            });
            next = data.inlined_at;
        }
        places
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            return write!(
                f,
                "in function {} (compile with -g for lines)",
                self.function
            );
        }
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column != 0 {
            write!(f, ":{}", self.column)?;
        }
        write!(f, " in {}", self.function)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        for (i, place) in self.places.iter().enumerate() {
            let arrow = if i == 0 { "-->" } else { "inlined at" };
            write!(f, "\n  {arrow} {place}")?;
        }
        if !self.reason.is_empty() {
            write!(f, "\n  why: {}", self.reason)?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
