//! How the reverse sweep gets primal values: from a record of the tape, or computed again.

use super::Gradient;
use crate::analysis::loops::Loop;
use crate::ir::{Constant, Inst, InstData, Type, Value, ValueDef};
use crate::plan::{Need, Source, called_again};
use crate::planted::Defect;
use crate::reverse::induction::Step;
use crate::reverse::tape::Layout;

impl Gradient<'_> {
    /// A value of the forward sweep, as it was when control passed where the reverse sweep is.
    pub(in crate::reverse) fn primal_value(&mut self, value: Value) -> Value {
        let value = self.augmented.resolve(value);
        if let ValueDef::Const(constant) = self.augmented.func.def(value) {
            let constant = constant.clone();
            let ty = self.augmented.func.ty(value);
            return self.func.constant(ty, constant);
        }
        if let Some(&same) = self.both.get(&value) {
            return same;
        }
        if let Some(l) = self.augmented.counter_of(self.primal, value, self.at) {
            let slot = self.counter_slot(l);
            let access = self.frame_access(Type::i64());
            return self.builder().load(Type::i64(), slot, access);
        }
        // An undefined value in its place would be a wrong gradient that nobody notices.
        let Some(need) = self.augmented.need(self.primal, value, self.at) else {
            panic!("{value} exists in both sweeps, but the reverse sweep does not know it");
        };
        if let Some(&got) = self.memo.get(&need) {
            return got;
        }
        let got = match self.tape {
            None => {
                self.needs.insert(need);
                let ty = self.augmented.func.ty(value);
                self.func.constant(ty, Constant::Undef)
            }
            Some((plan, layout)) => match plan.source(need) {
                Source::Cache => self.cached(layout, need),
                Source::Recompute => self.recomputed(value),
            },
        };
        self.memo.insert(need, got);
        got
    }

    /// Whether a value of the forward sweep is computed again where the reverse sweep is.
    pub(in crate::reverse) fn is_recomputed(&self, value: Value) -> bool {
        let need = self.augmented.need(self.primal, value, self.at);
        let plan = self.tape.map(|(plan, _)| plan);
        let source = plan.zip(need).map(|(plan, need)| plan.source(need));
        source == Some(Source::Recompute)
    }

    fn cached(&mut self, layout: &Layout, need: Need) -> Value {
        let ty = self.augmented.func.ty(need.value);
        let record = self.record_address(need.level);
        let offset = layout.offset_of(need);
        let access = layout.access_to(&self.synthesis.module, need, ty);
        let mut builder = self.builder();
        let address = builder.offset(record, offset);
        builder.load(ty, address, access)
    }

    /// A value that the reverse sweep computes again, from operands as they were in the block
    /// that computed it.
    fn recomputed(&mut self, value: Value) -> Value {
        let Some(block) = self.augmented.def_block(value) else {
            return self.primal_value(value);
        };
        let used_at = std::mem::replace(&mut self.at, block);
        let call = called_again(&self.synthesis.module, self.primal, self.augmented, value);
        let again = match self.augmented.func.def(value) {
            ValueDef::Result(inst) => {
                let data = call.unwrap_or_else(|| self.augmented.func.inst(*inst));
                self.run_again(*inst, data.clone())
            }
            _ => self.recomputed_param(value),
        };
        self.at = used_at;
        again
    }

    fn run_again(&mut self, inst: Inst, data: InstData) -> Value {
        let args: Vec<Value> = data.args.iter().map(|&v| self.primal_value(v)).collect();
        let result = self.augmented.func.result(inst);
        let ty = result.map_or(Type::void(), |v| self.augmented.func.ty(v));
        let first = args.first().copied();
        let again = InstData { args, ..data };
        let inst = self.func.append_inst(self.block, again, ty);
        match self.func.result(inst).or(first) {
            Some(value) => value,
            None => panic!("{} gives nothing to use", self.primal.describe(inst)),
        }
    }

    fn recomputed_param(&mut self, value: Value) -> Value {
        let ty = self.augmented.func.ty(value);
        let Some(induction) = self.augmented.inductions.get(&value).cloned() else {
            panic!("the plan computes {value} again, but there is no recipe for it");
        };
        let initial = self.primal_value(induction.initial);
        let mut counter = self.primal_value(induction.counter);
        if self.breaks(Defect::InductionOffByOne) {
            let mut builder = self.builder();
            let one = builder.func.iconst(Type::i64(), 1);
            counter = builder.add(counter, one);
        }
        match induction.step {
            Step::Add(step) | Step::Subtract(step) => {
                let negative = matches!(induction.step, Step::Subtract(_));
                let step = self.primal_value(step);
                let mut builder = self.builder();
                let counter = crate::support::extend(&mut builder, counter, ty);
                let distance = builder.mul(counter, step);
                match negative {
                    true => builder.sub(initial, distance),
                    false => builder.add(initial, distance),
                }
            }
            Step::Bytes(offset, terms) => {
                let mut stride = self.func.iconst(Type::i64(), offset.into());
                for (scale, index) in terms {
                    let index = self.primal_value(index);
                    let mut builder = self.builder();
                    let index = crate::support::sign_extend(&mut builder, index, Type::i64());
                    let scale = builder.func.iconst(Type::i64(), scale.into());
                    let term = builder.mul(index, scale);
                    stride = builder.add(stride, term);
                }
                let mut builder = self.builder();
                match builder.func.as_int(stride) {
                    Some(bytes) => builder.element(initial, counter, bytes as i64),
                    None => {
                        let distance = builder.mul(counter, stride);
                        builder.element(initial, distance, 1)
                    }
                }
            }
        }
    }

    /// The address of the record of an iteration: that of the loops around the primal block that
    /// is being reversed, or the frame.
    pub(in crate::reverse) fn record_address(&mut self, level: Option<Loop>) -> Value {
        let (Some(l), Some((_, layout))) = (level, self.tape) else {
            return self.frame;
        };
        if let Some(&address) = self.records.get(&level) {
            return address;
        }
        if layout.record_bytes(l) == 0 {
            return self.frame;
        }
        let array = layout.array(l);
        let outer = self.record_address(self.primal.loops.parent(array.root));
        let access = layout.access(&self.synthesis.module, Type::ptr());
        let mut builder = self.builder();
        let field = builder.offset(outer, array.field);
        let base = match array.inside {
            true => field,
            false => builder.load(Type::ptr(), field, access),
        };
        let index = self.record_index(l, array.root);
        let bytes = layout.record_bytes(l) as i64;
        let address = self.builder().element(base, index, bytes);
        self.records.insert(level, address);
        address
    }

    /// The number of the current record of a loop among those of all iterations of the loops from
    /// `root` inwards.
    fn record_index(&mut self, l: Loop, root: Loop) -> Value {
        let slot = self.counter_slot(l);
        let access = self.frame_access(Type::i64());
        if l == root || self.breaks(Defect::RecordsMixedUp) {
            return self.builder().load(Type::i64(), slot, access);
        }
        let outer = match self.primal.loops.parent(l) {
            Some(parent) => self.record_index(parent, root),
            None => self.func.iconst(Type::i64(), 0),
        };
        let last = self.augmented.last[&l].value;
        let last = self.primal_value(last);
        let mut builder = self.builder();
        let counter = builder.load(Type::i64(), slot, access);
        let one = builder.func.iconst(Type::i64(), 1);
        let trips = builder.add(last, one);
        let before = builder.mul(outer, trips);
        builder.add(before, counter)
    }
}
