//! What the reverse of a function does to shadow memory.
//!
//! The reverse of a load adds to the shadow of what was read, the reverse of a store takes what is in
//! the shadow of what was written. Integers have no adjoints, so memory that only they are read from
//! and written to is not touched, though it may have a shadow.

use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::effects::ArgEffects;
use crate::analysis::types::Piece;
use crate::ir::{AllocInfo, AllocKind, Inst, ModRef, Module, Op, Value};
use crate::primal::Primal;

/// What the reverse of a function does to shadow memory.
#[derive(Clone, Debug)]
pub struct Touched {
    /// For each argument, whether it may add to the shadow of memory behind it.
    pub added: Vec<bool>,
    /// Whether it may add to the shadow of other memory.
    pub other: bool,
    /// The pointers out of whose shadow memory it may take adjoints, or that it may take to have none.
    taken: Vec<Value>,
    /// Whether that may be any memory.
    anywhere: bool,
    /// For each argument, whether memory behind it is among that.
    taken_behind: Vec<bool>,
}

impl Touched {
    /// What the reverse of a function does.
    pub fn by(module: &Module, primal: &Primal) -> Touched {
        let function = &primal.function;
        let mut touched = Touched {
            added: vec![false; function.arguments().len()],
            other: false,
            taken: Vec::new(),
            anywhere: false,
            taken_behind: vec![false; function.arguments().len()],
        };
        // Calls of itself touch what it does; each turn may tell of one argument more.
        loop {
            let before = (touched.added.clone(), touched.taken_behind.clone());
            touched.taken.clear();
            for &block in &primal.order {
                for &inst in function.block_insts(block) {
                    touched.inst(module, primal, inst);
                }
            }
            if (&touched.added, &touched.taken_behind) == (&before.0, &before.1) {
                touched.taken.sort_unstable();
                touched.taken.dedup();
                return touched;
            }
        }
    }

    fn inst(&mut self, module: &Module, primal: &Primal, inst: Inst) {
        let function = &primal.function;
        let data = function.inst(inst);
        match &data.op {
            Op::Load(_) => {
                let Some(result) = function.result(inst) else {
                    return;
                };
                if primal.is_active(result) {
                    self.add(primal, data.args[0]);
                }
                // What is in the shadow of a word that may be an address is taken for one.
                let pieces = primal.types.pieces(module, function, result);
                let unclear = |piece: &Piece| matches!(piece, Piece::Unknown | Piece::Conflict);
                if pieces.iter().any(|(_, piece)| unclear(piece)) {
                    self.take(primal, data.args[0]);
                }
            }
            Op::Store(_) => {
                let pieces = primal.types.pieces(module, function, data.args[0]);
                if pieces.iter().any(|(_, piece)| *piece != Piece::Int) {
                    self.take(primal, data.args[1]);
                }
            }
            Op::Call(_) | Op::Invoke { .. } => self.call(module, primal, inst),
            op if !op.accesses().is_empty() || matches!(op, Op::Opaque(_)) => {
                for &pointer in data.args.iter().filter(|&&v| primal.has_shadow(v)) {
                    self.add(primal, pointer);
                    self.take(primal, pointer);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, module: &Module, primal: &Primal, inst: Inst) {
        let data = primal.function.inst(inst);
        let kind = call_kind(module, data);
        if let CallKind::Allocation(AllocInfo {
            kind: AllocKind::Realloc,
            ..
        }) = kind
        {
            // The shadow moves as it is.
            data.args.iter().for_each(|&v| self.take(primal, v));
        }
        let (CallKind::Defined(callee), Some(call)) = (kind, data.op.call()) else {
            return;
        };
        if !primal.activity.is_active_call(&primal.function, inst) {
            return;
        }
        let itself = callee == primal.key.func;
        let does = primal.effects.call(call);
        for (i, &pointer) in data.args.iter().enumerate() {
            if !primal.has_shadow(pointer) {
                continue;
            }
            if !itself || self.added.get(i).copied().unwrap_or(true) {
                self.add(primal, pointer);
            }
            let takes = match itself {
                true => self.taken_behind.get(i).copied().unwrap_or(true),
                false => does.arg(i).contains(ArgEffects::WRITE),
            };
            if takes {
                self.take(primal, pointer);
                self.anywhere |= !primal.types.shape(pointer).holds_no_address();
            }
        }
        self.other |= !itself && !primal.activity.globals_of_call(inst).is_empty();
        self.anywhere |= !itself && does.other.contains(ModRef::WRITE);
    }

    fn add(&mut self, primal: &Primal, pointer: Value) {
        for argument in primal.activity.arguments_behind(pointer) {
            self.added[argument] = true;
        }
        self.other |= primal.activity.leads_outside(pointer);
    }

    fn take(&mut self, primal: &Primal, pointer: Value) {
        if !primal.has_shadow(pointer) {
            return;
        }
        self.taken.push(pointer);
        self.anywhere |= primal.activity.leads_outside(pointer);
        for argument in primal.activity.arguments_behind(pointer) {
            self.taken_behind[argument] = true;
        }
    }

    /// Whether it may take adjoints out of memory of the caller.
    pub fn takes(&self) -> bool {
        self.anywhere || self.taken_behind.contains(&true)
    }

    /// Whether it may take adjoints out of memory that a pointer leads to, however far.
    pub fn takes_behind(&self, primal: &Primal, pointer: Value) -> bool {
        let mut taken = self.taken.iter();
        self.anywhere
            || match primal.types.shape(pointer).holds_no_address() {
                true => taken.any(|&taken| primal.activity.may_meet(taken, pointer)),
                false => taken.next().is_some(),
            }
    }
}
