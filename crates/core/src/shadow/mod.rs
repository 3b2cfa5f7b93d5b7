//! The walk that puts shadows beside primal values.
//!
//! A *shadow* mirrors a value: the tangent of a float, the shadow memory behind a pointer. Forward
//! mode is this walk over all active values, with the derivative rules for arithmetic. The
//! augmented forward sweep of reverse mode is the same walk over pointers alone: it leaves the
//! floats in shadow memory as they are, because those are adjoints that the reverse sweep fills.
//!
//! Moving instructions (loads, selects, casts, shuffles, phis) act on shadows as they act on
//! primals, with primal conditions and indices. A value without a shadow has the shadow zero, a
//! pointer without one has itself: the analysis of activity has made sure that no active float is
//! reached through it.
//!
//! Before: a function in canonical form with its analyses. After: the same function with shadow
//! instructions added and a new entry block whose parameters are those of the derivative;
//! [`Walk::shadows`] says which value is whose shadow. Every primal value keeps its number.

mod callees;
mod calls;
mod finite;
pub mod globals;
mod memory;
mod nest;
pub mod record;
mod runtime;

pub use callees::{ActiveCall, Reversal};
pub use nest::active_params;
pub use runtime::{choose, spare};

use crate::checks;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Access, BinaryOp, Block, Builder, CastOp, Constant, Flags, Func, Function, Global, Inst,
    InstData, ModRef, Module, Op, Opaque, Region, Symbol, Type, UnaryOp, Value, ValueDef,
};
use crate::planted::Defect;
use crate::primal::Primal;
use crate::reverse::{dropped, early::Early};
use crate::rules::{self, Rule};
use crate::support;
use crate::synthesis::Synthesis;
use cranelift_entity::EntitySet;
use std::collections::HashMap;

/// Which values get shadows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sweep {
    /// All active ones: forward mode.
    Tangents,
    /// Pointers: the forward sweep of reverse mode.
    Pointers,
}

/// A function with shadows beside its values.
pub struct Walk<'a> {
    /// What knows the other functions and their derivatives.
    pub synthesis: &'a mut Synthesis,
    /// The function and its analyses.
    pub primal: &'a Primal,
    /// The function with shadows.
    pub func: Function,
    /// The shadows of each value, one for each derivative at once.
    pub shadows: HashMap<Value, Vec<Value>>,
    /// Calls of functions that derivatives flow through, for the reverse sweep.
    pub calls: HashMap<Inst, ActiveCall>,
    /// For loads of shadow pointers, the loads of primal pointers that they mirror.
    pub mirrors: HashMap<Inst, Inst>,
    /// For copies of words whose type is not known, the shadow bits that each of them had, word by
    /// word, for each derivative at once.
    pub words: HashMap<Inst, Vec<Vec<Value>>>,
    /// The parameters of the new entry block.
    pub params: Vec<Value>,
    /// The seeds of the result, where they are known already.
    seeds: Vec<Value>,
    /// The calls whose adjoints follow from these.
    early: Early,
    /// What calls through pointers have become of, by choice.
    choices: HashMap<usize, Choice>,
    sweep: Sweep,
    block: Block,
    /// The instructions whose results may go unused, if tangents are checked.
    droppable: EntitySet<Inst>,
}

/// What is known of the functions that a call through a pointer may reach.
#[derive(Default)]
struct Choice {
    /// Whether one of them has a derivative.
    works: bool,
    /// Why one of them has none.
    refusal: Option<Box<Diagnostic>>,
}

/// Puts shadows into a function. The signature is that of the derivative without what follows the
/// shadows; whoever called this sets it, and the returns, right.
pub fn walk<'a>(
    synthesis: &'a mut Synthesis,
    primal: &'a Primal,
    sweep: Sweep,
    params: &[Type],
) -> Result<Walk<'a>> {
    let func = primal.function.clone();
    let block = func.entry();
    let droppable = match synthesis.options.check_finite {
        true => dropped::droppable(primal),
        false => EntitySet::new(),
    };
    let early = match sweep {
        Sweep::Pointers => Early::of(&synthesis.module, primal),
        Sweep::Tangents => Early::default(),
    };
    let mut walk = Walk {
        synthesis,
        primal,
        func,
        shadows: HashMap::new(),
        calls: HashMap::new(),
        words: HashMap::new(),
        mirrors: HashMap::new(),
        params: Vec::new(),
        seeds: Vec::new(),
        early,
        choices: HashMap::new(),
        sweep,
        block,
        droppable,
    };
    walk.add_entry(params);
    walk.add_shadow_params();
    for block in primal.order.clone() {
        walk.block(block)?;
    }
    walk.check_choices()?;
    walk.add_edge_arguments();
    walk.declare_shadows();
    Ok(walk)
}

impl Walk<'_> {
    /// How many derivatives there are at once.
    pub fn width(&self) -> usize {
        self.primal.key.width as usize
    }

    /// Whether a value gets a shadow in this sweep.
    fn wants_shadow(&self, value: Value) -> bool {
        match self.sweep {
            Sweep::Tangents => self.primal.is_active(value) || self.primal.has_shadow(value),
            Sweep::Pointers => self.primal.has_shadow(value),
        }
    }

    fn builder(&mut self, inst: Option<Inst>) -> Builder<'_> {
        let loc = inst.and_then(|inst| self.primal.function.inst(inst).loc);
        let mut builder = Builder::new(&mut self.func, self.block);
        builder.loc = loc;
        builder
    }

    /// A new entry block with the parameters of the derivative, in front of the old one.
    fn add_entry(&mut self, params: &[Type]) {
        let old = self.func.entry();
        let entry = self.func.add_block();
        let mut layout = vec![entry];
        layout.extend(self.func.blocks().iter().filter(|&&b| b != entry));
        self.func.set_layout(layout);
        for &ty in params {
            let param = self.func.add_block_param(entry, ty);
            self.params.push(param);
        }
        if self.sweep == Sweep::Pointers {
            let seeds = self.primal.key.early_seeds(&self.primal.function.sig);
            self.seeds = self.params.split_off(params.len() - seeds.len());
        }
        let mut position = 0;
        let mut primals = Vec::new();
        let arguments = self.primal.function.arguments().to_vec();
        for (&argument, activity) in arguments.iter().zip(&self.primal.key.args) {
            primals.push(self.params[position]);
            let count = activity.shadow_count(self.primal.key.width);
            let shadows = &self.params[position + 1..position + 1 + count];
            if count > 0 {
                self.shadows.insert(argument, shadows.to_vec());
            }
            position += 1 + count;
        }
        self.check_given(entry);
        Builder::new(&mut self.func, entry).jump(old, primals);
    }

    /// Block parameters for the shadows of block parameters.
    fn add_shadow_params(&mut self) {
        for &block in &self.primal.order.clone()[1..] {
            for param in self.primal.function.block_params(block).to_vec() {
                if !self.wants_shadow(param) {
                    continue;
                }
                let ty = self.func.ty(param);
                let shadows = (0..self.width())
                    .map(|_| self.func.add_block_param(block, ty))
                    .collect();
                self.shadows.insert(param, shadows);
            }
        }
    }

    /// Every edge passes the shadows that the block it leads to has parameters for.
    fn add_edge_arguments(&mut self) {
        for block in self.primal.order.clone() {
            let Some(inst) = self.func.terminator(block) else {
                continue;
            };
            let mut op = self.func.inst(inst).op.clone();
            for edge in op.edges_mut() {
                let params = self.primal.function.block_params(edge.block);
                for (i, &param) in params.iter().enumerate() {
                    if self.wants_shadow(param) && self.shadows.contains_key(&param) {
                        edge.args.extend(self.shadows_of(edge.args[i]));
                    }
                }
            }
            self.func.inst_mut(inst).op = op;
        }
    }

    /// What the program says of the memory behind a pointer holds for that behind its shadows: a
    /// derivative of this derivative needs to know.
    fn declare_shadows(&mut self) {
        for (value, declared) in &self.primal.function.declared {
            for &shadow in self.shadows.get(value).into_iter().flatten() {
                let known = self.func.declared.entry(shadow).or_default();
                if known.is_empty() {
                    known.extend(declared);
                }
            }
        }
    }

    /// The shadows of a value, one for each derivative at once.
    pub fn shadows_of(&mut self, value: Value) -> Vec<Value> {
        if let Some(shadows) = self.shadows.get(&value) {
            return shadows.clone();
        }
        let (key, func) = (&self.primal.key, &mut self.func);
        (0..key.width as usize)
            .map(|k| self.synthesis.default_shadow(func, value, key, k))
            .collect()
    }

    fn block(&mut self, block: Block) -> Result<()> {
        self.block = block;
        let insts = self.func.block_insts(block).to_vec();
        self.func.set_block_insts(block, Vec::new());
        for inst in insts {
            self.inst(inst)?;
        }
        Ok(())
    }

    /// Keeps an instruction and adds what its shadow needs.
    fn inst(&mut self, inst: Inst) -> Result<()> {
        let data = self.func.inst(inst).clone();
        match &data.op {
            Op::Call(_) | Op::Invoke { .. } => {
                self.call(inst, &data)?;
                self.check_found(inst, &data);
                return Ok(());
            }
            op if op.is_terminator() => {
                self.func.attach_inst(self.block, inst);
                return Ok(());
            }
            Op::Store(access) if access.atomic.is_some() => {
                self.atomic(inst, &data)?;
                self.store(inst, &data)?;
            }
            Op::Store(_) => {
                self.check_stored(&data);
                self.store(inst, &data)?;
            }
            Op::Accumulate(_) => self.accumulate(inst, &data)?,
            Op::MemCopy { .. } => {
                self.note_copy(inst, &data);
                self.copy(inst, &data)?;
            }
            Op::MemSet(_) => self.set(inst, &data)?,
            Op::Nest(nest) => self.nest(inst, &data, nest),
            Op::AtomicRmw(..) | Op::CmpXchg { .. } => self.atomic(inst, &data)?,
            Op::Opaque(opaque) => self.opaque(inst, &data, opaque)?,
            Op::Load(access) if access.atomic.is_some() => self.atomic(inst, &data)?,
            _ => {}
        }
        self.note_access(inst, &data);
        self.func.attach_inst(self.block, inst);
        if let Some(result) = self.func.result(inst)
            && self.wants_shadow(result)
        {
            let shadows = self.result_shadows(inst, &data, result)?;
            self.shadows.insert(result, shadows);
        }
        self.check_found(inst, &data);
        Ok(())
    }

    /// The shadows of the result of an instruction.
    fn result_shadows(&mut self, inst: Inst, data: &InstData, result: Value) -> Result<Vec<Value>> {
        match &data.op {
            Op::Alloca { ty, align } => return Ok(self.alloca(inst, *ty, *align, data.args[0])),
            Op::AtomicRmw(..) | Op::CmpXchg { .. } => {
                return Err(self.refuse(inst, "an atomic operation on floats"));
            }
            _ => {}
        }
        if let Some(positions) = moved_operands(&data.op) {
            self.check_bits(inst, data, result)?;
            self.check_address(data, result)?;
            self.check_guarded_load(inst, data, result)?;
            let shadows = self.same_on_shadows(inst, data, &positions);
            self.check_moved(inst, data, &shadows);
            self.check_held(inst, data, result, &shadows);
            return Ok(shadows);
        }
        match rules::rule_of(&self.primal.function, data) {
            Some(rule) => self.tangents(inst, data, rule, result),
            None => Err(self.primal.refuse_inst(&self.synthesis.module, inst)),
        }
    }

    /// A pointer that is found in a variable has a shadow only if it was put there while the
    /// derivative ran; if not, the program stops.
    fn check_held(&mut self, inst: Inst, data: &InstData, pointer: Value, shadows: &[Value]) {
        let held = matches!(data.op, Op::Load(_))
            && self.func.ty(pointer).is_ptr()
            && !self.primal.key.runtime_activity
            && self.primal.activity.was_held(pointer);
        if !held {
            return;
        }
        let module = &mut self.synthesis.module;
        let why = "a derivative flows through the pointer %p, which was in a variable before the \
                   derivative began, or leads to memory without a shadow";
        let message = stopping_text(module, data, why);
        let (check, sig) = checks::shadow(module);
        for &shadow in shadows {
            let mut builder = self.builder(Some(inst));
            let text = Constant::Address(Symbol::Global(message), 0);
            let text = builder.func.constant(Type::ptr(), text);
            builder.call(check, sig.clone(), vec![pointer, shadow, text, text]);
        }
    }

    /// A pointer that is found in memory which nothing is known of must not lead to variables that
    /// derivatives flow through; if it does, the program stops.
    fn check_found(&mut self, inst: Inst, data: &InstData) {
        let Some(pointer) = self.primal.function.result(inst) else {
            return;
        };
        let found = matches!(data.op, Op::Load(_) | Op::Call(_))
            && self.func.ty(pointer).is_ptr()
            && !self.primal.key.runtime_activity
            && self.primal.types.shape(pointer).may_hold_floats();
        let variables = self.primal.activity.perhaps_behind(pointer).to_vec();
        for variable in variables.into_iter().filter(|_| found) {
            let module = &mut self.synthesis.module;
            let (name, bytes) = (
                &module.globals[variable].name,
                module.globals[variable].size,
            );
            let why = format!(
                "a derivative flows through the variable {name}, and the pointer %p leads there, \
                 which was in memory before the derivative began",
            );
            let message = stopping_text(module, data, &why);
            let (check, sig) = checks::outside(module);
            let mut builder = self.builder(Some(inst));
            let [start, text] = [variable, message].map(|global| {
                let address = Constant::Address(Symbol::Global(global), 0);
                builder.func.constant(Type::ptr(), address)
            });
            let bytes = builder.func.iconst(Type::i64(), bytes.into());
            builder.call(check, sig, vec![pointer, start, bytes, text]);
        }
    }

    /// Something of LLVM's that core only passes on: no derivative may reach it.
    fn opaque(&mut self, inst: Inst, data: &InstData, opaque: &Opaque) -> Result<()> {
        let name = &opaque.name;
        if name.ends_with("which returns twice") {
            return Err(Diagnostic::new(
                Code::ReturnsTwice,
                format!("cannot differentiate a function with a {name}"),
                "control comes back to it on a way that the program text does not show, so the \
                 reverse sweep could not go back",
                "keep it out of the differentiated functions, or mark the function that contains \
                 it as inactive if no derivative is meant to flow through it",
            )
            .at(&self.synthesis.module, data.loc)
            .in_function(&self.primal.function.name));
        }
        // What gives nothing and writes nothing lets no derivative through: an assumption, or
        // assembly that holds optimizers back.
        let written = opaque.memory.arguments | opaque.memory.other;
        let mentions_only = self.func.result(inst).is_none() && !written.contains(ModRef::WRITE);
        let reached = |&v: &Value| self.primal.is_active(v) || self.primal.has_shadow(v);
        if data.args.iter().any(reached) && !mentions_only {
            return Err(self.primal.refuse_inst(&self.synthesis.module, inst));
        }
        Ok(())
    }

    /// A moving instruction on shadows: the operands at `positions` are replaced by shadows.
    fn same_on_shadows(&mut self, inst: Inst, data: &InstData, positions: &[usize]) -> Vec<Value> {
        let ty = match self.primal.function.result(inst) {
            Some(result) => self.func.ty(result),
            None => Type::void(),
        };
        (0..self.width())
            .map(|k| {
                let mut args = data.args.clone();
                for &position in positions {
                    args[position] = self.shadows_of(data.args[position])[k];
                }
                let op = match &data.op {
                    Op::Load(access) => {
                        // The shadow of a pointer without one is the pointer itself.
                        if !ty.scalar().is_ptr() {
                            args[0] = self.guarded(inst, data.args[0], args[0], ty, access);
                        }
                        Op::Load(shadow_access(access, ty))
                    }
                    op => op.clone(),
                };
                // Promises about the primal bits need not hold for the shadow's.
                let kept = Flags::INBOUNDS | Flags::NUSW;
                let flags = match op {
                    Op::Address { .. } => data.flags & kept,
                    _ => Flags::empty(),
                };
                let shadow = self.builder(Some(inst)).inst(op, args, ty, flags);
                self.mirrors.insert(shadow, inst);
                self.func.result(shadow).unwrap_or(data.args[0])
            })
            .collect()
    }

    /// Bitwise operations move floats only in whole bytes and flip only their signs.
    fn check_bits(&self, inst: Inst, data: &InstData, result: Value) -> Result<()> {
        let floats = self.primal.is_active(result);
        if floats && !self.primal.moves_floats(inst) {
            let op = match &data.op {
                Op::Binary(op) => op.name(),
                _ => "this operation",
            };
            return Err(self.refuse(inst, &format!("`{op}` on the bits of a float")));
        }
        Ok(())
    }

    /// An address that travels as an integer must have its shadow with it.
    fn check_address(&self, data: &InstData, result: Value) -> Result<()> {
        let operand = data.args.first();
        let lost = |v: &Value| {
            let constant = matches!(self.primal.function.def(*v), ValueDef::Const(_));
            !constant && !self.shadows.contains_key(v)
        };
        let is_address = data.op == Op::Cast(CastOp::IntToPtr) && self.primal.has_shadow(result);
        match is_address && operand.is_some_and(lost) {
            true => Err(self.primal.missing_shadow(&self.synthesis.module, data.loc)),
            false => Ok(()),
        }
    }

    /// The tangents of an arithmetic instruction.
    fn tangents(
        &mut self,
        inst: Inst,
        data: &InstData,
        rule: &Rule,
        result: Value,
    ) -> Result<Vec<Value>> {
        let strong_zero = self.primal.key.strong_zero;
        let active = |&v: &Value| self.primal.is_active(v);
        let active: Vec<bool> = data.args.iter().map(active).collect();
        let operands = data.args.iter().zip(active);
        let mut tangents: Vec<_> = operands
            .map(|(&v, active)| active.then(|| self.shadows_of(v)))
            .collect();
        if self.primal.breaks(Defect::TangentTermMissing) && tangents.len() > 1 {
            tangents.pop();
            tangents.push(None);
        }
        let mut builder = self.builder(Some(inst));
        builder.float_flags = derivative_flags(data.flags);
        let args = &data.args;
        let sums = rules::emit::tangents(&mut builder, rule, args, result, &tangents, strong_zero);
        Ok(match sums {
            Some(sums) => {
                self.check_tangents(inst, data, &sums);
                sums
            }
            None => {
                let ty = self.func.ty(result);
                vec![self.func.zero(ty); self.width()]
            }
        })
    }

    /// The refusal to differentiate an instruction.
    fn refuse(&self, inst: Inst, what: &str) -> Box<Diagnostic> {
        self.primal.refuse(&self.synthesis.module, inst, what)
    }

    /// The function of this number, for messages and signatures.
    fn callee(&self, func: Func) -> &Function {
        &self.synthesis.module.funcs[func]
    }
}

/// The message with which a program stops at an instruction.
fn stopping_text(module: &mut Module, data: &InstData, why: &str) -> Global {
    let place = data.loc.map(|loc| &module.locs[loc]);
    let place = place.map_or(String::new(), |loc| format!("{}:{}: ", loc.file, loc.line));
    let place = place.replace('%', "%%");
    support::constant_text(module, format!("zymase: {place}{why}\n\0"))
}

/// The access to shadow memory that goes with an access of this type to primal memory.
///
/// What alias scopes say about primals need not hold for shadows. A pointer that lies in shadow
/// memory may be reached through a pointer without a shadow of its own, so only accesses to floats
/// say whose memory they touch.
pub fn shadow_access(access: &Access, ty: Type) -> Access {
    Access {
        align: access.align,
        tbaa: access.tbaa,
        region: match access.region {
            _ if !ty.is_float_like() => Region::User,
            Region::Primal => Region::Shadow,
            other => other,
        },
        ..Access::default()
    }
}

/// The operands that an instruction moves to its result, so that the same instruction on their
/// shadows gives the shadow of the result.
pub fn moved_operands(op: &Op) -> Option<Vec<usize>> {
    let positions = match op {
        Op::Select => vec![1, 2],
        Op::Address { .. } | Op::Load(_) | Op::Extract(_) | Op::ExtractElement => vec![0],
        Op::Insert(_) | Op::InsertElement | Op::Shuffle(_) => vec![0, 1],
        Op::Unary(UnaryOp::Freeze) => vec![0],
        Op::Cast(
            CastOp::Bitcast
            | CastOp::Trunc
            | CastOp::ZExt
            | CastOp::PtrToInt
            | CastOp::IntToPtr
            | CastOp::AddrSpaceCast,
        ) => vec![0],
        Op::Binary(BinaryOp::Shl | BinaryOp::LShr | BinaryOp::And | BinaryOp::Xor) => vec![0],
        Op::Binary(BinaryOp::Or) => vec![0, 1],
        _ => return None,
    };
    Some(positions)
}

/// What derivative code inherits from the flags of the primal: permissions, never promises.
pub fn derivative_flags(primal: Flags) -> Flags {
    primal & (Flags::ARCP | Flags::AFN | Flags::REASSOC | Flags::NSZ) | Flags::CONTRACT
}
