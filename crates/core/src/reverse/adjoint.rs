//! The reverse of each instruction that computes, loads, stores or calls.

use super::combine::unbundle;
use super::finite::{GIVEN, operand_name};
use super::gradient::Gradient;
use super::tape::tape_flags;
use super::{delayed, unpaired};
use crate::analysis::activity::lifetimes::deallocator;
use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::types::{Piece, known_byte};
use crate::derivative::Key;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{
    Access, Activity, AllocInfo, AllocKind, BinaryOp, Constant, FloatKind, FnFlags, Inst, InstData,
    Op, Signature, Type, Value,
};
use crate::planted::Defect;
use crate::primal::floats;
use crate::rules::{self, Rule};
use crate::shadow::{ActiveCall, Reversal, shadow_access};
use crate::simplify::lasting_memory;
use crate::support;
use std::collections::HashMap;

impl Gradient<'_> {
    /// Reverses an instruction of the primal.
    pub(super) fn reverse(&mut self, inst: Inst) -> Result<()> {
        let data = self.primal.function.inst(inst).clone();
        self.loc = data.loc;
        let result = self.primal.function.result(inst);
        match &data.op {
            Op::Store(access) => return self.store(inst, &data, access),
            Op::Accumulate(access) => return self.accumulation(&data, access),
            Op::MemCopy { .. } => return self.copy(inst, &data),
            Op::MemSet(_) => return self.set(&data),
            Op::Nest(_) => return self.nest(inst),
            Op::Call(_) | Op::Invoke { .. } => return self.call(inst, &data),
            Op::Alloca { .. } => return self.frame_memory(result),
            _ => {}
        }
        let Some(result) = result.filter(|&v| self.primal.is_active(v)) else {
            return Ok(());
        };
        let adjoints = self.take_adjoints(result);
        if self.breaks(Defect::SlotNotReset) {
            for (k, &adjoint) in adjoints.iter().enumerate() {
                self.contribute(result, k, adjoint);
            }
        }
        if let Op::Load(access) = &data.op {
            return self.load(&data, access, result, &adjoints);
        }
        if self.reverse_move(inst, &data, result, &adjoints)? {
            return Ok(());
        }
        match rules::rule_of(&self.primal.function, &data) {
            Some(rule) => {
                self.arithmetic(inst, &data, rule, result, &adjoints);
                Ok(())
            }
            None => Err(self.primal.refuse_inst(&self.synthesis.module, inst)),
        }
    }

    /// `x_adj += r_adj · ∂r/∂x` for each active operand.
    fn arithmetic(
        &mut self,
        inst: Inst,
        data: &InstData,
        rule: &Rule,
        result: Value,
        adjoints: &[Value],
    ) {
        let strong_zero = self.primal.key.strong_zero || self.guarded.contains(inst);
        for (i, &operand) in data.args.iter().enumerate() {
            if !self.primal.is_active(operand) || self.is_early(operand) {
                continue;
            }
            if matches!(rule, Rule::Cast) && self.breaks(Defect::ConversionIgnored) {
                continue;
            }
            // What a message can print of the place where the contribution is made.
            let mut numbers = Vec::new();
            let adds = i == 1 && matches!(data.op, Op::Binary(BinaryOp::FSub));
            let terms = if adds && self.breaks(Defect::SubtractionAdds) {
                Some(adjoints.to_vec())
            } else if let Rule::Cast = rule {
                let ty = self.primal.function.ty(operand);
                let mut builder = self.builder();
                let convert = |&d: &Value| rules::emit::convert(&mut builder, d, ty);
                Some(adjoints.iter().map(convert).collect())
            } else {
                let known = |f, n: usize| self.computed.find(self.primal, self.at, f, data.args[n]);
                let partial = rule.partial(i).with_computed(&known);
                let needs = partial.needs();
                let computed = partial.computed().into_iter();
                let computed: HashMap<Value, Value> =
                    computed.map(|v| (v, self.primal_value(v))).collect();
                let operands: Vec<(usize, Value)> = needs
                    .operands()
                    .map(|n| (n, self.primal_value(data.args[n])))
                    .collect();
                let result = match needs.result {
                    true => self.primal_value(result),
                    false => result,
                };
                let floats = |&&(n, _): &&(usize, Value)| {
                    self.primal.function.ty(data.args[n]).is_float_like()
                };
                let named = operands.iter().filter(floats);
                numbers.extend(named.map(|&(n, value)| (operand_name(data, n), value)));
                if needs.result {
                    numbers.push(("the result".to_string(), result));
                }
                let flags = self.flags(data.flags);
                let mut builder = self.builder();
                builder.float_flags = flags;
                partial.contributions(&mut builder, adjoints, strong_zero, &mut |_, primal| {
                    match primal {
                        rules::Primal::Result => result,
                        rules::Primal::Computed(value) => computed[&value],
                        rules::Primal::Operand(n) => operands
                            .iter()
                            .find(|(position, _)| *position == n)
                            .map_or(result, |(_, value)| *value),
                    }
                })
            };
            for (k, term) in terms.into_iter().flatten().enumerate() {
                let term: Value = term;
                self.check_contribution(data, rule, i, term, adjoints[k], &numbers);
                self.contribute(operand, k, term);
            }
        }
    }

    /// `x = *p`: `*p_shadow += x_adj`.
    fn load(
        &mut self,
        data: &InstData,
        access: &Access,
        result: Value,
        adjoints: &[Value],
    ) -> Result<()> {
        let pieces = self.float_pieces(result);
        let access = shadow_access(access, self.primal.function.ty(result));
        for (k, &adjoint) in adjoints.iter().enumerate() {
            let ty = self.primal.function.ty(result);
            let shadow = self.guarded_shadow(data.args[0], k, ty, &access)?;
            if self.breaks(Defect::LoadReplacesAdjoint) {
                self.take(shadow, ty, &pieces, &access);
            }
            self.check_sum(shadow, adjoint, &access);
            self.accumulate(shadow, adjoint, &pieces, &access);
        }
        Ok(())
    }

    /// `*p = x`: `x_adj += *p_shadow; *p_shadow = 0`.
    fn store(&mut self, inst: Inst, data: &InstData, access: &Access) -> Result<()> {
        let (value, pointer) = (data.args[0], data.args[1]);
        if !self.primal.has_shadow(pointer) {
            return Ok(());
        }
        let module = &self.synthesis.module;
        let ty = self.primal.function.ty(value);
        let size = module.layout.store_size(ty) as i64;
        let active = self.primal.is_active(value);
        let types = &self.primal.types;
        let stored = types.pieces(module, &self.primal.function, value);
        let open = |piece: &Piece| matches!(piece, Piece::Unknown | Piece::Conflict);
        let pieces = match ty.is_int_like() {
            // What is stored is there from now on, whatever else the memory is used for.
            true if !stored.iter().any(|(_, piece)| open(piece)) => stored,
            true => types.memory_pieces(pointer, size),
            false => stored,
        };
        // Bytes that are the same in every run hold no derivative, whatever they are.
        let varies = |at: i64| known_byte(&self.primal.function, value, at, 0).is_none();
        for &(at, ref piece) in pieces.iter().filter(|_| active) {
            match piece {
                Piece::Conflict => return Err(self.undeduced(inst, "is used as different types")),
                Piece::Unknown if varies(at) => {
                    return Err(self.undeduced(inst, "is used without a type"));
                }
                Piece::Unknown | Piece::Int | Piece::Float(_) | Piece::Ptr => {}
            }
        }
        let access = shadow_access(access, ty);
        let found = floats(&pieces);
        let pointers = pieces.iter().any(|(_, piece)| *piece == Piece::Ptr);
        let mixed = pointers && found.is_empty() && self.primal.is_mixed(pointer, size);
        for k in 0..self.width() {
            // Numbers that were there before begin with no adjoint.
            if mixed && self.primal.activity.is_made_with_pointers(pointer) {
                let shadow = self.guarded_shadow(pointer, k, ty, &access)?;
                let mut builder = self.builder();
                let bytes = builder.func.iconst(Type::i64(), size.into());
                support::zero_bytes(&mut builder, shadow, bytes);
                continue;
            }
            if !found.is_empty() {
                let shadow = self.guarded_shadow(pointer, k, ty, &access)?;
                let adjoint = self.take(shadow, ty, &found, &access);
                self.check_shadow("the adjoint of what is stored", adjoint);
                if self.breaks(Defect::StoreKeepsAdjoint) {
                    self.accumulate(shadow, adjoint, &found, &access);
                }
                self.contribute(value, k, adjoint);
                if self.breaks(Defect::PrimalWritten) {
                    let primal = self.primal_value(pointer);
                    let mut builder = self.builder();
                    let zero = builder.func.zero(ty);
                    builder.store(zero, primal, access.clone());
                }
            }
            // Bytes without a derivative of which nothing is known: if they are part of a float,
            // its derivative ends here.
            for (offset, piece) in &pieces {
                if matches!(piece, Piece::Unknown | Piece::Conflict) {
                    let shadow = self.guarded_shadow(pointer, k, ty, &access)?;
                    let mut builder = self.builder();
                    let address = builder.offset(shadow, *offset);
                    let zero = builder.func.zero(Type::int(8));
                    builder.store(zero, address, Access::aligned(1));
                }
            }
        }
        Ok(())
    }

    /// `*p += x`: `x_adj += *p_shadow`.
    fn accumulation(&mut self, data: &InstData, access: &Access) -> Result<()> {
        let (pointer, value) = (data.args[0], data.args[1]);
        if !self.primal.has_shadow(pointer) || !self.primal.is_active(value) {
            return Ok(());
        }
        let ty = self.primal.function.ty(value);
        for k in 0..self.width() {
            let access = shadow_access(access, ty);
            let shadow = self.guarded_shadow(pointer, k, ty, &access)?;
            let adjoint = self.builder().load(ty, shadow, access);
            self.check_shadow("the adjoint of what is added to", adjoint);
            self.contribute(value, k, adjoint);
        }
        Ok(())
    }

    /// The adjoints of copied floats move back.
    fn copy(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        let (to, from) = (data.args[0], data.args[1]);
        if !self.primal.has_shadow(to) {
            return Ok(());
        }
        let pieces = self.primal.copied_pieces(&self.synthesis.module, inst)?;
        let whole = self.primal_value(data.args[2]);
        let backwards = self.breaks(Defect::OverlapBackwards);
        for k in 0..self.width() {
            let writable = self.guarded_len(to, k, whole)?;
            let to = self.shadow(to, k)?;
            if !self.primal.has_shadow(from) {
                let mut builder = self.builder();
                let bytes = support::extend(&mut builder, writable, Type::i64());
                support::zero_bytes(&mut builder, to, bytes);
                continue;
            }
            let len = self.guarded_len(from, k, writable)?;
            if self.primal.key.runtime_activity {
                let mut builder = self.builder();
                let bytes = builder.sub(writable, len);
                let bytes = support::extend(&mut builder, bytes, Type::i64());
                support::zero_bytes(&mut builder, to, bytes);
            }
            let from = self.shadow(from, k)?;
            if pieces.relocated {
                let op = Op::MemCopy {
                    overlapping: false,
                    dst: Access::aligned(1),
                    src: Access::aligned(1),
                };
                self.builder().effect(op, vec![from, to, len]);
                continue;
            }
            for (n, &(offset, kinds)) in pieces.words.iter().enumerate() {
                let Some(bits) = self.augmented.words.get(&inst).map(|words| words[k][n]) else {
                    continue;
                };
                let bits = self.primal_value(bits);
                let (func, sig) = support::move_word(&mut self.synthesis.module, kinds);
                let mut builder = self.builder();
                let to = builder.offset(to, offset);
                let from = builder.offset(from, offset);
                builder.call(func, sig, vec![to, from, bits]);
            }
            for &kind in &FloatKind::ALL {
                let mut offsets = pieces.offsets(|piece| *piece == Piece::Float(kind));
                if self.breaks(Defect::LaterFloatsIgnored) {
                    offsets.retain(|&offset| offset == 0);
                }
                if offsets.is_empty() {
                    continue;
                }
                let (func, sig) =
                    support::move_adjoint(&mut self.synthesis.module, kind, backwards);
                let dense = i64::from(kind.bytes()) * offsets.len() as i64 == pieces.period;
                let (offsets, period) = match dense {
                    true => (vec![0], i64::from(kind.bytes())),
                    false => (offsets, pieces.period),
                };
                for offset in offsets {
                    let mut builder = self.builder();
                    let to = builder.offset(to, offset);
                    let from = builder.offset(from, offset);
                    let len = support::extend(&mut builder, len, Type::i64());
                    let period = builder.func.iconst(Type::i64(), period.into());
                    let shift = builder.func.iconst(Type::i64(), offset.into());
                    let rest = builder.sub(len, shift);
                    self.check_copied(kind, (to, rest, period), GIVEN);
                    let args = vec![to, from, len, period, shift];
                    self.builder().call(func, sig.clone(), args);
                    let sum = "the sum of its shadow and what is added";
                    self.check_copied(kind, (from, rest, period), sum);
                }
            }
        }
        Ok(())
    }

    /// Memory that was set holds no derivative before.
    fn set(&mut self, data: &InstData) -> Result<()> {
        if !self.primal.has_shadow(data.args[0]) || self.breaks(Defect::SetKeepsAdjoint) {
            return Ok(());
        }
        let whole = self.primal_value(data.args[2]);
        for k in 0..self.width() {
            let len = self.guarded_len(data.args[0], k, whole)?;
            let shadow = self.shadow(data.args[0], k)?;
            let mut builder = self.builder();
            let len = support::extend(&mut builder, len, Type::i64());
            support::zero_bytes(&mut builder, shadow, len);
        }
        Ok(())
    }

    /// The shadow of frame memory that had to outlive its frame ends here.
    fn frame_memory(&mut self, result: Option<Value>) -> Result<()> {
        let Some(result) = result else { return Ok(()) };
        if self.primal.key.combined || !self.primal.has_shadow(result) {
            return Ok(());
        }
        for k in 0..self.width() {
            let shadow = self.shadow(result, k)?;
            self.free("free", vec![shadow]);
        }
        Ok(())
    }

    fn call(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        if let Some(active) = self.augmented.calls.get(&inst) {
            let active = active.clone();
            self.check_passed(inst, &active, data)?;
            let callee = self.synthesis.module.funcs[active.key.func].sig.clone();
            let seeds = active.key.seeds(&callee);
            let seeds = match active.result {
                Some(result) if !seeds.is_empty() => self.take_adjoints(result),
                _ => Vec::new(),
            };
            let mut args: Vec<Value> = Vec::new();
            for (i, &value) in active.args.iter().enumerate() {
                let value = match active.uses(i) {
                    true => self.primal_value(value),
                    false => {
                        let ty = self.augmented.func.ty(value);
                        self.func.constant(ty, Constant::Undef)
                    }
                };
                args.push(value);
            }
            args.extend(seeds);
            let (sweep, sig, own_frame) = match &active.reversal {
                Reversal::Split { pair, .. } => {
                    let (frame, on_heap) = self.callee_frame(inst);
                    args.push(frame);
                    let sig = active.key.gradient_signature(&callee);
                    (pair.gradient, sig, on_heap.then_some(frame))
                }
                Reversal::Replay { combined, .. } => {
                    (*combined, active.key.combined_signature(&callee), None)
                }
                Reversal::Early { outs } => {
                    let outs = outs.iter().map(|&out| self.primal_value(out));
                    let outs: Vec<Value> = outs.collect();
                    return self.unpack(&active.key, inst, data, &outs);
                }
            };
            let check = self.array_check(&active.key, args.clone())?;
            check.emit(
                self,
                "before its derivative is added; are the seeds finite?",
            );
            let bundle = self.builder().call(sweep, sig, args);
            check.emit(self, "by its derivative");
            if let Some(frame) = own_frame {
                self.free_tape(frame);
            }
            let outs = active.key.gradient_results(&callee).len();
            let outs = unbundle(&mut self.builder(), bundle, outs);
            return self.unpack(&active.key, inst, data, &outs);
        }
        match call_kind(&self.synthesis.module, data) {
            CallKind::Allocation(info) if info.kind == AllocKind::Alloc => {
                self.allocation(inst, data, &info)
            }
            _ => Ok(()),
        }
    }

    /// Whether a value is the result of a call that has been reversed already.
    fn is_early(&self, value: Value) -> bool {
        let call = self.primal.function.def_inst(value);
        let call = call.and_then(|inst| self.augmented.calls.get(&inst));
        call.is_some_and(|call| matches!(call.reversal, Reversal::Early { .. }))
    }

    /// It must be known where the floats are in what a callee takes and returns by value.
    fn check_passed(&self, inst: Inst, active: &ActiveCall, data: &InstData) -> Result<()> {
        let out = |(_, activity): &(&Value, &Activity)| **activity == Activity::Out;
        let args = data.args.iter().zip(&active.key.args).filter(out);
        let mut passed: Vec<Value> = args.map(|(&value, _)| value).collect();
        if active.key.ret == crate::ir::ReturnActivity::Active {
            passed.extend(active.result);
        }
        for value in passed {
            let types = &self.primal.types;
            let pieces = types.pieces(&self.synthesis.module, &self.primal.function, value);
            if pieces.iter().any(|(_, p)| *p == Piece::Unknown) {
                return Err(self.undeduced(inst, "is never used as anything"));
            }
        }
        Ok(())
    }

    /// The derivatives of `out` arguments are contributions to the arguments.
    fn unpack(&mut self, key: &Key, inst: Inst, data: &InstData, parts: &[Value]) -> Result<()> {
        let outs: Vec<Value> = data
            .args
            .iter()
            .zip(&key.args)
            .filter(|(_, activity)| **activity == Activity::Out)
            .map(|(&value, _)| value)
            .collect();
        let forgets = outs.len() > 1 && self.breaks(Defect::LastArgumentForgotten);
        let known = outs.len() - usize::from(forgets);
        for (i, &argument) in outs[..known].iter().enumerate() {
            let primal = &self.primal;
            let pieces = (primal.types).pieces(&self.synthesis.module, &primal.function, argument);
            if pieces
                .iter()
                .any(|(_, p)| matches!(p, Piece::Unknown | Piece::Conflict))
            {
                return Err(self.undeduced(inst, "comes here in an integer"));
            }
            let part = parts[i];
            for k in 0..self.width() {
                let adjoint = match self.width() {
                    1 => part,
                    _ => self.builder().extract(part, vec![k as u32]),
                };
                self.check_argument(key, argument, data, adjoint);
                self.contribute(argument, k, adjoint);
            }
        }
        Ok(())
    }

    /// The shadows of memory that nobody else knows end here, and so does memory that has stayed.
    fn allocation(&mut self, inst: Inst, data: &InstData, info: &AllocInfo) -> Result<()> {
        let Some(result) = self.primal.function.result(inst) else {
            return Ok(());
        };
        if self.is_kept(inst) && !self.breaks(Defect::KeptMemoryFreed) {
            let memory = self.primal_value(result);
            let (module, primal) = (&self.synthesis.module, &self.primal);
            let flags = match (primal.keepable).may_be_on_stack(module, &primal.function, inst) {
                true => FnFlags::COPY,
                false => FnFlags::empty(),
            };
            self.free_made(data, info, memory, flags);
        }
        if !self.primal.has_shadow(result) {
            return Ok(());
        }
        if !self.primal.activity.is_released(inst) {
            return self.settle(result);
        }
        let flags = match lasting_memory::is_able(&self.primal.function, data, info) {
            true => FnFlags::SHADOW,
            false => FnFlags::empty(),
        };
        // What was made last is freed first.
        for k in (0..self.width()).rev() {
            let shadow = self.shadow(result, k)?;
            self.free_made(data, info, shadow, flags);
        }
        Ok(())
    }

    /// Whether the memory that an allocation made has stayed until now.
    fn is_kept(&self, allocation: Inst) -> bool {
        let group = self.primal.keepable.group(allocation);
        let kept = self.tape.map(|(plan, _)| &plan.kept);
        group
            .zip(kept)
            .is_some_and(|(group, kept)| kept.contains(&group))
    }

    /// Frees memory that an allocation, or one like it, made.
    fn free_made(&mut self, data: &InstData, info: &AllocInfo, memory: Value, flags: FnFlags) {
        let Some(freed) = deallocator(info) else {
            return;
        };
        let args = freed.args.iter().map(|arg| match arg {
            Some(position) => self.primal_value(data.args[*position as usize]),
            None => memory,
        });
        let args = args.collect();
        self.free_with(&freed.by, args, flags);
    }

    /// Somebody may have freed memory that is made here without knowing that.
    fn settle(&mut self, result: Value) -> Result<()> {
        if !self.primal.key.settles {
            return Ok(());
        }
        for k in 0..self.width() {
            let shadow = self.shadow(result, k)?;
            if !self.primal.key.keep_tape {
                let (settle, sig) = unpaired::settle(&mut self.synthesis.module);
                let frame = self.frame;
                let mut builder = self.builder();
                let field = builder.offset(frame, delayed::LIST_FIELD);
                let head = builder.load(Type::ptr(), field, delayed::list_access());
                builder.call(settle, sig, vec![head, shadow]);
            }
        }
        Ok(())
    }

    /// Frees memory that the forward sweep made, unless the reverse sweep is to run again.
    pub(super) fn free(&mut self, name: &str, args: Vec<Value>) {
        self.free_with(name, args, FnFlags::empty());
    }

    /// Frees memory of the tape.
    pub(super) fn free_tape(&mut self, memory: Value) {
        let flags = tape_flags(&self.primal.key);
        if !self.breaks(Defect::TapeLeaked) {
            self.free_with("free", vec![memory], flags);
        }
    }

    fn free_with(&mut self, name: &str, args: Vec<Value>, flags: FnFlags) {
        if !self.primal.key.keep_tape {
            let types = args.iter().map(|&v| self.func.ty(v)).collect();
            let sig = Signature::new(types, Type::void());
            let free = support::free_like(&mut self.synthesis.module, name, sig);
            let sig = self.synthesis.module.funcs[free].sig.clone();
            let flags = flags | FnFlags::FREES_OWN;
            self.builder().call_with(free, sig, args, flags);
        }
    }

    /// Whether to make a mistake.
    pub(super) fn breaks(&self, defect: Defect) -> bool {
        self.synthesis.options.breaks(defect)
    }

    fn undeduced(&self, inst: Inst, how: &str) -> Box<Diagnostic> {
        self.primal.undeduced(&self.synthesis.module, inst, how)
    }
}
