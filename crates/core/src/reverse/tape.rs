//! The tape: where the forward sweep keeps what the reverse sweep needs.
//!
//! Every level, a loop or the whole function, has a record type with a field for each value that
//! is cached at that level, the frame of each callee, and the addresses of arrays of records of
//! loops inside, one record for each iteration. The record of the function is the *frame*.
//!
//! If the trip counts of a nest of loops are known before the outermost of them, its *root*, the
//! records of all iterations of the nest are one array that is allocated there. Otherwise the
//! loop is its own root, and its array is allocated before it if its trip count is known then, and
//! grows as it runs if not. A small array whose size is the same in every run is not allocated: it
//! stands in the record around it.

use super::augmented::Augmented;
use super::count::Counts;
use super::delayed::{LIST_FIELD, list_access};
use super::insertions::{Insertions, Place};
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::Count;
use crate::chaos::Choice;
use crate::derivative::Key;
use crate::ir::{
    Access, Block, Builder, Declared, FnFlags, Function, Inst, InstData, IntPred, Module, Op,
    Region, SourcePart, SourceTypeData, Type, Value, ValueDef,
};
use crate::plan::{Need, Plan};
use crate::planted::Defect;
use crate::primal::{Primal, declared};
use crate::shadow::ActiveCall;
use crate::support;
use crate::synthesis::{Pair, Synthesis};
use cranelift_entity::EntityRef;
use std::collections::{HashMap, HashSet};

/// Where each cached value is.
#[derive(Default, Debug)]
pub struct Layout {
    records: HashMap<Option<Loop>, Record>,
    fields: HashMap<Need, i64>,
    arrays: HashMap<Loop, Array>,
    frames: HashMap<Inst, CalleeFrame>,
}

/// The frame of a callee in the record of a level.
#[derive(Copy, Clone, Default, Debug)]
pub struct CalleeFrame {
    /// Where it stands.
    pub(super) offset: i64,
    /// How many bytes it takes there.
    pub bytes: u64,
    /// Whether only its address stands there, and it has memory of its own.
    pub on_heap: bool,
    /// Whether the caller puts the address of the list of [`delayed`](super::delayed) frees into it.
    pub gets_list: bool,
}

/// The records of a loop.
#[derive(Copy, Clone, Debug)]
pub(super) struct Array {
    /// Where it stands, or its address, in the record of the loop around the root.
    pub field: i64,
    /// The outermost loop whose iterations it is for.
    pub root: Loop,
    /// Whether it is made at its full size.
    pub counted: bool,
    /// Whether it stands in the record around it and is not allocated.
    pub inside: bool,
}

#[derive(Clone, Default, Debug)]
struct Record {
    bytes: u64,
    /// What no access says of it, for derivatives of this derivative: that there is nothing in the
    /// gaps, and what integers are.
    parts: Vec<(u64, SourcePart)>,
}

impl Record {
    fn add(&mut self, bytes: u64, align: u64) -> i64 {
        let offset = self.bytes.next_multiple_of(align.max(1));
        if offset > self.bytes {
            let gap = SourcePart::Int(offset - self.bytes);
            self.parts.push((self.bytes, gap));
        }
        self.bytes = offset + bytes;
        offset as i64
    }

    /// Notes what the field that was added last, at an offset, holds.
    fn declare(&mut self, offset: i64, parts: Vec<(u64, SourcePart)>) {
        let parts = parts.into_iter();
        let parts = parts.map(|(at, part)| (offset as u64 + at, part));
        self.parts.extend(parts);
    }
}

/// An array of at most this many bytes stands in the record around it.
const MOST_BYTES_INSIDE: u64 = 1024;

/// How many records a tape that grows has room for at first, a power of two: that of an outermost loop,
/// and that of a loop in another, which begins many tapes and may run once each time.
const FIRST_RECORDS: u64 = 16;
const FIRST_RECORDS_INSIDE: u64 = 2;

/// Records begin at addresses of this alignment; `malloc` gives no more.
const RECORD_ALIGN: u64 = 16;

impl Layout {
    /// Lays out the records. The size of the frame of a recursive call is not known then, and its
    /// frame is on the heap; but if the frame is empty as long as those of calls of itself are, all
    /// of them are.
    pub(super) fn new(
        synthesis: &mut Synthesis,
        primal: &Primal,
        augmented: &Augmented,
        plan: &Plan,
    ) -> Layout {
        let empty = Layout::with_own(synthesis, primal, augmented, plan, Some(0));
        match empty.frame_bytes() {
            0 => empty,
            _ => Layout::with_own(synthesis, primal, augmented, plan, None),
        }
    }

    /// Lays out the records if the frames of calls of the function itself have this size.
    fn with_own(
        synthesis: &mut Synthesis,
        primal: &Primal,
        augmented: &Augmented,
        plan: &Plan,
        own: Option<u64>,
    ) -> Layout {
        let mut layout = Layout::default();
        if synthesis.has_list(&primal.key) {
            let field = layout.records.entry(None).or_default().add(8, 8);
            debug_assert_eq!(field, LIST_FIELD);
        }
        let mut lists: HashSet<Inst> = HashSet::new();
        for (&inst, call) in &augmented.calls {
            if synthesis.has_list(&call.key) {
                lists.insert(inst);
            }
        }
        let module = &synthesis.module;
        for need in plan.cached() {
            let ty = augmented.func.ty(need.value);
            let align = u64::from(module.layout.align(ty)).min(RECORD_ALIGN);
            let record = layout.records.entry(need.level).or_default();
            let offset = record.add(module.layout.store_size(ty), align);
            let parts = integer_parts(module, primal, &augmented.func, need.value);
            record.declare(offset, parts);
            layout.fields.insert(need, offset);
        }
        let calls = augmented.calls.iter();
        let calls = calls.filter_map(|(&inst, call)| Some((inst, call, call.split()?)));
        let mut calls: Vec<_> = calls.collect();
        calls.sort_by_key(|(inst, ..)| *inst);
        // A derivative of this derivative could not tell a number of one frame from an integer of
        // another in the same place.
        let shares = !synthesis.is_nested;
        let choice = |inst: &Inst| {
            let dispatched = primal.dispatched.get(inst).filter(|_| shares);
            dispatched.map(|d| d.choice)
        };
        let options = &synthesis.options;
        let frame_bytes =
            |call: &ActiveCall, (pair, frame): (&Pair, Inst)| match call.key == primal.key {
                true => own,
                false => {
                    let apart = options.flips(Choice::OwnFrame, (&primal.function.name, frame));
                    pair.frame_bytes.filter(|_| !apart)
                }
            };
        let mut shared: HashMap<usize, i64> = HashMap::new();
        for &(inst, call, split) in &calls {
            let (pair, frame) = split;
            let block = augmented.func.result(frame);
            let block = block.and_then(|frame| augmented.def_block(frame));
            let level = block.and_then(|block| primal.loops.innermost(block));
            let record = layout.records.entry(level).or_default();
            // Of the functions that a pointer may lead to only one runs, so they share the place.
            let offset = match choice(&inst) {
                None => match frame_bytes(call, split) {
                    Some(bytes) => {
                        let offset = record.add(bytes, RECORD_ALIGN);
                        record.declare(offset, frame_parts(module, pair));
                        offset
                    }
                    None => record.add(8, 8),
                },
                Some(number) => *shared.entry(number).or_insert_with(|| {
                    let alike = calls
                        .iter()
                        .filter(|(other, ..)| choice(other) == Some(number));
                    let bytes = alike
                        .map(|&(_, call, split)| frame_bytes(call, split).unwrap_or(8))
                        .max();
                    record.add(bytes.unwrap_or(0), RECORD_ALIGN)
                }),
            };
            let on_heap = frame_bytes(call, split).is_none();
            let frame = CalleeFrame {
                offset,
                bytes: frame_bytes(call, split).unwrap_or(8),
                on_heap,
                gets_list: lists.contains(&inst),
            };
            layout.frames.insert(inst, frame);
        }
        // Inner loops come after outer ones, so an inner array is placed before its outer record
        // is measured.
        for l in primal.loops.iter().rev() {
            let bytes = layout.record_bytes(l);
            if bytes > 0 {
                let chance = options.chance(Choice::Records, (&primal.function.name, l));
                let (root, counted) = match (chance.map(|n| n % 4), root(primal, augmented, l)) {
                    (Some(0), (_, counted)) => (l, counted),
                    (Some(1), _) => (l, false),
                    (_, usual) => usual,
                };
                // A derivative of this derivative could not tell such an array from what is beside it.
                let may_be_inside = counted && shares && chance.is_none_or(|n| n % 4 == 3);
                let fixed = fixed_bytes(primal, l, root, bytes).filter(|_| may_be_inside);
                let outer = layout.records.entry(primal.loops.parent(root)).or_default();
                let field = match fixed {
                    Some(bytes) => outer.add(bytes, RECORD_ALIGN),
                    None => outer.add(8, 8),
                };
                let array = Array {
                    field,
                    root,
                    counted,
                    inside: fixed.is_some(),
                };
                layout.arrays.insert(l, array);
            }
        }
        layout
    }

    /// The size of the frame.
    pub fn frame_bytes(&self) -> u64 {
        self.bytes(None)
    }

    /// The size of the record of one iteration.
    pub fn record_bytes(&self, l: Loop) -> u64 {
        self.bytes(Some(l))
    }

    fn bytes(&self, level: Option<Loop>) -> u64 {
        let bytes = self.records.get(&level).map_or(0, |record| record.bytes);
        // Small records are packed more tightly; none has a field of greater alignment than size.
        let align = bytes.next_power_of_two().clamp(1, RECORD_ALIGN);
        bytes.next_multiple_of(align)
    }

    /// What a derivative of the derivative must know of a record and no access says.
    fn declaration(&self, level: Option<Loop>) -> SourceTypeData {
        let (size, record) = (self.bytes(level), self.records.get(&level));
        let parts = record.map_or(&[][..], |record| &record.parts).iter();
        let end = record.map_or(0, |record| record.bytes);
        let end = (end < size).then_some((end, SourcePart::Int(size - end)));
        SourceTypeData {
            size,
            parts: parts.copied().chain(end).collect(),
        }
    }

    /// Where a cached value stands in its record.
    pub(super) fn offset_of(&self, need: Need) -> i64 {
        self.fields.get(&need).copied().unwrap_or(0)
    }

    /// The records of a loop that has some.
    pub(super) fn array(&self, l: Loop) -> Array {
        self.arrays[&l]
    }

    /// The loop before which the records of a loop are allocated; none if there are none, or if
    /// their number is not known then.
    pub fn allocated_before(&self, l: Loop) -> Option<Loop> {
        let array = self.arrays.get(&l).filter(|array| array.counted);
        array.map(|array| array.root)
    }

    /// Whether the records of a loop stand in the record around it.
    pub fn is_inside(&self, l: Loop) -> bool {
        self.arrays.get(&l).is_some_and(|array| array.inside)
    }

    /// Whether arrays are freed when the reverse of a loop is done.
    pub(super) fn frees_after(&self, l: Loop) -> bool {
        !self.arrays_freed_after(l).is_empty()
    }

    /// The arrays that were allocated for a loop and the loops in it, the last one first.
    pub(super) fn arrays_freed_after(&self, root: Loop) -> Vec<(Loop, Array)> {
        let of_root = |array: &Array| array.root == root && !array.inside;
        let arrays = self.arrays.iter().filter(|(_, array)| of_root(array));
        let mut arrays: Vec<(Loop, Array)> = arrays.map(|(&l, &array)| (l, array)).collect();
        arrays.sort_by_key(|(l, _)| std::cmp::Reverse(*l));
        arrays
    }

    /// Where the frame of a call's callee stands.
    pub fn callee_frame(&self, inst: Inst) -> CalleeFrame {
        self.frames.get(&inst).copied().unwrap_or_default()
    }

    /// An access to the tape.
    pub(super) fn access(&self, module: &Module, ty: Type) -> Access {
        Access {
            align: module.layout.align(ty).min(RECORD_ALIGN as u32),
            region: Region::Tape,
            ..Access::default()
        }
    }
}

/// The outermost loop before which the number of iterations of a loop, counted over all loops in
/// between, is known; and whether that of the loop itself is.
fn root(primal: &Primal, augmented: &Augmented, l: Loop) -> (Loop, bool) {
    if !augmented.last.contains_key(&l) {
        return (l, false);
    }
    let mut chain = vec![l];
    chain.extend(primal.loops.enclosing(primal.loops.parent(l)));
    let known = |inner: &Loop, outer: Loop| {
        let last = augmented.last.get(inner);
        last.is_some_and(|last| primal.loops.is_inside(outer, last.known_before))
    };
    let mut root = l;
    for n in 1..chain.len() {
        if !chain[..=n].iter().all(|inner| known(inner, chain[n])) {
            break;
        }
        root = chain[n];
    }
    (root, true)
}

/// The size of the records of a loop for all iterations from a loop around it inwards, if it is small
/// and the same in every run.
fn fixed_bytes(primal: &Primal, l: Loop, root: Loop, bytes: u64) -> Option<u64> {
    let mut total = bytes;
    for l in primal.loops.enclosing(Some(l)) {
        let Count::Constant(again) = primal.trip_counts[l].count else {
            return None;
        };
        total = total.checked_mul(again.checked_add(1)?)?;
        if l == root {
            break;
        }
    }
    (total <= MOST_BYTES_INSIDE).then_some(total)
}

/// What is said of calls that make or free memory of the tape. A combined derivative makes its own
/// once; that of its callees comes and goes as on a stack, see
/// [`tape_memory`](crate::simplify::stack_tapes).
pub(super) fn tape_flags(key: &Key) -> FnFlags {
    match key.combined {
        true if !key.replayed => FnFlags::OWN_TAPE,
        _ => FnFlags::TAPE,
    }
}

/// Makes the forward sweep fill the tape.
pub(super) fn fill(
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

/// What an integer that is kept holds, as far as that is known; of other types, accesses say it.
fn integer_parts(
    module: &Module,
    primal: &Primal,
    function: &Function,
    value: Value,
) -> Vec<(u64, SourcePart)> {
    let Some(bits) = function.ty(value).int_bits() else {
        return Vec::new();
    };
    // A bit is a decision. Of the program's integers the analysis knows some; what the sweep adds
    // are numbers of edges, and words of memory that may be pointers.
    let is_ours = value.index() >= primal.function.value_count();
    match bits == 1 || (is_ours && bits < 64) {
        true => vec![(0, SourcePart::Int(u64::from(bits.div_ceil(8))))],
        false => declared(primal.types.pieces(module, function, value)),
    }
}

/// What the forward sweep of a callee says of its frame.
fn frame_parts(module: &Module, pair: &Pair) -> Vec<(u64, SourcePart)> {
    let callee = &module.funcs[pair.augmented];
    let frame = callee.arguments().last();
    let said = frame.and_then(|frame| callee.declared.get(frame));
    let parts = said
        .into_iter()
        .flatten()
        .filter_map(|declared| match declared {
            Declared::Object(source) => Some(module.sources[*source].parts.clone()),
            Declared::Element(_) | Declared::Integers(_) => None,
        });
    parts.flatten().collect()
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
        let access = self.layout.access(&self.synthesis.module, ty);
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
