//! The reverse of instructions that move floats without computing: the adjoint of the result
//! goes, byte for byte, to where the bytes came from.

use super::gradient::Gradient;
use crate::diagnostic::Result;
use crate::ir::{Access, BinaryOp, CastOp, FloatKind, Inst, InstData, Op, Type, UnaryOp, Value};
use crate::planted::Defect;
use std::ops::Range;

impl Gradient<'_> {
    /// Reverses an instruction, if it is one that moves floats.
    pub(super) fn reverse_move(
        &mut self,
        inst: Inst,
        data: &InstData,
        result: Value,
        adjoints: &[Value],
    ) -> Result<bool> {
        let args = &data.args;
        let pieces = self.float_pieces(result);
        match &data.op {
            Op::Select => self.select(args, adjoints),
            Op::Unary(UnaryOp::Freeze) | Op::Cast(CastOp::Bitcast | CastOp::Trunc) => {
                self.move_back(args[0], 0, adjoints, &pieces);
            }
            Op::Cast(CastOp::ZExt) => {
                let size = self.store_size(args[0]);
                let pieces = inside(&pieces, 0, size);
                self.move_back(args[0], 0, adjoints, &pieces);
            }
            Op::Binary(BinaryOp::Shl | BinaryOp::LShr) => {
                let bits = self.primal.function.as_int(args[1]);
                let Some(bits) = bits.filter(|bits| bits % 8 == 0) else {
                    return Err(self.refuse(inst, "a shift of the bits of a float"));
                };
                let bytes = bits as i64 / 8;
                let up = matches!(data.op, Op::Binary(BinaryOp::Shl));
                let mut offset = if up { -bytes } else { bytes };
                if self.breaks(Defect::ShiftIgnored) {
                    offset = 0;
                }
                let low = if up { bytes } else { 0 };
                let pieces = inside(&pieces, low, i64::MAX);
                self.move_back(args[0], offset, adjoints, &pieces);
            }
            Op::Binary(BinaryOp::Or) => {
                // A float that is put together from parts comes from neither operand as a whole.
                let whole = |p| args.iter().any(|&v| self.float_pieces(v).contains(p));
                let inactive = |&(at, kind): &(i64, FloatKind)| {
                    let bytes = at..at + i64::from(kind.bytes());
                    args.iter()
                        .all(|&v| !self.primal.is_active(v) || self.is_clear(v, &bytes))
                };
                if !pieces.iter().all(|p| whole(p) || inactive(p)) {
                    return Err(self.refuse(inst, "a float put together from its parts"));
                }
                for &operand in args {
                    let own = self.float_pieces(operand);
                    let pieces: Vec<_> =
                        pieces.iter().copied().filter(|p| own.contains(p)).collect();
                    self.move_back(operand, 0, adjoints, &pieces);
                }
            }
            Op::Binary(BinaryOp::And) if self.primal.moves_floats(inst) => {
                let mask = self.primal.function.as_int(args[1]).unwrap_or(0);
                let kept = |&(offset, _): &(i64, FloatKind)| byte(mask, offset) == 0xff;
                let pieces: Vec<_> = pieces.iter().copied().filter(kept).collect();
                self.move_back(args[0], 0, adjoints, &pieces);
            }
            Op::Binary(op) if !op.is_float() => {
                let what = format!("`{}` on the bits of a float", op.name());
                return Err(self.refuse(inst, &what));
            }
            Op::Extract(path) => {
                let whole = self.primal.function.ty(args[0]);
                let offset = self.synthesis.module.layout.path_offset(whole, path) as i64;
                self.move_back(args[0], offset, adjoints, &pieces);
            }
            Op::Insert(path) => {
                let whole = self.primal.function.ty(result);
                let offset = self.synthesis.module.layout.path_offset(whole, path) as i64;
                let size = self.store_size(args[1]);
                let outside = |&(at, _): &(i64, FloatKind)| at < offset || at >= offset + size;
                let rest: Vec<_> = pieces.iter().copied().filter(outside).collect();
                for (k, &adjoint) in adjoints.iter().enumerate() {
                    let part = self.builder().extract(adjoint, path.clone());
                    self.contribute(args[1], k, part);
                }
                self.move_back(args[0], 0, adjoints, &rest);
            }
            Op::InsertElement if self.has_wide_floats(result, &pieces) => {
                return Err(self.refuse(inst, "an insertion of a part of a float"));
            }
            Op::Shuffle(mask) if self.has_wide_floats(result, &pieces) => {
                if !self.shuffle_wide(mask, args, result, &pieces, adjoints) {
                    return Err(self.refuse(inst, "a shuffle of the parts of a float"));
                }
            }
            Op::ExtractElement => self.extract_element(args, &pieces, adjoints),
            Op::InsertElement => self.insert_element(args, result, adjoints),
            Op::Shuffle(mask) => self.shuffle(mask, args, result, &pieces, adjoints),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn store_size(&self, value: Value) -> i64 {
        let ty = self.primal.function.ty(value);
        self.synthesis.module.layout.store_size(ty) as i64
    }

    /// Whether an integer is made in a way that leaves these of its bytes zero.
    fn is_clear(&self, value: Value, bytes: &Range<i64>) -> bool {
        let function = &self.primal.function;
        let Some(inst) = function.def_inst(value) else {
            return false;
        };
        let data = function.inst(inst);
        let constant = |i: usize| function.as_int(data.args[i]);
        match &data.op {
            Op::Cast(CastOp::ZExt) => bytes.start >= self.store_size(data.args[0]),
            Op::Binary(BinaryOp::Shl) => constant(1).is_some_and(|n| bytes.end * 8 <= n as i64),
            Op::Binary(BinaryOp::LShr) => constant(1)
                .is_some_and(|n| bytes.start * 8 >= self.store_size(value) * 8 - n as i64),
            Op::Binary(BinaryOp::And) if self.primal.moves_floats(inst) => {
                constant(1).is_some_and(|mask| bytes.clone().all(|at| byte(mask, at) == 0))
            }
            Op::Binary(BinaryOp::Or) => data.args.iter().all(|&v| self.is_clear(v, bytes)),
            _ => false,
        }
    }

    /// The adjoint of a result whose bytes come from `operand`, `offset` bytes further on.
    fn move_back(
        &mut self,
        operand: Value,
        offset: i64,
        adjoints: &[Value],
        pieces: &[(i64, FloatKind)],
    ) {
        for (k, &adjoint) in adjoints.iter().enumerate() {
            if self.func.ty(adjoint).is_float_like() && pieces.is_empty() {
                continue;
            }
            self.contribute_at(operand, k, offset, adjoint, pieces);
        }
    }

    fn select(&mut self, args: &[Value], adjoints: &[Value]) {
        let condition = self.primal_value(args[0]);
        for (k, &adjoint) in adjoints.iter().enumerate() {
            let zero = self.func.zero(self.func.ty(adjoint));
            for (position, &operand) in args.iter().enumerate().skip(1) {
                if !self.primal.is_active(operand) {
                    continue;
                }
                let (x, y) = if position == 1 {
                    (adjoint, zero)
                } else {
                    (zero, adjoint)
                };
                let mut chosen = self.builder().select(condition, x, y);
                if self.breaks(Defect::SelectBothArms) {
                    chosen = adjoint;
                }
                self.contribute(operand, k, chosen);
            }
        }
    }

    /// The address of a lane of a vector in memory.
    fn lane(&mut self, base: Value, vector: Type, index: Value) -> Value {
        let size = self.synthesis.module.layout.store_size(vector.scalar()) as i64;
        match self.func.as_int(index) {
            Some(index) => self
                .builder()
                .offset(base, (index as i64).wrapping_mul(size)),
            None => {
                let mut builder = self.builder();
                let index = crate::support::extend(&mut builder, index, Type::i64());
                builder.element(base, index, size)
            }
        }
    }

    fn lane_access(&self, vector: Type) -> Access {
        self.frame_access(vector.scalar())
    }

    fn extract_element(&mut self, args: &[Value], pieces: &[(i64, FloatKind)], adjoints: &[Value]) {
        if !self.primal.is_active(args[0]) {
            return;
        }
        let vector = self.primal.function.ty(args[0]);
        let index = self.primal_value(args[1]);
        for (k, &adjoint) in adjoints.iter().enumerate() {
            let slot = self.slot(args[0], k);
            let address = self.lane(slot, vector, index);
            let access = self.lane_access(vector);
            self.accumulate(address, adjoint, pieces, &access);
        }
    }

    fn insert_element(&mut self, args: &[Value], result: Value, adjoints: &[Value]) {
        let vector = self.primal.function.ty(result);
        let index = self.primal_value(args[2]);
        for (k, &adjoint) in adjoints.iter().enumerate() {
            let element = vector.scalar();
            let part = self
                .builder()
                .value(Op::ExtractElement, vec![adjoint, index], element);
            self.contribute(args[1], k, part);
            let zero = self.func.zero(element);
            let rest = self
                .builder()
                .value(Op::InsertElement, vec![adjoint, zero, index], vector);
            self.contribute(args[0], k, rest);
        }
    }

    /// Whether a float of a vector lies in more than one of its lanes, which are integers then.
    fn has_wide_floats(&self, vector: Value, pieces: &[(i64, FloatKind)]) -> bool {
        let lane = self.primal.function.ty(vector).scalar();
        let lane = self.synthesis.module.layout.store_size(lane) as i64;
        let wide = |&(at, kind): &(i64, FloatKind)| at % lane + i64::from(kind.bytes()) > lane;
        pieces.iter().any(wide)
    }

    /// As [`shuffle`](Gradient::shuffle), float by float: the lanes of each must stay side by side.
    fn shuffle_wide(
        &mut self,
        mask: &[i32],
        args: &[Value],
        result: Value,
        pieces: &[(i64, FloatKind)],
        adjoints: &[Value],
    ) -> bool {
        let lanes = self.primal.function.ty(args[0]).part_count() as i64;
        let lane = self.primal.function.ty(result).scalar();
        let bytes = self.synthesis.module.layout.store_size(lane) as i64;
        for &(at, kind) in pieces {
            let covered = at / bytes..(at + i64::from(kind.bytes()) - 1) / bytes + 1;
            let from: Vec<i64> = covered.map(|i| i64::from(mask[i as usize])).collect();
            let first = from[0];
            if first < 0 {
                continue;
            }
            let (operand, start) = match first < lanes {
                true => (args[0], first),
                false => (args[1], first - lanes),
            };
            let beside = (first..).zip(&from).all(|(next, &lane)| next == lane);
            if !beside || start + from.len() as i64 > lanes {
                return false;
            }
            let offset = start * bytes + at % bytes - at;
            for (k, &adjoint) in adjoints.iter().enumerate() {
                self.contribute_at(operand, k, offset, adjoint, &[(at, kind)]);
            }
        }
        true
    }

    fn shuffle(
        &mut self,
        mask: &[i32],
        args: &[Value],
        result: Value,
        pieces: &[(i64, FloatKind)],
        adjoints: &[Value],
    ) {
        let vector = self.primal.function.ty(result);
        let lanes = self.primal.function.ty(args[0]).part_count() as i32;
        let bytes = self.synthesis.module.layout.store_size(vector.scalar()) as i64;
        for (k, &adjoint) in adjoints.iter().enumerate() {
            for (lane, &from) in mask.iter().enumerate() {
                let (operand, from) = match from {
                    from if from < 0 => continue,
                    from if from < lanes => (args[0], from),
                    from => (args[1], from - lanes),
                };
                if !self.primal.is_active(operand) {
                    continue;
                }
                let start = lane as i64 * bytes;
                let own: Vec<_> = inside(pieces, start, start + bytes)
                    .into_iter()
                    .map(|(at, kind)| (at - start, kind))
                    .collect();
                let lane = self.func.iconst(Type::i64(), lane as i128);
                let part =
                    self.builder()
                        .value(Op::ExtractElement, vec![adjoint, lane], vector.scalar());
                let slot = self.slot(operand, k);
                let from = self.func.iconst(Type::i64(), from.into());
                let address = self.lane(slot, vector, from);
                let access = self.lane_access(vector);
                self.accumulate(address, part, &own, &access);
            }
        }
    }
}

/// A byte of an integer.
fn byte(integer: i128, at: i64) -> i128 {
    integer.checked_shr(8 * at as u32).unwrap_or(0) & 0xff
}

/// The pieces that begin in a range.
fn inside(pieces: &[(i64, FloatKind)], low: i64, high: i64) -> Vec<(i64, FloatKind)> {
    let all = pieces.iter().copied();
    all.filter(|&(at, _)| at >= low && at < high).collect()
}
