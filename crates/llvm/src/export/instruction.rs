//! Instructions, one by one.

use super::constants::NO_NAME;
use super::{Exporter, Mode};
use crate::ll::{self, LLVMTypeKind, Opcode, Val};
use crate::opcodes::{binary_opcode, cast_opcode, float_predicate, int_predicate};
use llvm_sys::core::*;
use zymase_core::diagnostic::{Code, Diagnostic, Result};
use zymase_core::ir::{Edge, Flags, Inst, Op, Type, UnaryOp};

impl Exporter<'_> {
    /// Writes an instruction at the end of the current block.
    pub(super) fn write_instruction(&mut self, inst: Inst) -> Result<()> {
        let data = self.function.inst(inst);
        let args = self.args(inst);
        let result = self.function.result(inst);
        let ty = result.map_or(Type::void(), |v| self.function.ty(v));
        let before = self.last();
        let value = match &data.op {
            Op::Unary(UnaryOp::FNeg) => {
                self.build(|b| unsafe { LLVMBuildFNeg(b, args[0], NO_NAME) })
            }
            Op::Unary(UnaryOp::Freeze) => {
                self.build(|b| unsafe { LLVMBuildFreeze(b, args[0], NO_NAME) })
            }
            Op::Binary(op) => {
                let opcode = binary_opcode(*op);
                self.build(|b| unsafe { LLVMBuildBinOp(b, opcode, args[0], args[1], NO_NAME) })
            }
            Op::ICmp(pred) => {
                let pred = int_predicate(*pred);
                self.build(|b| unsafe { LLVMBuildICmp(b, pred, args[0], args[1], NO_NAME) })
            }
            Op::FCmp(pred) => {
                let pred = float_predicate(*pred);
                self.build(|b| unsafe { LLVMBuildFCmp(b, pred, args[0], args[1], NO_NAME) })
            }
            Op::Cast(op) => {
                let (opcode, to) = (cast_opcode(*op), self.origins.llvm_type(ty));
                self.build(|b| unsafe { LLVMBuildCast(b, opcode, args[0], to, NO_NAME) })
            }
            Op::Select => {
                self.build(|b| unsafe { LLVMBuildSelect(b, args[0], args[1], args[2], NO_NAME) })
            }
            Op::ExtractElement => {
                self.build(|b| unsafe { LLVMBuildExtractElement(b, args[0], args[1], NO_NAME) })
            }
            Op::InsertElement => self.build(|b| unsafe {
                LLVMBuildInsertElement(b, args[0], args[1], args[2], NO_NAME)
            }),
            Op::Shuffle(mask) => self.shuffle(&args, mask),
            Op::Extract(path) => {
                let part = path.iter().fold(args[0], |whole, &i| {
                    self.build(|b| unsafe { LLVMBuildExtractValue(b, whole, i, NO_NAME) })
                });
                self.adapt(part, ty)
            }
            Op::Insert(path) => self.insert(args[0], args[1], path),
            Op::Address { offset, scales } => self.address(&args, *offset, scales, data.flags, ty),
            Op::Alloca { .. }
            | Op::Load(_)
            | Op::Store(_)
            | Op::Accumulate(_)
            | Op::AtomicRmw(..)
            | Op::CmpXchg { .. }
            | Op::Fence(..)
            | Op::MemCopy { .. }
            | Op::MemSet(_) => self.memory(inst, &args, ty)?,
            Op::Math(function) => self.math(inst, *function, &args, ty)?,
            Op::Call(call) => self.call(inst, call, &args)?,
            Op::Opaque(opaque) => self.clone_opaque(inst, &opaque.name, &args)?,
            Op::Nest(_) => {
                return Err(Diagnostic::defect(
                    "cannot export a nest",
                    "it must be expanded to loops first",
                ));
            }
            Op::Request(_) => {
                return Err(Diagnostic::defect(
                    "cannot export a request for a derivative",
                    "it must be replaced by a call of the derivative first",
                ));
            }
            Op::Jump(edge) => {
                let to = self.target_of(edge, &[]);
                self.build(|b| unsafe { LLVMBuildBr(b, to) })
            }
            Op::Branch { then, other } => {
                let yes = self.target_of(then, &[]);
                let no = self.target_of(other, &[then]);
                self.build(|b| unsafe { LLVMBuildCondBr(b, args[0], yes, no) })
            }
            Op::Switch { cases, default } => self.switch(args[0], cases, default),
            Op::Return => self.give_back(&args),
            Op::Unreachable => self.build(|b| unsafe { LLVMBuildUnreachable(b) }),
            Op::Invoke {
                call,
                normal,
                unwind,
            } => self.invoke(inst, call, &args, normal, unwind)?,
            Op::OpaqueTerminator { opaque, edges } => {
                if self.mode == Mode::New && opaque.name.starts_with("indirectbr") {
                    return Err(Diagnostic::new(
                        Code::ComputedJump,
                        "cannot copy a jump to a computed label",
                        "the labels are addresses in the original function",
                        "write the jumps as a switch in a loop",
                    ));
                }
                let made = self.clone_opaque(inst, &opaque.name, &args)?;
                for (i, edge) in edges.iter().enumerate() {
                    let earlier: Vec<&Edge> = edges[..i].iter().collect();
                    let to = self.target_of(edge, &earlier);
                    ll::set_successor(made, i as u32, to);
                }
                made
            }
        };
        self.finish(inst, value, before);
        let value = match result {
            Some(_) if !data.op.is_terminator() => self.adapt(value, ty),
            _ => value,
        };
        if let Some(result) = result {
            self.values.insert(result, value);
        }
        if let Some(origin) = data.origin {
            self.moved.push((origin, value));
        }
        Ok(())
    }

    /// The last instruction of the current block; null if there is none.
    pub(super) fn last(&self) -> Val {
        // SAFETY: the block is alive.
        unsafe { LLVMGetLastInstruction(self.here()) }
    }

    /// Gives a new instruction its flags, metadata, location and name. The builder may have folded
    /// it to a constant or an operand, which must not be touched.
    fn finish(&mut self, inst: Inst, value: Val, before: Val) {
        let data = self.function.inst(inst);
        self.locate(data.loc, before);
        let last = self.last();
        if last == before || last != value || !ll::is_instruction(value) {
            return;
        }
        if !matches!(data.op, Op::Opaque(_) | Op::OpaqueTerminator { .. }) {
            set_flags(value, data.flags);
        }
        self.attach_metadata(inst, value);
        self.attach_width(inst, value);
        if let Some(result) = self.function.result(inst)
            && let Some(name) = &self.function.value(result).name
        {
            // SAFETY: LLVM copies the name.
            unsafe { LLVMSetValueName2(value, name.as_ptr().cast(), name.len()) };
        }
    }

    fn shuffle(&mut self, args: &[Val], mask: &[i32]) -> Val {
        let lane = ll::int_type(self.origins.context, 32);
        let mut lanes: Vec<Val> = mask
            .iter()
            .map(|&i| match u128::try_from(i) {
                Ok(i) => ll::int_constant(lane, i),
                Err(_) => ll::poison(lane),
            })
            .collect();
        // SAFETY: LLVM copies the lanes.
        let mask = unsafe { LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32) };
        self.build(|b| unsafe { LLVMBuildShuffleVector(b, args[0], args[1], mask, NO_NAME) })
    }

    /// The C interface inserts at one index at a time, so that inner aggregates are taken out and
    /// put back.
    fn insert(&mut self, whole: Val, part: Val, path: &[u32]) -> Val {
        let Some((&first, rest)) = path.split_first() else {
            return part;
        };
        let ty = ll::type_of(whole);
        let slot = match ll::type_kind(ty) {
            LLVMTypeKind::LLVMStructTypeKind => ll::field_type(ty, first),
            _ => ll::element_type(ty),
        };
        let part = match rest.is_empty() {
            true => part,
            false => {
                let inner =
                    self.build(|b| unsafe { LLVMBuildExtractValue(b, whole, first, NO_NAME) });
                self.insert(inner, part, rest)
            }
        };
        let part = self.adapt_to(part, slot);
        self.build(|b| unsafe { LLVMBuildInsertValue(b, whole, part, first, NO_NAME) })
    }

    fn switch(&mut self, on: Val, cases: &[(u128, Edge)], default: &Edge) -> Val {
        let other = self.target_of(default, &[]);
        let ty = ll::type_of(on);
        let switch = self.build(|b| unsafe { LLVMBuildSwitch(b, on, other, cases.len() as u32) });
        // Few edges of a large switch lead to one block, so that looking at those only keeps the
        // search for clashes short.
        let mut earlier: std::collections::HashMap<_, Vec<&Edge>> = Default::default();
        earlier.entry(default.block).or_default().push(default);
        for (value, edge) in cases {
            let others = earlier.entry(edge.block).or_default();
            let to = self.target_of(edge, others);
            if !others.iter().any(|known| known.args == edge.args) {
                others.push(edge);
            }
            // SAFETY: the constant has the type of the operand.
            unsafe { LLVMAddCase(switch, ll::int_constant(ty, *value), to) };
        }
        switch
    }

    fn give_back(&mut self, args: &[Val]) -> Val {
        match args.first() {
            None => self.build(|b| unsafe { LLVMBuildRetVoid(b) }),
            Some(&value) => {
                let wanted = ll::return_type(ll::value_type(self.target));
                let value = self.adapt_to(value, wanted);
                self.build(|b| unsafe { LLVMBuildRet(b, value) })
            }
        }
    }

    /// Clones an instruction that core does not model, with its operands and block replaced.
    fn clone_opaque(&mut self, inst: Inst, name: &str, args: &[Val]) -> Result<Val> {
        let refuse = |reason: &str| Diagnostic::defect(format!("cannot export {name}"), reason);
        let Some(origin) = self.origin_of(inst) else {
            return Err(refuse("what it was read from is not known"));
        };
        let plain: Vec<u32> = (0..ll::operand_count(origin))
            .filter(|&i| crate::import::is_plain_operand(ll::operand(origin, i)))
            .collect();
        if plain.len() != args.len() {
            return Err(refuse("it has other operands than what it was read from"));
        }
        let wanted: Vec<_> = plain
            .iter()
            .map(|&i| ll::type_of(ll::operand(origin, i)))
            .collect();
        let args: Vec<Val> = args
            .iter()
            .zip(wanted)
            .map(|(&arg, ty)| self.adapt_to(arg, ty))
            .collect();
        let made = ll::clone_instruction(origin);
        for (i, arg) in plain.into_iter().zip(args) {
            ll::set_operand(made, i, arg);
        }
        // SAFETY: the clone stands in no block yet.
        unsafe { LLVMInsertIntoBuilder(self.builder.0, made) };
        Ok(made)
    }
}

/// Sets the flags that an instruction can have.
pub(super) fn set_flags(value: Val, flags: Flags) {
    if !ll::is_instruction(value) {
        return;
    }
    let has = |flag: Flags| flags.contains(flag).into();
    // SAFETY: each flag is set only on instructions that have it.
    unsafe {
        match ll::opcode(value) {
            Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMShl
            | Opcode::LLVMTrunc => {
                LLVMSetNSW(value, has(Flags::NSW));
                LLVMSetNUW(value, has(Flags::NUW));
            }
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMLShr | Opcode::LLVMAShr => {
                LLVMSetExact(value, has(Flags::EXACT));
            }
            Opcode::LLVMOr => LLVMSetIsDisjoint(value, has(Flags::DISJOINT)),
            Opcode::LLVMZExt | Opcode::LLVMUIToFP => LLVMSetNNeg(value, has(Flags::NNEG)),
            Opcode::LLVMICmp => LLVMSetICmpSameSign(value, has(Flags::SAMESIGN)),
            _ => {}
        }
    }
    if ll::may_have_fast_math(value) {
        ll::set_fast_math(value, crate::fast_math_bits(flags));
    }
}
