//! A report as text.

use super::collect::ADDRESS_BYTES;
use super::{
    Argument, CallFact, CalledBy, Fact, Form, KeptFact, Lines, LoopFact, LoopName, Reason, Records,
    Report, Times, Trips, ValueFact, Version, What,
};
use crate::diagnostic::Place;
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title())?;
        if self.form != Form::Forward {
            writeln!(f, "  frame: {} for each call", bytes(self.frame_bytes))?;
        }
        let overwritten = self.arguments.iter().enumerate();
        let overwritten = overwritten.filter(|(_, argument)| argument.overwritten);
        let overwritten = overwritten.map(|(position, argument)| argument.called(position));
        let overwritten: Vec<String> = overwritten.collect();
        if !overwritten.is_empty() {
            let all = overwritten.join(", ");
            writeln!(f, "  may be overwritten between the sweeps: {all}")?;
        }
        if self.on_stack {
            writeln!(f, "  its tapes are on a stack of their own")?;
        }
        let mut lines: Vec<(String, usize)> = Vec::new();
        for fact in &self.facts {
            if matches!(fact.what, What::Active(_)) {
                continue;
            }
            let line = fact.to_string();
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => lines.push((line, 1)),
            }
        }
        for (line, count) in lines {
            match count {
                1 => writeln!(f, "  {line}")?,
                count => writeln!(f, "  {line} ({count} times)")?,
            }
        }
        // What is active comes last, a line of the program on a line.
        let mut active: Vec<(String, Vec<&str>)> = Vec::new();
        for fact in &self.facts {
            if let What::Active(what) = &fact.what {
                let place = fact.places.first().map(line).unwrap_or_default();
                match active.iter_mut().find(|(known, _)| *known == place) {
                    Some((_, all)) if all.contains(&what.as_str()) => {}
                    Some((_, all)) => all.push(what),
                    None => active.push((place, vec![what])),
                }
            }
        }
        for (place, what) in active {
            writeln!(f, "  {}active: {}", prefix(&place), what.join(", "))?;
        }
        Ok(())
    }
}

impl Report {
    /// What the report is about, in one line.
    pub fn title(&self) -> String {
        let mode = match self.form {
            Form::Forward => "forward mode",
            Form::Combined | Form::Split => "reverse mode",
        };
        let form = match self.form {
            Form::Split => ", forward and reverse sweep apart",
            _ => "",
        };
        let version = match self.version {
            Version::Only => "",
            Version::Overlapping => ", the version that runs when memory overlaps",
            Version::Disjoint => ", the version that runs when memory does not overlap",
        };
        format!("{mode} of `{}`{form}{version}", self.function)
    }
}

impl Argument {
    /// Its name, or what to call it at a position, from 0.
    pub fn called(&self, position: usize) -> String {
        match self.name.as_str() {
            "" => format!("argument {}", position + 1),
            name => name.to_string(),
        }
    }
}

/// A number of bytes.
fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_string(),
        count => format!("{count} bytes"),
    }
}

/// Where some loops are: `file, lines 3 to 7`, or a place if their lines are not known.
fn within(lines: Option<&Lines>, place: String) -> String {
    match lines {
        Some(lines) if lines.first == lines.last => format!("{}:{}", lines.file, lines.first),
        Some(lines) => format!("{}, {lines}", lines.file),
        None => place,
    }
}

/// `file:line`.
fn line(place: &Place) -> String {
    format!("{}:{}", place.file, place.line)
}

fn prefix(place: &str) -> String {
    match place {
        "" => String::new(),
        place => format!("{place}: "),
    }
}

impl fmt::Display for LoopName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => f.write_str(&line(place)),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.places.first().map(line).unwrap_or_default();
        match &self.what {
            What::Loop(l) => {
                let place = match place.as_str() {
                    "" => &l.name,
                    place => place,
                };
                write!(f, "loop at {place} (depth {}): {l}", l.depth)
            }
            What::Active(what) => write!(f, "{}active: {what}", prefix(&place)),
            What::Nest(nest) => {
                let place = within(nest.lines.as_ref(), place);
                write!(f, "{}{nest}", prefix(&place))
            }
            What::Search(lines) => {
                let place = within(lines.as_ref(), place);
                write!(f, "{}{SEARCH}", prefix(&place))
            }
            What::Unraised(lines, why) => {
                let at = match lines {
                    Some(lines) if lines.first < lines.last => self.obstacle(lines),
                    _ => String::new(),
                };
                let place = within(lines.as_ref(), place);
                write!(f, "{}the loop stays a loop: {why}{at}", prefix(&place))
            }
            What::Seen(lines, shape) => {
                let place = within(lines.as_ref(), place);
                write!(f, "{}{shape}, as a loop", prefix(&place))
            }
            What::Call(call) => write!(f, "{}{call}", prefix(&place)),
            What::Value(value) => write!(f, "{}{value}", prefix(&place)),
            What::Kept(kept) => write!(f, "{}{kept}", prefix(&place)),
            What::Check(by) => {
                write!(f, "{}checked at the start: what is read", prefix(&place))?;
                let by = by.as_ref().map(|by| format!(" at {}", line(by)));
                let by = by.unwrap_or_default();
                write!(f, " does not overlap what is written later{by}")
            }
        }
    }
}

impl Fact {
    /// Where in some lines the fact is, in brackets.
    fn obstacle(&self, lines: &Lines) -> String {
        match self.places.first() {
            Some(place) if place.file == lines.file => format!(" (line {})", place.line),
            Some(place) => format!(" ({})", line(place)),
            None => String::new(),
        }
    }
}

/// What there is to say of a loop that searches.
pub const SEARCH: &str =
    "the loop searches for a number: only the iteration that has found it is differentiated";

impl fmt::Display for LoopFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.trips {
            Trips::Constant(1) => write!(f, "runs once")?,
            Trips::Constant(n) => write!(f, "runs {n} times")?,
            Trips::Before => write!(f, "counted before it begins")?,
            Trips::After => write!(f, "counted while it runs")?,
        }
        if self.exits > 1 {
            write!(f, ", left from {} places", self.exits)?;
        }
        let bytes = bytes(self.bytes);
        match &self.records {
            Records::None => write!(f, ", nothing kept of an iteration"),
            Records::Before(root) => write!(
                f,
                ", {bytes} for each iteration, allocated before the loop at {root}, and \
                 {ADDRESS_BYTES} for the address"
            ),
            Records::Inside => write!(f, ", {bytes} for each iteration, on the tape around it"),
            Records::Growing => {
                write!(
                    f,
                    ", {bytes} for each iteration, on a tape that grows, and {ADDRESS_BYTES} for \
                     its address"
                )
            }
        }
    }
}

impl fmt::Display for CallFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (callee, bytes) = (&self.callee, bytes(self.bytes));
        let list = match self.gets_list {
            true => format!(", with a list of what is freed late, {ADDRESS_BYTES} bytes"),
            false => String::new(),
        };
        if self.apart {
            return write!(
                f,
                "the call of `{callee}` has a frame apart, {bytes} for its address{list}, because \
                 it leads back to itself and keeps something each time"
            );
        }
        let how = match self.by {
            CalledBy::Replay => {
                return write!(
                    f,
                    "the call of `{callee}` is replayed: it keeps nothing, and both of its sweeps \
                     run when it is reversed"
                );
            }
            CalledBy::Early => {
                return write!(
                    f,
                    "the call of `{callee}` is reversed at once, because its adjoint is known \
                     before: nothing is kept for it"
                );
            }
            CalledBy::Body => "is split into two sweeps",
            CalledBy::Rule => "has a derivative of the program's",
            CalledBy::LinearAlgebra => "has a derivative by linear algebra",
        };
        write!(f, "the call of `{callee}` {how}, frame of {bytes}{list}")?;
        match &self.per {
            Some(l) if self.bytes > 0 => write!(f, " for each iteration of the loop at {l}"),
            _ => Ok(()),
        }
    }
}

impl ValueFact {
    /// What to say behind the bytes if they are not written once in each iteration, or call.
    pub fn when(&self) -> &'static str {
        match (self.times, &self.per) {
            (Times::Once, _) => "",
            (Times::AtMostOnce, Some(_)) => " that comes here",
            (Times::AtMostOnce, None) => " if control comes here",
            (Times::Again, _) => ", written each time it is computed",
        }
    }
}

impl fmt::Display for KeptFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the memory that is allocated here")?;
        if let Some(count) = self.bytes {
            write!(f, ", {},", bytes(count))?;
        }
        if let Some(l) = &self.per {
            write!(f, " in each iteration of the loop at {l}")?;
        }
        f.write_str(" stays until the reverse sweep")?;
        match &self.freed {
            Some(freed) => write!(f, " instead of being freed at {}", line(freed)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ValueFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({})", self.what)?,
            None => f.write_str(&self.what)?,
        }
        write!(f, " : {} is {}", self.ty, self.how.name())?;
        if self.bytes > 0 {
            write!(f, ", {}", bytes(self.bytes))?;
            if let Some(l) = &self.per {
                write!(f, " for each iteration of the loop at {l}")?;
            }
            f.write_str(self.when())?;
        }
        match self.why.before {
            "" => Ok(()),
            _ => write!(f, ", because {}", self.why),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.before)?;
        if let Some(by) = &self.by {
            write!(f, " at {}", line(by))?;
        }
        match self.after {
            "" => Ok(()),
            after => write!(f, " {after}"),
        }
    }
}
