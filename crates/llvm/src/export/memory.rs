//! Addresses and accesses to memory.

use super::Exporter;
use super::constants::NO_NAME;
use super::instruction::set_flags;
use crate::ll::{self, LLVMAtomicOrdering as O, LLVMTypeKind, Val};
use crate::opcodes::{atomic_ordering, rmw_operation};
use llvm_sys::core::*;
use zymase_core::diagnostic::Result;
use zymase_core::ir::{Access, Flags, Inst, Op, SyncScope, Type};

impl Exporter<'_> {
    /// The address `base + offset + Σ scaleᵢ·indexᵢ`.
    ///
    /// LLVM's promise `inbounds` is about every partial sum in order, core's is about the result.
    /// So a promise is only passed on if there is one summand, or if the sum is computed as an
    /// integer and added at once.
    pub(super) fn address(
        &mut self,
        args: &[Val],
        offset: i64,
        scales: &[i64],
        flags: Flags,
        ty: Type,
    ) -> Val {
        let promises = gep_flags(flags);
        let (base, indices) = (args[0], &args[1..]);
        let summands = scales.len() + usize::from(offset != 0);
        match (summands, scales) {
            (0, _) => base,
            (1, []) => self.step(base, self.number(offset), 1, promises),
            (1, [scale]) if *scale > 0 => self.step(base, indices[0], *scale, promises),
            _ if promises == 0 || ty.lanes().is_some() => {
                let mut place = base;
                for (&index, &scale) in indices.iter().zip(scales) {
                    place = match scale > 0 {
                        true => self.step(place, index, scale, 0),
                        false => {
                            let scaled = self.scaled(index, scale, Flags::empty());
                            self.step(place, scaled, 1, 0)
                        }
                    };
                }
                match offset {
                    0 => place,
                    _ => self.step(place, self.number(offset), 1, 0),
                }
            }
            _ => {
                // The products do not wrap, which is part of both promises.
                let products = match flags.intersects(Flags::INBOUNDS | Flags::NUSW) {
                    true => Flags::NSW,
                    false => Flags::empty(),
                };
                let mut sum: Option<Val> = None;
                for (&index, &scale) in indices.iter().zip(scales) {
                    let product = self.scaled(index, scale, products);
                    sum = Some(match sum {
                        None => product,
                        Some(sum) => {
                            self.build(|b| unsafe { LLVMBuildAdd(b, sum, product, NO_NAME) })
                        }
                    });
                }
                let constant = self.number(offset);
                let sum = match sum {
                    None => constant,
                    Some(sum) if offset == 0 => sum,
                    Some(sum) => self.build(|b| unsafe { LLVMBuildAdd(b, sum, constant, NO_NAME) }),
                };
                self.step(base, sum, 1, promises)
            }
        }
    }

    fn number(&self, n: i64) -> Val {
        let ty = ll::int_type(self.origins.context, 64);
        ll::int_constant(ty, i128::from(n) as u128)
    }

    /// `base + scale·index`.
    fn step(&mut self, base: Val, index: Val, scale: i64, promises: u32) -> Val {
        let c = self.origins.context;
        let element = match scale {
            1 | 2 | 4 | 8 => ll::int_type(c, scale as u32 * 8),
            _ => ll::array_type(ll::int_type(c, 8), scale as u64),
        };
        let mut index = index;
        self.build(|b| unsafe {
            LLVMBuildGEPWithNoWrapFlags(b, element, base, &mut index, 1, NO_NAME, promises)
        })
    }

    /// `scale·index` in 64 bits, lane by lane for a vector.
    fn scaled(&mut self, index: Val, scale: i64, flags: Flags) -> Val {
        let own = ll::type_of(index);
        let (ty, factor) = match ll::type_kind(own) {
            LLVMTypeKind::LLVMVectorTypeKind => {
                let lanes = ll::vector_size(own);
                let mut factors = vec![self.number(scale); lanes as usize];
                let ty = ll::vector_type(ll::int_type(self.origins.context, 64), lanes);
                // SAFETY: LLVM copies the lanes.
                (ty, unsafe { LLVMConstVector(factors.as_mut_ptr(), lanes) })
            }
            _ => (ll::int_type(self.origins.context, 64), self.number(scale)),
        };
        let wide = self.build(|b| unsafe { LLVMBuildIntCast2(b, index, ty, 1, NO_NAME) });
        if scale == 1 {
            return wide;
        }
        let before = self.last();
        let product = self.build(|b| unsafe { LLVMBuildMul(b, wide, factor, NO_NAME) });
        if self.last() != before {
            set_flags(product, flags);
        }
        product
    }

    /// Writes an access to memory or an allocation in the frame.
    pub(super) fn memory(&mut self, inst: Inst, args: &[Val], ty: Type) -> Result<Val> {
        let data = self.function.inst(inst);
        let foreign = self.origins.llvm_type(ty);
        Ok(match &data.op {
            Op::Alloca { ty, align } => {
                let element = self.origins.llvm_type(*ty);
                let one = self.function.as_int(data.args[0]) == Some(1);
                let made = match one {
                    true => self.build(|b| unsafe { LLVMBuildAlloca(b, element, NO_NAME) }),
                    false => self
                        .build(|b| unsafe { LLVMBuildArrayAlloca(b, element, args[0], NO_NAME) }),
                };
                if *align != 0 {
                    ll::set_alignment(made, *align);
                }
                made
            }
            Op::Load(access) => {
                let made = self.build(|b| unsafe { LLVMBuildLoad2(b, foreign, args[0], NO_NAME) });
                self.set_access(made, access);
                made
            }
            Op::Store(access) => {
                let made = self.build(|b| unsafe { LLVMBuildStore(b, args[0], args[1]) });
                self.set_access(made, access);
                made
            }
            Op::Accumulate(access) => self.accumulate(args[0], args[1], access, data.flags),
            Op::AtomicRmw(op, access) => {
                let (order, scope) = atomic(access);
                let op = rmw_operation(*op);
                let made = self.build(|b| unsafe {
                    LLVMBuildAtomicRMWSyncScope(b, op, args[0], args[1], order, scope)
                });
                self.set_plain_access(made, access);
                made
            }
            Op::CmpXchg {
                access,
                failure,
                weak,
            } => {
                let (order, scope) = atomic(access);
                let failure = atomic_ordering(*failure);
                let made = self.build(|b| unsafe {
                    LLVMBuildAtomicCmpXchgSyncScope(
                        b, args[0], args[1], args[2], order, failure, scope,
                    )
                });
                // SAFETY: the instruction is a compare-exchange.
                unsafe { LLVMSetWeak(made, (*weak).into()) };
                self.set_plain_access(made, access);
                made
            }
            Op::Fence(order, scope) => {
                let (order, scope) = (atomic_ordering(*order), scope_id(*scope));
                self.build(|b| unsafe { LLVMBuildFenceSyncScope(b, order, scope, NO_NAME) })
            }
            Op::MemCopy {
                overlapping,
                dst,
                src,
            } => {
                if let Some(made) = self.clone_inline_copy(inst, args) {
                    return Ok(made);
                }
                let (to, from) = (dst.align, src.align);
                let made = self.build(|b| unsafe {
                    match overlapping {
                        true => LLVMBuildMemMove(b, args[0], to, args[1], from, args[2]),
                        false => LLVMBuildMemCpy(b, args[0], to, args[1], from, args[2]),
                    }
                });
                self.set_volatile_call(made, dst.volatile || src.volatile);
                self.attach_alias_metadata(made, &[dst, src]);
                made
            }
            Op::MemSet(access) => {
                if let Some(made) = self.clone_inline_copy(inst, args) {
                    return Ok(made);
                }
                let align = access.align;
                let made =
                    self.build(|b| unsafe { LLVMBuildMemSet(b, args[0], args[1], args[2], align) });
                self.set_volatile_call(made, access.volatile);
                self.attach_alias_metadata(made, &[access]);
                made
            }
            op => unreachable!("{op:?} is no access to memory"),
        })
    }

    /// Adds into memory: atomically if the access is atomic, else by a load, a sum and a store.
    fn accumulate(&mut self, ptr: Val, value: Val, access: &Access, flags: Flags) -> Val {
        let ty = ll::type_of(value);
        if access.atomic.is_some() {
            let (order, scope) = atomic(access);
            let op = ll::LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd;
            let made = self
                .build(|b| unsafe { LLVMBuildAtomicRMWSyncScope(b, op, ptr, value, order, scope) });
            self.set_plain_access(made, access);
            return made;
        }
        let old = self.build(|b| unsafe { LLVMBuildLoad2(b, ty, ptr, NO_NAME) });
        self.set_access(old, access);
        let sum = self.build(|b| unsafe { LLVMBuildFAdd(b, old, value, NO_NAME) });
        set_flags(sum, flags);
        let made = self.build(|b| unsafe { LLVMBuildStore(b, sum, ptr) });
        self.set_access(made, access);
        made
    }

    /// A copy that must not become a call of the C library stays one.
    fn clone_inline_copy(&mut self, inst: Inst, args: &[Val]) -> Option<Val> {
        let origin = self.origin_of(inst)?;
        if !ll::is_call(origin) || !ll::name(ll::called_value(origin)).contains(".inline") {
            return None;
        }
        let made = ll::clone_instruction(origin);
        for (i, &arg) in args.iter().enumerate() {
            ll::set_operand(made, i as u32, arg);
        }
        // SAFETY: the clone stands in no block yet.
        unsafe { LLVMInsertIntoBuilder(self.builder.0, made) };
        Some(made)
    }

    fn set_volatile_call(&mut self, call: Val, volatile: bool) {
        if volatile {
            let truth = ll::int_type(self.origins.context, 1);
            ll::set_operand(call, 3, ll::int_constant(truth, 1));
        }
    }

    /// Says how a load or store accesses memory.
    fn set_access(&mut self, value: Val, access: &Access) {
        if access.atomic.is_some() {
            let (order, scope) = atomic(access);
            ll::set_ordering(value, order);
            ll::set_sync_scope(value, scope);
        }
        self.set_plain_access(value, access);
    }

    fn set_plain_access(&mut self, value: Val, access: &Access) {
        ll::set_alignment(value, access.align.max(1));
        // SAFETY: the instruction is an access to memory.
        unsafe { LLVMSetVolatile(value, access.volatile.into()) };
        self.attach_alias_metadata(value, &[access]);
    }
}

fn gep_flags(flags: Flags) -> u32 {
    let bit = |flag, position: u32| u32::from(flags.contains(flag)) << position;
    let inbounds = bit(Flags::INBOUNDS, 0);
    // LLVM wants the weaker promise said along with the stronger one.
    inbounds | inbounds << 1 | bit(Flags::NUSW, 1) | bit(Flags::NUW, 2)
}

fn atomic(access: &Access) -> (O, u32) {
    match access.atomic {
        Some((order, scope)) => (atomic_ordering(order), scope_id(scope)),
        None => (O::LLVMAtomicOrderingMonotonic, scope_id(SyncScope::System)),
    }
}

fn scope_id(scope: SyncScope) -> u32 {
    match scope {
        SyncScope::SingleThread => 0,
        SyncScope::System => 1,
    }
}
