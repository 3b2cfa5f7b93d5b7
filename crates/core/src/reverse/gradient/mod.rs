//! The reverse sweep under construction.

mod adjoints;
mod primal_values;

use super::augmented::Augmented;
use super::computed::Computed;
use super::control::Hub;
use super::dropped;
use super::local::local_values;
use super::tape::{CalleeFrame, Layout};
use crate::analysis::loops::Loop;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{
    Access, Block, Builder, Flags, Function, Inst, Loc, Op, Region, Type, Value, ValueDef,
};
use crate::plan::{Need, Plan};
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
    pub(super) slots: HashMap<Value, Vec<Value>>,
    /// What sets slots to zero for the first time, and stands in no block yet.
    pub(super) first_zeros: Vec<(Value, Inst)>,
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
    /// What need not be computed again.
    pub(super) computed: Computed,
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
            first_zeros: Vec::new(),
            local,
            sums: HashMap::new(),
            counters: HashMap::new(),
            both,
            seeds: params[shared..params.len() - 1].to_vec(),
            frame,
            memo: HashMap::new(),
            records: HashMap::new(),
            guarded: dropped::guarded(primal),
            computed: Computed::of(&primal.function),
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

    /// The slot of a loop's counter.
    pub(super) fn counter_slot(&mut self, l: Loop) -> Value {
        if let Some(&slot) = self.counters.get(&l) {
            return slot;
        }
        let slot = self.temporary(Type::i64());
        self.counters.insert(l, slot);
        slot
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
            _ => Err(self.primal.missing_shadow(&self.synthesis.module, self.loc)),
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
