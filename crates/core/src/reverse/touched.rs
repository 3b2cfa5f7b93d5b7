//! What the reverse of a function does to shadow memory.
//!
//! The reverse of a load adds to the shadow of what was read, the reverse of a store takes what is in
//! the shadow of what was written. Integers have no adjoints, so memory that only they are read from
//! and written to is not touched, though it may have a shadow.

use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::effects::ArgEffects;
use crate::analysis::types::Piece;
use crate::ir::{Inst, Module, Op, Value};
use crate::primal::Primal;

/// What the reverse of a function does to shadow memory.
#[derive(Clone, Debug)]
pub struct Touched {
    /// For each argument, whether it may add to the shadow of memory behind it.
    pub added: Vec<bool>,
    /// Whether it may add to the shadow of other memory.
    pub other: bool,
    /// The pointers out of whose shadow memory it may take adjoints.
    pub taken: Vec<Value>,
}

impl Touched {
    /// What the reverse of a function does.
    pub fn by(module: &Module, primal: &Primal) -> Touched {
        let function = &primal.function;
        let mut touched = Touched {
            added: vec![false; function.arguments().len()],
            other: false,
            taken: Vec::new(),
        };
        // Calls of itself touch what it does; each turn may tell of one argument more.
        loop {
            let before = touched.added.clone();
            touched.taken.clear();
            for &block in &primal.order {
                for &inst in function.block_insts(block) {
                    touched.inst(module, primal, inst);
                }
            }
            if touched.added == before {
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
            Op::Load(_) if !function.result(inst).is_some_and(|v| primal.is_active(v)) => {}
            Op::Load(_) => self.add(primal, data.args[0]),
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
        let (CallKind::Defined(callee), Some(call)) = (call_kind(module, data), data.op.call())
        else {
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
            if !itself && does.arg(i).contains(ArgEffects::WRITE) {
                self.take(primal, pointer);
            }
        }
        self.other |= !itself && !primal.activity.globals_of_call(inst).is_empty();
    }

    fn add(&mut self, primal: &Primal, pointer: Value) {
        for argument in primal.activity.arguments_behind(pointer) {
            self.added[argument] = true;
        }
        self.other |= primal.activity.leads_outside(pointer);
    }

    fn take(&mut self, primal: &Primal, pointer: Value) {
        if primal.has_shadow(pointer) {
            self.taken.push(pointer);
        }
    }

    /// Whether it may take adjoints out of memory of the caller.
    pub fn takes(&self, primal: &Primal) -> bool {
        self.taken.iter().any(|&pointer| {
            let mut arguments = primal.activity.arguments_behind(pointer);
            arguments.next().is_some() || primal.activity.leads_outside(pointer)
        })
    }
}
