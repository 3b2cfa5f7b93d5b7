//! Shadows of calls: allocation, library functions without derivatives, and functions with them.

use super::{Sweep, Walk};
use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::effects::ArgEffects;
use crate::analysis::known;
use crate::analysis::types::Kinds;
use crate::derivative::{Key, Made};
use crate::diagnostic::{Code, Diagnostic, Link, Result};
use crate::ir::{
    Access, Activity, AllocInfo, AllocKind, BinaryOp, Builder, Callee, CastOp, Constant, FnFlags,
    Func, Function, Inst, InstData, IntPred, Op, ReturnActivity, Signature, Type, Value, ValueDef,
};
use crate::planted::Defect;
use crate::reverse::{delayed, replay, unpaired};
use crate::support;
use crate::synthesis::{Pair, Synthesis};

/// A call in the augmented forward sweep whose reverse is another call.
#[derive(Clone, Debug)]
pub struct ActiveCall {
    /// The derivative's key.
    pub key: Key,
    /// How it is reversed.
    pub reversal: Reversal,
    /// The primal arguments and their shadows, as both functions take them.
    pub args: Vec<Value>,
    /// The primal result.
    pub result: Option<Value>,
}

/// How a call is reversed.
#[derive(Clone, Debug)]
pub enum Reversal {
    /// In the place of the call is the forward sweep, which keeps what its reverse needs.
    Split {
        /// The two sweeps.
        pair: Pair,
        /// The instruction that gives the address of the callee's frame. Its operand and offset are
        /// filled in when the layout of the tape is known.
        frame: Inst,
    },
    /// The call stays, and both sweeps run where it is reversed (see
    /// [`replay`]).
    Replay {
        /// Both sweeps in one.
        combined: Func,
        /// Which parameters it uses.
        used: Vec<bool>,
    },
}

impl ActiveCall {
    /// The two sweeps, and the instruction that gives the address of their frame.
    pub fn split(&self) -> Option<(&Pair, Inst)> {
        match &self.reversal {
            Reversal::Split { pair, frame } => Some((pair, *frame)),
            Reversal::Replay { .. } => None,
        }
    }

    /// Whether its reverse may read memory of the program.
    pub fn reloads(&self) -> bool {
        self.split()
            .is_none_or(|(pair, _)| pair.reloads != Some(false))
    }
}

/// Frames of callees that are larger are allocated when they are called.
const LARGEST_FRAME: u64 = 4096;

/// How many calls through pointers deep it matters what exactly is overwritten.
const PRECISE: usize = 2;

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
                self.callee(func).name == "malloc_usable_size"
                    && self.primal.has_shadow(data.args[0])
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
        let mut builder = self.builder(Some(inst));
        let ty = builder.func.ty(match builder.func.result(inst) {
            Some(result) => result,
            None => data.args[0],
        });
        let mut op = data.op.clone();
        if let Op::Call(call) = &mut op {
            call.attrs.flags |= FnFlags::MUST_SUCCEED;
        }
        let shadow = builder.value(op, data.args.clone(), ty);
        if !info.zeroed && !broken {
            let bytes = allocated_bytes(&mut builder, data, info);
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
            false => Some(allocated_bytes(&mut self.builder(Some(inst)), data, info)),
        };
        if let Some(bytes) = bytes {
            self.note_made(inst, memory, bytes);
        }
    }

    /// The key of the derivative of a callee.
    fn callee_key(&self, inst: Inst, data: &InstData, func: Func) -> Key {
        let reverse = self.sweep == Sweep::Pointers;
        let args = data.args.iter().map(|&v| {
            let active = self.primal.is_active(v);
            match (self.primal.has_shadow(v), active) {
                (true, _) => Activity::Dup,
                (false, true) if reverse => Activity::Out,
                (false, true) => Activity::Dup,
                (false, false) => Activity::Const,
            }
        });
        let result = self.primal.function.result(inst);
        let ret = match result {
            Some(v) if self.primal.has_shadow(v) => ReturnActivity::Dup,
            Some(v) if self.primal.is_active(v) => ReturnActivity::Active,
            _ => ReturnActivity::Const,
        };
        let disjoint = self.primal.key.disjoint;
        let window = self.primal.overwrite.window_of_call(inst, disjoint);
        let may_change = |i: usize| window.arguments.get(i).copied().unwrap_or(true);
        let overwritten = (0..data.args.len()).map(may_change).collect();
        let activity = &self.primal.activity;
        let made = data.args.iter();
        let made = made.map(|&v| match self.primal.has_shadow(v) {
            true => activity.made_behind(&self.primal.function, v),
            false if self.leads_nowhere(v) => Made::Nothing,
            false => Made::Unknown,
        });
        let shapes = data.args.iter().copied().chain(result);
        let shapes = shapes.map(|v| self.primal.types.shape(v).clone());
        let mut key = Key {
            func,
            reverse,
            width: self.primal.key.width,
            args: args.collect(),
            ret,
            overwritten,
            other_overwritten: window.other,
            shapes: shapes.collect(),
            made: made.collect(),
            globals: self.primal.activity.globals_of_call(inst).to_vec(),
            held: self.primal.activity.held_of_call(inst),
            primal_needed: result.is_some(),
            combined: false,
            replayed: false,
            disjoint: false,
            strong_zero: self.primal.key.strong_zero,
            runtime_activity: self.primal.key.runtime_activity || activity.is_mixing_call(inst),
            keep_tape: self.primal.key.keep_tape,
            settles: self.primal.key.settles,
            nesting: self.primal.key.nesting,
            recording: self.primal.key.recording,
        };
        // Functions that call each other through pointers would all be made for all that the others
        // may overwrite; deep inside they are made once, for everything overwritten.
        if self.primal.dispatched.contains_key(&inst) && self.synthesis.dispatches >= PRECISE {
            key.overwritten.fill(true);
            key.other_overwritten = true;
        }
        self.synthesis.widen(&mut key);
        key
    }

    /// Whether a pointer is the address of no memory: null, a number such as Rust has for what is
    /// empty, or an argument that is one of these.
    fn leads_nowhere(&self, pointer: Value) -> bool {
        let function = &self.primal.function;
        let address = match function.def_inst(pointer).map(|inst| function.inst(inst)) {
            Some(data) if data.op == Op::Cast(CastOp::IntToPtr) => data.args[0],
            _ => pointer,
        };
        let argument = function.arguments().iter().position(|&v| v == pointer);
        let made = argument.map(|i| self.primal.key.made[i]);
        made == Some(Made::Nothing)
            || is_below_memory(function, address)
            || *function.def(pointer) == ValueDef::Const(Constant::Zero)
    }

    /// Every primal argument followed by its shadows.
    fn paired_arguments(&mut self, key: &Key, data: &InstData) -> Vec<Value> {
        let mut args = Vec::new();
        for (&value, activity) in data.args.iter().zip(&key.args) {
            args.push(value);
            if activity.shadow_count(key.width) > 0 {
                args.extend(self.shadows_of(value));
            }
        }
        args
    }

    fn check_signature(&self, inst: Inst, data: &InstData, func: Func) -> Result<Signature> {
        let sig = self.callee(func).sig.clone();
        match data.op.call() {
            Some(call) if call.sig == sig && call.callee == Callee::Direct(func) => Ok(sig),
            _ => Err(self.refuse(inst, "a call with other types than the function has")),
        }
    }

    /// Makes the derivative of a callee, which a call through a pointer may not need. A refusal that
    /// concerns the callee as a whole has the place of the call; others have come by it.
    fn make<T>(&mut self, inst: Inst, make: impl FnOnce(&mut Synthesis) -> Result<T>) -> Result<T> {
        let made = match self.primal.dispatched.contains_key(&inst) {
            true => self.synthesis.attempt(make),
            false => make(self.synthesis),
        };
        made.map_err(|refusal| {
            let loc = self.primal.function.inst(inst).loc;
            let function = &self.primal.function.name;
            refusal.from(&self.synthesis.module, loc, function, Link::Called)
        })
    }

    fn note_call(&mut self, inst: Inst, callee: &Key) {
        let Synthesis {
            module, warnings, ..
        } = &mut *self.synthesis;
        warnings.note_call(module, self.primal, inst, callee);
    }

    fn forward_call(&mut self, inst: Inst, data: &InstData, func: Func) -> Result<()> {
        let sig = self.check_signature(inst, data, func)?;
        let key = self.callee_key(inst, data, func);
        let derivative = self.make(inst, |synthesis| synthesis.forward(&key))?;
        self.note_call(inst, &key);
        let args = self.paired_arguments(&key, data);
        let parts = key.forward_results(&sig);
        let arrays = args.clone();
        self.replace_call(inst, derivative, key.forward_signature(&sig), args, &parts);
        self.check_arrays(data, &key, arrays)?;
        self.check_called(inst, data, func);
        Ok(())
    }

    fn augmented_call(&mut self, inst: Inst, data: &InstData, func: Func) -> Result<()> {
        let sig = self.check_signature(inst, data, func)?;
        let key = self.callee_key(inst, data, func);
        if replay::is_legal(self.synthesis, self.primal, inst, &key) {
            return self.replayed_call(inst, data, replay::key(&key));
        }
        let mut pair = self.make(inst, |synthesis| synthesis.pair(&key))?;
        self.note_call(inst, &key);
        // A function that calls itself in many places may be made for several keys, and each would
        // have all frames of the next in its own.
        pair.frame_bytes = pair.frame_bytes.filter(|&bytes| bytes <= LARGEST_FRAME);
        let args = self.paired_arguments(&key, data);
        let result = self.func.result(inst);
        let null = self.func.zero(Type::ptr());
        let op = Op::Address {
            offset: 0,
            scales: Vec::new(),
        };
        let frame = self.builder(Some(inst)).value(op, vec![null], Type::ptr());
        let mut all = args.clone();
        all.push(frame);
        let parts = key.forward_results(&sig);
        let sig = key.augmented_signature(&sig);
        self.replace_call(inst, pair.augmented, sig, all, &parts);
        let Some(frame) = self.func.def_inst(frame) else {
            return Err(self.refuse(inst, "this call"));
        };
        self.calls.insert(
            inst,
            ActiveCall {
                key,
                reversal: Reversal::Split { pair, frame },
                args,
                result,
            },
        );
        Ok(())
    }

    /// A call that is the same in the forward sweep.
    fn replayed_call(&mut self, inst: Inst, data: &InstData, key: Key) -> Result<()> {
        let combined = self.make(inst, |synthesis| synthesis.combined(&key))?;
        self.note_call(inst, &key);
        let function = self.callee(combined);
        let uses = function.use_counts();
        let params = function.arguments().iter();
        let used = params.map(|&param| uses[param] > 0).collect();
        let args = self.paired_arguments(&key, data);
        self.func.attach_inst(self.block, inst);
        let result = self.func.result(inst);
        self.calls.insert(
            inst,
            ActiveCall {
                key,
                reversal: Reversal::Replay { combined, used },
                args,
                result,
            },
        );
        Ok(())
    }

    /// Calls a derivative in place of the primal function; `inst` becomes what gives the primal
    /// result.
    fn replace_call(
        &mut self,
        inst: Inst,
        func: Func,
        sig: Signature,
        args: Vec<Value>,
        parts: &[Type],
    ) {
        let bundle = self.builder(Some(inst)).call(func, sig, args);
        let (Some(result), Some(bundle)) = (self.func.result(inst), bundle) else {
            return;
        };
        let several = parts.len() > 1;
        let data = self.func.inst_mut(inst);
        data.origin = None;
        data.args = vec![bundle];
        data.op = match several {
            true => Op::Extract(vec![0]),
            // The primal result is the only one; the number of its value stays.
            false => Op::Unary(crate::ir::UnaryOp::Freeze),
        };
        self.func.attach_inst(self.block, inst);
        if several {
            let width = self.width();
            let batch = self.builder(Some(inst)).extract(bundle, vec![1]);
            let shadows = (0..width).map(|k| match width {
                1 => batch,
                _ => self.builder(Some(inst)).extract(batch, vec![k as u32]),
            });
            let shadows = shadows.collect();
            self.shadows.insert(result, shadows);
        }
    }
}

/// No memory has an address below.
const PAGE: i128 = 4096;

/// Whether a number is the address of nothing: zero, or the alignment that Rust takes for the address
/// of memory without bytes.
fn is_below_memory(func: &Function, number: Value) -> bool {
    func.as_int(number).is_some_and(|n| (0..PAGE).contains(&n))
}

/// How many bytes an allocation asks for.
fn allocated_bytes(builder: &mut Builder<'_>, data: &InstData, info: &AllocInfo) -> Value {
    let mut bytes = builder.func.iconst(Type::i64(), 1);
    for &position in &info.size_args {
        let size = data.args[position as usize];
        let size = support::extend(builder, size, Type::i64());
        bytes = match builder.func.as_int(bytes) {
            Some(1) => size,
            _ => builder.mul(bytes, size),
        };
    }
    bytes
}
