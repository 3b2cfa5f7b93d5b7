//! Locations.
//!
//! A body that is written again keeps its locations. A new function gets a subprogram of its own,
//! in the compile unit of the function it derives from, and its instructions appear as inlined
//! there from the places they come from.

use super::{Exporter, Mode};
use crate::ll::{self, Md, Val};
use llvm_sys::core::{
    LLVMGetFirstInstruction, LLVMGetNextInstruction, LLVMReplaceMDNodeOperandWith,
};
use llvm_sys::debuginfo::*;
use zymase_core::ir::Loc;

/// The subprogram of a new function.
pub(super) struct DebugScope {
    /// The place of everything that comes from nowhere in the source.
    artificial: Md,
}

fn is_subprogram(metadata: Md) -> bool {
    matches!(
        ll::metadata_kind(metadata),
        LLVMMetadataKind::LLVMDISubprogramMetadataKind
    )
}

/// The operand of a subprogram that is its compile unit.
const UNIT: u32 = 5;

impl Exporter<'_> {
    /// Makes a subprogram for the function, if instructions in it have locations.
    pub(super) fn make_debug_scope(&mut self) -> Option<DebugScope> {
        let insts = self.function.blocks().iter();
        let mut insts = insts.flat_map(|&block| self.function.block_insts(block));
        let loc = insts.find_map(|&inst| self.foreign_location(self.function.inst(inst).loc?))?;
        let primal = self.subprogram_of(ll::location_scope(loc))?;
        let c = self.origins.context;
        let as_value = |m| ll::metadata_as_value(c, m);
        let unit = *ll::node_operands(as_value(primal)).get(UNIT as usize)?;
        let file = ll::scope_file(primal);
        if unit.is_null() || file.is_null() {
            return None;
        }
        let name = &self.function.name;
        // SAFETY: every handle is metadata of the module; the builder is freed after use.
        let subprogram = unsafe {
            let builder = LLVMCreateDIBuilder(self.origins.llvm);
            let ty = LLVMDIBuilderCreateSubroutineType(
                builder,
                file,
                std::ptr::null_mut(),
                0,
                LLVMDIFlagZero,
            );
            let (text, len) = (name.as_ptr().cast(), name.len());
            let subprogram = LLVMDIBuilderCreateFunction(
                builder,
                file,
                text,
                len,
                text,
                len,
                file,
                0,
                ty,
                1,
                1,
                0,
                LLVMDIFlagZero,
                1,
            );
            // The C interface sets the unit only of a builder that also made the unit.
            LLVMReplaceMDNodeOperandWith(as_value(subprogram), UNIT, ll::as_metadata(unit));
            LLVMDIBuilderFinalizeSubprogram(builder, subprogram);
            LLVMDisposeDIBuilder(builder);
            subprogram
        };
        ll::set_subprogram(self.target, subprogram);
        let artificial = ll::make_location(c, 0, 0, subprogram, std::ptr::null_mut());
        Some(DebugScope { artificial })
    }

    fn subprogram_of(&self, scope: Md) -> Option<Md> {
        let mut next = scope;
        while !is_subprogram(next) {
            let operands = ll::node_operands(ll::metadata_as_value(self.origins.context, next));
            next = match operands.get(1) {
                Some(&parent) if !parent.is_null() => ll::as_metadata(parent),
                _ => return None,
            };
        }
        Some(next)
    }

    fn foreign_location(&self, loc: Loc) -> Option<Md> {
        self.origins.metadata(self.module.locs[loc].origin?)
    }

    /// Gives the instructions after `before` in the current block their location.
    pub(super) fn locate(&mut self, loc: Option<Loc>, before: Val) {
        let place = match (self.mode, &self.debug) {
            (Mode::Replace, _) => loc.and_then(|loc| self.foreign_location(loc)),
            (Mode::New, None) => None,
            (Mode::New, Some(scope)) => {
                let artificial = scope.artificial;
                Some(loc.and_then(|loc| self.inlined(loc)).unwrap_or(artificial))
            }
        };
        let place = place.unwrap_or(std::ptr::null_mut());
        // SAFETY: `before` is null or an instruction of the current block.
        unsafe {
            let mut next = match before.is_null() {
                true => LLVMGetFirstInstruction(self.here()),
                false => LLVMGetNextInstruction(before),
            };
            while !next.is_null() {
                ll::set_debug_location(next, place);
                next = LLVMGetNextInstruction(next);
            }
        }
    }

    /// A location of the original function as seen from the new one.
    fn inlined(&mut self, loc: Loc) -> Option<Md> {
        if let Some(&known) = self.locs.get(&loc) {
            return Some(known);
        }
        let data = &self.module.locs[loc];
        let own = self.foreign_location(loc)?;
        let at = match data.inlined_at {
            Some(outer) => self.inlined(outer)?,
            None => self.debug.as_ref()?.artificial,
        };
        let scope = ll::location_scope(own);
        let made = ll::make_location(self.origins.context, data.line, data.column, scope, at);
        self.locs.insert(loc, made);
        Some(made)
    }
}
