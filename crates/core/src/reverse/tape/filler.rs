//! Makes the forward sweep fill the tape: it allocates arrays of records, and stores what is cached and
//! the frames of callees where the [`Layout`] says.

use super::{Array, CalleeFrame, Layout, tape_flags};
use crate::analysis::loops::Loop;
use crate::chaos::Choice;
use crate::ir::{
    Block, Builder, Declared, FnFlags, Function, Inst, InstData, IntPred, Op, Type, Value, ValueDef,
};
use crate::plan::{Need, Plan};
use crate::planted::Defect;
use crate::primal::Primal;
use crate::reverse::augmented::Augmented;
use crate::reverse::count::Counts;
use crate::reverse::delayed::{LIST_FIELD, list_access};
use crate::reverse::insertions::{Insertions, Place};
use crate::support;
use crate::synthesis::Synthesis;
use std::collections::HashMap;

/// How many records a tape that grows has room for at first, a power of two: that of an outermost loop,
/// and that of a loop in another, which begins many tapes and may run once each time.
const FIRST_RECORDS: u64 = 16;
const FIRST_RECORDS_INSIDE: u64 = 2;

/// Makes the forward sweep fill the tape.
pub(in crate::reverse) fn fill(
    synthesis: &mut Synthesis,
    primal: &Primal,
    augmented: Augmented,
    plan: &Plan,
    layout: &Layout,
) -> Function {
    let mut filler = Filler {
        addresses: HashMap::new(),
        later: Insertions::default(),
        synthesis,
        primal,
        augmented,
        layout,
    };
    let frame = filler.augmented.params[filler.augmented.params.len() - 1];
    filler.addresses.insert(None, frame);
    filler.declare_record(frame, None);
    filler.leave_out_frees(plan);
    for l in primal.loops.iter() {
        filler.make_records(l);
    }
    for need in plan.cached() {
        filler.store(need);
    }
    let mut calls: Vec<Inst> = filler.augmented.calls.keys().copied().collect();
    calls.sort();
    for inst in calls {
        filler.place_callee_frame(inst);
    }
    filler.later.apply(&mut filler.augmented.func);
    filler.return_results();
    filler.augmented.func
}

struct Filler<'a> {
    synthesis: &'a mut Synthesis,
    primal: &'a Primal,
    augmented: Augmented,
    layout: &'a Layout,
    /// The address of the current record of each level.
    addresses: HashMap<Option<Loop>, Value>,
    /// What is put beside instructions once all is known.
    later: Insertions,
}

impl Filler<'_> {
    /// Inserts instructions at a position of a block, now. That takes time for all of the block, so
    /// it is for what a loop needs once.
    fn insert(&mut self, block: Block, at: usize, emit: impl FnOnce(&mut Builder<'_>)) {
        let func = &mut self.augmented.func;
        let mut before = func.take_block_insts(block);
        let after = before.split_off(at);
        func.set_block_insts(block, before);
        emit(&mut Builder::new(func, block));
        for inst in after {
            self.augmented.func.attach_inst(block, inst);
        }
    }

    /// Makes instructions that are inserted at a place of a block in the end.
    fn insert_later(&mut self, block: Block, at: Place, emit: impl FnOnce(&mut Builder<'_>)) {
        let func = &mut self.augmented.func;
        let insts = func.take_block_insts(block);
        emit(&mut Builder::new(func, block));
        let made = func.take_block_insts(block);
        func.set_block_insts(block, insts);
        self.later.add(block, at, made);
    }

    /// What stays until the reverse sweep is not freed before.
    fn leave_out_frees(&mut self, plan: &Plan) {
        let keepable = &self.primal.keepable;
        if self.primal.breaks(Defect::KeptMemoryFreed) {
            return;
        }
        let made = plan
            .kept
            .iter()
            .flat_map(|&group| keepable.allocations(group));
        let (module, function) = (&self.synthesis.module, &self.primal.function);
        for inst in made.filter(|&inst| keepable.may_be_on_stack(module, function, inst)) {
            if let Op::Call(call) = &mut self.augmented.func.inst_mut(inst).op {
                call.attrs.flags |= FnFlags::COPY;
            }
        }
        for free in plan.kept.iter().flat_map(|&group| keepable.frees(group)) {
            if let Some(block) = self.augmented.block_of(free) {
                let func = &mut self.augmented.func;
                let mut insts = func.take_block_insts(block);
                insts.retain(|&inst| inst != free);
                func.set_block_insts(block, insts);
            }
        }
    }

    /// The records of a loop, and the address of that of the current iteration.
    fn make_records(&mut self, l: Loop) {
        let bytes = self.layout.record_bytes(l);
        if bytes == 0 {
            return;
        }
        let array = self.layout.array(l);
        let header = self.primal.loops.header(l);
        let counter = self.counter(l);
        let outer = self.addresses[&self.primal.loops.parent(array.root)];
        let (mut base, mut address) = (outer, outer);
        if array.counted {
            base = self.allocate(l, array, bytes, outer);
            self.insert_index(l, array.root, |b, index| {
                address = b.element(base, index, bytes as i64);
            });
        } else {
            let about = (&self.primal.function.name, l);
            let chance = self.synthesis.options.chance(Choice::FirstRecords, about);
            let usual = match self.primal.loops.parent(l) {
                Some(_) => FIRST_RECORDS_INSIDE,
                None => FIRST_RECORDS,
            };
            let first = chance.map_or(usual, |n| 1 << (n % 6));
            let large = self.synthesis.options.keep_memory;
            let (grow, sig) = support::tape_grow(&mut self.synthesis.module, first, large);
            let counts = Counts::growth(self.synthesis, self.primal, first);
            self.insert(header, 0, |b| {
                let size = b.func.iconst(Type::i64(), bytes.into());
                counts.note(b, &[counter, size]);
                let field = b.offset(outer, array.field);
                let args = vec![field, counter, size];
                base = b.call(grow, sig, args).unwrap_or(field);
                address = b.element(base, counter, bytes as i64);
            });
        }
        self.addresses.insert(Some(l), address);
        self.declare_record(base, Some(l));
    }

    /// Says what records of a level, which begin at an address, hold.
    fn declare_record(&mut self, base: Value, level: Option<Loop>) {
        let declaration = self.layout.declaration(level);
        if declaration.parts.is_empty() {
            return;
        }
        let source = self.synthesis.module.sources.push(declaration);
        let declared = match level {
            None => Declared::Object(source),
            Some(_) => Declared::Element(source),
        };
        let known = self.augmented.func.declared.entry(base).or_default();
        known.push(declared);
    }

    fn counter(&self, l: Loop) -> Value {
        self.primal.canonical.counters[&self.primal.loops.header(l)]
    }

    /// The loops from one outwards to its root.
    fn chain(&self, l: Loop, root: Loop) -> Vec<Loop> {
        let mut chain = vec![l];
        while let Some(&outer) = chain.last() {
            match self.primal.loops.parent(outer) {
                Some(parent) if outer != root => chain.push(parent),
                _ => break,
            }
        }
        chain
    }

    /// Makes the records of all iterations before the root.
    fn allocate(&mut self, l: Loop, array: Array, bytes: u64, outer: Value) -> Value {
        let Some(preheader) = self.primal.loops.preheader(array.root) else {
            return outer;
        };
        let end = self.augmented.func.block_insts(preheader).len() - 1;
        if array.inside {
            let mut base = outer;
            self.insert(preheader, end, |b| base = b.offset(outer, array.field));
            return base;
        }
        let chain = self.chain(l, array.root);
        let lasts: Vec<Value> = chain.iter().map(|l| self.augmented.last[l].value).collect();
        let (malloc, sig) = support::malloc(&mut self.synthesis.module);
        let access = self.layout.access(&self.synthesis.module, Type::ptr());
        let flags = tape_flags(&self.primal.key) | FnFlags::MUST_SUCCEED;
        let counts = Counts::allocation(self.synthesis, self.primal);
        let short = self.primal.breaks(Defect::TapeOneShort);
        let mut base = outer;
        self.insert(preheader, end, |b| {
            let one = b.func.iconst(Type::i64(), 1);
            let mut total = b.func.iconst(Type::i64(), bytes.into());
            for last in lasts {
                let trips = if short { last } else { b.add(last, one) };
                total = support::saturating_product(b, total, trips);
            }
            counts.note(b, &[total]);
            base = b
                .call_with(malloc, sig, vec![total], flags)
                .unwrap_or(outer);
            let field = b.offset(outer, array.field);
            b.store(base, field, access);
        });
        base
    }

    /// Computes the number of the current record at the start of the header.
    fn insert_index(&mut self, l: Loop, root: Loop, emit: impl FnOnce(&mut Builder<'_>, Value)) {
        let header = self.primal.loops.header(l);
        let mut chain = self.chain(l, root);
        chain.reverse();
        let counters: Vec<Value> = chain.iter().map(|&l| self.counter(l)).collect();
        let lasts: Vec<Value> = chain.iter().map(|l| self.augmented.last[l].value).collect();
        self.insert(header, 0, |b| {
            let mut index = counters[0];
            for (&counter, &last) in counters.iter().zip(&lasts).skip(1) {
                let one = b.func.iconst(Type::i64(), 1);
                let trips = b.add(last, one);
                let before = b.mul(index, trips);
                index = b.add(before, counter);
            }
            emit(b, index);
        });
    }

    /// Stores a value on the tape right after it is computed.
    fn store(&mut self, need: Need) {
        let record = self.addresses[&need.level];
        let offset = self.layout.offset_of(need);
        let ty = self.augmented.func.ty(need.value);
        let access = self.layout.access_to(&self.synthesis.module, need, ty);
        let (block, at) = match *self.augmented.func.def(need.value) {
            ValueDef::Param(block, _) => (block, self.start_of(block)),
            ValueDef::Result(inst) => {
                let Some(block) = self.augmented.def_block(need.value) else {
                    return;
                };
                (block, Place::After(inst))
            }
            ValueDef::Const(_) => return,
        };
        let own = self.primal.loops.innermost(block);
        let broken = self.synthesis.options.breaks(Defect::LiveOutFromFirst);
        let counter = own
            .filter(|_| broken && own != need.level)
            .map(|l| self.counter(l));
        self.insert_later(block, at, |b| {
            let address = b.offset(record, offset);
            let mut value = need.value;
            if let Some(counter) = counter {
                let zero = b.func.iconst(Type::i64(), 0);
                let first = b.icmp(IntPred::Eq, counter, zero);
                let old = b.load(ty, address, access.clone());
                value = b.select(first, value, old);
            }
            b.store(value, address, access);
        });
    }

    /// Where instructions of a block may begin: behind those that make records and a landing pad.
    fn start_of(&self, block: Block) -> Place {
        let func = &self.augmented.func;
        let record = self.primal.loops.headed_by(block);
        let record = record.and_then(|l| self.addresses.get(&Some(l)));
        let record = record.and_then(|&address| func.def_inst(address));
        let insts = func.block_insts(block);
        let record = record.filter(|record| insts.contains(record));
        let pads = insts.iter().copied().take_while(
            |&inst| matches!(&func.inst(inst).op, Op::Opaque(o) if o.name == "landingpad"),
        );
        record
            .or(pads.last())
            .map_or(Place::Start(block), Place::After)
    }

    /// Tells a callee where its frame is.
    fn place_callee_frame(&mut self, inst: Inst) {
        let call = self.augmented.calls[&inst].clone();
        let Some((_, place)) = call.split() else {
            return;
        };
        let CalleeFrame {
            offset,
            on_heap,
            gets_list,
            ..
        } = self.layout.callee_frame(inst);
        let Some(frame) = self.augmented.func.result(place) else {
            return;
        };
        let Some(block) = self.augmented.def_block(frame) else {
            return;
        };
        // A loop whose callees need no memory has no records; then any address will do.
        let level = self.primal.loops.innermost(block);
        let record = self.addresses.get(&level).or(self.addresses.get(&None));
        let Some(&record) = record else { return };
        if gets_list {
            let own = self.addresses[&None];
            self.insert_later(block, Place::After(place), |b| {
                let field = b.offset(own, LIST_FIELD);
                let list = b.load(Type::ptr(), field, list_access());
                let field = b.offset(frame, LIST_FIELD);
                b.store(list, field, list_access());
            });
        }
        let data = self.augmented.func.inst_mut(place);
        if !on_heap {
            data.args = vec![record];
            data.op = Op::Address {
                offset,
                scales: Vec::new(),
            };
            return;
        }
        let (malloc, sig) = support::malloc(&mut self.synthesis.module);
        let size = self.synthesis.frame_size(&call.key);
        let access = self.layout.access(&self.synthesis.module, Type::ptr());
        let flags = tape_flags(&self.primal.key) | FnFlags::MUST_SUCCEED;
        let counts = Counts::allocation(self.synthesis, self.primal);
        let mut memory = record;
        self.insert_later(block, Place::Before(place), |b| {
            let bytes = b.call(size.0, size.1, Vec::new()).unwrap_or(record);
            counts.note(b, &[bytes]);
            memory = b
                .call_with(malloc, sig, vec![bytes], flags)
                .unwrap_or(record);
            let address = b.offset(record, offset);
            b.store(memory, address, access);
        });
        self.augmented.func.inst_mut(place).args = vec![memory];
    }

    /// The forward sweep returns the primal result, if it is needed, and its shadows.
    fn return_results(&mut self) {
        let key = &self.primal.key;
        let sig = key.sweep_signature(&self.primal.function.sig);
        let parts = key.forward_results(&self.primal.function.sig);
        let shadowed = key.ret == crate::ir::ReturnActivity::Dup;
        let func = &mut self.augmented.func;
        for block in func.blocks().to_vec() {
            let Some(inst) = func.terminator(block) else {
                continue;
            };
            if !matches!(func.inst(inst).op, Op::Return) {
                continue;
            }
            let value = func.inst(inst).args.first().copied();
            let mut insts = func.block_insts(block).to_vec();
            insts.pop();
            func.set_block_insts(block, insts);
            let mut results = Vec::new();
            let mut builder = Builder::new(func, block);
            if let Some(value) = value {
                if key.primal_needed {
                    results.push(value);
                }
                if shadowed {
                    let width = key.width as usize;
                    let shadows = match self.augmented.shadows.get(&value) {
                        Some(shadows) => shadows.clone(),
                        None => (0..width)
                            .map(|k| {
                                let func = &mut *builder.func;
                                self.synthesis.default_shadow(func, value, key, k)
                            })
                            .collect(),
                    };
                    results.push(crate::derivative::batch_values(&mut builder, &shadows));
                }
            }
            debug_assert_eq!(results.len(), parts.len());
            let result = crate::derivative::bundle_values(&mut builder, &results);
            let data = InstData::new(Op::Return, result.into_iter().collect());
            func.append_inst(block, data, Type::void());
        }
        func.become_derivative(sig);
        func.name = format!("{}.augmented", self.primal.function.name);
    }
}
