//! Shadows of calls: allocation and library functions without derivatives here, functions with derivatives
//! in [`callees`](super::callees).

use super::{Sweep, Walk};
use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::effects::ArgEffects;
use crate::analysis::known;
use crate::analysis::types::Kinds;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Access, AllocInfo, AllocKind, BinaryOp, Builder, Callee, CastOp, FnFlags, Func, Inst, InstData,
    IntPred, Op, Type, Value,
};
use crate::planted::Defect;
use crate::reverse::{delayed, unpaired};
use crate::simplify::lasting_memory;
use crate::support;

/// The refusal of a call that no body and no rule is known for.
fn unknown_call(name: &str) -> Box<Diagnostic> {
    let plain = name.trim_matches('`');
    if name == plain {
        return Diagnostic::new(
            Code::UnknownCallee,
            "cannot differentiate a call through a function pointer",
            "a derivative flows through it, and the program has the code of no function of this \
             type whose address is taken",
            "compile the files that define the possible functions with zymase too and link them \
             together, or call the function by its name",
        );
    }
    if known::throws(plain) {
        return Diagnostic::new(
            Code::Throw,
            "cannot differentiate a `throw` of a value with a derivative",
            "an exception leaves the function on a way that the reverse sweep cannot go back, \
             and a derivative flows into what is thrown",
            "return the value, or throw something that does not depend on active arguments",
        );
    }
    Diagnostic::new(
        Code::UnknownFunction,
        format!("cannot differentiate the call of {name}"),
        "a derivative flows through it, but its body is not part of the program and no rule for \
         it is known",
        format!(
            "compile the file that defines it with zymase too, or, if no derivative is meant to \
             flow through it, mark it: `void *__enzyme_inactivefn_{plain} = (void *){plain};`"
        ),
    )
}

impl Walk<'_> {
    pub(super) fn call(&mut self, inst: Inst, data: &InstData) -> Result<()> {
        match call_kind(&self.synthesis.module, data) {
            CallKind::Allocation(info) => return self.allocation(inst, data, &info),
            CallKind::Inactive if self.asks_for_room(data) => {
                self.room(inst, data);
                return Ok(());
            }
            CallKind::Inactive => {
                self.check_characters(data)?;
                self.func.attach_inst(self.block, inst);
                self.shadow_of_found(inst, data);
                self.shadow_of_text(inst, data);
                return Ok(());
            }
            CallKind::Defined(func)
                if self.is_active_call(inst) && self.callee(func).sig.variadic =>
            {
                let name = self.callee(func).name.clone();
                return Err(Diagnostic::new(
                    Code::Variadic,
                    format!("cannot differentiate the call of `{name}`, which is variadic"),
                    "a derivative flows through it, and there is no place for shadows among \
                     arguments that only the callee can tell apart",
                    "pass the values in an array, or write the function with fixed parameters",
                )
                .at(&self.synthesis.module, data.loc)
                .in_function(&self.primal.function.name));
            }
            CallKind::Defined(func) if self.is_active_call(inst) => {
                if !matches!(data.op, Op::Call(_)) {
                    return Err(self.refuse(inst, "a call that may unwind into this function"));
                }
                let choice = self.primal.dispatched.get(&inst).map(|d| d.choice);
                let outcome = match self.sweep {
                    Sweep::Tangents => self.forward_call(inst, data, func),
                    Sweep::Pointers => self.augmented_call(inst, data, func),
                };
                let Some(choice) = choice else {
                    return outcome;
                };
                let choice = self.choices.entry(choice).or_default();
                choice.works |= outcome.is_ok();
                if let Err(refusal) = outcome {
                    let why = refusal.message.clone();
                    choice.refusal.get_or_insert(refusal);
                    self.stop_at(inst, data, func, &why);
                }
                return Ok(());
            }
            CallKind::Unknown(_) if unpaired::is_helper(&self.primal.function.name) => {
                return Err(Diagnostic::new(
                    Code::FreesForeignTwice,
                    "cannot differentiate the derivative of a function that frees memory which it \
                     may not have made",
                    "who made the memory is found out while the program runs, by code that has no \
                     derivative itself",
                    "free the memory in the function that makes it, or keep it apart from memory \
                     that others made",
                ));
            }
            CallKind::Unknown(name) if self.is_active_call(inst) => {
                return Err(unknown_call(&name)
                    .at(&self.synthesis.module, data.loc)
                    .in_function(&self.primal.function.name));
            }
            CallKind::Defined(_) | CallKind::Unknown(_) => {}
        }
        self.func.attach_inst(self.block, inst);
        Ok(())
    }

    /// Functions of strings move characters. Given the bytes of floats, they would move these without
    /// their derivatives. Whether the floats are active cannot be asked: what goes into characters
    /// does not seem to matter to any result.
    fn check_characters(&self, data: &InstData) -> Result<()> {
        let Some(Callee::Direct(func)) = data.op.call().map(|call| call.callee) else {
            return Ok(());
        };
        let name = &self.callee(func).name;
        let floats = |&&v: &&Value| {
            let kinds = self.primal.types.shape(v).kinds(0, 8);
            kinds.intersects(Kinds::FLOATS) && !kinds.contains(Kinds::PTR)
        };
        if !known::moves_characters(name) || data.args.iter().find(floats).is_none() {
            return Ok(());
        }
        Err(Diagnostic::new(
            Code::FloatsAsText,
            format!("cannot differentiate the call of `{name}` on the bytes of floats"),
            "the derivatives of the floats would be lost among characters",
            "keep the numbers in memory of their own type",
        )
        .at(&self.synthesis.module, data.loc)
        .in_function(&self.primal.function.name))
    }

    /// A function without a derivative may return a place in the memory that it was given
    /// (`memchr`): its shadow is at the same place in the shadow memory.
    fn shadow_of_found(&mut self, inst: Inst, data: &InstData) {
        let (Some(result), Some(call)) = (self.func.result(inst), data.op.call()) else {
            return;
        };
        let summary = self.primal.effects.call(call);
        let returned = |&i: &usize| summary.arg(i).contains(ArgEffects::RETURN);
        let Some(position) = (0..data.args.len()).find(returned) else {
            return;
        };
        let argument = data.args[position];
        if !self.primal.has_shadow(result) || !self.primal.has_shadow(argument) {
            return;
        }
        let whole = Type::int(8 * self.synthesis.module.layout.pointer_bytes);
        let shadows = self.shadows_of(argument);
        let mut builder = self.builder(Some(inst));
        let [to, from] =
            [result, argument].map(|v| builder.value(Op::Cast(CastOp::PtrToInt), vec![v], whole));
        let distance = builder.value(Op::Binary(BinaryOp::Sub), vec![to, from], whole);
        let address = Op::Address {
            offset: 0,
            scales: vec![1],
        };
        let places = shadows
            .into_iter()
            .map(|shadow| builder.value(address.clone(), vec![shadow, distance], Type::ptr()));
        let places = places.collect();
        self.shadows.insert(result, places);
    }

    /// A function that makes a text leaves it in memory that may have a shadow, beside numbers: the
    /// text, which has no derivative, is its own shadow.
    fn shadow_of_text(&mut self, inst: Inst, data: &InstData) {
        let Some(call) = data.op.call() else { return };
        let Callee::Direct(func) = call.callee else {
            return;
        };
        let Some(known) = known::known(self.callee(func)) else {
            return;
        };
        for (i, attrs) in call.args.iter().enumerate() {
            let (Some(ty), true) = (attrs.sret, known.argument(i).contains('m')) else {
                continue;
            };
            let text = data.args[i];
            if !self.primal.has_shadow(text) {
                continue;
            }
            let bytes = self.synthesis.module.layout.store_size(ty);
            for shadow in self.shadows_of(text) {
                let mut builder = self.builder(Some(inst));
                let bytes = builder.func.iconst(Type::i64(), bytes.into());
                let copy = Op::MemCopy {
                    overlapping: true,
                    dst: Access::aligned(1),
                    src: Access::aligned(1),
                };
                builder.effect(copy, vec![shadow, text, bytes]);
            }
        }
    }

    /// A function that a pointer may lead to, but that has no derivative: perhaps it is never
    /// called there, so the program stops only if it is.
    fn stop_at(&mut self, inst: Inst, data: &InstData, func: Func, why: &str) {
        let name = &self.callee(func).name;
        let why = format!("there is no derivative of `{name}` ({why}), at").replace('%', "%%");
        let mut builder = Builder::new(&mut self.func, self.block);
        builder.loc = data.loc;
        let address = self.primal.dispatched[&inst].address;
        support::stop(&mut self.synthesis.module, &mut builder, address, &why);
        if let Some(result) = self.func.result(inst) {
            let zero = self.func.zero(self.func.ty(result));
            let data = self.func.inst_mut(inst);
            data.op = Op::Unary(crate::ir::UnaryOp::Freeze);
            data.args = vec![zero];
            self.func.attach_inst(self.block, inst);
        }
    }

    /// Refuses a call through a pointer if none of the functions it may reach has a derivative.
    pub(super) fn check_choices(&mut self) -> Result<()> {
        let mut choices: Vec<_> = self.choices.drain().collect();
        choices.sort_by_key(|(number, _)| *number);
        for (_, choice) in choices {
            if let (false, Some(refusal)) = (choice.works, choice.refusal) {
                return Err(refusal);
            }
        }
        Ok(())
    }

    fn is_active_call(&self, inst: Inst) -> bool {
        self.primal
            .activity
            .is_active_call(&self.primal.function, inst)
    }

    /// Whether a call asks how many bytes the memory of a pointer with a shadow has.
    fn asks_for_room(&self, data: &InstData) -> bool {
        match data.op.call().map(|call| call.callee) {
            Some(Callee::Direct(func)) => {
                self.callee(func).name == support::ROOM && self.primal.has_shadow(data.args[0])
            }
            _ => false,
        }
    }

    /// The library may give a shadow more room than its primal, or less. Whoever asks gets an
    /// answer that is right for all.
    fn room(&mut self, inst: Inst, data: &InstData) {
        let mut rooms = Vec::new();
        for pointer in std::iter::once(data.args[0]).chain(self.shadows_of(data.args[0])) {
            let mut builder = self.builder(Some(inst));
            rooms.push(builder.value(data.op.clone(), vec![pointer], Type::i64()));
        }
        let mut builder = self.builder(Some(inst));
        let (mut least, last) = (rooms[0], rooms[rooms.len() - 1]);
        for &room in &rooms[1..rooms.len() - 1] {
            let smaller = builder.icmp(IntPred::Ult, room, least);
            least = builder.select(smaller, room, least);
        }
        // The number of the value stays.
        let smaller = builder.icmp(IntPred::Ult, last, least);
        let select = self.func.inst_mut(inst);
        select.op = Op::Select;
        select.args = vec![smaller, last, least];
        select.origin = None;
        self.func.attach_inst(self.block, inst);
    }

    /// New memory has new, zeroed shadow memory. Memory that is freed has its shadow freed along,
    /// but not before the reverse sweep if there is one.
    fn allocation(&mut self, inst: Inst, data: &InstData, info: &AllocInfo) -> Result<()> {
        match info.kind {
            AllocKind::Alloc => {
                self.func.attach_inst(self.block, inst);
                let Some(result) = self.func.result(inst) else {
                    return Ok(());
                };
                if !self.primal.has_shadow(result) {
                    return Ok(());
                }
                if info.size_args.is_empty() && info.family != "malloc" {
                    return Err(self.refuse(inst, "an allocation of unknown size"));
                }
                let shadows = (0..self.width())
                    .map(|_| self.allocate_shadow(inst, data, info))
                    .collect();
                self.shadows.insert(result, shadows);
                self.note_allocation(inst, data, info, result);
            }
            AllocKind::Free => {
                self.note_freed(inst, data, info);
                self.func.attach_inst(self.block, inst);
                self.free_shadows(inst, data, info)?;
            }
            AllocKind::Realloc => {
                let pointer = data.args[info.ptr_arg.unwrap_or(0) as usize];
                if self.primal.has_shadow(pointer) {
                    return Err(self.refuse(inst, "the reallocation of active memory"));
                }
                self.func.attach_inst(self.block, inst);
            }
        }
        Ok(())
    }

    /// Frees the shadows of memory that is freed, now or later.
    fn free_shadows(&mut self, inst: Inst, data: &InstData, info: &AllocInfo) -> Result<()> {
        let position = info.ptr_arg.unwrap_or(0) as usize;
        let pointer = data.args[position];
        let Some(call) = data.op.call() else {
            return Ok(());
        };
        let Callee::Direct(free) = call.callee else {
            return Ok(());
        };
        if !self.primal.has_shadow(pointer) {
            return Ok(());
        }
        let own =
            call.attrs.flags.contains(FnFlags::FREES_OWN) || self.primal.is_made_as_holder(pointer);
        // What was made while this derivative runs is made while one of it runs.
        if let Op::Call(call) = &mut self.func.inst_mut(inst).op
            && own
        {
            call.attrs.flags |= FnFlags::FREES_OWN;
        }
        let module = &mut self.synthesis.module;
        let (call, first) = match self.sweep {
            Sweep::Tangents => (delayed::free_shadow(module, free, position, own), None),
            Sweep::Pointers if self.primal.breaks(Defect::ShadowFreedEarly) => {
                (delayed::free_shadow(module, free, position, own), None)
            }
            Sweep::Pointers if self.primal.activity.is_released_memory(pointer) => return Ok(()),
            Sweep::Pointers if !own && !self.primal.key.settles => {
                self.synthesis.found_unpaired = true;
                return Err(Diagnostic::new(
                    Code::FreesForeign,
                    "cannot differentiate freeing memory that the function may not have made",
                    "the derivatives with respect to what was in it before are in its shadow, \
                     which would be gone before anybody could look at them",
                    "free it after the derivative, or let the function work on a copy",
                )
                .at(&self.synthesis.module, data.loc)
                .in_function(&self.primal.function.name));
            }
            Sweep::Pointers => {
                let call = match own {
                    true => delayed::delay(module, free, position),
                    false => unpaired::expect(module, free, position),
                };
                let frame = self.params[self.params.len() - 1];
                let mut builder = self.builder(Some(inst));
                let field = builder.offset(frame, delayed::LIST_FIELD);
                let list = builder.load(Type::ptr(), field, delayed::list_access());
                (call, Some(list))
            }
        };
        for shadow in self.shadows_of(pointer) {
            let mut args: Vec<Value> = first.into_iter().collect();
            args.push(pointer);
            args.extend(&data.args);
            let at = args.len() - data.args.len() + position;
            args[at] = shadow;
            let (func, sig) = call.clone();
            self.builder(Some(inst)).call(func, sig, args);
        }
        Ok(())
    }

    fn allocate_shadow(&mut self, inst: Inst, data: &InstData, info: &AllocInfo) -> Value {
        if info.size_args.is_empty()
            && let Some(memory) = self.func.result(inst)
        {
            let room = support::room(&mut self.synthesis.module);
            let calloc = support::calloc(&mut self.synthesis.module);
            let mut builder = self.builder(Some(inst));
            let one = builder.func.iconst(Type::i64(), 1);
            let bytes = builder.call(room.0, room.1, vec![memory]).unwrap_or(one);
            let flags = FnFlags::MUST_SUCCEED;
            let shadow = builder.call_with(calloc.0, calloc.1, vec![one, bytes], flags);
            return shadow.unwrap_or(memory);
        }
        let broken = self.primal.breaks(Defect::HeapShadowNotZeroed);
        let is_lasting = self.sweep == Sweep::Pointers
            && self.primal.activity.is_released(inst)
            && lasting_memory::is_able(&self.primal.function, data, info);
        let mut builder = self.builder(Some(inst));
        let ty = builder.func.ty(match builder.func.result(inst) {
            Some(result) => result,
            None => data.args[0],
        });
        let mut op = data.op.clone();
        if let Op::Call(call) = &mut op {
            call.attrs.flags |= FnFlags::MUST_SUCCEED;
            if is_lasting {
                call.attrs.flags |= FnFlags::SHADOW;
            }
        }
        let shadow = builder.value(op, data.args.clone(), ty);
        if !info.zeroed && !broken {
            let bytes = support::allocated_bytes(&mut builder, data, info);
            let zero = builder.func.iconst(Type::int(8), 0);
            let args = vec![shadow, zero, bytes];
            builder.effect(Op::MemSet(Access::aligned(1)), args);
        }
        shadow
    }

    /// Tells of memory that was allocated, if this derivative tells such things.
    fn note_allocation(&mut self, inst: Inst, data: &InstData, info: &AllocInfo, memory: Value) {
        if !self.primal.key.recording {
            return;
        }
        // What the library gives may be more, and `realloc` copies all of it.
        let bytes = match info.family == "malloc" || info.size_args.is_empty() {
            true => {
                let (room, sig) = support::room(&mut self.synthesis.module);
                self.builder(Some(inst)).call(room, sig, vec![memory])
            }
            false => Some(support::allocated_bytes(
                &mut self.builder(Some(inst)),
                data,
                info,
            )),
        };
        if let Some(bytes) = bytes {
            self.note_made(inst, memory, bytes);
        }
    }
}
