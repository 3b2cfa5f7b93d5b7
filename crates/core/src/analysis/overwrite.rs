//! Whether memory that was read is still the same when the reverse sweep runs.
//!
//! The reverse sweep runs after the whole forward sweep, so the window of a read lasts from the read
//! to the end of the function, and on for as long as the caller says. For each read and each write
//! that can come after it, the two must be shown apart: by their objects, by their alias classes,
//! or, for affine addresses from one base, by the distance between them, for each way in which the
//! write can come later: in the same iteration of the loops around both, or in a later iteration of
//! one of them (equal counters outside of that loop, any inside). What is left is a pair of address
//! ranges that the derivative can compare at run time when it is entered, if both ranges are known
//! then.

use super::affine::{Affine, AffineValues, Base};
use super::alias::{Alias, Aliases, Location, Moment};
use super::cfg::Cfg;
use super::dominators::Dominators;
use super::effects::{ArgEffects, Effects, Summary};
use super::loops::{Loop, Loops};
use super::points_to::{Object, PointsTo};
use super::ranges::Range;
use super::trip_count::{Count, TripCount, trip_counts};
use crate::ir::{Block, Func, Function, Inst, ModRef, Module, Op, Value};
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// What happens between the end of the function and the reverse sweep.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Window {
    /// For each argument whether the memory behind it may be overwritten; missing ones may not.
    pub arguments: Vec<bool>,
    /// Whether all other memory (globals, what pointers in memory point to) may be.
    pub other: bool,
    /// Whether the frame of the function ends, because the sweeps are two functions.
    pub frame_ends: bool,
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
    calls: HashMap<Inst, Call>,
}

/// What is known of the memory that a call sees.
#[derive(Clone, Debug)]
struct Call {
    arguments: Vec<Overwritten>,
    other: Overwritten,
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
        if func.is_declaration() {
            return None;
        }
        let cfg = Cfg::new(func);
        let dominators = Dominators::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &dominators).ok()?;
        let points_to = PointsTo::new(func, effects);
        let analysis = Analysis {
            module,
            func,
            window,
            trips: trip_counts(func, &cfg, &dominators, &loops),
            aliases: Aliases::new(module, func, &cfg, &loops, &points_to),
            writes: writes(module, func, &cfg, effects),
            cfg: &cfg,
            loops: &loops,
            points_to: &points_to,
        };
        let mut result = Overwrite {
            reads: HashMap::new(),
            calls: HashMap::new(),
        };
        for &block in cfg.reverse_postorder() {
            let later = Later::new(&cfg, &loops, block);
            for (index, &inst) in func.block_insts(block).iter().enumerate() {
                let data = func.inst(inst);
                let at = (block, index, inst);
                match &data.op {
                    Op::Load(access) => {
                        let size = func.result(inst).and_then(|v| size_of(module, func, v));
                        let read = Touch::new(block, data.args[0], size, Some(access));
                        result.reads.insert(inst, analysis.read(at, &read, &later));
                    }
                    Op::MemCopy { src, .. } => {
                        let mut read = Touch::new(block, data.args[1], None, Some(src));
                        read.set_length(func, data.args[2]);
                        result.reads.insert(inst, analysis.read(at, &read, &later));
                    }
                    Op::Call(_) | Op::Invoke { .. } => {
                        let (_, pointers) = effects.inst(data);
                        let call = analysis.call(at, pointers, &later);
                        result.calls.insert(inst, call);
                    }
                    _ => {}
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

    /// Whether the memory that an argument of a call points to is intact after the call.
    pub fn argument(&self, call: Inst, index: usize) -> Overwritten {
        let known = self.calls.get(&call);
        match known.map(|call| call.arguments.get(index)) {
            Some(Some(answer)) => answer.clone(),
            Some(None) => Overwritten::Never,
            None => Overwritten::Yes(Because::Inst(call)),
        }
    }

    /// The window of the callee: what may be overwritten between the call and its reverse. Overlaps
    /// that would have to be checked count as overwritten.
    pub fn window_of_call(&self, call: Inst) -> Window {
        let intact = |answer: &Overwritten| *answer == Overwritten::Never;
        match self.calls.get(&call) {
            Some(known) => Window {
                arguments: known.arguments.iter().map(|a| !intact(a)).collect(),
                other: !intact(&known.other),
                frame_ends: false,
            },
            None => Window {
                arguments: Vec::new(),
                other: true,
                frame_ends: false,
            },
        }
    }
}

/// Some bytes that are read or written.
struct Touch<'a> {
    location: Location<'a>,
    /// The number of bytes as an affine form, if the location has no constant one.
    length: Option<Value>,
}

impl<'a> Touch<'a> {
    fn new(
        block: Block,
        pointer: Value,
        size: Option<u64>,
        access: Option<&'a crate::ir::Access>,
    ) -> Touch<'a> {
        Touch {
            location: Location {
                pointer,
                size,
                access,
                block,
            },
            length: None,
        }
    }

    fn set_length(&mut self, func: &Function, length: Value) {
        match func.as_int(length).and_then(|n| u64::try_from(n).ok()) {
            Some(n) => self.location.size = Some(n),
            None => self.length = Some(length),
        }
    }

    fn size(&self, values: &AffineValues) -> Option<Affine> {
        match (self.location.size, self.length) {
            (Some(size), _) => Some(Affine::number(i128::from(size))),
            (None, Some(length)) => {
                let wrap = super::affine::Wrap::Unsigned;
                Some(values.integer(length, wrap, self.location.block))
            }
            (None, None) => None,
        }
    }
}

/// An instruction that writes or frees memory.
struct Write<'a> {
    block: Block,
    index: usize,
    inst: Inst,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Bytes(Touch<'a>),
    Call(Summary, &'a [Value]),
}

fn writes<'a>(module: &Module, func: &'a Function, cfg: &Cfg, effects: &Effects) -> Vec<Write<'a>> {
    let mut found = Vec::new();
    for &block in cfg.reverse_postorder() {
        // Where control never returns from, nobody asks what was read before.
        if !cfg.reaches_return(block) {
            continue;
        }
        for (index, &inst) in func.block_insts(block).iter().enumerate() {
            let data = func.inst(inst);
            let args = &data.args;
            let bytes = |pointer: Value, value: Value, access: &'a crate::ir::Access| {
                let size = size_of(module, func, value);
                Kind::Bytes(Touch::new(block, pointer, size, Some(access)))
            };
            let kind = match &data.op {
                Op::Store(access) => bytes(args[1], args[0], access),
                Op::Accumulate(access) | Op::AtomicRmw(_, access) => {
                    bytes(args[0], args[1], access)
                }
                Op::CmpXchg { access, .. } => bytes(args[0], args[2], access),
                Op::MemCopy { dst: access, .. } | Op::MemSet(access) => {
                    let mut touch = Touch::new(block, args[0], None, Some(access));
                    touch.set_length(func, args[2]);
                    Kind::Bytes(touch)
                }
                _ => {
                    let (summary, pointers) = effects.inst(data);
                    if !summary.may_write() {
                        continue;
                    }
                    Kind::Call(summary, pointers)
                }
            };
            found.push(Write {
                block,
                index,
                inst,
                kind,
            });
        }
    }
    found
}

fn size_of(module: &Module, func: &Function, value: Value) -> Option<u64> {
    let size = module.layout.store_size(func.ty(value));
    (size > 0).then_some(size)
}

/// Which blocks can come after one.
struct Later {
    any: SecondaryMap<Block, bool>,
    /// For each loop around the block, and for none, what is reached without its back edge or one
    /// of a loop around it.
    same: BTreeMap<Option<Loop>, SecondaryMap<Block, bool>>,
}

impl Later {
    fn new(cfg: &Cfg, loops: &Loops, block: Block) -> Later {
        let around: Vec<Loop> = loops.enclosing(loops.innermost(block)).collect();
        let mut same = BTreeMap::new();
        for i in 0..=around.len() {
            let forbidden: Vec<Block> = around[i..].iter().map(|&l| loops.header(l)).collect();
            same.insert(around.get(i).copied(), reach(cfg, block, &forbidden));
        }
        Later {
            any: reach(cfg, block, &[]),
            same,
        }
    }
}

fn reach(cfg: &Cfg, from: Block, forbidden: &[Block]) -> SecondaryMap<Block, bool> {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        for &next in cfg.successors(block) {
            if !forbidden.contains(&next) && !std::mem::replace(&mut seen[next], true) {
                work.push(next);
            }
        }
    }
    seen
}

struct Analysis<'a> {
    module: &'a Module,
    func: &'a Function,
    window: &'a Window,
    trips: SecondaryMap<Loop, TripCount>,
    aliases: Aliases<'a>,
    writes: Vec<Write<'a>>,
    cfg: &'a Cfg,
    loops: &'a Loops,
    points_to: &'a PointsTo,
}

impl Analysis<'_> {
    fn read(&self, at: (Block, usize, Inst), read: &Touch, later: &Later) -> Overwritten {
        let observable = |a: &crate::ir::Access| a.volatile || a.atomic.is_some();
        if read.location.access.is_some_and(observable) {
            return Overwritten::Yes(Because::Observable);
        }
        let objects = self.points_to.objects(read.location.pointer);
        self.answer(at, objects.collect(), Some(read), later)
    }

    fn call(&self, at: (Block, usize, Inst), pointers: &[Value], later: &Later) -> Call {
        let mut deep = BTreeSet::from([Object::Unknown]);
        let mut arguments = Vec::new();
        for &pointer in pointers {
            let direct = self.points_to.objects(pointer).collect();
            deep.extend(self.points_to.reachable(pointer));
            arguments.push(match self.func.ty(pointer).is_ptr() {
                true => self.answer(at, direct, None, later),
                false => Overwritten::Never,
            });
        }
        let other = self.answer(at, deep.into_iter().collect(), None, later);
        Call { arguments, other }
    }

    /// Whether these objects, or only these bytes in them, are intact later.
    fn answer(
        &self,
        at: (Block, usize, Inst),
        mut objects: Vec<Object>,
        read: Option<&Touch>,
        later: &Later,
    ) -> Overwritten {
        objects.retain(|object| match object {
            Object::Global(global) => !self.module.globals[*global].constant,
            _ => true,
        });
        if objects.is_empty() {
            return Overwritten::Never;
        }
        if let Some(because) = objects.iter().find_map(|&o| self.after_the_end(o)) {
            return Overwritten::Yes(because);
        }
        let mut conditions = Vec::new();
        for write in &self.writes {
            let (block, index, inst) = at;
            let same_block = write.block == block;
            let after = same_block && write.index > index;
            // A copy may overwrite its own source; what a call does is its callee's affair.
            let itself = write.inst == inst && matches!(write.kind, Kind::Bytes(_));
            if !after && !itself && !later.any[write.block] {
                continue;
            }
            let common = self.loops.common(block, write.block);
            let same_iteration = after || itself || later.same[&common][write.block];
            match self.meets(&objects, read, write, common, same_iteration) {
                Overwritten::Never => {}
                Overwritten::IfOverlap(new) => conditions.extend(new),
                yes => return yes,
            }
        }
        match conditions.is_empty() {
            true => Overwritten::Never,
            false => Overwritten::IfOverlap(conditions),
        }
    }

    /// What happens to an object when the function has ended.
    fn after_the_end(&self, object: Object) -> Option<Because> {
        let argument = |i: usize| self.window.arguments.get(i).copied().unwrap_or(false);
        let is_copy = |i: usize| self.func.params.get(i).is_some_and(|p| p.byval.is_some());
        let overwritten = match object {
            Object::Alloca(_) if self.window.frame_ends => return Some(Because::FrameEnds),
            Object::Argument(i) if self.window.frame_ends && is_copy(i) => {
                return Some(Because::FrameEnds);
            }
            Object::Argument(i) => argument(i),
            Object::Global(_) | Object::Unknown => {
                self.window.other || self.window.arguments.contains(&true)
            }
            // New memory is the caller's to write once it has been shown to it.
            Object::Allocation(_) => {
                self.window.other && self.points_to.is_reachable_from_outside(object)
            }
            Object::Alloca(_) => false,
        };
        overwritten.then_some(Because::Caller)
    }

    /// Whether a write that comes later may write what was read.
    fn meets(
        &self,
        objects: &[Object],
        read: Option<&Touch>,
        write: &Write,
        common: Option<Loop>,
        same_iteration: bool,
    ) -> Overwritten {
        let yes = Overwritten::Yes(Because::Inst(write.inst));
        let touch = match &write.kind {
            Kind::Bytes(touch) => touch,
            Kind::Call(summary, pointers) => {
                return match self.call_meets(objects, summary, pointers) {
                    true => yes,
                    false => Overwritten::Never,
                };
            }
        };
        let hit = objects.iter().any(|&x| {
            let mut behind = self.points_to.objects(touch.location.pointer);
            behind.any(|y| self.points_to.may_overlap(x, y))
        });
        if !hit {
            return Overwritten::Never;
        }
        let Some(read) = read else {
            return yes;
        };
        let (a, b) = (&read.location, &touch.location);
        if !self.aliases.access_overlap(a, b, Moment::Any) {
            return Overwritten::Never;
        }
        let apart_now = !same_iteration
            || self.aliases.query(a, b, Moment::Same) == Alias::No
            || self.is_apart(read, touch, common, None);
        let apart_later = |l| self.is_apart(read, touch, common, Some(l));
        if apart_now && self.loops.enclosing(common).all(apart_later) {
            return Overwritten::Never;
        }
        match (self.range(read), self.range(touch)) {
            (Some(read), Some(write)) if read.is_disjoint(&write) => Overwritten::Never,
            (Some(from), Some(to)) if self.is_checkable(&from) && self.is_checkable(&to) => {
                // Ranges from one base that are known to meet need no check.
                if from == to {
                    return yes;
                }
                Overwritten::IfOverlap(vec![Condition {
                    read: from,
                    write: to,
                    by: write.inst,
                }])
            }
            _ => yes,
        }
    }

    fn call_meets(&self, objects: &[Object], summary: &Summary, pointers: &[Value]) -> bool {
        let outside = |&object: &Object| self.points_to.is_reachable_from_outside(object);
        let elsewhere = summary.other.contains(ModRef::WRITE) || summary.frees_other;
        if elsewhere && objects.iter().any(outside) {
            return true;
        }
        pointers.iter().enumerate().any(|(i, &pointer)| {
            let changes = ArgEffects::WRITE | ArgEffects::FREE;
            summary.arg(i).intersects(changes)
                && self.points_to.objects(pointer).any(|x| {
                    let mut known = objects.iter();
                    known.any(|&y| self.points_to.may_overlap(x, y))
                })
        })
    }

    /// Whether a write is shown to miss a read by the distance of their addresses: in the same
    /// iteration of the loops around both, or, given a loop, in a later iteration of that loop and
    /// the same one of the loops around it.
    fn is_apart(
        &self,
        read: &Touch,
        write: &Touch,
        common: Option<Loop>,
        later: Option<Loop>,
    ) -> bool {
        self.distance(read, write, common, later)
            .is_some_and(|distance| {
                let (Some(read_size), Some(write_size)) = (read.location.size, write.location.size)
                else {
                    return false;
                };
                let behind = distance.lowest.is_some_and(|n| n >= i128::from(read_size));
                let before = distance
                    .highest
                    .is_some_and(|n| n <= -i128::from(write_size));
                behind || before
            })
    }

    /// The bounds of the distance from a read to a later write.
    fn distance(
        &self,
        read: &Touch,
        write: &Touch,
        common: Option<Loop>,
        later: Option<Loop>,
    ) -> Option<Bounds> {
        let values = self.aliases.values();
        let (rb, wb) = (read.location.block, write.location.block);
        let mut from = values.address(read.location.pointer, rb);
        let mut to = values.address(write.location.pointer, wb);
        // Everything that is not a counter must have one value at both moments: it is made outside
        // of every loop whose iteration may differ.
        let differs = |l: Loop| match later {
            Some(later) => self.loops.is_inside(l, later),
            None => !common.is_some_and(|c| self.loops.is_inside(c, l)),
        };
        for (form, block) in [(&from, rb), (&to, wb)] {
            let mut outermost = None;
            for l in self.loops.enclosing(self.loops.innermost(block)) {
                if differs(l) {
                    outermost = Some(l);
                }
            }
            if let Some(outermost) = outermost
                && !without_counters_is_invariant(values, form, outermost)
            {
                return None;
            }
            // Values of loops that have ended change when those run again.
            if later.is_none() && !self.leaves_are_shared(form, common) {
                return None;
            }
        }
        let mut bounds = Bounds {
            lowest: Some(0),
            highest: Some(0),
        };
        if let Some(l) = later {
            let (read_step, read_rest) = from.split(l)?;
            let (write_step, write_rest) = to.split(l)?;
            if read_step == write_step {
                // The write happens at least one iteration later.
                bounds.add(read_step.as_number()?, 1, self.most(l));
                (from, to) = (read_rest, write_rest);
            }
        }
        for (form, block, sign) in [(&mut from, rb, -1), (&mut to, wb, 1)] {
            for l in self.loops.enclosing(self.loops.innermost(block)) {
                if differs(l) {
                    let (step, rest) = form.split(l)?;
                    bounds.add(sign * step.as_number()?, 0, self.most(l));
                    *form = rest;
                }
            }
        }
        let rest = to.minus(&from)?.as_number()?;
        bounds.add(rest, 1, Some(1));
        Some(bounds)
    }

    fn leaves_are_shared(&self, form: &Affine, common: Option<Loop>) -> bool {
        let values = self.aliases.values();
        leaves(form).into_iter().all(|value| {
            let def = values.def_block(value);
            let inner = def.and_then(|block| self.loops.innermost(block));
            inner.is_none_or(|l| common.is_some_and(|c| self.loops.is_inside(c, l)))
        })
    }

    /// The largest counter of a loop, if it is a constant.
    fn most(&self, l: Loop) -> Option<u64> {
        match self.trips[l].count {
            Count::Constant(n) => Some(n),
            _ => None,
        }
    }

    fn range(&self, touch: &Touch) -> Option<Range> {
        let values = self.aliases.values();
        let block = touch.location.block;
        let nest: Vec<Loop> = self.loops.enclosing(self.loops.innermost(block)).collect();
        let address = values.address(touch.location.pointer, block);
        let size = touch.size(values)?;
        Range::over(&address, &size, &nest, &self.trips)
    }

    fn is_checkable(&self, range: &Range) -> bool {
        let values = self.aliases.values();
        debug_assert!(self.cfg.is_reachable(self.cfg.entry()));
        range
            .forms()
            .into_iter()
            .all(|form| values.is_known_at_entry(form))
    }
}

/// An interval of numbers; an end that is not known is open.
struct Bounds {
    lowest: Option<i128>,
    highest: Option<i128>,
}

impl Bounds {
    /// Adds `coefficient` times something between `least` and `most`.
    fn add(&mut self, coefficient: i128, least: u64, most: Option<u64>) {
        if coefficient == 0 {
            return;
        }
        let at_least = coefficient.checked_mul(i128::from(least));
        let at_most = most.and_then(|most| coefficient.checked_mul(i128::from(most)));
        let (low, high) = match coefficient > 0 {
            true => (at_least, at_most),
            false => (at_most, at_least),
        };
        self.lowest = self.lowest.zip(low).map(|(x, y)| x.saturating_add(y));
        self.highest = self.highest.zip(high).map(|(x, y)| x.saturating_add(y));
    }
}

fn leaves(form: &Affine) -> Vec<Value> {
    use super::affine::Factor;
    let mut found: Vec<Value> = form
        .factors()
        .filter_map(|factor| match factor {
            Factor::Counter(_) => None,
            Factor::Signed(value) | Factor::Unsigned(value) => Some(value),
        })
        .collect();
    if let Some(Base::Value(value)) = form.base {
        found.push(value);
    }
    found
}

fn without_counters_is_invariant(values: &AffineValues, form: &Affine, l: Loop) -> bool {
    leaves(form).into_iter().all(|value| {
        let single = Affine {
            base: Some(Base::Value(value)),
            ..Affine::default()
        };
        values.is_invariant(&single, l)
    })
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
