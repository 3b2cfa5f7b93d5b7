//! Instructions, one by one.

use super::Importer;
use super::constants::int_bits;
use super::function::Body;
use crate::ll::{self, LLVMAtomicOrdering as O, Opcode, Val};
use crate::opcodes::{binary_op, cast_op, float_pred, int_pred, opcode_name, ordering, rmw_op};
use zymase_core::ir::{
    Access, BinaryOp, CastOp, Edge, Flags, MemoryEffects, Op, SyncScope, Type, TypeKind, UnaryOp,
    Value,
};

impl Body<'_> {
    /// Reads any instruction but a phi.
    pub(super) fn read_instruction(&mut self, inst: Val) {
        let opcode = ll::opcode(inst);
        if let Some(op) = binary_op(opcode) {
            return self.simple(inst, Op::Binary(op));
        }
        if let Some(op) = cast_op(opcode) {
            return self.simple(inst, Op::Cast(op));
        }
        match opcode {
            Opcode::LLVMFNeg => self.simple(inst, Op::Unary(UnaryOp::FNeg)),
            Opcode::LLVMFreeze => self.simple(inst, Op::Unary(UnaryOp::Freeze)),
            Opcode::LLVMSelect => self.simple(inst, Op::Select),
            Opcode::LLVMICmp => match int_pred(ll::int_predicate(inst)) {
                Some(pred) => self.simple(inst, Op::ICmp(pred)),
                None => self.opaque(inst, "icmp"),
            },
            Opcode::LLVMFCmp => match float_pred(ll::float_predicate(inst)) {
                Some(pred) => self.simple(inst, Op::FCmp(pred)),
                None => self.opaque(inst, "fcmp"),
            },
            Opcode::LLVMExtractElement => self.simple(inst, Op::ExtractElement),
            Opcode::LLVMInsertElement => self.simple(inst, Op::InsertElement),
            Opcode::LLVMExtractValue => self.simple(inst, Op::Extract(ll::indices(inst))),
            Opcode::LLVMInsertValue => self.simple(inst, Op::Insert(ll::indices(inst))),
            Opcode::LLVMShuffleVector => self.shuffle(inst),
            Opcode::LLVMGetElementPtr => match self.address(inst) {
                Some((op, args, flags)) => {
                    self.append(inst, op, args, flags);
                }
                None => self.append_opaque(inst, "getelementptr", MemoryEffects::NONE),
            },
            Opcode::LLVMAlloca => self.alloca(inst),
            Opcode::LLVMLoad => match self.importer.access(inst) {
                Some(access) => self.simple(inst, Op::Load(access)),
                None => self.opaque(inst, "load"),
            },
            Opcode::LLVMStore => match self.importer.access(inst) {
                Some(access) => self.simple(inst, Op::Store(access)),
                None => self.opaque(inst, "store"),
            },
            Opcode::LLVMAtomicRMW => {
                let op = rmw_op(ll::rmw_operation(inst));
                match (op, self.importer.access(inst)) {
                    (Some(op), Some(access)) => self.simple(inst, Op::AtomicRmw(op, access)),
                    _ => self.opaque(inst, "atomicrmw"),
                }
            }
            Opcode::LLVMAtomicCmpXchg => self.compare_exchange(inst),
            Opcode::LLVMFence => match (ordering(ll::ordering(inst)), scope(inst)) {
                (Some(order), Some(scope)) => self.simple(inst, Op::Fence(order, scope)),
                _ => self.opaque(inst, "fence"),
            },
            Opcode::LLVMCall => self.call(inst),
            Opcode::LLVMInvoke => self.invoke(inst),
            Opcode::LLVMBr => self.branch(inst),
            Opcode::LLVMSwitch => self.switch(inst),
            Opcode::LLVMRet => self.simple(inst, Op::Return),
            Opcode::LLVMUnreachable => self.simple(inst, Op::Unreachable),
            Opcode::LLVMLandingPad => self.opaque(inst, "landingpad"),
            Opcode::LLVMResume => self.opaque(inst, "resume"),
            Opcode::LLVMIndirectBr => self.opaque(inst, "indirectbr"),
            Opcode::LLVMCallBr => self.opaque(inst, "callbr"),
            Opcode::LLVMVAArg => self.opaque(inst, "va_arg"),
            Opcode::LLVMPtrToAddr => self.append_opaque(inst, "ptrtoaddr", MemoryEffects::NONE),
            Opcode::LLVMCatchPad => self.opaque(inst, "catchpad"),
            Opcode::LLVMCleanupPad => self.opaque(inst, "cleanuppad"),
            Opcode::LLVMCatchSwitch => self.opaque(inst, "catchswitch"),
            Opcode::LLVMCatchRet => self.opaque(inst, "catchret"),
            Opcode::LLVMCleanupRet => self.opaque(inst, "cleanupret"),
            other => self.opaque(inst, &opcode_name(other)),
        }
    }

    pub(super) fn opaque(&mut self, inst: Val, name: &str) {
        self.append_opaque(inst, name, MemoryEffects::default());
    }

    /// An instruction whose operands are core's operands in the same order.
    fn simple(&mut self, inst: Val, op: Op) {
        let moves = matches!(op, Op::Load(_) | Op::Store(_) | Op::Return);
        if !moves && self.is_on_opaque_types(inst) {
            // An operation on a type that core does not know is one that core does not know.
            let name = opcode_name(ll::opcode(inst));
            return self.append_opaque(inst, &name, MemoryEffects::default());
        }
        let args: Vec<Value> = (0..ll::operand_count(inst))
            .map(|i| self.operand(ll::operand(inst, i)))
            .collect();
        let moved = match op {
            Op::Load(_) => Some((args[0], ll::type_of(inst))),
            Op::Store(_) => Some((args[1], ll::type_of(ll::operand(inst, 0)))),
            _ => None,
        };
        if let Some((pointer, ty)) = moved {
            let ty = self.importer.ty(ty);
            let bytes = self.importer.module.layout.size(ty);
            self.declare_moved(inst, &[pointer], Some(bytes));
        }
        let flags = flags(inst, &op);
        self.append(inst, op, args, flags);
    }

    fn is_on_opaque_types(&mut self, inst: Val) -> bool {
        let operands = (0..ll::operand_count(inst)).map(|i| ll::operand(inst, i));
        [inst].into_iter().chain(operands).any(|value| {
            let ty = self.importer.ty(ll::type_of(value));
            matches!(ty.kind(), TypeKind::Opaque(_))
        })
    }

    fn shuffle(&mut self, inst: Val) {
        if self.is_on_opaque_types(inst) {
            return self.append_opaque(inst, "shufflevector", MemoryEffects::NONE);
        }
        let mask = (0..ll::mask_length(inst))
            .map(|i| ll::mask_value(inst, i).max(-1))
            .collect();
        let args = vec![
            self.operand(ll::operand(inst, 0)),
            self.operand(ll::operand(inst, 1)),
        ];
        self.append(inst, Op::Shuffle(mask), args, Flags::empty());
    }

    /// The flattened form of an address computation, instruction or constant expression.
    pub(super) fn address(&mut self, gep: Val) -> Option<(Op, Vec<Value>, Flags)> {
        let flat = self.importer.flatten(gep)?;
        let result = self.importer.ty(ll::type_of(gep));
        if matches!(result.kind(), TypeKind::Opaque(_)) {
            return None;
        }
        let base = self.operand(ll::operand(gep, 0));
        // A scalar base and constant indices alone would lose that the result is a vector.
        let dropped_lanes = result.lanes().is_some()
            && self.function.ty(base).lanes().is_none()
            && !flat.indices.iter().any(|&(_, index)| {
                ll::type_kind(ll::type_of(index)) == ll::LLVMTypeKind::LLVMVectorTypeKind
            });
        if dropped_lanes {
            return None;
        }
        let mut args = vec![base];
        let mut scales = Vec::with_capacity(flat.indices.len());
        for (scale, index) in flat.indices {
            let index = self.operand(index);
            args.push(self.at_most_64_bits(index));
            scales.push(scale);
        }
        let bits = ll::gep_flags(gep);
        let mut flags = Flags::empty();
        flags.set(Flags::INBOUNDS, bits & 1 != 0);
        flags.set(Flags::NUSW, bits & 2 != 0);
        flags.set(Flags::NUW, bits & 4 != 0);
        let op = Op::Address {
            offset: flat.offset,
            scales,
        };
        Some((op, args, flags))
    }

    /// Indices wider than an address are cut.
    fn at_most_64_bits(&mut self, index: Value) -> Value {
        let ty = self.function.ty(index);
        match ty.scalar().int_bits() {
            Some(bits) if bits > 64 => {
                let narrow = ty.with_scalar(Type::i64());
                let data = zymase_core::ir::InstData::new(Op::Cast(CastOp::Trunc), vec![index]);
                let made = self.function.append_inst(self.block, data, narrow);
                self.function.result(made).unwrap_or(index)
            }
            _ => index,
        }
    }

    fn alloca(&mut self, inst: Val) {
        let ty = self.importer.ty(ll::allocated_type(inst));
        let in_default_space = ll::address_space(ll::type_of(inst)) == 0;
        if matches!(ty.kind(), TypeKind::Opaque(_)) || !in_default_space {
            return self.opaque(inst, "alloca");
        }
        let align = ll::alignment(inst);
        let count = self.operand(ll::operand(inst, 0));
        self.append(inst, Op::Alloca { ty, align }, vec![count], Flags::empty());
    }

    fn compare_exchange(&mut self, inst: Val) {
        let success = ordering(ll::success_ordering(inst));
        let failure = ordering(ll::failure_ordering(inst));
        let (Some(success), Some(failure), Some(scope)) = (success, failure, scope(inst)) else {
            return self.opaque(inst, "cmpxchg");
        };
        let mut access = Access::aligned(ll::alignment(inst));
        access.volatile = ll::is_volatile(inst);
        access.atomic = Some((success, scope));
        self.importer.alias_metadata(inst, &mut access);
        let weak = ll::is_weak(inst);
        let op = Op::CmpXchg {
            access,
            failure,
            weak,
        };
        self.simple(inst, op);
    }

    fn branch(&mut self, inst: Val) {
        if !ll::is_conditional(inst) {
            let edge = self.edge(ll::successor(inst, 0));
            self.append(inst, Op::Jump(edge), Vec::new(), Flags::empty());
            return;
        }
        let condition = self.operand(ll::condition(inst));
        let then = self.edge(ll::successor(inst, 0));
        let other = self.edge(ll::successor(inst, 1));
        let op = Op::Branch { then, other };
        self.append(inst, op, vec![condition], Flags::empty());
    }

    fn switch(&mut self, inst: Val) {
        let condition = ll::operand(inst, 0);
        let values: Option<Vec<u128>> = (1..ll::successor_count(inst))
            .map(|i| int_bits(ll::case_value(inst, i)))
            .collect();
        let Some(values) = values else {
            return self.opaque(inst, "switch");
        };
        let condition = self.operand(condition);
        let default = self.edge(ll::successor(inst, 0));
        let cases: Vec<(u128, Edge)> = values
            .into_iter()
            .enumerate()
            .map(|(i, value)| (value, self.edge(ll::successor(inst, i as u32 + 1))))
            .collect();
        let op = Op::Switch { cases, default };
        self.append(inst, op, vec![condition], Flags::empty());
    }
}

impl Importer {
    /// How a load, store or read-modify-write accesses memory; none if its ordering or scope is
    /// not one of core's.
    fn access(&mut self, inst: Val) -> Option<Access> {
        let mut access = Access::aligned(ll::alignment(inst));
        access.volatile = ll::is_volatile(inst);
        access.atomic = match ll::ordering(inst) {
            O::LLVMAtomicOrderingNotAtomic => None,
            order => Some((ordering(order)?, scope(inst)?)),
        };
        self.alias_metadata(inst, &mut access);
        Some(access)
    }
}

/// LLVM numbers these two scopes in every context; others belong to targets.
fn scope(inst: Val) -> Option<SyncScope> {
    match ll::sync_scope(inst) {
        0 => Some(SyncScope::SingleThread),
        1 => Some(SyncScope::System),
        _ => None,
    }
}

pub(super) fn flags(inst: Val, op: &Op) -> Flags {
    let mut flags = Flags::empty();
    match op {
        Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl)
        | Op::Cast(CastOp::Trunc) => {
            flags.set(Flags::NSW, ll::nsw(inst));
            flags.set(Flags::NUW, ll::nuw(inst));
        }
        Op::Binary(BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::LShr | BinaryOp::AShr) => {
            flags.set(Flags::EXACT, ll::exact(inst));
        }
        Op::Binary(BinaryOp::Or) => flags.set(Flags::DISJOINT, ll::disjoint(inst)),
        Op::Cast(CastOp::ZExt | CastOp::UiToFp) => flags.set(Flags::NNEG, ll::nneg(inst)),
        Op::ICmp(_) => flags.set(Flags::SAMESIGN, ll::same_sign(inst)),
        _ => {}
    }
    if ll::may_have_fast_math(inst) {
        flags |= fast_math_flags(ll::fast_math(inst));
    }
    flags
}

fn fast_math_flags(bits: u32) -> Flags {
    let mut flags = Flags::empty();
    for (position, flag) in crate::FAST_MATH_BITS.iter().enumerate() {
        flags.set(*flag, bits >> position & 1 == 1);
    }
    flags
}
