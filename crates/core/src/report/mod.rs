//! What was decided about a derivative, for `zymase explain`: facts, each about a place in the
//! source program. Text ([`text`]) is one rendering of them; others may make other ones.

mod collect;
mod lines;
mod nests;
mod text;
mod values;

pub use lines::Lines;
pub(crate) use nests::OfLoops;
pub use nests::{NestFact, OfNest};

use crate::diagnostic::Place;
use crate::ir::{Block, Func};

/// What was decided about one derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The symbol of the function that was differentiated.
    pub function: String,
    /// What the source program calls it, and the first place in it that is known.
    pub place: Option<Place>,
    /// Forward or reverse, in one function or two.
    pub form: Form,
    /// What it assumes of memory.
    pub version: Version,
    /// How many derivatives at once.
    pub width: u32,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// The activity of the result in words.
    pub result: &'static str,
    /// The size of the frame in bytes, once for each call.
    pub frame_bytes: u64,
    /// Whether its tapes come from a stack instead of the heap.
    pub on_stack: bool,
    /// The function that makes its tapes, if there may be several at a time: a forward sweep of its
    /// own, or a replayed iteration.
    pub(crate) sweep: Option<Func>,
    /// How many bytes the forward sweep writes each time it comes to a block, as the facts have it.
    pub(crate) written: Vec<Written>,
    /// The facts, in the order of the program.
    pub facts: Vec<Fact>,
}

/// What the forward sweep writes for the reverse sweep.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Each time it comes to this block.
    pub block: Block,
    /// So many bytes.
    pub bytes: u64,
    /// Whether they stay in the frame of the function that is both sweeps.
    pub kept: bool,
}

/// An argument of a function that is differentiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name, which may be empty.
    pub name: String,
    /// Its activity in words.
    pub activity: &'static str,
    /// Whether memory behind it may be overwritten between the two sweeps.
    pub overwritten: bool,
}

/// What kind of derivative a report is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Forward mode.
    Forward,
    /// Reverse mode in one function.
    Combined,
    /// Reverse mode in two functions.
    Split,
}

/// What a derivative assumes of memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// Nothing, and there is no other version.
    Only,
    /// Nothing; there is another version for memory that does not overlap.
    Overlapping,
    /// Ranges do not overlap, which was checked.
    Disjoint,
}

/// A fact about a place in the source program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Where, and behind that the calls it was inlined through; empty if that is not known.
    pub places: Vec<Place>,
    /// The fact.
    pub what: What,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A derivative flows through an operation.
    Active(String),
    /// A loop and how it is reversed.
    Loop(LoopFact),
    /// A loop nest that was seen as a whole.
    Nest(NestFact),
    /// A loop that searches for a number, whose derivative is that of the iteration that has found it.
    Search(Option<Lines>),
    /// Loops that multiply and add up but stay loops, and what stood in the way of more.
    Unraised(Option<Lines>, &'static str),
    /// Loops that stay loops because their adjoints are as fast as those of nests would be, and what
    /// they compute.
    Seen(Option<Lines>, String),
    /// A call and how it is reversed.
    Call(CallFact),
    /// A value that the reverse sweep needs.
    Value(ValueFact),
    /// Memory that stays until the reverse sweep.
    Kept(KeptFact),
    /// The derivative checks when it is called that what is read here does not overlap what is
    /// written there.
    Check(Option<Place>),
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFact {
    /// What to call it where it has no place.
    pub name: String,
    /// How deep it is nested; 1 is outermost.
    pub depth: u32,
    /// How often it runs.
    pub trips: Trips,
    /// From how many blocks it is left.
    pub exits: usize,
    /// Bytes for each iteration.
    pub bytes: u64,
    /// Where these bytes are.
    pub records: Records,
}

/// How often a loop runs, as the reverse sweep knows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Trips {
    /// Always so often.
    Constant(u64),
    /// That is known before it begins.
    Before,
    /// That is known when it has ended.
    After,
}

/// Where the records of a loop are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Records {
    /// There are none.
    None,
    /// In an array that is allocated before this loop, itself or one around it.
    Before(LoopName),
    /// In the record of what is around the loop.
    Inside,
    /// In an array that grows while the loop runs.
    Growing,
}

/// A loop that another fact is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopName {
    /// What to call it where it has no place.
    pub name: String,
    /// Where it is.
    pub place: Option<Place>,
}

/// A call that is differentiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFact {
    /// The symbol of the function that is called.
    pub callee: String,
    /// How its derivative is made.
    pub by: CalledBy,
    /// Bytes in the frame or record of the caller.
    pub bytes: u64,
    /// Whether that is only the address of a frame that has memory of its own.
    pub apart: bool,
    /// Whether the callee frees memory late, and gets a list for that.
    pub gets_list: bool,
    /// The loop for each iteration of which there are such bytes.
    pub per: Option<LoopName>,
}

/// How the derivative of a callee is made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CalledBy {
    /// From its body.
    Body,
    /// By a rule that the program gives.
    Rule,
    /// By equations of linear algebra.
    LinearAlgebra,
    /// From its body, of which both sweeps run when the call is reversed.
    Replay,
    /// From its body, of which both sweeps run in the place of the call.
    Early,
}

/// Memory that the program makes and frees, and that stays until the reverse sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFact {
    /// How many bytes it has, if that is always the same.
    pub bytes: Option<u64>,
    /// The loop in each iteration of which it is made.
    pub per: Option<LoopName>,
    /// Where the program frees it.
    pub freed: Option<Place>,
}

/// A value that the reverse sweep needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFact {
    /// What the program, or the compiler that read it, calls it.
    pub name: Option<String>,
    /// What it is: an operation, as a rule.
    pub what: String,
    /// Its type.
    pub ty: String,
    /// Whether it is a number of the program, and not an address, an index or a count.
    pub is_number: bool,
    /// How the reverse sweep gets it.
    pub how: How,
    /// Bytes each time it is cached or kept; 0 if it is neither.
    pub bytes: u64,
    /// The loop in each iteration of which it is needed.
    pub per: Option<LoopName>,
    /// How often it is cached in one iteration, or one call.
    pub times: Times,
    /// Why.
    pub why: Reason,
}

/// How often a value is cached.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Times {
    /// Once.
    Once,
    /// Once if control comes there.
    AtMostOnce,
    /// In every iteration of a loop inside, of which the last counts.
    Again,
}

/// How the reverse sweep gets a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// From the tape.
    Cached,
    /// From the function that is both sweeps: in a register, or in its own frame.
    Kept,
    /// By computing it again.
    Recomputed,
    /// By reading it from the program's memory again.
    Reloaded,
}

impl How {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            How::Cached => "cached",
            How::Kept => "kept",
            How::Recomputed => "recomputed",
            How::Reloaded => "reloaded",
        }
    }
}

/// A reason, which may name a place: *its memory may be overwritten* at a line *if ranges overlap*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What comes before the place.
    pub before: &'static str,
    /// The place.
    pub by: Option<Place>,
    /// What comes after it.
    pub after: &'static str,
}

/// How much there is of everything, for summaries.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Values on the tape.
    pub cached: usize,
    /// Values in the frame of a derivative in one function.
    pub kept: usize,
    /// Values that are computed again.
    pub recomputed: usize,
    /// Values that are read again.
    pub reloaded: usize,
    /// Loops, nests included.
    pub loops: usize,
    /// Calls that are differentiated.
    pub calls: usize,
    /// Comparisons of ranges when the derivative is called.
    pub checks: usize,
    /// Allocations that stay until the reverse sweep.
    pub staying: usize,
}

impl Report {
    /// Counts the facts.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for fact in &self.facts {
            let counter = match &fact.what {
                What::Active(_) | What::Search(_) | What::Unraised(..) | What::Seen(..) => {
                    continue;
                }
                // The loops that it has become count as such.
                What::Nest(nest) if matches!(nest.derivative, OfNest::Loops(_)) => continue,
                What::Loop(_) | What::Nest(_) => &mut totals.loops,
                What::Call(_) => &mut totals.calls,
                What::Check(_) => &mut totals.checks,
                What::Kept(_) => &mut totals.staying,
                What::Value(value) => match value.how {
                    How::Cached => &mut totals.cached,
                    How::Kept => &mut totals.kept,
                    How::Recomputed => &mut totals.recomputed,
                    How::Reloaded => &mut totals.reloaded,
                },
            };
            *counter += 1;
        }
        totals
    }
}
