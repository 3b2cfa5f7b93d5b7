//! Writes functions of core into a module of LLVM.
//!
//! [`export_function`] adds a function that core made; [`replace_body`] writes the body of an
//! imported function anew, which is how tests check that import and export lose nothing. Modeled
//! instructions are rebuilt from the model alone; their origin gives metadata, and for calls the
//! attributes of the call site. Opaque instructions are clones of their origins.
//!
//! LLVM knows no nests, so they are expanded to loops before anything else.
//!
//! Before: a verified function. After: a function that LLVM verifies. Nothing of the module
//! changes but the function itself and declarations that it needs.
//!
//! Phases: blocks and their phis; instructions in reverse postorder, so that definitions come
//! before uses; then what edges pass to phis, when every value is there.

mod attributes;
mod blocks;
mod call;
mod constants;
mod debug;
mod instruction;
mod math;
mod memory;
mod metadata;

use crate::ll::{self, Bb, Md, Val};
use crate::module::blocks_of;
use crate::origin::{Imported, Origins};
use crate::raw::c_string;
use blocks::{redirect_block_addresses, remove_blocks, reverse_postorder};
use debug::DebugScope;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use metadata::RegionScopes;
use std::collections::HashMap;
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_core::ir::{self, Block, Edge, Func, Function, Inst, Loc, Origin, Value};
use zymase_core::simplify::expand_nests;
use zymase_core::support;

/// Adds a function that core made to the module it was imported with, and gives the core function
/// its origin. Functions it calls that LLVM does not have yet are declared; exporting them later
/// gives the declarations their bodies.
pub fn export_function(imported: &mut Imported, func: Func) -> Result<Val> {
    let target = declare(imported, func);
    let function = &imported.module.funcs[func];
    if function.is_declaration() {
        return Ok(target);
    }
    if !ll::is_declaration(target) {
        return Err(Diagnostic::defect(
            format!("cannot export {}", function.name),
            "a function of this name has a body already",
        ));
    }
    attributes::set_function_attributes(&mut imported.origins, function, target);
    write_body(imported, func, target, Mode::New)?;
    Ok(target)
}

/// Replaces the body of an imported function by what core has for it.
pub fn replace_body(imported: &mut Imported, func: Func) -> Result<()> {
    let function = &imported.module.funcs[func];
    let target = function.origin.and_then(|o| imported.origins.value(o));
    let Some(target) = target.filter(|&t| ll::is_function(t) && !ll::is_declaration(t)) else {
        return Err(Diagnostic::defect(
            format!("cannot replace the body of {}", function.name),
            "it was not imported with a body",
        ));
    };
    // SAFETY: the function is live, and blocks are removed only after the walk.
    let old: Vec<Bb> = unsafe { blocks_of(target) }.collect();
    let written = write_body(imported, func, target, Mode::Replace)?;
    for &(block, new) in &written.blocks {
        redirect_block_addresses(target, block, new);
    }
    remove_blocks(&old);
    for (origin, value) in written.moved {
        imported.origins.set_value(origin, value);
    }
    Ok(())
}

/// The LLVM function of a core function, declared now if there is none.
pub(crate) fn declare(imported: &mut Imported, func: Func) -> Val {
    let function = &imported.module.funcs[func];
    if let Some(known) = function.origin.and_then(|o| imported.origins.value(o)) {
        return known;
    }
    let declared = declare_named(&mut imported.origins, function);
    let origin = imported.origins.add_value(declared);
    imported.module.funcs[func].origin = Some(origin);
    declared
}

fn declare_named(origins: &mut Origins, function: &Function) -> Val {
    if let Some(&known) = origins.declared.get(&function.name) {
        return known;
    }
    let ty = origins.function_type(&function.sig);
    let name = c_string(&function.name);
    // SAFETY: the module is alive and the name is copied.
    let value = unsafe {
        let known = LLVMGetNamedFunction(origins.llvm, name.as_ptr());
        match known.is_null() {
            true => LLVMAddFunction(origins.llvm, name.as_ptr(), ty),
            false => known,
        }
    };
    if support::PRODUCTS.contains(&function.name.as_str()) {
        // SAFETY: the function is alive and only declared.
        unsafe { LLVMSetLinkage(value, LLVMLinkage::LLVMExternalWeakLinkage) };
    }
    origins.declared.insert(function.name.clone(), value);
    value
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Mode {
    /// A function that core made.
    New,
    /// The body of an imported function again.
    Replace,
}

/// What came of writing a body.
struct Written {
    /// For blocks that were imported, the old and the new one.
    blocks: Vec<(Bb, Bb)>,
    /// What instructions with an origin became.
    moved: Vec<(Origin, Val)>,
}

/// The state of writing one body.
struct Exporter<'a> {
    module: &'a ir::Module,
    origins: &'a mut Origins,
    function: &'a Function,
    target: Val,
    mode: Mode,
    builder: Builder,
    values: HashMap<Value, Val>,
    blocks: HashMap<Block, Bb>,
    /// What edges pass to phis, to be filled in at the end.
    passed: Vec<(Bb, Edge)>,
    moved: Vec<(Origin, Val)>,
    debug: Option<DebugScope>,
    locs: HashMap<Loc, Md>,
    regions: Option<RegionScopes>,
    loops: HashMap<Md, Val>,
    callees: HashMap<Func, Val>,
}

/// An instruction builder of LLVM, freed when dropped.
struct Builder(llvm_sys::prelude::LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: nothing else owns the builder.
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}

fn write_body(imported: &mut Imported, func: Func, target: Val, mode: Mode) -> Result<Written> {
    expand_nests::run(&mut imported.module.funcs[func]);
    let callees = declare_callees(imported, func);
    let function = &imported.module.funcs[func];
    let context = imported.origins.context;
    let mut exporter = Exporter {
        module: &imported.module,
        function,
        target,
        mode,
        // SAFETY: the context is alive.
        builder: Builder(unsafe { LLVMCreateBuilderInContext(context) }),
        values: HashMap::new(),
        blocks: HashMap::new(),
        passed: Vec::new(),
        moved: Vec::new(),
        debug: None,
        locs: HashMap::new(),
        regions: None,
        loops: HashMap::new(),
        callees,
        origins: &mut imported.origins,
    };
    if mode == Mode::New {
        exporter.debug = exporter.make_debug_scope();
        exporter.inherit_from_origin();
    }
    exporter.regions = exporter.make_region_scopes();
    let order = reverse_postorder(function);
    exporter.make_blocks(&order);
    let outcome = exporter.write_blocks(&order);
    if let Err(diagnostic) = outcome {
        exporter.discard_blocks(&order);
        return Err(diagnostic);
    }
    exporter.fill_phis();
    let blocks = order.iter().filter_map(|&block| {
        let terminator = function.terminator(block)?;
        let origin = exporter.origin_of(terminator)?;
        let old = ll::parent_block(origin);
        (!old.is_null()).then_some((old, exporter.blocks[&block]))
    });
    Ok(Written {
        blocks: blocks.collect(),
        moved: exporter.moved,
    })
}

/// Declares every function that a body calls or takes the address of.
fn declare_callees(imported: &mut Imported, func: Func) -> HashMap<Func, Val> {
    let function = &imported.module.funcs[func];
    let mut named = Vec::new();
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            let call = function.inst(inst).op.call();
            if let Some(ir::Callee::Direct(callee)) = call.map(|call| call.callee) {
                named.push(callee);
            }
        }
    }
    for value in function.values() {
        if let Some(constant) = function.as_const(value) {
            constants::functions_in(constant, &mut named);
        }
    }
    named.sort();
    named.dedup();
    named
        .into_iter()
        .map(|callee| (callee, declare(imported, callee)))
        .collect()
}

impl Exporter<'_> {
    fn make_blocks(&mut self, order: &[Block]) {
        let arguments = self.function.arguments().to_vec();
        for &block in order {
            let name = c_string("");
            // SAFETY: function and context are alive.
            let made = unsafe {
                LLVMAppendBasicBlockInContext(self.origins.context, self.target, name.as_ptr())
            };
            self.blocks.insert(block, made);
        }
        self.position(order[0]);
        for (i, argument) in arguments.into_iter().enumerate() {
            let value = self.adapt(ll::param(self.target, i as u32), self.function.ty(argument));
            self.values.insert(argument, value);
        }
        for &block in &order[1..] {
            self.position(block);
            for &param in self.function.block_params(block) {
                let ty = self.origins.llvm_type(self.function.ty(param));
                let name = self.name_of(param);
                // SAFETY: the builder is at the end of an empty block.
                let phi = unsafe { LLVMBuildPhi(self.builder.0, ty, name.as_ptr()) };
                self.values.insert(param, phi);
            }
        }
    }

    fn write_blocks(&mut self, order: &[Block]) -> Result<()> {
        for &block in order {
            self.position(block);
            for &inst in self.function.block_insts(block) {
                self.write_instruction(inst)
                    .map_err(|d| d.at(self.module, self.function.inst(inst).loc))
                    .map_err(|d| d.in_function(&self.function.name))?;
            }
        }
        Ok(())
    }

    /// Removes the blocks made so far, so that an error leaves the function as it was.
    fn discard_blocks(&mut self, order: &[Block]) {
        let mut made: Vec<Bb> = order.iter().map(|block| self.blocks[block]).collect();
        made.extend(self.passed.iter().map(|(from, _)| *from));
        made.sort();
        made.dedup();
        remove_blocks(&made);
    }

    fn fill_phis(&mut self) {
        for (from, edge) in std::mem::take(&mut self.passed) {
            let params = self.function.block_params(edge.block);
            for (param, arg) in params.iter().zip(&edge.args) {
                let mut phi_value = self.value(*arg);
                let mut from = from;
                // SAFETY: the phi was made by `make_blocks`; LLVM copies both arrays.
                unsafe { LLVMAddIncoming(self.values[param], &mut phi_value, &mut from, 1) };
            }
        }
    }

    fn position(&mut self, block: Block) {
        // SAFETY: the block was made by `make_blocks`.
        unsafe { LLVMPositionBuilderAtEnd(self.builder.0, self.blocks[&block]) };
    }

    /// The block that instructions are appended to now.
    fn here(&self) -> Bb {
        // SAFETY: the builder is alive.
        unsafe { LLVMGetInsertBlock(self.builder.0) }
    }

    /// The block for the end of an edge that leaves `here`. A phi can take only one value from
    /// each block, so that a second edge with other arguments gets a block of its own.
    fn target_of(&mut self, edge: &Edge, earlier: &[&Edge]) -> Bb {
        let clash = earlier
            .iter()
            .any(|other| other.block == edge.block && other.args != edge.args);
        let (from, end) = (self.here(), self.blocks[&edge.block]);
        if !clash {
            self.passed.push((from, edge.clone()));
            return end;
        }
        // SAFETY: function, context and builder are alive.
        unsafe {
            let name = c_string("");
            let between =
                LLVMAppendBasicBlockInContext(self.origins.context, self.target, name.as_ptr());
            LLVMPositionBuilderAtEnd(self.builder.0, between);
            LLVMBuildBr(self.builder.0, end);
            LLVMPositionBuilderAtEnd(self.builder.0, from);
            self.passed.push((between, edge.clone()));
            between
        }
    }

    /// The LLVM value of a value of core. Definitions come before uses in the order of writing.
    fn value(&mut self, value: Value) -> Val {
        if let Some(&known) = self.values.get(&value) {
            return known;
        }
        let ty = self.function.ty(value);
        let made = match self.function.as_const(value) {
            Some(constant) => self.origins.constant(self.module, ty, constant),
            // Verified functions do not get here.
            None => ll::poison(self.origins.llvm_type(ty)),
        };
        self.values.insert(value, made);
        made
    }

    fn args(&mut self, inst: Inst) -> Vec<Val> {
        let args = self.function.inst(inst).args.clone();
        args.into_iter().map(|arg| self.value(arg)).collect()
    }

    /// The LLVM instruction that an instruction was read from.
    fn origin_of(&self, inst: Inst) -> Option<Val> {
        let origin = self.function.inst(inst).origin?;
        let value = self.origins.value(origin)?;
        ll::is_instruction(value).then_some(value)
    }

    fn name_of(&self, value: Value) -> std::ffi::CString {
        c_string(self.function.value(value).name.as_deref().unwrap_or(""))
    }
}
