//! What each instruction without control flow does.

use super::cast::cast;
use super::image;
use super::lanes::{insert, insert_element, lane_index, lanewise, select, shuffle};
use super::machine::Machine;
use super::math;
use super::memory::{Byte, ObjectKind};
use super::scalar;
use super::trap::Trap;
use super::value::{Int, Pointer, Val};
use crate::ir::{
    Access, BinaryOp, CastOp, Flags, InstData, IntPred, MathFn, Op, RmwOp, Type, UnaryOp,
};

impl<'m> Machine<'m> {
    /// Does an instruction that neither branches nor calls; `ty` is the type of its result.
    pub(super) fn execute(
        &mut self,
        data: &InstData,
        args: &[Val],
        ty: Type,
    ) -> Result<Option<Val>, Trap> {
        let flags = data.flags;
        let count = operand_count(&data.op);
        if count.is_some_and(|count| count != args.len()) {
            return Err(Trap::malformed(
                "an instruction with a wrong number of operands",
            ));
        }
        if !ty.is_void() {
            image::check_type(self.layout(), ty)?;
            self.memory.count_steps(ty.part_count() / 16)?;
        }
        let layout = self.layout();
        Ok(Some(match &data.op {
            Op::Unary(UnaryOp::FNeg) => lanewise(ty, args, |x| scalar::negate(flags, &x[0]))?,
            Op::Unary(UnaryOp::Freeze) => image::freeze(layout, ty, &args[0])?,
            Op::Binary(op) => {
                let result = lanewise(ty, args, |x| scalar::binary(*op, flags, &x[0], &x[1]))?;
                self.rounded(result)
            }
            Op::ICmp(pred) => lanewise(ty, args, |x| {
                scalar::compare_ints(*pred, flags, &x[0], &x[1])
            })?,
            Op::FCmp(pred) => lanewise(ty, args, |x| {
                scalar::compare_floats(*pred, flags, &x[0], &x[1])
            })?,
            Op::Cast(CastOp::Bitcast) => self.bitcast(data, &args[0], ty)?,
            Op::Cast(op) => lanewise(ty, args, |x| cast(*op, flags, &x[0], ty.scalar()))?,
            Op::Select => select(flags, ty, args)?,
            Op::Math(function) => {
                let result = lanewise(ty, args, |x| math::call(*function, flags, x))?;
                self.rounded(result)
            }
            Op::ExtractElement => match lane_index(&args[1], &args[0])? {
                Some(index) => args[0].part(index).clone(),
                None => Val::Poison,
            },
            Op::InsertElement => insert_element(ty, args)?,
            Op::Shuffle(mask) => shuffle(mask, args),
            Op::Extract(path) => {
                let part = path.iter().fold(&args[0], |val, &i| val.part(i as usize));
                part.clone()
            }
            Op::Insert(path) => insert(ty, &args[0], &args[1], path)?,
            Op::Alloca { ty, align } => self.alloca(*ty, *align, &args[0])?,
            Op::Address { offset, scales } => {
                if args.len() != 1 + scales.len() {
                    return Err(Trap::malformed("an address with a wrong number of indices"));
                }
                lanewise(ty, args, |x| self.address_of(flags, *offset, scales, x))?
            }
            Op::Load(access) => self.load(ty, pointer(&args[0], "a load")?, access)?,
            Op::Store(access) => {
                let value_ty = self.operand_type(data, 0);
                let at = pointer(&args[1], "a store")?;
                self.store(value_ty, &args[0], at, access)?;
                return Ok(None);
            }
            Op::Accumulate(access) => {
                let value_ty = self.operand_type(data, 1);
                let at = pointer(&args[0], "an accumulation")?;
                let old = self.load(value_ty, at, access)?;
                let both = [old, args[1].clone()];
                let add = |x: &[Val]| scalar::binary(BinaryOp::FAdd, flags, &x[0], &x[1]);
                let sum = lanewise(value_ty, &both, add)?;
                self.store(value_ty, &sum, at, access)?;
                return Ok(None);
            }
            Op::AtomicRmw(op, access) => {
                let at = pointer(&args[0], "an atomic access")?;
                let old = self.load(ty, at, access)?;
                let both = [old.clone(), args[1].clone()];
                let new = lanewise(ty, &both, |x| read_modify(*op, flags, &x[0], &x[1]))?;
                self.store(ty, &new, at, access)?;
                old
            }
            Op::CmpXchg { access, .. } => {
                let at = pointer(&args[0], "an atomic access")?;
                let value_ty = self.operand_type(data, 1);
                let old = self.load(value_ty, at, access)?;
                let same = scalar::compare_ints(IntPred::Eq, Flags::empty(), &old, &args[1])?;
                if definite_int(&same, "a compare-exchange")?.unsigned() == 1 {
                    self.store(value_ty, &args[2], at, access)?;
                }
                Val::Aggregate(vec![old, same])
            }
            Op::Fence(..) => return Ok(None),
            Op::MemCopy {
                overlapping,
                dst,
                src,
            } => {
                let to = pointer(&args[0], "a copy")?;
                let from = pointer(&args[1], "a copy")?;
                let len = definite_int(&args[2], "the length of a copy")?.unsigned();
                self.memory
                    .copy(to, from, len, *overlapping, dst.align, src.align)?;
                return Ok(None);
            }
            Op::MemSet(access) => {
                let to = pointer(&args[0], "a memset")?;
                let len = definite_int(&args[2], "the length of a memset")?.unsigned();
                self.memory.fill(to, &args[1], len, access.align)?;
                return Ok(None);
            }
            Op::Nest(nest) => {
                self.nest(data, nest, args)?;
                return Ok(None);
            }
            Op::Request(_) => {
                return Err(Trap::unsupported(
                    "a derivative request must be replaced by the pipeline before running",
                ));
            }
            Op::Opaque(opaque) => {
                return Err(Trap::unsupported(format!(
                    "the instruction {:?}",
                    opaque.name
                )));
            }
            Op::Call(_)
            | Op::Jump(_)
            | Op::Branch { .. }
            | Op::Switch { .. }
            | Op::Return
            | Op::Unreachable
            | Op::Invoke { .. }
            | Op::OpaqueTerminator { .. } => {
                return Err(Trap::malformed("control flow outside of the machine"));
            }
        }))
    }

    fn bitcast(&self, data: &InstData, x: &Val, ty: Type) -> Result<Val, Trap> {
        let mut bytes = Vec::new();
        image::encode(self.layout(), self.operand_type(data, 0), x, &mut bytes)?;
        if bytes.len() as u64 != self.layout().store_size(ty) {
            return Err(Trap::malformed("a bitcast between types of different size"));
        }
        image::decode(self.layout(), ty, &bytes)
    }

    fn alloca(&mut self, ty: Type, align: u32, count: &Val) -> Result<Val, Trap> {
        let count = definite_int(count, "the size of an alloca")?.unsigned();
        let size = u128::from(self.layout().size(ty)).checked_mul(count);
        let size = size
            .and_then(|size| u64::try_from(size).ok())
            .unwrap_or(u64::MAX);
        let align = u64::from(align.max(1));
        let address = self
            .memory
            .allocate(ObjectKind::Frame, size, align, false)?;
        self.own_object(address);
        Ok(Val::Ptr(address))
    }

    fn address_of(
        &self,
        flags: Flags,
        offset: i64,
        scales: &[i64],
        args: &[Val],
    ) -> Result<Val, Trap> {
        let base = match &args[0] {
            Val::Ptr(base) => *base,
            Val::Poison => return Ok(Val::Poison),
            other => return Err(Trap::malformed(format!("an address from {other:?}"))),
        };
        let mut total = i128::from(offset);
        for (scale, index) in scales.iter().zip(&args[1..]) {
            match index {
                Val::Int(index) if !index.has_poison() => {
                    let part = i128::from(index.signed() as i64) * i128::from(*scale);
                    total = total.saturating_add(part);
                }
                Val::Int(_) | Val::Poison => return Ok(Val::Poison),
                other => return Err(Trap::malformed(format!("the index {other:?}"))),
            }
        }
        let wraps = i64::try_from(total).is_err();
        let result = base.offset(total as i64);
        let broken = (flags.contains(Flags::NUSW) && wraps)
            || (flags.contains(Flags::NUW) && total < 0)
            || (flags.contains(Flags::INBOUNDS) && (wraps || self.leaves(base, result)));
        Ok(if broken {
            Val::Poison
        } else {
            Val::Ptr(result)
        })
    }

    /// Whether a step from one address to another is not inside of one object. A step of nothing
    /// is always good, and nothing is said of dead objects.
    fn leaves(&self, from: Pointer, to: Pointer) -> bool {
        if from.address == to.address {
            return false;
        }
        if from.object.is_none() {
            return true;
        }
        let Some(size) = self.memory.object_size(from) else {
            return false;
        };
        let outside = |at: Pointer| {
            let offset = self.memory.object_offset(at).unwrap_or(0);
            offset < 0 || offset as u64 > size
        };
        outside(from) || outside(to)
    }

    pub(super) fn load(&mut self, ty: Type, at: Pointer, access: &Access) -> Result<Val, Trap> {
        let size = self.layout().store_size(ty);
        image::check_type(self.layout(), ty)?;
        let mut bytes: Vec<Byte> = Vec::with_capacity(size.min(1 << 10) as usize);
        self.memory.read(at, size, access.align, &mut bytes)?;
        image::decode(self.layout(), ty, &bytes)
    }

    pub(super) fn store(
        &mut self,
        ty: Type,
        value: &Val,
        at: Pointer,
        access: &Access,
    ) -> Result<(), Trap> {
        let mut bytes = Vec::with_capacity(16);
        image::encode(self.layout(), ty, value, &mut bytes)?;
        self.memory.write(at, &bytes, access.align)
    }
}

/// The number of operands of operations that always have the same.
fn operand_count(op: &Op) -> Option<usize> {
    Some(match op {
        Op::Unary(_) | Op::Cast(_) | Op::Extract(_) | Op::Alloca { .. } | Op::Load(_) => 1,
        Op::Binary(_) | Op::ICmp(_) | Op::FCmp(_) | Op::ExtractElement | Op::Shuffle(_) => 2,
        Op::Insert(_) | Op::Store(_) | Op::Accumulate(_) | Op::AtomicRmw(..) => 2,
        Op::Select | Op::InsertElement | Op::CmpXchg { .. } => 3,
        Op::MemCopy { .. } | Op::MemSet(_) => 3,
        _ => return None,
    })
}

/// The pointer that an operand is; poison is an error.
pub(super) fn pointer(value: &Val, what: &str) -> Result<Pointer, Trap> {
    match value {
        Val::Ptr(pointer) => Ok(*pointer),
        Val::Poison => Err(Trap::poison(format!("the address of {what} is poison"))),
        other => Err(Trap::malformed(format!(
            "the address of {what} is {other:?}"
        ))),
    }
}

/// The integer that an operand is; poison is an error.
pub(super) fn definite_int<'v>(value: &'v Val, what: &str) -> Result<&'v Int, Trap> {
    match value {
        Val::Int(int) if !int.has_poison() => Ok(int),
        Val::Int(_) | Val::Poison => Err(Trap::poison(format!("{what} depends on poison"))),
        other => Err(Trap::malformed(format!("{what} depends on {other:?}"))),
    }
}

fn read_modify(op: RmwOp, flags: Flags, old: &Val, new: &Val) -> Result<Val, Trap> {
    let binary = |op| scalar::binary(op, flags, old, new);
    let pick = |pred| {
        let first = scalar::compare_ints(pred, Flags::empty(), old, new)?;
        Ok(match first.as_int() {
            Some(0) => new.clone(),
            Some(_) => old.clone(),
            None => Val::Poison,
        })
    };
    match op {
        RmwOp::Xchg => Ok(new.clone()),
        RmwOp::Add => binary(BinaryOp::Add),
        RmwOp::Sub => binary(BinaryOp::Sub),
        RmwOp::And => binary(BinaryOp::And),
        RmwOp::Or => binary(BinaryOp::Or),
        RmwOp::Xor => binary(BinaryOp::Xor),
        RmwOp::Nand => match binary(BinaryOp::And)? {
            Val::Int(both) if !both.has_poison() => {
                Ok(Val::Int(Int::new(both.width(), !both.unsigned())))
            }
            _ => Ok(Val::Poison),
        },
        RmwOp::Max => pick(IntPred::Sgt),
        RmwOp::Min => pick(IntPred::Slt),
        RmwOp::UMax => pick(IntPred::Ugt),
        RmwOp::UMin => pick(IntPred::Ult),
        RmwOp::FAdd => binary(BinaryOp::FAdd),
        RmwOp::FSub => binary(BinaryOp::FSub),
        RmwOp::FMax => math::call(MathFn::Fmax, flags, &[old.clone(), new.clone()]),
        RmwOp::FMin => math::call(MathFn::Fmin, flags, &[old.clone(), new.clone()]),
    }
}
