//! Facts about the values that the reverse sweep needs.

use super::collect::Collector;
use super::{Fact, How, Times, ValueFact, What, Written};
use crate::analysis::loops::Loop;
use crate::diagnostic::Place;
use crate::ir::{Block, Loc, Op, Value, ValueDef};
use crate::plan::{Need, Plan, Source};
use crate::primal::Primal;
use crate::reverse::{Augmented, Layout};
use cranelift_entity::SecondaryMap;

/// What the reverse sweep may need.
pub(super) struct Values<'a> {
    collector: &'a Collector<'a>,
    augmented: &'a Augmented,
    layout: &'a Layout,
    /// Where each value is first used.
    first_use: SecondaryMap<Value, Option<Loc>>,
}

impl<'a> Values<'a> {
    pub(super) fn new(
        collector: &'a Collector<'a>,
        augmented: &'a Augmented,
        layout: &'a Layout,
    ) -> Values<'a> {
        let mut first_use: SecondaryMap<Value, Option<Loc>> = SecondaryMap::new();
        for &block in &collector.primal.order {
            for &inst in augmented.func.block_insts(block) {
                let data = augmented.func.inst(inst);
                for &value in data.args.iter().filter(|_| data.loc.is_some()) {
                    if first_use[value].is_none() {
                        first_use[value] = data.loc;
                    }
                }
            }
        }
        Values {
            collector,
            augmented,
            layout,
            first_use,
        }
    }

    pub(super) fn fact(&self, need: Need, plan: &Plan) -> Fact {
        let func = &self.augmented.func;
        let (ty, source) = (func.ty(need.value), plan.source(need));
        let is_load = func
            .def_inst(need.value)
            .is_some_and(|inst| matches!(func.inst(inst).op, Op::Load(_)));
        let how = match source {
            Source::Cache if self.collector.is_kept(need.level, self.layout) => How::Kept,
            Source::Cache => How::Cached,
            Source::Recompute if is_load => How::Reloaded,
            Source::Recompute => How::Recomputed,
        };
        let what = What::Value(ValueFact {
            name: func
                .value(need.value)
                .name
                .clone()
                .filter(|name| is_of_program(name)),
            what: self.describe(need.value),
            ty: ty.to_string(),
            is_number: ty.is_float_like(),
            how,
            bytes: match source {
                Source::Cache => self.collector.module.layout.store_size(ty),
                Source::Recompute => 0,
            },
            per: need.level.map(|l| self.collector.loop_name(l)),
            times: self.times(need),
            why: self.collector.reason(plan.reasons.get(&need).copied()),
        });
        Fact {
            places: self.places(need.value),
            what,
        }
    }

    /// Where the forward sweep writes a value, and how many bytes.
    pub(super) fn written(&self, need: Need, plan: &Plan) -> Option<Written> {
        let What::Value(fact) = self.fact(need, plan).what else {
            return None;
        };
        let level = match need.level {
            Some(l) => self.collector.primal.loops.header(l),
            None => self.collector.primal.function.entry(),
        };
        let block = match fact.times {
            Times::Once => level,
            Times::AtMostOnce | Times::Again => self.augmented.def_block(need.value)?,
        };
        (fact.bytes > 0).then_some(Written {
            block,
            bytes: fact.bytes,
            kept: fact.how == How::Kept,
        })
    }

    /// How often a value is computed in an iteration of its level.
    fn times(&self, need: Need) -> Times {
        let Primal {
            loops,
            dominators,
            cfg,
            ..
        } = self.collector.primal;
        let Some(block) = self.augmented.def_block(need.value) else {
            return Times::Once;
        };
        if loops.innermost(block) != need.level {
            return Times::Again;
        }
        let ends: Vec<Block> = match need.level {
            Some(l) => {
                let exits = loops.exits(l).iter();
                let exits = exits.filter(|exit| cfg.reaches_return(exit.to));
                let latches = loops.latches(l).iter().copied();
                latches.chain(exits.map(|exit| exit.from)).collect()
            }
            None => self.returns(),
        };
        match ends.iter().all(|&end| dominators.dominates(block, end)) {
            true => Times::Once,
            false => Times::AtMostOnce,
        }
    }

    /// The blocks that end the function.
    fn returns(&self) -> Vec<Block> {
        let Primal {
            function, order, ..
        } = self.collector.primal;
        let returns = |&block: &Block| {
            let end = function.terminator(block);
            end.is_some_and(|end| matches!(function.inst(end).op, Op::Return))
        };
        order.iter().copied().filter(returns).collect()
    }

    fn describe(&self, value: Value) -> String {
        let Values {
            collector,
            augmented,
            ..
        } = self;
        match augmented.func.def(value) {
            ValueDef::Const(_) => "constant".to_string(),
            ValueDef::Result(inst) => {
                let added = inst.as_u32() as usize >= collector.primal.function.inst_count();
                match added {
                    true if augmented.func.ty(value).scalar().is_ptr() => {
                        "shadow pointer".to_string()
                    }
                    true if augmented.func.ty(value).scalar().is_int() => {
                        "number of iterations".to_string()
                    }
                    true => "derivative of an argument".to_string(),
                    false => collector.primal.describe(*inst),
                }
            }
            ValueDef::Param(block, position) => {
                let own = collector.primal.function.block_params(*block).len();
                match *position < own {
                    true => "merged value",
                    false if augmented.came_by.get(block) == Some(&value) => {
                        "which way control came"
                    }
                    false => "merged shadow",
                }
                .to_string()
            }
        }
    }

    /// Where a value is computed. What has no place of its own belongs to a line: that of its loop,
    /// of its block or of its first use.
    fn places(&self, value: Value) -> Vec<Place> {
        let primal = self.collector.primal;
        let counted = |l: &Loop| {
            let last = self.augmented.last.get(l);
            last.is_some_and(|last| last.value == value)
        };
        let loc = match self.augmented.func.def(value) {
            ValueDef::Const(_) => None,
            ValueDef::Result(inst) => {
                let own = self.augmented.func.inst(*inst).loc;
                if own.is_some() {
                    return Place::chain(self.collector.module, own);
                }
                let counted = primal.loops.iter().find(counted);
                let counted = counted.and_then(|l| self.collector.loop_loc(l));
                counted.or(self.first_use[value])
            }
            ValueDef::Param(block, _) => match primal.loops.headed_by(*block) {
                Some(l) => self.collector.loop_loc(l),
                None => {
                    let insts = primal.function.block_insts(*block).iter();
                    insts.copied().find_map(|inst| self.collector.loc(inst))
                }
            },
        };
        let mut places = Place::chain(self.collector.module, loc);
        for place in places.iter_mut().take(1) {
            place.column = 0;
        }
        places
    }
}

/// Whether a name is one that the program has; `_12` is what rustc calls a value without a name.
fn is_of_program(name: &str) -> bool {
    let number = name.strip_prefix('_').and_then(|rest| rest.bytes().next());
    !number.is_some_and(|first| first.is_ascii_digit())
}
