//! Calls of functions with derivatives: which derivative a call needs, and the call of it.

use super::{Sweep, Walk, shadow_access};
use crate::analysis::points_to::is_below_memory;
use crate::derivative::{Key, Made};
use crate::diagnostic::{Link, Result};
use crate::ir::{
    Activity, Callee, CastOp, Constant, Func, Inst, InstData, Op, ReturnActivity, Signature, Type,
    UnaryOp, Value, ValueDef,
};
use crate::reverse::{early, replay};
use crate::synthesis::{Pair, Synthesis};

/// Frames of callees that are larger are allocated when they are called.
const LARGEST_FRAME: u64 = 4096;

/// How many calls through pointers deep it matters what exactly is overwritten.
const PRECISE: usize = 2;

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
    /// In the place of the call are both sweeps (see [`early`]).
    Early {
        /// The derivatives of `out` arguments.
        outs: Vec<Value>,
    },
}

impl ActiveCall {
    /// The two sweeps, and the instruction that gives the address of their frame.
    pub fn split(&self) -> Option<(&Pair, Inst)> {
        match &self.reversal {
            Reversal::Split { pair, frame } => Some((pair, *frame)),
            Reversal::Replay { .. } | Reversal::Early { .. } => None,
        }
    }

    /// Whether its reverse uses a primal argument, or a shadow.
    pub fn uses(&self, position: usize) -> bool {
        match &self.reversal {
            Reversal::Split { pair, .. } => pair.used.as_ref().is_none_or(|used| used[position]),
            Reversal::Replay { used, .. } => used[position],
            Reversal::Early { .. } => false,
        }
    }
}

impl Walk<'_> {
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

    pub(super) fn forward_call(&mut self, inst: Inst, data: &InstData, func: Func) -> Result<()> {
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

    pub(super) fn augmented_call(&mut self, inst: Inst, data: &InstData, func: Func) -> Result<()> {
        let sig = self.check_signature(inst, data, func)?;
        let key = self.callee_key(inst, data, func);
        if let Some(scales) = self.early.calls.get(&inst)
            && early::is_legal(self.synthesis, self.primal, &self.early, inst, &key)
        {
            let (key, scales) = (early::key(&key), scales.clone());
            if let Some(combined) = self.synthesis.combined_part(&key) {
                return self.early_call(inst, data, key, combined, &scales);
            }
        }
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

    /// A call that is reversed at once.
    fn early_call(
        &mut self,
        inst: Inst,
        data: &InstData,
        key: Key,
        combined: Func,
        scales: &[early::Scale],
    ) -> Result<()> {
        self.note_call(inst, &key);
        let sig = self.callee(key.func).sig.clone();
        let mut args = self.paired_arguments(&key, data);
        let mut seeds = self.early_seeds();
        let factors: Vec<Option<Value>> = scales
            .iter()
            .map(|scale| match *scale {
                early::Scale::Times(factor) => Some(self.before_call(factor)),
                early::Scale::Minus => None,
            })
            .collect();
        let mut builder = self.builder(Some(inst));
        for (scale, factor) in scales.iter().zip(factors).rev() {
            for seed in &mut seeds {
                *seed = match (*scale, factor) {
                    (early::Scale::Times(_), Some(factor)) => builder.fmul(*seed, factor),
                    _ => builder.fneg(*seed),
                };
            }
        }
        args.extend(seeds);
        let derivative = key.combined_signature(&sig);
        let bundle = builder.call(combined, derivative, args);
        let Some(bundle) = bundle else {
            return Err(self.refuse(inst, "this call"));
        };
        let outs = key.gradient_results(&sig).len() as u32;
        let primal = self.func.inst_mut(inst);
        primal.origin = None;
        primal.args = vec![bundle];
        primal.op = match outs {
            0 => Op::Unary(UnaryOp::Freeze),
            _ => Op::Extract(vec![0]),
        };
        self.func.attach_inst(self.block, inst);
        let mut builder = self.builder(Some(inst));
        let outs = (1..=outs).map(|i| builder.extract(bundle, vec![i]));
        let call = ActiveCall {
            reversal: Reversal::Early {
                outs: outs.collect(),
            },
            args: Vec::new(),
            result: self.func.result(inst),
            key,
        };
        self.calls.insert(inst, call);
        Ok(())
    }

    /// A factor that is known before a call, or that is computed there once more.
    fn before_call(&mut self, value: Value) -> Value {
        let function = &self.primal.function;
        let Some(inst) = function
            .def_inst(value)
            .filter(|i| self.early.late.contains(i))
        else {
            return value;
        };
        let mut data = function.inst(inst).clone();
        let ty = function.ty(value);
        data.args = data.args.iter().map(|&v| self.before_call(v)).collect();
        data.origin = None;
        let made = self.func.append_inst(self.block, data, ty);
        self.func.result(made).unwrap_or(value)
    }

    /// The adjoints of the function's result.
    fn early_seeds(&mut self) -> Vec<Value> {
        let Some(store) = self.early.stored else {
            return self.seeds.clone();
        };
        let data = self.primal.function.inst(store).clone();
        let ty = self.primal.function.ty(data.args[0]);
        let Op::Store(access) = &data.op else {
            return Vec::new();
        };
        let access = shadow_access(access, ty);
        let shadows = self.shadows_of(data.args[1]);
        let mut builder = self.builder(Some(store));
        let load = |shadow| builder.load(ty, shadow, access.clone());
        shadows.into_iter().map(load).collect()
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
            false => Op::Unary(UnaryOp::Freeze),
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
