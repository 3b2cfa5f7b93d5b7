//! Activity that is decided at run time: a shadow pointer that equals its primal is none.
//!
//! Accesses through such a pointer go to spare memory of the frame, which is zero to those who read
//! and lost to those who write. So there are no branches, and primal memory is never touched
//! through a shadow.

use super::Walk;
use crate::analysis::types::Piece;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{Access, Builder, Inst, InstData, IntPred, Op, Type, Value};

impl Walk<'_> {
    /// The address at which shadow memory is accessed with this type.
    pub(super) fn guarded(
        &mut self,
        inst: Inst,
        primal: Value,
        shadow: Value,
        ty: Type,
        access: &Access,
    ) -> Value {
        if !self.primal.key.runtime_activity {
            return shadow;
        }
        let align = self.synthesis.module.layout.align(ty).max(access.align);
        // In front of the entry's jump, and anew for each access: who reads finds zeros.
        let entry = self.func.entry();
        let mut rest = self.func.block_insts(entry).to_vec();
        let jump = rest.pop();
        self.func.set_block_insts(entry, rest);
        let spare = spare(&mut Builder::new(&mut self.func, entry), ty, align);
        if let Some(jump) = jump {
            self.func.attach_inst(entry, jump);
        }
        choose(&mut self.builder(Some(inst)), primal, shadow, spare, shadow)
    }

    /// How many bytes of shadow memory are accessed.
    pub(super) fn guarded_len(
        &mut self,
        inst: Inst,
        primal: Value,
        shadow: Value,
        len: Value,
    ) -> Value {
        if !self.primal.key.runtime_activity {
            return len;
        }
        let zero = self.func.zero(self.func.ty(len));
        choose(&mut self.builder(Some(inst)), primal, shadow, zero, len)
    }

    /// Numbers and pointers that are loaded at once would have to be told apart.
    pub(super) fn check_guarded_load(
        &self,
        inst: Inst,
        data: &InstData,
        result: Value,
    ) -> Result<()> {
        let primal = &self.primal;
        if !primal.key.runtime_activity || !matches!(data.op, Op::Load(_)) {
            return Ok(());
        }
        let module = &self.synthesis.module;
        let pieces = primal.types.pieces(module, &primal.function, result);
        let pointers = pieces.iter().filter(|(_, p)| *p == Piece::Ptr).count();
        match pointers == 0 || primal.function.ty(result).scalar().is_ptr() {
            true => Ok(()),
            false => Err(self.mixed(inst)),
        }
    }

    /// The refusal of an access to pointers among numbers.
    pub(super) fn mixed(&self, inst: Inst) -> Box<Diagnostic> {
        Diagnostic::new(
            Code::RuntimeActivity,
            "cannot decide at run time whether this memory has a derivative",
            "pointers and numbers are moved at once, and their shadows would have to be treated \
             differently",
            "copy field by field, or ask for the derivative without enzyme_runtime_activity",
        )
        .at(&self.synthesis.module, self.primal.function.inst(inst).loc)
        .in_function(&self.primal.function.name)
    }
}

/// Memory of the frame that holds zero.
pub fn spare(builder: &mut Builder<'_>, ty: Type, align: u32) -> Value {
    let spare = builder.alloca(ty, align);
    let zero = builder.func.zero(ty);
    builder.store(zero, spare, Access::aligned(align));
    spare
}

/// One value if a shadow is its primal, and another if not.
pub fn choose(
    builder: &mut Builder<'_>,
    primal: Value,
    shadow: Value,
    inactive: Value,
    active: Value,
) -> Value {
    let same = builder.icmp(IntPred::Eq, primal, shadow);
    builder.select(same, inactive, active)
}
