//! What was decided about a derivative, for `zymase explain`.

use crate::ir::{Loc, Module, Value, ValueDef};
use crate::plan::{Need, Plan, Source};
use crate::primal::Primal;
use crate::reverse::{Augmented, Layout};
use std::fmt;

/// The plan of one reverse-mode derivative, on source lines where the program has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The function that was differentiated.
    pub function: String,
    /// Whether this is the version for memory that does not overlap.
    pub disjoint: bool,
    /// The size of the frame in bytes.
    pub frame_bytes: u64,
    /// The size of the record of one iteration, for each loop that has one.
    pub loops: Vec<LoopReport>,
    /// What calls keep, in the order of the program.
    pub calls: Vec<CallReport>,
    /// What the reverse sweep needs, in the order of the program.
    pub values: Vec<ValueReport>,
}

/// The frame of a callee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallReport {
    /// The function that is called.
    pub callee: String,
    /// Where the call is, or empty.
    pub place: String,
    /// Bytes in the frame or record of the caller.
    pub bytes: u64,
    /// Whether that is only the address of a frame that has memory of its own.
    pub apart: bool,
}

/// The tape of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReport {
    /// Where the loop is: `file:line`, or the number of its header.
    pub place: String,
    /// Bytes for each iteration.
    pub bytes: u64,
    /// How deep it is nested; 1 is outermost.
    pub depth: u32,
}

/// How the reverse sweep gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueReport {
    /// What the value is.
    pub what: String,
    /// Where it is computed, or empty.
    pub place: String,
    /// `cached` or `recomputed`.
    pub source: String,
    /// Bytes each time it is cached.
    pub bytes: u64,
    /// Why it is not had for less, where that is known.
    pub why: String,
}

impl Report {
    /// Collects what a plan says.
    pub fn new(
        module: &Module,
        primal: &Primal,
        augmented: &Augmented,
        plan: &Plan,
        layout: &Layout,
    ) -> Report {
        let mut loops: Vec<LoopReport> = Vec::new();
        for l in primal.loops.iter() {
            let bytes = layout.record_bytes(l);
            if bytes > 0 {
                let header = primal.loops.header(l);
                let insts = primal.function.block_insts(header).iter();
                let loc = insts.copied().find_map(|i| primal.function.inst(i).loc);
                let place = place(module, loc);
                loops.push(LoopReport {
                    place: if place.is_empty() {
                        header.to_string()
                    } else {
                        place
                    },
                    bytes,
                    depth: primal.loops.depth(l),
                });
            }
        }
        let mut calls: Vec<_> = augmented.calls.iter().collect();
        calls.sort_by_key(|(inst, _)| **inst);
        let calls = calls.into_iter().map(|(&inst, call)| {
            let frame = layout.callee_frame(inst);
            CallReport {
                callee: module.funcs[call.key.func].name.clone(),
                place: place(module, primal.function.inst(inst).loc),
                bytes: frame.bytes,
                apart: frame.on_heap,
            }
        });
        let calls = calls.filter(|call| call.bytes > 0).collect();
        let mut needs: Vec<Need> = plan.sources.keys().copied().collect();
        needs.sort();
        let values = needs.into_iter().map(|need| {
            let (what, loc) = describe(primal, augmented, need.value);
            let source = plan.source(need);
            let ty = augmented.func.ty(need.value);
            ValueReport {
                what: format!("{what} : {ty}"),
                place: place(module, loc),
                source: match source {
                    Source::Cache => "cached".to_string(),
                    Source::Recompute => "recomputed".to_string(),
                },
                bytes: match source {
                    Source::Cache => module.layout.store_size(ty),
                    Source::Recompute => 0,
                },
                why: plan.why(need),
            }
        });
        Report {
            function: primal.function.name.clone(),
            disjoint: primal.key.disjoint,
            frame_bytes: layout.frame_bytes(),
            loops,
            calls,
            values: values.collect(),
        }
    }
}

fn describe(primal: &Primal, augmented: &Augmented, value: Value) -> (String, Option<Loc>) {
    let data = augmented.func.value(value);
    let name = data.name.clone();
    match &data.def {
        ValueDef::Result(inst) => {
            let added = inst.as_u32() as usize >= primal.function.inst_count();
            let what = match added {
                true if augmented.func.ty(value).scalar().is_ptr() => "shadow pointer".to_string(),
                true => "number of iterations".to_string(),
                false => primal.describe(*inst),
            };
            let what = name.map_or(what.clone(), |name| format!("{name} ({what})"));
            (what, augmented.func.inst(*inst).loc)
        }
        ValueDef::Param(block, position) => {
            let primal_params = primal.function.block_params(*block).len();
            let what = match *position < primal_params {
                true => "merged value",
                false if augmented.came_by.get(block) == Some(&value) => "which way control came",
                false => "merged shadow",
            };
            (name.unwrap_or(what.to_string()), None)
        }
        ValueDef::Const(_) => ("constant".to_string(), None),
    }
}

fn place(module: &Module, loc: Option<Loc>) -> String {
    match loc {
        Some(loc) => {
            let data = &module.locs[loc];
            format!("{}:{}", data.file, data.line)
        }
        None => String::new(),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = match self.disjoint {
            true => ", the version that runs when memory does not overlap",
            false => "",
        };
        writeln!(f, "reverse mode of `{}`{version}", self.function)?;
        writeln!(f, "  frame: {} bytes for each call", self.frame_bytes)?;
        for l in &self.loops {
            let LoopReport {
                place,
                bytes,
                depth,
            } = l;
            writeln!(
                f,
                "  loop at {place} (depth {depth}): {bytes} bytes for each iteration"
            )?;
        }
        for call in &self.calls {
            let place = match call.place.as_str() {
                "" => String::new(),
                place => format!("{place}: "),
            };
            let (callee, bytes) = (&call.callee, call.bytes);
            match call.apart {
                true => writeln!(
                    f,
                    "  {place}the call of `{callee}` has a frame apart, {bytes} bytes for its \
                     address, because it leads back to itself and keeps something each time"
                )?,
                false => writeln!(
                    f,
                    "  {place}the frame of the call of `{callee}`, {bytes} bytes"
                )?,
            }
        }
        for value in &self.values {
            let place = match value.place.as_str() {
                "" => String::new(),
                place => format!("{place}: "),
            };
            write!(f, "  {place}{} is {}", value.what, value.source)?;
            if value.bytes > 0 {
                write!(f, ", {} bytes", value.bytes)?;
            }
            if !value.why.is_empty() {
                write!(f, ", because {}", value.why)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
