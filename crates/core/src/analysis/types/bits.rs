//! What casts and integer operations say: floats may travel in integers, be put together from
//! halves and have their signs changed.

use super::bytes::{before_optimizing, is_flag_mask, known_byte};
use super::solver::Solver;
use super::{Cell, Piece, Shape, Shared};
use crate::ir::{BinaryOp, CastOp, Flags, IntPred, Value};

/// What functions of LLVM's do with integers.
pub(super) enum Integers {
    /// They put the bits of their operands together.
    Combined,
    /// They calculate.
    Arithmetic,
}

impl Integers {
    pub(super) fn of_intrinsic(name: &str) -> Option<Integers> {
        let name = name.strip_prefix("llvm.")?;
        let (stem, more) = name.split_once('.')?;
        match (stem, more.split('.').next()) {
            ("fshl" | "fshr" | "bswap" | "bitreverse", _) => Some(Integers::Combined),
            ("sadd" | "uadd" | "ssub" | "usub" | "smul" | "umul", Some("sat" | "with")) => {
                Some(Integers::Arithmetic)
            }
            _ => None,
        }
    }
}

impl Solver<'_> {
    pub(super) fn cast(&mut self, op: CastOp, from: Value, to: Value) {
        match op {
            CastOp::Bitcast => {
                let content = self.content(from);
                self.learn_content(to, &content);
                let content = self.content(to);
                self.learn_content(from, &content);
            }
            CastOp::Trunc | CastOp::ZExt => {
                let (small, large) = if op == CastOp::Trunc {
                    (to, from)
                } else {
                    (from, to)
                };
                if self.function.ty(small).is_int() {
                    let size = self.size(self.function.ty(small));
                    let shape = self.shapes[large].cut(size);
                    self.learn(small, &shape);
                    let shape = self.shapes[small].cut(size);
                    self.learn(large, &shape);
                }
            }
            CastOp::SExt | CastOp::SiToFp | CastOp::UiToFp => self.learn_bytes(from, &Cell::Int),
            CastOp::FpToSi | CastOp::FpToUi => self.learn_bytes(to, &Cell::Int),
            CastOp::PtrToInt => {
                let inner = self.shapes[from].clone();
                self.learn(to, &Shape::cell(0, Cell::Ptr(Shared::new(inner))));
            }
            CastOp::IntToPtr => {
                if let Some(Cell::Ptr(inner)) = self.shapes[from].get(0).cloned() {
                    self.learn(to, &inner);
                }
                let inner = self.shapes[to].clone();
                self.learn(from, &Shape::cell(0, Cell::Ptr(Shared::new(inner))));
            }
            CastOp::AddrSpaceCast => self.unify(from, to),
            CastOp::FpTrunc | CastOp::FpExt => {}
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, flags: Flags, args: &[Value], result: Value) {
        use BinaryOp::*;
        match before_optimizing(self.function, op, flags, args) {
            Shl | LShr => {
                let Some(bits) = self.function.as_int(args[1]) else {
                    return;
                };
                let size = self.size(self.function.ty(result));
                if bits % 8 != 0 || bits < 0 || !self.function.ty(result).is_int() {
                    return;
                }
                let bytes = bits as i64 / 8;
                let (low, high) = if op == LShr {
                    (result, args[0])
                } else {
                    (args[0], result)
                };
                let shape = self.shapes[high].shifted(bytes).cut(size - bytes);
                self.learn(low, &shape);
                let shape = self.shapes[low].cut(size - bytes).shifted(-bytes);
                self.learn(high, &shape);
            }
            // The bits of floats may be put together, taken apart and have their sign changed
            // this way, so these prove nothing by themselves.
            And | Or | Xor => {
                let mask = args.iter().find_map(|&v| self.function.as_int(v));
                if mask.is_some_and(|mask| is_flag_mask(op, mask, self.function.ty(result))) {
                    self.learn_bytes(args[0], &Cell::Int);
                    self.learn_bytes(args[1], &Cell::Int);
                    self.learn_bytes(result, &Cell::Int);
                } else {
                    self.bitwise(op, args, result);
                    self.combined(args, result);
                }
            }
            // The sign is asked for, and floats have it where integers have it: to order floats by
            // their bits, all others are turned over if the sign is set.
            AShr if self.asks_for_sign(args) => self.learn_bytes(result, &Cell::Int),
            Add | Sub | Mul | UDiv | SDiv | URem | SRem | AShr => {
                let operands = [args[0], args[1], result];
                let address = |v: &Value| matches!(self.shapes[*v].get(0), Some(Cell::Ptr(_)));
                if self.arithmetic && !operands.iter().any(address) {
                    operands
                        .iter()
                        .for_each(|&v| self.learn_bytes(v, &Cell::Int));
                }
            }
            FAdd | FSub | FMul | FDiv | FRem => {}
        }
    }

    /// An integer that keeps its value in fewer bits than any float has: which variant an enum is,
    /// say.
    pub(super) fn fits(&mut self, from: Value, to: Value) {
        let bits = self.function.ty(to).int_bits();
        if bits.is_some_and(|bits| bits < 16) && self.function.ty(from).is_int() {
            self.learn_bytes(from, &Cell::Int);
        }
    }

    /// What is compared with a small number: which variant an enum is, say. As a float, all of these
    /// are next to zero, and nobody asks for them. The sign of a float is asked for by comparisons
    /// with 0 and 1.
    pub(super) fn numbered(&mut self, pred: IntPred, value: Value, number: Value) {
        let least = match pred {
            IntPred::Eq | IntPred::Ne => 1,
            IntPred::Ult | IntPred::Ule | IntPred::Ugt | IntPred::Uge => 2,
            _ => return,
        };
        let is_small = |n: i128| (least..1 << 16).contains(&n);
        let bits = self.function.ty(value).int_bits();
        if self.arithmetic
            && bits.is_some_and(|bits| bits >= 32)
            && self.function.as_int(number).is_some_and(is_small)
        {
            self.learn_bytes(value, &Cell::Int);
        }
    }

    /// The result of an operation on whole integers: what comes of integers alone is one.
    pub(super) fn combined(&mut self, args: &[Value], result: Value) {
        let size = self.size(self.function.ty(result));
        let is_integer = |v: &Value| {
            let pieces = self.shapes[*v].pieces(0, size);
            self.function.as_int(*v).is_some()
                || pieces.iter().all(|(_, piece)| *piece == Piece::Int)
        };
        if self.arithmetic && args.iter().all(is_integer) {
            self.learn_bytes(result, &Cell::Int);
        }
    }

    /// Whether a shift leaves nothing but copies of the highest bit.
    fn asks_for_sign(&self, args: &[Value]) -> bool {
        let bits = self.function.ty(args[0]).scalar().int_bits();
        bits.is_some_and(|bits| self.function.as_int(args[1]) == Some(i128::from(bits) - 1))
    }

    /// Where one operand is known to be zero, a byte of the result is that of the other.
    pub(super) fn bitwise(&mut self, op: BinaryOp, args: &[Value], result: Value) {
        let size = self.size(self.function.ty(result));
        for (x, y) in [(args[0], args[1]), (args[1], args[0])] {
            for byte in 0..size {
                let kept = match (op, known_byte(self.function, y, byte, 0)) {
                    (BinaryOp::And, Some(mask)) => mask == 0xff,
                    (_, Some(bits)) => bits == 0,
                    _ => false,
                };
                if !kept {
                    continue;
                }
                for (from, to) in [(x, result), (result, x)] {
                    if let Some((cell, bytes)) = self.shapes[from].only(byte)
                        && bytes + byte <= size
                    {
                        let whole = (byte..byte + bytes).all(|b| {
                            known_byte(self.function, y, b, 0)
                                == known_byte(self.function, y, byte, 0)
                        });
                        if whole {
                            self.learn(to, &cell);
                        }
                    }
                }
            }
        }
    }
}
