//! Shadows of memory: frame memory, stores, copies.

use super::{Sweep, Walk, shadow_access};
use crate::analysis::types::Piece;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Access, Builder, Declared, FnFlags, Inst, InstData, Op, Region, RmwOp, Type, UnaryOp, Value,
};
use crate::planted::Defect;
use crate::primal::Copied;
use crate::support;

impl Walk<'_> {
    /// Shadow memory for frame memory, zeroed. Where the frame ends before the reverse sweep runs,
    /// the shadow is on the heap and the reverse sweep frees it.
    pub(super) fn alloca(&mut self, inst: Inst, ty: Type, align: u32, count: Value) -> Vec<Value> {
        let outlives = self.sweep == Sweep::Pointers && !self.primal.key.combined;
        let size = self.synthesis.module.layout.size(ty) as i128;
        let broken = self.synthesis.options.breaks(Defect::FrameShadowNotZeroed);
        let malloc = outlives.then(|| support::malloc(&mut self.synthesis.module));
        self.note_alloca(inst, size, count);
        (0..self.width())
            .map(|_| {
                let mut builder = self.builder(Some(inst));
                let count_ty = builder.func.ty(count);
                let size = builder.func.iconst(count_ty, size);
                let bytes = match builder.func.as_int(count) {
                    Some(n) => {
                        let size = builder.func.as_int(size).unwrap_or(0);
                        builder.func.iconst(Type::i64(), n * size)
                    }
                    None => {
                        let bytes = builder.mul(count, size);
                        support::extend(&mut builder, bytes, Type::i64())
                    }
                };
                let shadow = match &malloc {
                    Some((func, sig)) => {
                        let flags = FnFlags::MUST_SUCCEED;
                        let memory = builder.call_with(*func, sig.clone(), vec![bytes], flags);
                        memory.unwrap_or(bytes)
                    }
                    None => builder.value(Op::Alloca { ty, align }, vec![count], Type::ptr()),
                };
                let zero = builder.func.iconst(Type::int(8), 0);
                let access = Access {
                    align: if malloc.is_some() { 16 } else { align },
                    region: Region::User,
                    ..Access::default()
                };
                if !broken {
                    builder.effect(Op::MemSet(access), vec![shadow, zero, bytes]);
                }
                shadow
            })
            .collect()
    }

    pub(super) fn store(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        let (value, pointer) = (data.args[0], data.args[1]);
        let Op::Store(access) = &data.op else {
            return Ok(());
        };
        if !self.primal.has_shadow(pointer) {
            return Ok(());
        }
        let access = shadow_access(access, self.func.ty(value));
        let module = &self.synthesis.module;
        let pieces = self
            .primal
            .types
            .pieces(module, &self.primal.function, value);
        let has = |wanted: fn(&Piece) -> bool| pieces.iter().any(|(_, piece)| wanted(piece));
        match self.sweep {
            Sweep::Tangents => {
                let stale = self.synthesis.options.breaks(Defect::StaleTangent);
                let skipped = stale && !self.shadows.contains_key(&value);
                if has(|p| *p != Piece::Int) && !skipped {
                    self.store_shadows(inst, value, pointer, &access);
                }
            }
            // It may be an address or the bits of a float, whose adjoint must stay where it is.
            Sweep::Pointers if self.primal.activity.is_word(value) => {
                let how = "is moved as a word that may be an address";
                return Err(self.primal.undeduced(module, inst, how));
            }
            // An address that is looked at as a number too.
            Sweep::Pointers
                if self.func.ty(value).is_int()
                    && self.shadows.contains_key(&value)
                    && !has(|p| matches!(p, Piece::Float(_))) =>
            {
                self.store_shadows(inst, value, pointer, &access);
            }
            Sweep::Pointers if !has(|p| *p == Piece::Ptr) => self.forget_pointers(inst, data)?,
            Sweep::Pointers if pieces.iter().all(|(_, piece)| *piece == Piece::Ptr) => {
                self.store_shadows(inst, value, pointer, &access);
            }
            Sweep::Pointers => {
                let pointers = pieces.iter().filter(|(_, piece)| *piece == Piece::Ptr);
                if pointers.count() != pointer_paths(self.func.ty(value)).len() {
                    return Err(self.refuse(inst, "a store of floats and pointers in one integer"));
                }
                self.store_pointer_parts(inst, value, pointer, &access);
            }
        }
        Ok(())
    }

    /// A number is stored where a pointer may have been: the shadow of the pointer must go, for
    /// what is there from now on is the adjoint of the number.
    fn forget_pointers(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        let (value, pointer) = (data.args[0], data.args[1]);
        let size = self.synthesis.module.layout.store_size(self.func.ty(value)) as i64;
        if !self.primal.is_mixed(pointer, size) {
            return Ok(());
        }
        // In memory of the caller, the seed of the number may be there already.
        let function = &self.primal.function;
        if !self.primal.activity.is_made_itself(function, pointer) {
            return match self.primal.is_active(value) {
                true => Err(self.mixed_memory(data)),
                false => Ok(()),
            };
        }
        for shadow in self.shadows_of(pointer) {
            let mut builder = self.builder(Some(inst));
            let bytes = builder.func.iconst(Type::i64(), size.into());
            support::zero_bytes(&mut builder, shadow, bytes);
        }
        Ok(())
    }

    /// The refusal of memory of the caller that holds numbers and pointers by turns.
    fn mixed_memory(&self, data: &InstData) -> Box<Diagnostic> {
        Diagnostic::new(
            Code::NumbersAndPointers,
            "cannot differentiate memory that holds numbers and pointers by turns",
            "the function did not make this memory, and its shadow cannot hold the derivative of \
             a number and the shadow of a pointer in one place",
            "use different memory for the two, or let the differentiated function make it",
        )
        .at(&self.synthesis.module, data.loc)
        .in_function(&self.primal.function.name)
    }

    fn store_shadows(&mut self, inst: Inst, value: Value, pointer: Value, access: &Access) {
        let values = self.shadows_of(value);
        let pointers = self.shadows_of(pointer);
        let ty = self.func.ty(value);
        for (value, shadow) in values.into_iter().zip(pointers) {
            let shadow = self.guarded(inst, pointer, shadow, ty, access);
            let access = access.clone();
            self.builder(Some(inst)).store(value, shadow, access);
        }
    }

    /// Stores the pointers of an aggregate that also has floats, whose adjoints must stay.
    fn store_pointer_parts(&mut self, inst: Inst, value: Value, pointer: Value, access: &Access) {
        let ty = self.func.ty(value);
        let values = self.shadows_of(value);
        let pointers = self.shadows_of(pointer);
        let parts = pointer_paths(ty);
        for (value, shadow) in values.into_iter().zip(pointers) {
            let pointer = self.guarded(inst, pointer, shadow, ty, access);
            for path in &parts {
                let offset = self.synthesis.module.layout.path_offset(ty, path);
                let mut builder = self.builder(Some(inst));
                let part = builder.extract(value, path.clone());
                let address = builder.offset(pointer, offset as i64);
                let access = Access {
                    align: 1.max(access.align.min(8)),
                    ..access.clone()
                };
                builder.store(part, address, access);
            }
        }
    }

    pub(super) fn accumulate(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        let (pointer, value) = (data.args[0], data.args[1]);
        let Op::Accumulate(access) = &data.op else {
            return Ok(());
        };
        if self.sweep == Sweep::Pointers
            || !self.primal.has_shadow(pointer)
            || !self.primal.is_active(value)
        {
            return Ok(());
        }
        let access = shadow_access(access, self.func.ty(value));
        let values = self.shadows_of(value);
        let pointers = self.shadows_of(pointer);
        let ty = self.func.ty(value);
        for (value, shadow) in values.into_iter().zip(pointers) {
            let shadow = self.guarded(inst, pointer, shadow, ty, &access);
            let access = access.clone();
            self.builder(Some(inst)).accumulate(shadow, value, access);
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        let (to, from, len) = (data.args[0], data.args[1], data.args[2]);
        if !self.primal.has_shadow(to) {
            return Ok(());
        }
        let guarded = self.primal.key.runtime_activity;
        if self.sweep == Sweep::Tangents && self.primal.has_shadow(from) && !guarded {
            self.copy_shadows(inst, data);
            return Ok(());
        }
        let pieces = self.primal.copied_pieces(&self.synthesis.module, inst)?;
        if pieces.relocated {
            self.copy_shadows(inst, data);
            return Ok(());
        }
        if !pieces.words.is_empty() {
            return self.copy_words(inst, data, &pieces);
        }
        let pointers = pieces.offsets(|piece| *piece == Piece::Ptr);
        let floats = pieces.offsets(|piece| matches!(piece, Piece::Float(_)));
        if guarded && self.sweep == Sweep::Tangents && pointers.is_empty() {
            self.copy_guarded(inst, data);
            return Ok(());
        }
        if guarded && !pointers.is_empty() && !floats.is_empty() {
            return Err(self.mixed(inst));
        }
        match self.sweep {
            // The source is inactive: its tangents are zero.
            Sweep::Tangents if pointers.is_empty() => self.zero_shadows(inst, to, len),
            Sweep::Tangents if floats.is_empty() => self.copy_shadows(inst, data),
            Sweep::Tangents => {
                return Err(Diagnostic::new(
                    Code::ConstIntoDup,
                    "cannot copy memory without a derivative into memory with one",
                    "the memory holds floats and pointers, and its source has no shadow",
                    "pass the source as enzyme_dup, with a zeroed shadow",
                )
                .at(&self.synthesis.module, data.loc)
                .in_function(&self.primal.function.name));
            }
            Sweep::Pointers if pointers.is_empty() => {}
            Sweep::Pointers if floats.is_empty() => self.copy_shadows(inst, data),
            Sweep::Pointers => {
                let tos = self.shadows_of(to);
                let froms = self.shadows_of(from);
                let copy = support::copy_pointers(&mut self.synthesis.module);
                for (to, from) in tos.into_iter().zip(froms) {
                    for &offset in &pointers {
                        let mut builder = self.builder(Some(inst));
                        let to = builder.offset(to, offset);
                        let from = builder.offset(from, offset);
                        let len = support::extend(&mut builder, len, Type::i64());
                        let period = builder.func.iconst(Type::i64(), pieces.period.into());
                        let shift = builder.func.iconst(Type::i64(), offset.into());
                        let args = vec![to, from, len, period, shift];
                        builder.call(copy.0, copy.1.clone(), args);
                    }
                }
            }
        }
        Ok(())
    }

    /// Copies memory of which not every byte has a known type, word by word. Before the reverse
    /// sweep the shadows of numbers are zero, so it does not matter which words are pointers; which
    /// were is told by their bits, and kept for the reverse sweep.
    fn copy_words(&mut self, inst: Inst, data: &InstData, pieces: &Copied) -> Result<()> {
        if self.sweep == Sweep::Tangents {
            return Err(self.refuse(inst, "a copy of memory without a derivative and of no type"));
        }
        let tos = self.shadows_of(data.args[0]);
        let froms = self.shadows_of(data.args[1]);
        let mut all = Vec::new();
        for (to, from) in tos.into_iter().zip(froms) {
            let mut builder = self.builder(Some(inst));
            let word = |builder: &mut Builder<'_>, at: i64| {
                let address = builder.offset(from, at);
                let bits = builder.load(Type::i64(), address, Access::aligned(1));
                // What is frozen is kept for the reverse sweep, which finds something else there.
                builder.value(Op::Unary(UnaryOp::Freeze), vec![bits], Type::i64())
            };
            let offsets = pieces.words.iter().map(|(at, _)| *at);
            let bits: Vec<Value> = offsets.clone().map(|at| word(&mut builder, at)).collect();
            let pointers = pieces.offsets(|piece| *piece == Piece::Ptr);
            let known: Vec<Value> = pointers.iter().map(|&at| word(&mut builder, at)).collect();
            let moved = offsets.zip(&bits).chain(pointers.into_iter().zip(&known));
            for (at, &bits) in moved {
                let address = builder.offset(to, at);
                builder.store(bits, address, Access::aligned(1));
            }
            all.push(bits);
        }
        self.words.insert(inst, all);
        Ok(())
    }

    fn copy_shadows(&mut self, inst: Inst, data: &InstData) {
        let tos = self.shadows_of(data.args[0]);
        let froms = self.shadows_of(data.args[1]);
        for (to, from) in tos.into_iter().zip(froms) {
            let Op::MemCopy { dst, src, .. } = &data.op else {
                return;
            };
            // The shadows of disjoint memory may be one and the same.
            let op = Op::MemCopy {
                overlapping: true,
                dst: Access::aligned(dst.align),
                src: Access::aligned(src.align),
            };
            self.declare_copied(data, [to, from]);
            let len = self.guarded_len(inst, data.args[0], to, data.args[2]);
            let args = vec![to, from, len];
            self.builder(Some(inst)).effect(op, args);
        }
    }

    /// Says what the shadows of copied memory hold, for derivatives of this derivative.
    fn declare_copied(&mut self, data: &InstData, shadows: [Value; 2]) {
        let copied = self.primal.declaration_of_copied(data);
        if copied.parts.is_empty() {
            return;
        }
        let whole = self.func.as_int(data.args[2]) == Some(copied.size.into());
        let source = self.synthesis.module.sources.push(copied);
        let declared = match whole {
            true => Declared::Object(source),
            false => Declared::Element(source),
        };
        for shadow in shadows {
            let known = self.func.declared.entry(shadow).or_default();
            known.push(declared);
        }
    }

    /// Copies tangents from where there are some, and zeros from where there are none.
    fn copy_guarded(&mut self, inst: Inst, data: &InstData) {
        let (to, from, len) = (data.args[0], data.args[1], data.args[2]);
        let tos = self.shadows_of(to);
        let froms = self.shadows_of(from);
        for (to_shadow, from_shadow) in tos.into_iter().zip(froms) {
            let writable = self.guarded_len(inst, to, to_shadow, len);
            let copied = self.guarded_len(inst, from, from_shadow, writable);
            let mut builder = self.builder(Some(inst));
            let zeroed = builder.sub(writable, copied);
            let zero = builder.func.iconst(Type::int(8), 0);
            let set = Op::MemSet(Access::aligned(1));
            builder.effect(set, vec![to_shadow, zero, zeroed]);
            self.declare_copied(data, [to_shadow, from_shadow]);
            let copy = Op::MemCopy {
                overlapping: true,
                dst: Access::aligned(1),
                src: Access::aligned(1),
            };
            let args = vec![to_shadow, from_shadow, copied];
            self.builder(Some(inst)).effect(copy, args);
        }
    }

    fn zero_shadows(&mut self, inst: Inst, pointer: Value, len: Value) {
        for shadow in self.shadows_of(pointer) {
            let len = self.guarded_len(inst, pointer, shadow, len);
            let mut builder = self.builder(Some(inst));
            let zero = builder.func.iconst(Type::int(8), 0);
            let args = vec![shadow, zero, len];
            builder.effect(Op::MemSet(Access::aligned(1)), args);
        }
    }

    /// Memory that is set byte by byte holds no derivative. The reverse sweep zeroes adjoints by
    /// itself; shadow pointers need not be touched, because nobody follows the primal ones.
    pub(super) fn set(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        if self.sweep == Sweep::Tangents && self.primal.has_shadow(data.args[0]) {
            self.zero_shadows(inst, data.args[0], data.args[2]);
        }
        Ok(())
    }

    pub(super) fn atomic(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        let float = match &data.op {
            Op::AtomicRmw(op, _) => {
                matches!(op, RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin)
            }
            _ => false,
        };
        let result = self.primal.function.result(inst);
        let mut values = data.args.iter().copied().chain(result);
        let active = values.any(|v| self.primal.is_active(v));
        if (float && self.primal.has_shadow(data.args[0])) || active {
            return Err(Diagnostic::new(
                Code::AtomicFloat,
                "cannot differentiate an atomic operation on floats",
                "a derivative flows through it, and other threads may run it at the same time, \
                 which plain additions to its shadow would not survive",
                "let each thread work on memory of its own and add the results up afterwards, \
                 or pass the memory as enzyme_const if no derivative is meant to flow here",
            )
            .at(&self.synthesis.module, data.loc)
            .in_function(&self.primal.function.name));
        }
        Ok(())
    }
}

/// The paths to the pointers in an aggregate.
fn pointer_paths(ty: Type) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), ty)];
    while let Some((path, ty)) = open.pop() {
        if ty.is_ptr() {
            found.push(path);
            continue;
        }
        for index in 0..ty.part_count() {
            if let Some(part) = ty.part(index) {
                let mut inner = path.clone();
                inner.push(index as u32);
                open.push((inner, part));
            }
        }
    }
    found
}
