//! What Zymase tells a user about their program: what cannot be done, where, why, and what to
//! write instead.

mod codes;
mod rust;

pub use codes::Code;
pub use rust::parameter as rust_parameter;

use crate::ir::{Loc, Module};
use std::fmt;

/// A message about the user's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of message it is, with a page in `docs/errors`.
    pub code: Code,
    /// What could not be done, one line without a full stop.
    pub message: String,
    /// Where, and then the way there from the inside out: the calls and the request. Empty if
    /// nothing is known.
    pub places: Vec<Place>,
    /// Why.
    pub reason: String,
    /// What to do about it, in the words of C; [`help`](Diagnostic::help) knows those of Rust.
    pub help: String,
    /// Whether the program is refused.
    pub severity: Severity,
}

/// What a message means for the program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It is refused.
    Error,
    /// It is legal and suspicious.
    Warning,
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
    /// How it leads to the place before it.
    pub link: Link,
}

/// How a place leads to the one before it in a list; says nothing about the first one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// By a call that was inlined.
    Inlined,
    /// By a call.
    Called,
    /// By a request for a derivative.
    Asked,
}

impl Link {
    /// What happens at the place.
    pub fn name(self) -> &'static str {
        match self {
            Link::Inlined => "inlined",
            Link::Called => "called",
            Link::Asked => "asked for",
        }
    }
}

/// So many places of a long way are shown, from both ends.
const SHOWN_PLACES: (usize, usize) = (6, 3);

/// The result of anything that may refuse a program.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

impl Diagnostic {
    /// A message without a place.
    pub fn new(
        code: Code,
        message: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Box<Diagnostic> {
        Box::new(Diagnostic {
            code,
            message: message.into(),
            places: Vec::new(),
            reason: reason.into(),
            help: help.into(),
            severity: match code.is_warning() {
                true => Severity::Warning,
                false => Severity::Error,
            },
        })
    }

    /// A message about a mistake of ours.
    pub fn defect(message: impl Into<String>, reason: impl Into<String>) -> Box<Diagnostic> {
        let help = "this is a defect of Zymase; please report it with the program";
        Diagnostic::new(Code::Defect, message, reason, help)
    }

    /// The same message at the place of a location and of the calls it was inlined through.
    pub fn at(mut self: Box<Self>, module: &Module, loc: Option<Loc>) -> Box<Diagnostic> {
        self.places.extend(Place::chain(module, loc));
        self
    }

    /// The same message in a function, where no location is known.
    pub fn in_function(mut self: Box<Self>, name: &str) -> Box<Diagnostic> {
        if self.places.is_empty() {
            self.places.push(Place::function(name, Link::Inlined));
        }
        self
    }

    /// The same message with one more step of the way there: a location in a function.
    pub fn from(
        mut self: Box<Self>,
        module: &Module,
        loc: Option<Loc>,
        function: &str,
        link: Link,
    ) -> Box<Diagnostic> {
        add_places(&mut self.places, module, loc, function, link);
        self
    }

    /// What to do about it, in the words of the language that the message is about.
    pub fn help(&self) -> &str {
        let first = self.places.iter().find(|place| !place.file.is_empty());
        let help = match first {
            Some(place) if place.file.ends_with(".rs") => self.code.help_in_rust(),
            None if self.places.iter().any(Place::is_rust) => self.code.help_without_files(),
            _ => None,
        };
        help.unwrap_or(&self.help)
    }

    /// The places to show, and how many of a long way are left out after which of them.
    pub fn shown_places(&self) -> (&[Place], usize, &[Place]) {
        let (first, last) = SHOWN_PLACES;
        match self.places.len().checked_sub(first + last) {
            None | Some(0) => (&self.places, 0, &[]),
            Some(left_out) => (
                &self.places[..first],
                left_out,
                &self.places[first + left_out..],
            ),
        }
    }
}

/// Adds a step to a way: a location and the calls it was inlined through, or only the function if
/// there is none. What was inlined from the standard library of Rust, down to the last iterator, is
/// at the lines of the program that use it.
pub fn add_places(
    places: &mut Vec<Place>,
    module: &Module,
    loc: Option<Loc>,
    function: &str,
    mut link: Link,
) {
    if loc.is_none() {
        places.push(Place::function(function, link));
    }
    let way = std::iter::successors(loc, |&loc| module.locs[loc].inlined_at);
    let way = way.map(|loc| &module.locs[loc]).map(|data| Place {
        file: data.file.clone(),
        line: data.line,
        column: data.column,
        function: data.function.clone(),
        link: Link::Inlined,
    });
    for mut place in without_libraries(way.collect()) {
        place.link = std::mem::replace(&mut link, Link::Inlined);
        places.push(place);
    }
}

/// The places of a chain of inlined calls that are in the program itself; all of them if they are
/// in libraries of Rust whose users have not written them.
pub fn without_libraries(mut places: Vec<Place>) -> Vec<Place> {
    if !places.iter().all(|place| rust::is_library(&place.file)) {
        places.retain(|place| !rust::is_library(&place.file));
    }
    places
}

impl Place {
    /// The place of a location, and behind it the calls it was inlined through.
    pub fn chain(module: &Module, loc: Option<Loc>) -> Vec<Place> {
        let mut places = Vec::new();
        if loc.is_some() {
            add_places(&mut places, module, loc, "", Link::Inlined);
        }
        places
    }

    /// A function of which no line is known.
    pub fn function(name: &str, link: Link) -> Place {
        Place {
            file: String::new(),
            line: 0,
            column: 0,
            function: name.to_string(),
            link,
        }
    }

    /// Whether it is in a function with a name that the compiler of Rust gives.
    fn is_rust(&self) -> bool {
        rustc_demangle::try_demangle(&self.function).is_ok()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            return write!(f, "in function {}", self.function);
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
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}[{}]: {}", self.code, self.message)?;
        let (first, left_out, last) = self.shown_places();
        for (i, place) in first.iter().enumerate() {
            match i {
                0 if place.file.is_empty() => {
                    write!(f, "\n  --> {place} (compile with -g for lines)")?;
                }
                0 => write!(f, "\n  --> {place}")?,
                _ => write!(f, "\n  {} {place}", place.link.name())?,
            }
        }
        if left_out > 0 {
            write!(f, "\n  {left_out} more calls")?;
        }
        for place in last {
            write!(f, "\n  {} {place}", place.link.name())?;
        }
        if !self.reason.is_empty() {
            write!(f, "\n  why: {}", self.reason)?;
        }
        if !self.help().is_empty() {
            write!(f, "\n  help: {}", self.help())?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a chain of inlined calls, innermost first.
    fn check(files: &[&str], expected: &[u32]) {
        use crate::ir::LocData;
        let mut module = Module::default();
        let mut inlined_at = None;
        for (line, file) in files.iter().enumerate().rev() {
            inlined_at = Some(module.locs.push(LocData {
                file: file.to_string(),
                line: line as u32,
                column: 1,
                function: String::new(),
                inlined_at,
                origin: None,
            }));
        }
        let places = Place::chain(&module, inlined_at);
        let lines: Vec<u32> = places.iter().map(|place| place.line).collect();
        assert_eq!(lines, expected, "{files:?}");
    }

    #[test]
    fn what_the_library_of_rust_has_is_at_the_line_that_uses_it() {
        let (slice, vec) = (
            "library/core/src/slice/iter.rs",
            "/rustc/1/library/alloc/src/vec.rs",
        );
        check(&["a.c", "b.h"], &[0, 1]);
        check(&[slice, "src/main.rs"], &[1]);
        check(&["src/lib.rs", slice, vec, "src/main.rs"], &[0, 3]);
        check(&[slice, vec], &[0, 1]);
        let ours = "/home/me/zymase/crates/zymase/src/input.rs";
        check(
            &[ours, "registry/zymase-0.1.0/src/first.rs", "src/main.rs"],
            &[2],
        );
        check(&["zymase-demo/src/first.rs", "src/main.rs"], &[0, 1]);
        check(
            &["library/core/src/a.c", "library/mine/src/lib.rs"],
            &[0, 1],
        );
    }
}
