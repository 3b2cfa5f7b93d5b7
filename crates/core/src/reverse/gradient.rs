//! The reverse sweep under construction: its blocks and slots, and how it gets primal values.

use super::augmented::Augmented;
use super::control::Hub;
use super::dropped;
use super::induction::Step;
use super::local::local_values;
use super::tape::{CalleeFrame, Layout};
use crate::analysis::loops::Loop;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Access, Block, Builder, Constant, Declared, Flags, FloatKind, Function, Inst, InstData, Loc,
    Op, Region, SourcePart, SourceTypeData, Type, Value, ValueDef,
};
use crate::plan::{Need, Plan, Source, called_again};
use crate::planted::Defect;
use crate::primal::Primal;
use crate::shadow::{choose, spare};
use crate::synthesis::Synthesis;
use cranelift_entity::EntitySet;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The reverse sweep under construction.
pub(super) struct Gradient<'a> {
    pub(super) synthesis: &'a mut Synthesis,
    pub(super) primal: &'a Primal,
    pub(super) augmented: &'a Augmented,
    /// The plan and the layout of the tape; none while needs are recorded.
    pub(super) tape: Option<(&'a Plan, &'a Layout)>,
    needs: BTreeSet<Need>,
    pub(super) func: Function,
    /// Where slots are made.
    pub(super) prologue: Block,
    /// Where instructions are appended.
    pub(super) block: Block,
    /// The primal block that is being reversed.
    pub(super) at: Block,
    /// The source location of the primal instruction that is being reversed.
    pub(super) loc: Option<Loc>,
    /// The reverse of each primal block.
    pub(super) reversed: HashMap<Block, Block>,
    /// The entries to the reverses of loops that are left from several blocks.
    pub(super) hubs: HashMap<Loop, Hub>,
    /// The slots of each active value's adjoints.
    slots: HashMap<Value, Vec<Value>>,
    /// The values whose adjoints need no slot, and what those got so far.
    local: HashSet<Value>,
    sums: HashMap<(Value, usize), Value>,
    /// The slot of each loop's counter.
    counters: HashMap<Loop, Value>,
    /// Values of the forward sweep that exist in the reverse sweep too.
    both: HashMap<Value, Value>,
    pub(super) seeds: Vec<Value>,
    pub(super) frame: Value,
    /// Primal values that the current block has got already.
    memo: HashMap<Need, Value>,
    records: HashMap<Option<Loop>, Value>,
    /// The instructions whose results may be infinite where they are dropped.
    pub(super) guarded: EntitySet<Inst>,
    /// A value that got a contribution which its type has no place for.
    lost: Option<Value>,
}

impl<'a> Gradient<'a> {
    /// The primal values that the reverse sweep asks for.
    pub(super) fn record(
        synthesis: &'a mut Synthesis,
        primal: &'a Primal,
        augmented: &'a Augmented,
    ) -> Result<BTreeSet<Need>> {
        let mut gradient = Gradient::new(synthesis, primal, augmented, None);
        gradient.run()?;
        Ok(gradient.needs)
    }

    /// The reverse sweep.
    pub(super) fn emit(
        synthesis: &'a mut Synthesis,
        primal: &'a Primal,
        augmented: &'a Augmented,
        plan: &'a Plan,
        layout: &'a Layout,
    ) -> Result<Function> {
        let mut gradient = Gradient::new(synthesis, primal, augmented, Some((plan, layout)));
        gradient.run()?;
        Ok(gradient.func)
    }

    fn new(
        synthesis: &'a mut Synthesis,
        primal: &'a Primal,
        augmented: &'a Augmented,
        tape: Option<(&'a Plan, &'a Layout)>,
    ) -> Gradient<'a> {
        let sig = primal.key.gradient_signature(&primal.function.sig);
        let mut func = Function::with_entry(format!("{}.reverse", primal.function.name), sig);
        func.local = true;
        let params = func.arguments().to_vec();
        let prologue = func.entry();
        let frame = params[params.len() - 1];
        let shared = augmented.params.len() - 1;
        let mut both: HashMap<Value, Value> = HashMap::new();
        for (&forward, &reverse) in augmented.params[..shared].iter().zip(&params) {
            both.insert(forward, reverse);
        }
        let mut position = 0;
        let arguments = primal.function.arguments();
        for (&argument, activity) in arguments.iter().zip(&primal.key.args) {
            both.insert(argument, params[position]);
            position += 1 + activity.shadow_count(primal.key.width);
        }
        let local = local_values(primal, &synthesis.options);
        Gradient {
            synthesis,
            primal,
            augmented,
            tape,
            needs: BTreeSet::new(),
            func,
            prologue,
            block: prologue,
            at: primal.function.entry(),
            loc: None,
            reversed: HashMap::new(),
            hubs: HashMap::new(),
            slots: HashMap::new(),
            local,
            sums: HashMap::new(),
            counters: HashMap::new(),
            both,
            seeds: params[shared..params.len() - 1].to_vec(),
            frame,
            memo: HashMap::new(),
            records: HashMap::new(),
            guarded: dropped::guarded(primal),
            lost: None,
        }
    }

    pub(super) fn width(&self) -> usize {
        self.primal.key.width as usize
    }

    pub(super) fn builder(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&mut self.func, self.block);
        builder.loc = self.loc;
        builder
    }

    /// Goes on in a block. What the last one had got is not available there.
    pub(super) fn enter(&mut self, block: Block) {
        self.block = block;
        self.memo.clear();
        self.records.clear();
    }

    /// An access to the frame of the reverse sweep.
    pub(super) fn frame_access(&self, ty: Type) -> Access {
        Access {
            align: self.synthesis.module.layout.align(ty),
            region: Region::Frame,
            ..Access::default()
        }
    }

    /// Memory in the frame of the reverse sweep, not initialized.
    pub(super) fn temporary(&mut self, ty: Type) -> Value {
        let align = self.synthesis.module.layout.align(ty);
        Builder::new(&mut self.func, self.prologue).alloca(ty, align)
    }

    /// Memory like that for adjoints with floats at `pieces`. No other byte of an integer in it is
    /// anything but zero, which a derivative of the derivative must know and no access says.
    fn adjoint_memory(&mut self, ty: Type, pieces: &[(i64, FloatKind)]) -> Value {
        let memory = self.temporary(ty);
        let module = &mut self.synthesis.module;
        let is_float = |byte: u64| {
            pieces.iter().any(|&(at, kind)| {
                let at = at as u64;
                (at..at + u64::from(kind.bytes())).contains(&byte)
            })
        };
        let mut parts: Vec<(u64, SourcePart)> = Vec::new();
        for (at, scalar) in module.layout.scalars(ty) {
            if !scalar.is_int() {
                continue;
            }
            for byte in at..at + module.layout.size(scalar) {
                match parts.last_mut() {
                    _ if is_float(byte) => {}
                    Some((start, SourcePart::Int(count))) if *start + *count == byte => *count += 1,
                    _ => parts.push((byte, SourcePart::Int(1))),
                }
            }
        }
        if self.tape.is_some() && !parts.is_empty() {
            let size = module.layout.size(ty);
            let source = module.sources.push(SourceTypeData { size, parts });
            let known = self.func.declared.entry(memory).or_default();
            known.push(Declared::Object(source));
        }
        memory
    }

    /// The slot that holds one of the adjoints of a value.
    pub(super) fn slot(&mut self, value: Value, k: usize) -> Value {
        if let Some(slots) = self.slots.get(&value) {
            return slots[k];
        }
        let ty = self.primal.function.ty(value);
        let access = self.frame_access(ty);
        let pieces = self.float_pieces(value);
        let slots: Vec<Value> = (0..self.width())
            .map(|_| {
                let slot = self.adjoint_memory(ty, &pieces);
                let zero = self.func.zero(ty);
                let mut builder = Builder::new(&mut self.func, self.prologue);
                builder.store(zero, slot, access.clone());
                slot
            })
            .collect();
        self.slots.insert(value, slots.clone());
        slots[k]
    }

    /// The floats in a value of the primal, with byte offsets.
    pub(super) fn float_pieces(&self, value: Value) -> Vec<(i64, FloatKind)> {
        self.primal.float_pieces(&self.synthesis.module, value)
    }

    /// The slot of a loop's counter.
    pub(super) fn counter_slot(&mut self, l: Loop) -> Value {
        if let Some(&slot) = self.counters.get(&l) {
            return slot;
        }
        let slot = self.temporary(Type::i64());
        self.counters.insert(l, slot);
        slot
    }

    /// A value of the forward sweep, as it was when control passed where the reverse sweep is.
    pub(super) fn primal_value(&mut self, value: Value) -> Value {
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
    pub(super) fn is_recomputed(&self, value: Value) -> bool {
        let need = self.augmented.need(self.primal, value, self.at);
        let plan = self.tape.map(|(plan, _)| plan);
        let source = plan.zip(need).map(|(plan, need)| plan.source(need));
        source == Some(Source::Recompute)
    }

    fn cached(&mut self, layout: &Layout, need: Need) -> Value {
        let ty = self.augmented.func.ty(need.value);
        let record = self.record_address(need.level);
        let offset = layout.offset_of(need);
        let access = layout.access(&self.synthesis.module, ty);
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
        let again = match self.augmented.func.def(value) {
            ValueDef::Result(inst) => {
                let module = &self.synthesis.module;
                let call = called_again(module, self.primal, self.augmented, value);
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
    pub(super) fn record_address(&mut self, level: Option<Loop>) -> Value {
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
        let base = builder.load(Type::ptr(), field, access);
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

    /// The shadow of a pointer, as it was when control passed here.
    pub(super) fn shadow(&mut self, pointer: Value, k: usize) -> Result<Value> {
        if let Some(shadows) = self.augmented.shadows.get(&pointer) {
            let shadow = shadows[k];
            return Ok(self.primal_value(shadow));
        }
        match self.primal.function.def(pointer) {
            ValueDef::Const(_) => {
                let pointer = self.primal_value(pointer);
                let key = &self.primal.key;
                let func = &mut self.func;
                Ok(self.synthesis.default_shadow(func, pointer, key, k))
            }
            _ => Err(Diagnostic::new(
                Code::MissingPointerShadow,
                "cannot find the shadow of a pointer",
                "a derivative flows through memory behind it, but nothing is known of its shadow",
                "pass the memory as enzyme_dup",
            )
            .at(&self.synthesis.module, self.loc)
            .in_function(&self.primal.function.name)),
        }
    }

    /// The shadow of a pointer for an access; spare memory if it turns out at run time that the
    /// pointer has none.
    pub(super) fn guarded_shadow(
        &mut self,
        pointer: Value,
        k: usize,
        ty: Type,
        access: &Access,
    ) -> Result<Value> {
        let shadow = self.shadow(pointer, k)?;
        if !self.primal.key.runtime_activity {
            return Ok(shadow);
        }
        let primal = self.primal_value(pointer);
        let align = self.synthesis.module.layout.align(ty).max(access.align);
        let spare = spare(&mut Builder::new(&mut self.func, self.prologue), ty, align);
        Ok(choose(&mut self.builder(), primal, shadow, spare, shadow))
    }

    /// How many bytes of the shadow memory behind a pointer are accessed.
    pub(super) fn guarded_len(&mut self, pointer: Value, k: usize, len: Value) -> Result<Value> {
        if !self.primal.key.runtime_activity {
            return Ok(len);
        }
        let shadow = self.shadow(pointer, k)?;
        let primal = self.primal_value(pointer);
        let zero = self.func.zero(self.func.ty(len));
        Ok(choose(&mut self.builder(), primal, shadow, zero, len))
    }

    /// Where the callee of a call keeps its frame, and whether that is memory of its own: otherwise
    /// it is in the record of the iteration.
    pub(super) fn callee_frame(&mut self, inst: Inst) -> (Value, bool) {
        let level = self.primal.loops.innermost(self.at);
        let Some((_, layout)) = self.tape else {
            return (self.func.zero(Type::ptr()), false);
        };
        let record = self.record_address(level);
        let CalleeFrame {
            offset, on_heap, ..
        } = layout.callee_frame(inst);
        let access = layout.access(&self.synthesis.module, Type::ptr());
        let mut builder = self.builder();
        let address = builder.offset(record, offset);
        match on_heap {
            true => (builder.load(Type::ptr(), address, access), true),
            false => (address, false),
        }
    }

    /// Frees the records that were made before a loop.
    pub(super) fn release_records(&mut self, l: Loop) {
        let Some((_, layout)) = self.tape else { return };
        for (_, array) in layout.arrays_freed_after(l) {
            let outer = self.record_address(self.primal.loops.parent(l));
            let access = layout.access(&self.synthesis.module, Type::ptr());
            let mut builder = self.builder();
            let address = builder.offset(outer, array.field);
            let base = builder.load(Type::ptr(), address, access);
            match array.counted {
                true => self.free_tape(base),
                // It may have moved while it grew, so it is in no order.
                false => self.free("free", vec![base]),
            }
        }
    }

    /// Adds `value`, of any type with floats at `pieces`, into the memory at `address`.
    pub(super) fn accumulate(
        &mut self,
        address: Value,
        value: Value,
        pieces: &[(i64, FloatKind)],
        access: &Access,
    ) {
        let ty = self.func.ty(value);
        if ty.is_float_like() {
            let access = access.clone();
            self.builder().accumulate(address, value, access);
            return;
        }
        let temporary = self.temporary(ty);
        let whole = self.frame_access(ty);
        self.builder().store(value, temporary, whole);
        for &(offset, kind) in pieces {
            let part = Type::float(kind);
            let from = Access {
                align: 1,
                ..self.frame_access(part)
            };
            let to = Access {
                align: 1,
                ..access.clone()
            };
            let mut builder = self.builder();
            let source = builder.offset(temporary, offset);
            let part = builder.load(part, source, from);
            let target = builder.offset(address, offset);
            builder.accumulate(target, part, to);
        }
    }

    /// Takes the floats at `pieces` out of the memory at `address`, as bytes of a value of type
    /// `ty`, and leaves zeros.
    pub(super) fn take(
        &mut self,
        address: Value,
        ty: Type,
        pieces: &[(i64, FloatKind)],
        access: &Access,
    ) -> Value {
        let zero = self.func.zero(ty);
        if ty.is_float_like() {
            let access = access.clone();
            let mut builder = self.builder();
            let value = builder.load(ty, address, access.clone());
            builder.store(zero, address, access);
            return value;
        }
        let temporary = self.adjoint_memory(ty, pieces);
        let whole = self.frame_access(ty);
        self.builder().store(zero, temporary, whole.clone());
        for &(offset, kind) in pieces {
            let part = Type::float(kind);
            let to = Access {
                align: 1,
                ..self.frame_access(part)
            };
            let from = Access {
                align: 1,
                ..access.clone()
            };
            let mut builder = self.builder();
            let zero = builder.func.zero(part);
            let source = builder.offset(address, offset);
            let value = builder.load(part, source, from.clone());
            builder.store(zero, source, from);
            let target = builder.offset(temporary, offset);
            builder.store(value, target, to);
        }
        self.builder().load(ty, temporary, whole)
    }

    /// Takes the adjoints of a value out of their slots.
    pub(super) fn take_adjoints(&mut self, value: Value) -> Vec<Value> {
        let ty = self.primal.function.ty(value);
        if self.local.contains(&value) {
            let zero = self.func.zero(ty);
            let sums = (0..self.width()).map(|k| self.sums.remove(&(value, k)));
            let sums: Vec<Value> = sums.map(|sum| sum.unwrap_or(zero)).collect();
            self.check_adjoints(value, &sums);
            return sums;
        }
        let access = self.frame_access(ty);
        let adjoints: Vec<Value> = (0..self.width())
            .map(|k| {
                let slot = self.slot(value, k);
                let zero = self.func.zero(ty);
                let mut builder = self.builder();
                let adjoint = builder.load(ty, slot, access.clone());
                builder.store(zero, slot, access.clone());
                adjoint
            })
            .collect();
        self.check_adjoints(value, &adjoints);
        adjoints
    }

    /// Adds a contribution to one of the adjoints of a value, if it is active.
    pub(super) fn contribute(&mut self, value: Value, k: usize, contribution: Value) {
        let pieces = self.float_pieces(value);
        self.contribute_at(value, k, 0, contribution, &pieces);
    }

    /// Adds a contribution, with floats at `pieces`, to an adjoint from a byte offset on.
    pub(super) fn contribute_at(
        &mut self,
        value: Value,
        k: usize,
        offset: i64,
        contribution: Value,
        pieces: &[(i64, FloatKind)],
    ) {
        if !self.primal.is_active(value) {
            return;
        }
        if !self.takes_floats(value, offset, contribution, pieces) {
            self.lost.get_or_insert(value);
        }
        if self.local.contains(&value) {
            self.add_to_sum(value, k, offset, contribution, pieces);
            return;
        }
        let slot = self.slot(value, k);
        self.accumulate_at(slot, value, offset, contribution, pieces);
    }

    /// Adds a contribution to an adjoint that has no slot.
    fn add_to_sum(
        &mut self,
        value: Value,
        k: usize,
        offset: i64,
        contribution: Value,
        pieces: &[(i64, FloatKind)],
    ) {
        let ty = self.primal.function.ty(value);
        let mut sum = contribution;
        // A float that moved as an integer comes back as one.
        if self.func.ty(contribution) != ty {
            let floats = self.float_pieces(value);
            let memory = self.adjoint_memory(ty, &floats);
            let access = self.frame_access(ty);
            let zero = self.func.zero(ty);
            self.builder().store(zero, memory, access.clone());
            self.accumulate_at(memory, value, offset, contribution, pieces);
            sum = self.builder().load(ty, memory, access);
        }
        if let Some(&others) = self.sums.get(&(value, k)) {
            let mut builder = self.builder();
            builder.float_flags = Flags::ADJOINT_SUM;
            sum = builder.fadd(others, sum);
        }
        self.sums.insert((value, k), sum);
    }

    /// Adds a contribution to the adjoint of a value in memory.
    fn accumulate_at(
        &mut self,
        memory: Value,
        value: Value,
        offset: i64,
        contribution: Value,
        pieces: &[(i64, FloatKind)],
    ) {
        let same = self.func.ty(contribution) == self.primal.function.ty(value);
        let ty = self.func.ty(contribution);
        let mut access = self.frame_access(ty);
        if !same {
            access.align = 1;
        }
        let address = self.builder().offset(memory, offset);
        self.accumulate(address, contribution, pieces, &access);
    }

    /// Whether a value is known to hold the floats that a contribution has for it. Its adjoint would
    /// take them and nobody would ever look.
    fn takes_floats(
        &self,
        value: Value,
        offset: i64,
        contribution: Value,
        pieces: &[(i64, FloatKind)],
    ) -> bool {
        if self.primal.function.ty(value).is_float_like() {
            return true;
        }
        let ty = self.func.ty(contribution);
        let own = self.float_pieces(value);
        let known = |&(at, kind): &(i64, FloatKind)| own.contains(&(offset + at, kind));
        match ty.is_float_like() {
            true => {
                let scalars = self.synthesis.module.layout.scalars(ty).into_iter();
                let floats = scalars.filter_map(|(at, ty)| Some((at as i64, ty.float_kind()?)));
                floats.collect::<Vec<_>>().iter().all(known)
            }
            false => pieces.iter().all(known),
        }
    }

    /// The refusal of a value whose adjoint would be lost, if there is one.
    pub(super) fn check_lost(&self) -> Result<()> {
        let Some(value) = self.lost else {
            return Ok(());
        };
        let inst = self.primal.function.def_inst(value);
        let loc = inst.and_then(|inst| self.primal.function.inst(inst).loc);
        Err(Diagnostic::new(
            Code::UnknownValueType,
            "cannot deduce the type of a value",
            "a derivative flows through it as through a float, and its uses disagree, or nothing \
             in the program says that it holds one",
            "copy floats as floats, or say what the memory that it comes from holds with \
             `__enzyme_double(p);` (or __enzyme_float)",
        )
        .at(&self.synthesis.module, loc)
        .in_function(&self.primal.function.name))
    }

    /// The flags of derivative code for an instruction.
    pub(super) fn flags(&self, primal: Flags) -> Flags {
        crate::shadow::derivative_flags(primal)
    }

    /// The refusal to differentiate an instruction.
    pub(super) fn refuse(&self, inst: Inst, what: &str) -> Box<Diagnostic> {
        self.primal.refuse(&self.synthesis.module, inst, what)
    }

    /// Ends the prologue and returns what the reverse sweep of the entry leaves.
    pub(super) fn finish(&mut self) {
        let arguments = self.primal.function.arguments().to_vec();
        let activities = self.primal.key.args.clone();
        let mut parts = Vec::new();
        for (&argument, activity) in arguments.iter().zip(&activities) {
            if *activity != crate::ir::Activity::Out {
                continue;
            }
            let ty = self.primal.function.ty(argument);
            let access = self.frame_access(ty);
            let adjoints: Vec<Value> = (0..self.width())
                .map(|k| {
                    let slot = self.slot(argument, k);
                    let access = access.clone();
                    self.builder().load(ty, slot, access)
                })
                .collect();
            self.check_adjoints(argument, &adjoints);
            let part = crate::derivative::batch_values(&mut self.builder(), &adjoints);
            parts.push(part);
        }
        let mut builder = self.builder();
        let result = crate::derivative::bundle_values(&mut builder, &parts);
        builder.effect(Op::Return, result.into_iter().collect());
    }
}
