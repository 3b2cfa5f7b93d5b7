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

mod filler;

pub(super) use filler::fill;

use super::augmented::Augmented;
use super::delayed::LIST_FIELD;
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::Count;
use crate::chaos::Choice;
use crate::derivative::Key;
use crate::ir::{
    Access, Declared, FnFlags, Function, Inst, Module, Region, Scope, ScopeData, SourcePart,
    SourceTypeData, Type, Value,
};
use crate::plan::{Need, Plan};
use crate::primal::{Primal, declared};
use crate::shadow::ActiveCall;
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
    /// For values in records of inner loops, the scope of their field, and those of the others.
    scopes: HashMap<Need, (Scope, Vec<Scope>)>,
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
        let mut layout = match empty.frame_bytes() {
            0 => empty,
            _ => Layout::with_own(synthesis, primal, augmented, plan, None),
        };
        layout.tell_apart(&mut synthesis.module, primal, plan);
        layout
    }

    /// Says of the fields of a record that they are different memory. An optimizer sees that too, until
    /// it must ask at run time whether other arrays of a loop overlap: then it compares all of them, and
    /// the fields of records lie between each other.
    fn tell_apart(&mut self, module: &mut Module, primal: &Primal, plan: &Plan) {
        /// The lists grow with the square of this.
        const MOST_FIELDS: usize = 32;
        let has_inner = |l: Loop| {
            primal
                .loops
                .iter()
                .any(|m| primal.loops.parent(m) == Some(l))
        };
        for l in primal.loops.iter().filter(|&l| !has_inner(l)) {
            let mut fields = plan.cached();
            fields.retain(|need| need.level == Some(l));
            if !(2..=MOST_FIELDS).contains(&fields.len()) {
                continue;
            }
            let domain = module.scopes.values().map(|scope| scope.domain + 1).max();
            let domain = domain.unwrap_or(0);
            let scopes = fields
                .iter()
                .map(|_| module.scopes.push(ScopeData { domain }));
            let scopes: Vec<Scope> = scopes.collect();
            for (&need, &own) in fields.iter().zip(&scopes) {
                let others = scopes.iter().copied().filter(|&scope| scope != own);
                self.scopes.insert(need, (own, others.collect()));
            }
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

    /// An access to a cached value.
    pub(super) fn access_to(&self, module: &Module, need: Need, ty: Type) -> Access {
        let mut access = self.access(module, ty);
        if let Some((own, others)) = self.scopes.get(&need) {
            access.scopes.push(*own);
            access.noalias.clone_from(others);
        }
        access
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
/// [`stack_tapes`](crate::simplify::stack_tapes).
pub(super) fn tape_flags(key: &Key) -> FnFlags {
    match key.combined {
        true if !key.replayed => FnFlags::OWN_TAPE,
        _ => FnFlags::TAPE,
    }
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
