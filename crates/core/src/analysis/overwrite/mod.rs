//! Whether memory that was read is still the same when the reverse sweep runs.
//!
//! The reverse sweep runs after the whole forward sweep, so the window of a read lasts from the read
//! to the end of the function, and on for as long as the caller says. For each read and each write
//! that can come after it, the two must be shown apart: by their objects, by their alias classes,
//! or, for affine addresses from one base, by the distance between them, for each way in which the
//! write can come later: in the same iteration of the loops around both, or in a later iteration of
//! one of them (equal counters outside of that loop, any inside). The distance is bounded by
//! constants ([`pairs`]) or by what branches and the ends of loops say of its symbols ([`proof`]):
//! `a[k*n + j]` is never written again in rows `i` above `k`. What is left is a pair of address
//! ranges that the derivative can compare at run time when it is entered, if both ranges are known
//! then.
//!
//! Memory that the function frees is overwritten by that, unless the free waits for the reverse sweep
//! ([`Keepable`]): then the answer holds for as long as it does, and says which frees have to wait.
//! Memory that is made anew in each iteration of a loop is other memory in each of them as long as
//! none of it is freed, so such answers depend on that, too ([`renewed`]).

mod pairs;
mod proof;
mod reads;
mod renewed;
mod writes;

pub(crate) use renewed::passed_on;

use super::activity::keepable::{Group, Keepable};
use super::alias::Aliases;
use super::cfg::Cfg;
use super::dominators::Dominators;
use super::effects::Effects;
use super::facts::Facts;
use super::loops::Loops;
use super::points_to::{Object, PointsTo};
use super::ranges::Range;
use super::trip_count::trip_counts;
use crate::ir::{Func, Function, Inst, Module, Op};
use crate::planted::Defect;
use pairs::Analysis;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use writes::{Later, Touch, size_of, writes};

/// What happens between the end of the function and the reverse sweep.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Window {
    /// For each argument whether the memory behind it may be overwritten; missing ones may not.
    pub arguments: Vec<bool>,
    /// Whether all other memory (globals, what pointers in memory point to) may be.
    pub other: bool,
    /// Whether new memory that the result leads to may be.
    pub result: bool,
    /// Whether the frame of the function ends, because the sweeps are two functions.
    pub frame_ends: bool,
    /// A mistake to make, for tests of tests.
    #[doc(hidden)]
    pub planted: Option<Defect>,
}

impl Window {
    fn breaks(&self, defect: Defect) -> bool {
        self.planted == Some(defect)
    }
}

/// Whether the bytes of a read are intact when the reverse sweep runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Overwritten {
    /// They are.
    Never,
    /// They are if the two ranges of each condition are disjoint.
    IfOverlap(Vec<Condition>),
    /// They may not be.
    Yes(Because),
}

/// Two ranges of addresses, expressed by values that are known when the function is entered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// What is read.
    pub read: Range,
    /// What is written later.
    pub write: Range,
    /// The instruction that writes.
    pub by: Inst,
}

/// Why a read may not be repeated.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Because {
    /// This instruction may write or free the bytes, or end their lifetime.
    Inst(Inst),
    /// The memory belongs to the frame, which ends.
    FrameEnds,
    /// The caller may write the memory later.
    Caller,
    /// The read is volatile or atomic.
    Observable,
}

/// The answers for every read of a function. The default has none, and says yes to every question.
#[derive(Clone, Debug, Default)]
pub struct Overwrite {
    reads: HashMap<Inst, Overwritten>,
    /// What loads read from one address in all iterations of the innermost loop around them, while it
    /// runs.
    steady: HashMap<Inst, Overwritten>,
    /// For each nest, its inputs.
    nests: HashMap<Inst, Vec<Overwritten>>,
    calls: HashMap<Inst, Call>,
    /// For each of these instructions, the memory that must not be freed for the answers to hold.
    kept: HashMap<Inst, BTreeSet<Group>>,
}

/// What is known of the memory that a call sees.
#[derive(Clone, Debug)]
struct Call {
    arguments: Vec<Overwritten>,
    other: Overwritten,
    result: Overwritten,
    /// The memory behind each argument that must not be freed for the answer about it to hold.
    kept: Vec<BTreeSet<Group>>,
}

impl Overwrite {
    /// Answers for a function in canonical form (the answers for others are sound but coarser).
    /// None if it is a declaration or has a cycle with two entries.
    pub fn new(
        module: &Module,
        func: Func,
        effects: &Effects,
        window: &Window,
    ) -> Option<Overwrite> {
        Overwrite::of_function(module, &module.funcs[func], effects, window)
    }

    /// The same for a function that is not in the module (yet).
    pub fn of_function(
        module: &Module,
        func: &Function,
        effects: &Effects,
        window: &Window,
    ) -> Option<Overwrite> {
        Overwrite::keeping(module, func, effects, window, &Keepable::default())
    }

    /// The same if the frees of some memory may wait for the reverse sweep.
    pub fn keeping(
        module: &Module,
        func: &Function,
        effects: &Effects,
        window: &Window,
        keepable: &Keepable,
    ) -> Option<Overwrite> {
        if func.is_declaration() {
            return None;
        }
        let cfg = Cfg::new(func);
        let dominators = Dominators::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &dominators).ok()?;
        let points_to = PointsTo::new(func, effects);
        let analysis = Analysis {
            returned: returned(func, &points_to),
            module,
            func,
            window,
            trips: trip_counts(func, &cfg, &dominators, &loops),
            aliases: Aliases::new(module, func, &cfg, &loops, &points_to),
            writes: writes(module, func, &cfg, effects),
            facts: Facts::new(func, &cfg, &dominators, &loops)
                .too_tight(window.breaks(Defect::BoundsTooTight)),
            fuel: Cell::new(proof::FUEL),
            effects,
            keepable,
            kept: RefCell::default(),
            summaries: Default::default(),
            cfg: &cfg,
            loops: &loops,
            points_to: &points_to,
        };
        let mut result = Overwrite::default();
        for &block in cfg.reverse_postorder() {
            let is_read = |&&inst: &&Inst| {
                let op = &func.inst(inst).op;
                matches!(op, Op::Load(_) | Op::MemCopy { .. } | Op::Nest(_)) || op.call().is_some()
            };
            if !func.block_insts(block).iter().any(|inst| is_read(&inst)) {
                continue;
            }
            let later = Later::new(&cfg, &loops, block);
            for (index, &inst) in func.block_insts(block).iter().enumerate() {
                let data = func.inst(inst);
                let at = (block, index, inst);
                match &data.op {
                    Op::Load(access) => {
                        let size = func.result(inst).and_then(|v| size_of(module, func, v));
                        let read = Touch::new(block, data.args[0], size, Some(access));
                        result.reads.insert(inst, analysis.read(at, &read, &later));
                        if let Some(answer) = analysis.in_loop(&read) {
                            result.steady.insert(inst, answer);
                        }
                    }
                    Op::MemCopy { src, .. } => {
                        let mut read = Touch::new(block, data.args[1], None, Some(src));
                        read.set_length(func, data.args[2]);
                        result.reads.insert(inst, analysis.read(at, &read, &later));
                    }
                    Op::Nest(nest) => {
                        let inputs = (0..nest.inputs.len()).map(|input| {
                            let read = Touch::of_view(module, block, nest, &data.args, input);
                            analysis.read(at, &read, &later)
                        });
                        result.nests.insert(inst, inputs.collect());
                    }
                    Op::Call(_) | Op::Invoke { .. } => {
                        let (_, pointers) = effects.inst(data);
                        let call = analysis.call(at, pointers, &later);
                        result.calls.insert(inst, call);
                    }
                    _ => {}
                }
                let kept = analysis.kept.take();
                if !kept.is_empty() {
                    result.kept.insert(inst, kept);
                }
            }
        }
        Some(result)
    }

    /// Whether the bytes that a load, or the source side of a copy, read are intact later.
    /// Instructions that were not looked at count as overwritten by themselves.
    pub fn read(&self, inst: Inst) -> Overwritten {
        match self.reads.get(&inst) {
            Some(answer) => answer.clone(),
            None => Overwritten::Yes(Because::Inst(inst)),
        }
    }

    /// Whether the bytes that a load reads from one address in all iterations of the innermost loop
    /// around it are never written while that runs, if all conditions of other reads hold.
    pub fn is_steady(&self, load: Inst, disjoint: bool) -> bool {
        match self.steady.get(&load) {
            Some(Overwritten::Never) => true,
            Some(Overwritten::IfOverlap(needed)) if disjoint => {
                let checked = self.conditions();
                needed.iter().all(|needed| {
                    let same = |(_, c): &(Inst, Condition)| {
                        c.read == needed.read && c.write == needed.write
                    };
                    checked.iter().any(same)
                })
            }
            _ => false,
        }
    }

    /// Whether the elements of a nest's input are intact later.
    pub fn input(&self, nest: Inst, index: usize) -> Overwritten {
        match self.nests.get(&nest).and_then(|inputs| inputs.get(index)) {
            Some(answer) => answer.clone(),
            None => Overwritten::Yes(Because::Inst(nest)),
        }
    }

    /// The memory that must stay until the reverse sweep for the answers about a load, a nest or a
    /// call to hold.
    pub fn kept(&self, inst: Inst) -> impl Iterator<Item = Group> + '_ {
        self.kept.get(&inst).into_iter().flatten().copied()
    }

    /// The memory that must stay for the answer about what an argument of a call points to.
    pub fn kept_behind(&self, call: Inst, argument: usize) -> impl Iterator<Item = Group> + '_ {
        let known = self.calls.get(&call);
        let kept = known.and_then(|call| call.kept.get(argument));
        kept.into_iter().flatten().copied()
    }

    /// Every condition under which some read, here or in a callee, is intact, each once, with the
    /// first such read.
    pub fn conditions(&self) -> Vec<(Inst, Condition)> {
        let reads = self.reads.iter().map(|(&inst, answer)| (inst, answer));
        let inputs = self.nests.iter();
        let inputs = inputs.flat_map(|(&i, answers)| answers.iter().map(move |a| (i, a)));
        let calls = self.calls.iter();
        let calls = calls.flat_map(|(&i, call)| call.arguments.iter().map(move |a| (i, a)));
        let mut answers: Vec<_> = reads.chain(inputs).chain(calls).collect();
        answers.sort_by_key(|(inst, _)| *inst);
        let mut seen = HashSet::new();
        let mut all: Vec<(Inst, Condition)> = Vec::new();
        for (inst, answer) in answers {
            let Overwritten::IfOverlap(conditions) = answer else {
                continue;
            };
            for condition in conditions {
                if seen.insert((&condition.read, &condition.write)) {
                    all.push((inst, condition.clone()));
                }
            }
        }
        all
    }

    /// Whether the memory that an argument of a call points to is intact after the call.
    pub fn argument(&self, call: Inst, index: usize) -> Overwritten {
        let known = self.calls.get(&call);
        match known.map(|call| call.arguments.get(index)) {
            Some(Some(answer)) => answer.clone(),
            Some(None) => Overwritten::Never,
            None => Overwritten::Yes(Because::Inst(call)),
        }
    }

    /// The window of the callee: what may be overwritten between the call and its reverse, if all
    /// ranges are known to be disjoint or if nothing is known of them.
    pub fn window_of_call(&self, call: Inst, disjoint: bool) -> Window {
        let intact = |answer: &Overwritten| match answer {
            Overwritten::Never => true,
            Overwritten::IfOverlap(_) => disjoint,
            Overwritten::Yes(_) => false,
        };
        match self.calls.get(&call) {
            Some(known) => Window {
                arguments: known.arguments.iter().map(|a| !intact(a)).collect(),
                other: !intact(&known.other),
                result: !intact(&known.result),
                frame_ends: false,
                planted: None,
            },
            None => Window {
                arguments: Vec::new(),
                other: true,
                result: true,
                frame_ends: false,
                planted: None,
            },
        }
    }
}

/// The objects that the caller can reach from the result.
fn returned(func: &Function, points_to: &PointsTo) -> BTreeSet<Object> {
    let terminators = func.blocks().iter().filter_map(|&b| func.terminator(b));
    terminators
        .map(|inst| func.inst(inst))
        .filter(|data| data.op == Op::Return)
        .flat_map(|data| &data.args)
        .flat_map(|&value| points_to.reachable(value))
        .collect()
}

impl fmt::Display for Overwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overwritten::Never => write!(f, "never"),
            Overwritten::Yes(Because::Inst(inst)) => write!(f, "by {inst}"),
            Overwritten::Yes(Because::FrameEnds) => write!(f, "when the frame ends"),
            Overwritten::Yes(Because::Caller) => write!(f, "by the caller"),
            Overwritten::Yes(Because::Observable) => write!(f, "may change at any time"),
            Overwritten::IfOverlap(conditions) => {
                write!(f, "if")?;
                for (i, c) in conditions.iter().enumerate() {
                    let or = if i == 0 { "" } else { " or" };
                    write!(f, "{or} {} meets {} of {}", c.read, c.write, c.by)?;
                }
                Ok(())
            }
        }
    }
}
