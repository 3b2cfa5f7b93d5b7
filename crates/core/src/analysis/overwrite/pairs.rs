//! One read against the writes that can come after it.

use super::reads::{Caller, Side, Summaries};
use super::writes::{Kind, Later, Touch, Write};
use super::{Because, Call, Condition, Overwritten, Window};
use crate::analysis::activity::keepable::{Group, Keepable};
use crate::analysis::affine::{Affine, AffineValues, Base, Factor};
use crate::analysis::alias::{Alias, Aliases, Moment};
use crate::analysis::cfg::Cfg;
use crate::analysis::effects::{ArgEffects, Effects, Summary};
use crate::analysis::facts::Facts;
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::points_to::{Object, PointsTo};
use crate::analysis::ranges::Range;
use crate::analysis::trip_count::{Count, TripCount};
use crate::ir::{Access, Block, Function, Inst, ModRef, Module, Value};
use crate::planted::Defect;
use cranelift_entity::SecondaryMap;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Compares one read after the other with all writes.
pub(super) struct Analysis<'a> {
    pub(super) module: &'a Module,
    pub(super) func: &'a Function,
    pub(super) window: &'a Window,
    pub(super) trips: SecondaryMap<Loop, TripCount>,
    pub(super) aliases: Aliases<'a>,
    pub(super) writes: Vec<Write<'a>>,
    pub(super) cfg: &'a Cfg,
    pub(super) loops: &'a Loops,
    pub(super) points_to: &'a PointsTo,
    pub(super) returned: BTreeSet<Object>,
    pub(super) effects: &'a Effects,
    pub(super) keepable: &'a Keepable,
    /// What must not be freed for the answers since this was last taken.
    pub(super) kept: RefCell<BTreeSet<Group>>,
    pub(super) summaries: Summaries,
    pub(super) facts: Facts<'a>,
    /// What is left to spend on proofs.
    pub(super) fuel: Cell<u32>,
}

impl Analysis<'_> {
    /// Whether the bytes of a read are intact later.
    pub(super) fn read(
        &self,
        at: (Block, usize, Inst),
        read: &Touch,
        later: &Later,
    ) -> Overwritten {
        let observable = |a: &Access| a.volatile || a.atomic.is_some();
        if read.location.access.is_some_and(observable) {
            return Overwritten::Yes(Because::Observable);
        }
        let objects = self.points_to.objects(read.location.pointer);
        let pointer = Some(read.location.pointer);
        self.answer(at, pointer, objects.collect(), &What::Bytes(read), later)
    }

    /// Whether the bytes of a read from an address that is known before the innermost loop around it
    /// are intact in all iterations of that loop, whichever come first; none if there is no such loop.
    pub(super) fn in_loop(&self, read: &Touch) -> Option<Overwritten> {
        let pointer = read.location.pointer;
        let l = self.loops.innermost(read.location.block)?;
        let made = self.aliases.values().def_block(pointer);
        let plain = |a: &Access| !a.volatile && a.atomic.is_none();
        if made.is_some_and(|made| self.loops.contains(l, made))
            || !read.location.access.is_some_and(plain)
        {
            return None;
        }
        let objects: Vec<Object> = self.points_to.objects(pointer).collect();
        let mut conditions = Vec::new();
        for write in &self.writes {
            if !self.loops.contains(l, write.block) {
                continue;
            }
            let meets = match &write.kind {
                Kind::Call(summary, pointers) => {
                    let meets = self.call_meets(&objects, summary, pointers);
                    meets.map(|_| Overwritten::Yes(Because::Inst(write.inst)))
                }
                Kind::Bytes(touch) => {
                    let (a, b) = (&read.location, &touch.location);
                    let may = self.aliases.objects_overlap(a.pointer, b.pointer)
                        && self.aliases.access_overlap(a, b, Moment::Any);
                    may.then(|| {
                        let caller = self.as_caller();
                        let ranges = caller.range(read).zip(caller.range(touch));
                        match ranges.and_then(|(a, b)| self.compared(&a, &b, write.inst)) {
                            Some(None) => Overwritten::Never,
                            Some(Some(condition)) => Overwritten::IfOverlap(vec![condition]),
                            None => Overwritten::Yes(Because::Inst(write.inst)),
                        }
                    })
                }
            };
            match meets {
                None | Some(Overwritten::Never) => {}
                Some(Overwritten::IfOverlap(new)) => conditions.extend(new),
                yes => return yes,
            }
        }
        Some(match conditions.is_empty() {
            true => Overwritten::Never,
            false => Overwritten::IfOverlap(conditions),
        })
    }

    /// Whether the memory that a call sees is intact later.
    pub(super) fn call(&self, at: (Block, usize, Inst), pointers: &[Value], later: &Later) -> Call {
        let mut deep = BTreeSet::from([Object::Unknown]);
        let mut arguments = Vec::new();
        let mut kept = Vec::new();
        for (i, &pointer) in pointers.iter().enumerate() {
            if !self.func.ty(pointer).is_ptr() {
                arguments.push(Overwritten::Never);
                kept.push(BTreeSet::new());
                continue;
            }
            let direct: Vec<Object> = self.points_to.objects(pointer).collect();
            deep.extend(self.points_to.reachable(pointer));
            let mut answer = self.answer(at, Some(pointer), direct.clone(), &What::Objects, later);
            if let Overwritten::Yes(Because::Inst(_)) = answer {
                let (block, _, inst) = at;
                let data = self.func.inst(inst);
                let caller = self.as_caller();
                let ranges = caller.touches_once(block, data, pointers, i, Side::Reads);
                if let Some(ranges) = ranges {
                    let what = What::Ranges(block, &ranges);
                    answer = self.answer(at, Some(pointer), direct, &what, later);
                }
            }
            arguments.push(answer);
            kept.push(self.kept.take());
        }
        let deep = deep.into_iter().collect();
        let other = self.answer(at, None, deep, &What::Objects, later);
        let fresh = match self.func.result(at.2) {
            Some(result) => self.points_to.reachable(result).into_iter().collect(),
            None => Vec::new(),
        };
        let result = self.answer(at, None, fresh, &What::Objects, later);
        // All of it must stay if anything may be read.
        (self.kept.borrow_mut()).extend(kept.iter().flatten().copied());
        Call {
            arguments,
            other,
            result,
            kept,
        }
    }

    /// Whether these objects, or what is read of them, are intact later. If they are those of one
    /// pointer, it is given.
    fn answer(
        &self,
        at: (Block, usize, Inst),
        pointer: Option<Value>,
        mut objects: Vec<Object>,
        what: &What,
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
        let mut kept = BTreeSet::new();
        let unseen = usize::from(self.window.breaks(Defect::WindowOneStoreShort));
        let seen = self.writes.len().saturating_sub(unseen);
        for write in &self.writes[..seen] {
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
            if !same_iteration && self.window.breaks(Defect::LaterIterationsIgnored) {
                continue;
            }
            let when = When {
                common,
                same_iteration,
                itself,
            };
            match self.meets(&objects, pointer, what, write, when, &mut kept) {
                Overwritten::Never => {}
                Overwritten::IfOverlap(new) => conditions.extend(new),
                yes => return yes,
            }
        }
        self.kept.borrow_mut().extend(kept);
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
                let outside = self.points_to.is_reachable_from_outside(object);
                (self.window.other && outside)
                    || (self.window.result && self.returned.contains(&object))
            }
            Object::Alloca(_) => false,
        };
        overwritten.then_some(Because::Caller)
    }

    /// Whether a write that comes later may write what was read, if the groups in `kept` stay.
    fn meets(
        &self,
        objects: &[Object],
        pointer: Option<Value>,
        what: &What,
        write: &Write,
        when: When,
        kept: &mut BTreeSet<Group>,
    ) -> Overwritten {
        let yes = Overwritten::Yes(Because::Inst(write.inst));
        let touch = match &write.kind {
            Kind::Bytes(touch) => touch,
            Kind::Call(summary, pointers) => {
                let written = self.call_meets(objects, summary, pointers);
                let ignored = self.window.breaks(Defect::CalleeWritesIgnored);
                // A free that waits does not happen before the reverse sweep.
                if let Some(group) = self.keepable.freed(write.inst) {
                    kept.extend(written.map(|_| group));
                    return Overwritten::Never;
                }
                return match written {
                    Some(written) if !ignored && !self.renews(pointer, &written, when, kept) => {
                        let ranges = self.written_by_call(write, pointers, &written);
                        let ranges = ranges.zip(self.ranges_once(what));
                        ranges.map_or(yes, |(written, (block, read))| {
                            let (read, written) = ((block, &*read), (write.block, &*written));
                            self.ranges_meet(read, written, when, write.inst)
                        })
                    }
                    _ => Overwritten::Never,
                };
            }
        };
        let hit = objects.iter().any(|&x| {
            let mut behind = self.points_to.objects(touch.location.pointer);
            let apart = |y: Object| x != y && self.window.breaks(Defect::WrongAlias);
            behind.any(|y| self.points_to.may_overlap(x, y) && !apart(y))
        });
        if !hit {
            return Overwritten::Never;
        }
        match what {
            What::Objects => match self.renews(pointer, &[touch.location.pointer], when, kept) {
                true => Overwritten::Never,
                false => yes,
            },
            What::Ranges(..) | What::Bytes(_) => {
                if let What::Bytes(read) = what
                    && self.bytes_are_apart(read, touch, when, kept)
                {
                    return Overwritten::Never;
                }
                let ranges = self
                    .as_caller()
                    .range_once(touch)
                    .zip(self.ranges_once(what));
                ranges.map_or(yes, |(written, (block, read))| {
                    let written = (touch.location.block, &[written][..]);
                    self.ranges_meet((block, &read), written, when, write.inst)
                })
            }
        }
    }

    /// What is read, at one moment, and where.
    fn ranges_once(&self, what: &What) -> Option<(Block, Vec<Range>)> {
        match what {
            What::Objects => None,
            What::Bytes(read) => {
                let range = self.as_caller().range_once(read)?;
                Some((read.location.block, vec![range]))
            }
            What::Ranges(block, ranges) => Some((*block, ranges.to_vec())),
        }
    }

    /// What a call writes through some of its pointers, when it runs once.
    fn written_by_call(
        &self,
        write: &Write,
        pointers: &[Value],
        written: &[Value],
    ) -> Option<Vec<Range>> {
        // Without pointers it finds what it writes elsewhere.
        if written.is_empty() {
            return None;
        }
        let data = self.func.inst(write.inst);
        let mut all = Vec::new();
        for (i, pointer) in pointers.iter().enumerate() {
            if written.contains(pointer) {
                let caller = self.as_caller();
                all.extend(caller.touches_once(write.block, data, pointers, i, Side::Writes)?);
            }
        }
        Some(all)
    }

    /// Whether some ranges are written after others were read, which are each about one moment.
    fn ranges_meet(
        &self,
        (read_at, read): (Block, &[Range]),
        (write_at, written): (Block, &[Range]),
        when: When,
        by: Inst,
    ) -> Overwritten {
        let mut moments: Vec<Option<Loop>> = self.loops.enclosing(when.common).map(Some).collect();
        if when.same_iteration {
            moments.push(None);
        }
        let around = |block: Block| -> Vec<Loop> {
            self.loops.enclosing(self.loops.innermost(block)).collect()
        };
        let (read_nest, write_nest) = (around(read_at), around(write_at));
        let caller = self.as_caller();
        let mut conditions = Vec::new();
        for read in read {
            for written in written {
                let apart = moments.iter().map(|&later| {
                    let (read, write) = self.at_moments(read, written, when.common, later)?;
                    let shared = |l: &Loop| !self.differs(*l, when.common, later);
                    let inner = |nest: &[Loop]| -> Vec<Loop> {
                        nest.iter().copied().filter(|l| !shared(l)).collect()
                    };
                    let read = caller.swept(&read, &inner(&read_nest))?;
                    let write = caller.swept(&write, &inner(&write_nest))?;
                    self.compared(&read, &write, by)
                });
                let whole = || {
                    let read = caller.swept(read, &read_nest)?;
                    let write = caller.swept(written, &write_nest)?;
                    Some(vec![self.compared(&read, &write, by)?])
                };
                // Between different bases one comparison of all that is touched is enough.
                let apart = match read.base() == written.base() {
                    true => apart.collect::<Option<Vec<_>>>().or_else(whole),
                    false => whole(),
                };
                match apart {
                    Some(new) => conditions.extend(new.into_iter().flatten()),
                    None => return Overwritten::Yes(Because::Inst(by)),
                }
            }
        }
        match conditions.is_empty() {
            true => Overwritten::Never,
            false => Overwritten::IfOverlap(conditions),
        }
    }

    /// A range that is read and one that is written, in the same iteration of the loops around both
    /// or, given a loop, in a later iteration of it, both moved by the same amount, such that they do
    /// not mention the counters of loops around both that are in the same iteration. None if these
    /// loops move the two differently.
    fn at_moments(
        &self,
        read: &Range,
        written: &Range,
        common: Option<Loop>,
        later: Option<Loop>,
    ) -> Option<(Range, Range)> {
        let (mut read, mut written) = (read.clone(), written.clone());
        for l in self.loops.enclosing(common) {
            let differs = self.differs(l, common, later);
            if differs && later != Some(l) {
                continue;
            }
            let (read_step, read_rest) = read.split(l)?;
            let (write_step, write_rest) = written.split(l)?;
            if read_step != write_step {
                return None;
            }
            read = read_rest;
            written = match later == Some(l) {
                true => write_rest.after_the_first(&write_step, l)?,
                false => write_rest,
            };
            if later == Some(l) && self.window.breaks(Defect::NextIterationIgnored) {
                written = written.moved(&write_step)?;
            }
        }
        let known = self.is_checkable_but_for_counters(&read)
            && self.is_checkable_but_for_counters(&written);
        known.then_some((read, written))
    }

    /// Whether a loop may be in another iteration at the time of a write than it was at the read.
    fn differs(&self, l: Loop, common: Option<Loop>, later: Option<Loop>) -> bool {
        match later {
            Some(later) => self.loops.is_inside(l, later),
            None => !common.is_some_and(|c| self.loops.is_inside(c, l)),
        }
    }

    /// Whether the bytes of a read are shown to be apart from those of a write that comes later.
    fn bytes_are_apart(
        &self,
        read: &Touch,
        write: &Touch,
        when: When,
        kept: &mut BTreeSet<Group>,
    ) -> bool {
        let When {
            common,
            same_iteration,
            itself,
        } = when;
        let (a, b) = (&read.location, &write.location);
        if !self.aliases.access_overlap(a, b, Moment::Any) {
            return true;
        }
        let apart = |later| {
            self.is_apart(read, write, common, later)
                || self.is_shown_apart(read, write, common, later)
        };
        let apart_now = !same_iteration
            || match (&read.view, &write.view) {
                // A nest writes what it reads only in place.
                (Some(from), Some(to)) if itself => !from.is_same(to),
                (None, None) => self.aliases.query(a, b, Moment::Same) == Alias::No || apart(None),
                _ => false,
            }
            || self.is_older(a.pointer, b.pointer, common, kept);
        apart_now
            && self
                .loops
                .enclosing(common)
                .all(|l| apart(Some(l)) || self.is_other_later(a.pointer, b.pointer, l, kept))
    }

    /// The condition under which two ranges are disjoint, none inside if they are; none if that is not
    /// known.
    fn compared(&self, read: &Range, write: &Range, by: Inst) -> Option<Option<Condition>> {
        if read.is_disjoint(write) {
            return Some(None);
        }
        // Ranges at a fixed distance that are not disjoint now never will be.
        let checkable = self.is_checkable(read) && self.is_checkable(write);
        if !checkable || read.distance(write).is_some() {
            return None;
        }
        Some(Some(Condition {
            read: read.clone(),
            write: write.clone(),
            by,
        }))
    }

    /// The pointers through which a call may write or free some objects; none if it does not. An
    /// empty list stands for pointers that it finds elsewhere.
    fn call_meets(
        &self,
        objects: &[Object],
        summary: &Summary,
        pointers: &[Value],
    ) -> Option<Vec<Value>> {
        let outside = |&object: &Object| self.points_to.is_reachable_from_outside(object);
        let elsewhere = summary.other.contains(ModRef::WRITE) || summary.frees_other;
        if elsewhere && objects.iter().any(outside) {
            return Some(Vec::new());
        }
        let changed = pointers.iter().enumerate().filter(|&(i, &pointer)| {
            let changes = ArgEffects::WRITE | ArgEffects::FREE;
            summary.arg(i).intersects(changes)
                && self.points_to.objects(pointer).any(|x| {
                    let mut known = objects.iter();
                    known.any(|&y| self.points_to.may_overlap(x, y))
                })
        });
        let changed: Vec<Value> = changed.map(|(_, &pointer)| pointer).collect();
        (!changed.is_empty()).then_some(changed)
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
        let differs = |l: Loop| self.differs(l, common, later);
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
        let mut leaves = leaves(form).into_iter();
        leaves.all(|value| self.is_shared(self.loop_of(value), common, None))
    }

    /// Whether what is made once in each iteration of a loop, or once at all, is the same at the
    /// moments of a read and of a write.
    pub(super) fn is_shared(
        &self,
        made_in: Option<Loop>,
        common: Option<Loop>,
        later: Option<Loop>,
    ) -> bool {
        made_in.is_none_or(|l| {
            common.is_some_and(|c| self.loops.is_inside(c, l))
                && !later.is_some_and(|later| self.loops.is_inside(l, later))
        })
    }

    /// Whether the base of an address is the same at both moments.
    pub(super) fn base_is_shared(
        &self,
        form: &Affine,
        common: Option<Loop>,
        later: Option<Loop>,
    ) -> bool {
        match form.base {
            Some(Base::Value(value)) => self.is_shared(self.loop_of(value), common, later),
            Some(Base::Symbol(_)) => true,
            None => false,
        }
    }

    /// The innermost loop in which a value is made.
    pub(super) fn loop_of(&self, value: Value) -> Option<Loop> {
        let block = self.aliases.values().def_block(value);
        block.and_then(|block| self.loops.innermost(block))
    }

    /// The largest counter of a loop, if it is a constant.
    fn most(&self, l: Loop) -> Option<u64> {
        match self.trips[l].count {
            Count::Constant(n) => Some(n),
            _ => None,
        }
    }

    fn as_caller(&self) -> Caller<'_> {
        Caller {
            module: self.module,
            effects: self.effects,
            values: self.aliases.values(),
            loops: self.loops,
            trips: &self.trips,
            summaries: &self.summaries,
        }
    }

    /// Whether all that a range mentions beside counters has one value while the function runs.
    fn is_checkable_but_for_counters(&self, range: &Range) -> bool {
        let values = self.aliases.values();
        let known = |form: &&Affine| values.is_known_at_entry(&form.without_counters());
        range.forms().iter().all(known)
    }

    fn is_checkable(&self, range: &Range) -> bool {
        let values = self.aliases.values();
        range
            .forms()
            .into_iter()
            .all(|form| values.is_known_at_entry(form))
    }
}

/// When a write comes after a read.
#[derive(Copy, Clone)]
pub(super) struct When {
    /// The innermost loop around both.
    pub(super) common: Option<Loop>,
    /// Whether it may come in the same iteration of it.
    pub(super) same_iteration: bool,
    /// Whether one instruction does both.
    itself: bool,
}

/// What of some objects is read.
enum What<'a> {
    /// Anything.
    Objects,
    /// One access.
    Bytes(&'a Touch<'a>),
    /// These addresses, whenever a block runs.
    Ranges(Block, &'a [Range]),
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
