//! Where adjoints are while the reverse sweep runs, and how contributions are added to them.

use super::Gradient;
use crate::chaos::Choice;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Access, Builder, Declared, Flags, FloatKind, InstData, Op, SourcePart, SourceTypeData, Type,
    Value,
};

impl Gradient<'_> {
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
    pub(in crate::reverse) fn slot(&mut self, value: Value, k: usize) -> Value {
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
                let options = &self.synthesis.options;
                let place = (&self.primal.function.name, value);
                if options.flips(Choice::FirstZero, place) {
                    let mut builder = Builder::new(&mut self.func, self.prologue);
                    builder.store(zero, slot, access.clone());
                } else {
                    let store = InstData::new(Op::Store(access.clone()), vec![zero, slot]);
                    let store = self.func.make_inst(store, Type::void());
                    self.first_zeros.push((slot, store));
                }
                slot
            })
            .collect();
        self.slots.insert(value, slots.clone());
        slots[k]
    }

    /// The floats in a value of the primal, with byte offsets.
    pub(in crate::reverse) fn float_pieces(&self, value: Value) -> Vec<(i64, FloatKind)> {
        self.primal.float_pieces(&self.synthesis.module, value)
    }

    /// Adds `value`, of any type with floats at `pieces`, into the memory at `address`.
    pub(in crate::reverse) fn accumulate(
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
            let from = unaligned(self.frame_access(part));
            let to = unaligned(access.clone());
            let mut builder = self.builder();
            let source = builder.offset(temporary, offset);
            let part = builder.load(part, source, from);
            let target = builder.offset(address, offset);
            builder.accumulate(target, part, to);
        }
    }

    /// Takes the floats at `pieces` out of the memory at `address`, as bytes of a value of type
    /// `ty`, and leaves zeros.
    pub(in crate::reverse) fn take(
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
            let to = unaligned(self.frame_access(part));
            let from = unaligned(access.clone());
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
    pub(in crate::reverse) fn take_adjoints(&mut self, value: Value) -> Vec<Value> {
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
    pub(in crate::reverse) fn contribute(&mut self, value: Value, k: usize, contribution: Value) {
        let pieces = self.float_pieces(value);
        self.contribute_at(value, k, 0, contribution, &pieces);
    }

    /// Adds a contribution, with floats at `pieces`, to an adjoint from a byte offset on.
    pub(in crate::reverse) fn contribute_at(
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
    pub(in crate::reverse) fn check_lost(&self) -> Result<()> {
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
}

/// The same access at an address of which nothing is known.
fn unaligned(access: Access) -> Access {
    Access { align: 1, ..access }
}
