//! The lines of loops in the source program.

use crate::diagnostic::{Link, Place};
use crate::ir::{Loc, Module};
use std::collections::BTreeSet;
use std::fmt;

/// The lines of a loop nest, in one function of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The function.
    pub function: String,
    /// The first line.
    pub first: u32,
    /// The last line, which may be the first.
    pub last: u32,
}

impl Lines {
    /// The lines of loops with instructions at some locations.
    ///
    /// They are those of the function in which the loops are written: the innermost one that all of
    /// the instructions are in, itself or by calls that were inlined into it. Of such a call, its
    /// line counts and not those of what it calls, unless that is a closure, which stands between
    /// the lines of the function itself.
    pub fn new(module: &Module, locs: &BTreeSet<Loc>) -> Option<Lines> {
        // From the outermost function on.
        let ways = locs.iter().map(|&loc| {
            let mut way = Place::chain(module, Some(loc));
            way.reverse();
            way
        });
        let ways = ways.filter(|way| way.last().is_some_and(|place| place.line > 0));
        let ways: Vec<Vec<Place>> = ways.collect();
        let first = ways.first()?;
        let is_shared = |level: usize| {
            let here = |way: &Vec<Place>| way.get(level) == Some(&first[level]);
            ways.iter().all(here)
        };
        let is_written = |level: usize| {
            let here = |way: &Vec<Place>| {
                let place = way.get(level);
                place.is_some_and(|place| is_in(place, &first[level]))
            };
            ways.iter().all(here)
        };
        let deepest = (0..first.len()).find(|&level| !is_shared(level));
        let deepest = deepest.unwrap_or(first.len() - 1);
        // Functions of a library in between are not among the places, so these may differ already.
        let level = (0..=deepest).rev().find(|&level| is_written(level))?;
        let function = &first[level];
        let mut lines = BTreeSet::new();
        for way in &ways {
            let mut inside = way[level..].iter();
            lines.extend(inside.next().map(|place| place.line));
            let inside =
                inside.take_while(|place| is_closure(place) && place.file == function.file);
            lines.extend(inside.map(|place| place.line));
        }
        Some(Lines {
            file: function.file.clone(),
            function: function.function.clone(),
            first: *lines.first()?,
            last: *lines.last()?,
        })
    }

    /// Each of the lines, as a place.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        (self.first..=self.last).map(|line| Place {
            file: self.file.clone(),
            line,
            column: 0,
            function: self.function.clone(),
            link: Link::Inlined,
        })
    }

    /// Whether other lines are among these.
    pub fn contain(&self, other: &Lines) -> bool {
        self.file == other.file && self.first <= other.first && other.last <= self.last
    }
}

/// `lines 3 to 7`, or `line 3`.
impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "line {}", self.first),
            false => write!(f, "lines {} to {}", self.first, self.last),
        }
    }
}

/// Whether two places are in one function.
fn is_in(place: &Place, other: &Place) -> bool {
    (&place.file, &place.function) == (&other.file, &other.function)
}

/// Whether a place is in a closure of Rust or a lambda of C++.
fn is_closure(place: &Place) -> bool {
    let name = &place.function;
    name.contains("{closure") || name.contains("{{closure}}") || name.contains("operator()")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::LocData;

    /// The lines of instructions, each given by `function:line`s from the outermost function on.
    fn check(ways: &[&str], expected: &str) {
        let mut module = Module::default();
        let mut locs = BTreeSet::new();
        for way in ways {
            let mut loc = None;
            for part in way.split(' ') {
                let (function, line) = part.split_once(':').unwrap();
                loc = Some(module.locs.push(LocData {
                    file: "a.c".to_string(),
                    line: line.parse().unwrap(),
                    column: 1,
                    function: function.to_string(),
                    inlined_at: loc,
                    origin: None,
                }));
            }
            locs.extend(loc);
        }
        let found = Lines::new(&module, &locs);
        let found = found.map(|lines| format!("{}, {lines}", lines.function));
        assert_eq!(found.unwrap_or_default(), expected, "{ways:?}");
    }

    #[test]
    fn lines_are_those_of_the_function_that_has_the_loops() {
        check(&[], "");
        check(&["f:3"], "f, line 3");
        check(&["f:3", "f:7", "f:5"], "f, lines 3 to 7");
        check(&["f:3", "f:4 g:20"], "f, lines 3 to 4");
        check(&["f:9 g:20", "f:9 g:23"], "g, lines 20 to 23");
        check(&["f:9 g:20", "f:9 g:23 h:1"], "g, lines 20 to 23");
        check(&["f:9 g:20", "f:9 h:23"], "f, line 9");
        check(&["f:9 {closure#0}:11", "f:9"], "f, lines 9 to 11");
        check(&["f:0", "f:2"], "f, line 2");
    }
}
