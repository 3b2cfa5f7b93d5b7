//! Collects the facts about a derivative from what its synthesis has decided.

use super::values::Values;
use super::{
    Argument, CallFact, CalledBy, Fact, Form, KeptFact, LoopFact, LoopName, Reason, Records,
    Report, Trips, Version, What, Written,
};
use crate::analysis::activity::keepable::Group;
use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::loops::Loop;
use crate::analysis::overwrite::Condition;
use crate::analysis::trip_count::Count;
use crate::blas;
use crate::diagnostic::Place;
use crate::ir::{Block, Inst, Loc, Module, Op};
use crate::plan::{Need, Plan, Why, constant_bytes};
use crate::primal::Primal;
use crate::reverse::{Augmented, Layout};
use crate::shadow::{ActiveCall, Reversal};
use std::collections::{BTreeSet, HashSet};

impl Report {
    /// What there is to say of the derivative in forward mode.
    pub fn forward(module: &Module, primal: &Primal) -> Report {
        let collector = Collector { module, primal };
        let mut report = collector.report(Form::Forward);
        report.facts.extend(collector.nests());
        report.facts.extend(collector.active());
        report
    }

    /// Collects what was decided about a derivative in reverse mode.
    pub fn reverse(
        module: &Module,
        primal: &Primal,
        augmented: &Augmented,
        plan: &Plan,
        layout: &Layout,
    ) -> Report {
        let collector = Collector { module, primal };
        let values = Values::new(&collector, augmented, layout);
        let mut report = collector.report(match primal.key.combined {
            true => Form::Combined,
            false => Form::Split,
        });
        if primal.key.disjoint {
            report.version = Version::Disjoint;
        }
        report.frame_bytes = layout.frame_bytes();
        for l in primal.loops.iter() {
            report.facts.push(collector.loop_fact(l, augmented, layout));
        }
        report.facts.extend(collector.nests());
        report.facts.extend(collector.calls(augmented, layout));
        let mut needs: Vec<Need> = plan.sources.keys().copied().collect();
        needs.sort();
        for need in needs {
            report.facts.push(values.fact(need, plan));
            report.written.extend(values.written(need, plan));
        }
        report
            .written
            .extend(collector.addresses(augmented, layout));
        report.facts.extend(collector.kept(plan));
        report.facts.extend(collector.active());
        report
    }

    /// Adds that there is a version for memory that does not overlap, and what is compared before
    /// one of the two is chosen. The conditions belong to the reads of this primal.
    pub fn add_checks(
        &mut self,
        module: &Module,
        primal: &Primal,
        conditions: &[(Inst, Condition)],
    ) {
        let collector = Collector { module, primal };
        self.version = Version::Overlapping;
        // Comparisons that differ in their ranges only are one for a reader.
        let mut seen = HashSet::new();
        for (read, condition) in conditions {
            let (read, write) = (collector.loc(*read), collector.loc(condition.by));
            if seen.insert((read, write)) {
                self.facts.push(Fact {
                    places: Place::chain(module, read),
                    what: What::Check(Place::chain(module, write).into_iter().next()),
                });
            }
        }
    }
}

/// The size of the addresses on the tape of what belongs to the tape.
pub(super) const ADDRESS_BYTES: u64 = 8;

/// A function, for which facts are collected.
pub(super) struct Collector<'a> {
    pub(super) module: &'a Module,
    pub(super) primal: &'a Primal,
}

impl Collector<'_> {
    fn report(&self, form: Form) -> Report {
        let Primal { key, function, .. } = self.primal;
        let arguments = function.arguments().iter().zip(&key.args).enumerate();
        let arguments = arguments.map(|(position, (&value, activity))| Argument {
            name: function.value(value).name.clone().unwrap_or_default(),
            activity: activity.name(),
            overwritten: function.ty(value).is_ptr()
                && form == Form::Split
                && key.overwritten.get(position).copied().unwrap_or(false),
        });
        Report {
            function: function.name.clone(),
            place: self.function_place(),
            form,
            version: Version::Only,
            width: key.width,
            arguments: arguments.collect(),
            result: key.ret.name(),
            frame_bytes: 0,
            on_stack: false,
            sweep: None,
            written: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// The first line of the function itself, not of what was inlined into it.
    fn function_place(&self) -> Option<Place> {
        let function = &self.primal.function;
        let places = function.locs(function.blocks()).into_iter();
        let places = places.filter_map(|loc| Place::chain(self.module, Some(loc)).pop());
        places.min_by_key(|place| place.line)
    }

    pub(super) fn loc(&self, inst: Inst) -> Option<Loc> {
        self.primal.function.inst(inst).loc
    }

    pub(super) fn fact(&self, loc: Option<Loc>, what: What) -> Fact {
        Fact {
            places: Place::chain(self.module, loc),
            what,
        }
    }

    /// Where a loop is: its branches back and out are those of the statement.
    pub(super) fn loop_loc(&self, l: Loop) -> Option<Loc> {
        let Primal {
            loops, function, ..
        } = self.primal;
        let latches = loops.latches(l).iter().copied();
        let exiting = loops.exits(l).iter().map(|exit| exit.from);
        let ends = latches
            .chain(exiting)
            .filter_map(|b| function.terminator(b));
        let header = function.block_insts(loops.header(l)).iter().copied();
        ends.chain(header).find_map(|inst| self.loc(inst))
    }

    pub(super) fn loop_name(&self, l: Loop) -> LoopName {
        LoopName {
            name: self.primal.loops.header(l).to_string(),
            place: Place::chain(self.module, self.loop_loc(l))
                .into_iter()
                .next(),
        }
    }

    fn loop_fact(&self, l: Loop, augmented: &Augmented, layout: &Layout) -> Fact {
        let primal = self.primal;
        let exits = primal.loops.exits(l).iter();
        let exits = exits.filter(|exit| primal.cfg.reaches_return(exit.to));
        let exiting: BTreeSet<Block> = exits.map(|exit| exit.from).collect();
        let trips = match (
            &primal.trip_counts[l].count,
            augmented.last.contains_key(&l),
        ) {
            (Count::Constant(again), true) => Trips::Constant(again.saturating_add(1)),
            (_, true) => Trips::Before,
            (_, false) => Trips::After,
        };
        let bytes = layout.record_bytes(l);
        let records = match (bytes, layout.allocated_before(l)) {
            (0, _) => Records::None,
            _ if layout.is_inside(l) => Records::Inside,
            (_, Some(root)) => Records::Before(self.loop_name(root)),
            (_, None) => Records::Growing,
        };
        let what = What::Loop(LoopFact {
            name: primal.loops.header(l).to_string(),
            depth: primal.loops.depth(l),
            trips,
            exits: exiting.len(),
            bytes,
            records,
        });
        self.fact(self.loop_loc(l), what)
    }

    /// Whether the records of a level stand in the frame of the function that is both sweeps.
    pub(super) fn is_kept(&self, level: Option<Loop>, layout: &Layout) -> bool {
        let Primal { key, loops, .. } = self.primal;
        match level {
            None => key.combined,
            Some(l) => {
                let root = layout.allocated_before(l).filter(|_| layout.is_inside(l));
                root.is_some_and(|root| self.is_kept(loops.parent(root), layout))
            }
        }
    }

    /// The addresses that the forward sweep writes: of records, before their loops, of frames that
    /// have memory of their own, and of lists.
    fn addresses(&self, augmented: &Augmented, layout: &Layout) -> Vec<Written> {
        let Primal {
            loops, function, ..
        } = self.primal;
        let records = loops.iter().filter_map(|l| {
            let root = layout.allocated_before(l)?;
            Some(Written {
                block: loops.preheader(root).filter(|_| !layout.is_inside(l))?,
                bytes: ADDRESS_BYTES,
                kept: self.is_kept(loops.parent(root), layout),
            })
        });
        let blocks = function.inst_blocks();
        let calls = augmented.calls.keys().filter_map(|&inst| {
            let (frame, block) = (layout.callee_frame(inst), blocks[inst]?);
            let kept = self.is_kept(loops.innermost(block), layout);
            let address = |kept| Written {
                block,
                bytes: ADDRESS_BYTES,
                kept,
            };
            let own = frame.on_heap.then(|| address(kept));
            // That goes into the frame of the callee.
            let list = frame.gets_list.then(|| address(kept && !frame.on_heap));
            Some(own.into_iter().chain(list))
        });
        records.chain(calls.flatten()).collect()
    }

    pub(super) fn insts(&self) -> impl Iterator<Item = (Block, Inst)> + '_ {
        let function = &self.primal.function;
        let order = self.primal.order.iter().copied();
        order.flat_map(|block| function.block_insts(block).iter().map(move |&i| (block, i)))
    }

    fn calls(&self, augmented: &Augmented, layout: &Layout) -> Vec<Fact> {
        let blocks = self.primal.function.inst_blocks();
        let mut calls: Vec<(&Inst, &ActiveCall)> = augmented.calls.iter().collect();
        calls.sort_by_key(|(inst, _)| **inst);
        let fact = |(&inst, call): (&Inst, &ActiveCall)| {
            let frame = layout.callee_frame(inst);
            let callee = &self.module.funcs[call.key.func];
            let level = blocks[inst].and_then(|block| self.primal.loops.innermost(block));
            let by = match self.module.rules_of(call.key.func).next().is_some() {
                true => CalledBy::Rule,
                false if matches!(call.reversal, Reversal::Replay { .. }) => CalledBy::Replay,
                false if matches!(call.reversal, Reversal::Early { .. }) => CalledBy::Early,
                false if blas::routine(callee).is_some() => CalledBy::LinearAlgebra,
                false => CalledBy::Body,
            };
            let what = What::Call(CallFact {
                callee: callee.name.clone(),
                by,
                bytes: frame.bytes,
                apart: frame.on_heap,
                gets_list: frame.gets_list,
                per: level.map(|l| self.loop_name(l)),
            });
            self.fact(self.loc(inst), what)
        };
        calls.into_iter().map(fact).collect()
    }

    fn kept(&self, plan: &Plan) -> Vec<Fact> {
        let keepable = &self.primal.keepable;
        let blocks = self.primal.function.inst_blocks();
        let groups = plan.kept.iter();
        let allocations = groups.flat_map(|&g| keepable.allocations(g).map(move |inst| (g, inst)));
        let fact = |(group, inst): (Group, Inst)| {
            let level = blocks[inst].and_then(|block| self.primal.loops.innermost(block));
            // One free of several ways has no line of its own.
            let frees = keepable.frees(group).map(|free| self.loc(free));
            let mut frees =
                frees.filter_map(|loc| Place::chain(self.module, loc).into_iter().next());
            let freed = frees.find(|place| place.line > 0);
            let what = What::Kept(KeptFact {
                bytes: constant_bytes(self.module, self.primal, inst),
                per: level.map(|l| self.loop_name(l)),
                freed,
            });
            self.fact(self.loc(inst), what)
        };
        allocations.map(fact).collect()
    }

    pub(super) fn reason(&self, why: Option<Why>) -> Reason {
        let (before, after) = why.map_or(("", ""), Why::words);
        let by = why.and_then(Why::by).and_then(|inst| self.loc(inst));
        Reason {
            before,
            by: Place::chain(self.module, by).into_iter().next(),
            after,
        }
    }

    /// The operations that a derivative flows through, each once for a place.
    fn active(&self) -> Vec<Fact> {
        let mut seen = HashSet::new();
        let mut facts = Vec::new();
        for (_, inst) in self.insts() {
            let data = self.primal.function.inst(inst);
            let active = match &data.op {
                Op::Store(_) | Op::MemCopy { .. } | Op::Accumulate(_) => {
                    data.args.iter().any(|&v| self.primal.is_active(v))
                        || matches!(data.op, Op::MemCopy { .. })
                            && self.primal.has_shadow(data.args[0])
                }
                Op::Return => data.args.iter().any(|&v| self.primal.is_active(v)),
                Op::Call(_) | Op::Invoke { .. } => {
                    matches!(call_kind(self.module, data), CallKind::Defined(_))
                        && (self.primal.activity).is_active_call(&self.primal.function, inst)
                }
                Op::Nest(_) => true,
                _ => {
                    let result = self.primal.function.result(inst);
                    result.is_some_and(|result| self.primal.is_active(result))
                }
            };
            let what = self.primal.describe(inst);
            if active && seen.insert((data.loc, what.clone())) {
                facts.push(self.fact(data.loc, What::Active(what)));
            }
        }
        facts
    }
}
