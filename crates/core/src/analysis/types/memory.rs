//! What loads, stores, copies and addresses say, and the bytes of values that have parts.

use super::factor::factor;
use super::solver::Solver;
use super::{Cell, LONGEST_COPY, Shape, Shared, gcd};
use crate::ir::{Inst, InstData, Nest, Op, TypeKind, Value};

impl Solver<'_> {
    /// `result = base + offset + k·stride` for an unknown k.
    pub(super) fn address(&mut self, base: Value, offset: i64, stride: i64, result: Value) {
        let there = self.shapes[base].shifted(offset);
        let back = self.shapes[result].clone();
        if stride == 0 {
            self.learn(result, &there);
            self.learn(base, &back.shifted(offset.wrapping_neg()));
        } else {
            self.learn(result, &there.indexed(stride));
            self.learn(base, &back.unindexed(stride).shifted(offset.wrapping_neg()));
        }
    }

    /// An address at one of two offsets, by a choice between constants: what is at both.
    pub(super) fn chosen_address(&mut self, data: &InstData, result: Value) {
        let (Op::Address { offset, scales }, [base, index]) = (&data.op, &data.args[..]) else {
            return;
        };
        let choice = self.function.def_inst(*index);
        let choice = choice.map(|inst| self.function.inst(inst));
        let Some(choice) = choice.filter(|data| data.op == Op::Select) else {
            return;
        };
        let there = |i: usize| {
            let index = i64::try_from(self.function.as_int(choice.args[i])?).ok()?;
            let at = scales[0].checked_mul(index)?.checked_add(*offset)?;
            Some(self.shapes[*base].shifted(at))
        };
        if let (Some(one), Some(other)) = (there(1), there(2)) {
            self.learn(result, &one.common(&other));
        }
    }

    /// A value that is loaded from behind a pointer.
    pub(super) fn memory(&mut self, pointer: Value, value: Value) {
        self.accessed(pointer, value, Shape::clone);
    }

    /// A value that is stored behind a pointer. That the memory holds something else at another
    /// time says nothing about the value.
    pub(super) fn stored(&mut self, pointer: Value, value: Value) {
        self.accessed(pointer, value, Shape::without_conflicts);
    }

    fn accessed(&mut self, pointer: Value, value: Value, told: fn(&Shape) -> Shape) {
        let ty = self.function.ty(value);
        if !self.function.ty(pointer).is_ptr() || matches!(ty.kind(), TypeKind::Opaque(_)) {
            return;
        }
        let content = self.content(value);
        self.learn(pointer, &content);
        let behind = told(&self.moved(pointer, self.size(ty)));
        self.learn_content(value, &behind);
    }

    /// What the views of a nest say of memory. Distances of which nothing is known say nothing.
    pub(super) fn nest(&mut self, nest: &Nest, args: &[Value]) {
        let elements = (0..nest.inputs.len()).map(|i| nest.body.func.ty(nest.element(i)));
        let results = (0..nest.outputs.len()).map(|i| nest.output_type(i));
        for (view, ty) in elements.chain(results).enumerate() {
            let Some(kind) = ty.float_kind() else {
                continue;
            };
            let operands = &args[nest.view(view)];
            let element = Shape::cell(0, Cell::Float(kind));
            let distances = operands[1..]
                .iter()
                .map(|&v| match self.function.as_int(v) {
                    Some(0) => 0,
                    _ => factor(self.function, v),
                });
            let known = distances.filter(|distance| distance % i64::from(kind.bytes()) == 0);
            let shape = match known.fold(0, gcd) {
                0 => element,
                stride => element.unindexed(stride),
            };
            self.learn(operands[0], &shape);
        }
    }

    /// What is known of memory that is moved as a whole.
    pub(super) fn moved(&self, pointer: Value, len: i64) -> Shape {
        match self.repeated {
            true => self.shapes[pointer].cut(len),
            false => self.shapes[pointer].seen(len),
        }
    }

    /// The bytes of a value as a shape.
    pub(super) fn content(&self, value: Value) -> Shape {
        let ty = self.function.ty(value);
        let mut shape = Shape::default();
        for (offset, scalar) in self.module.layout.scalars(ty) {
            let offset = offset as i64;
            if let Some(kind) = scalar.float_kind() {
                shape.insert(offset, Cell::Float(kind));
            } else if scalar.is_ptr() {
                let inner = if ty.is_ptr() || ty.lanes().is_some() {
                    Shared::new(self.shapes[value].clone())
                } else {
                    match self.shapes[value].get(offset) {
                        Some(Cell::Ptr(inner)) => inner.clone(),
                        _ => Shared::default(),
                    }
                };
                shape.insert(offset, Cell::Ptr(inner));
            } else {
                let size = self.size(scalar);
                shape.merge(
                    &self.shapes[value]
                        .shifted(offset)
                        .cut(size)
                        .shifted(-offset),
                );
            }
        }
        shape
    }

    /// Learns the bytes of a value.
    pub(super) fn learn_content(&mut self, value: Value, content: &Shape) {
        let ty = self.function.ty(value);
        if ty.scalar().is_ptr() {
            for inner in content.behind(0) {
                self.learn(value, &inner);
            }
            return;
        }
        self.learn(value, content);
    }

    /// `part` stands at `offset` in `whole`.
    pub(super) fn part(&mut self, whole: Value, offset: i64, part: Value) {
        let size = self.size(self.function.ty(part));
        let inner = self.content(whole).shifted(offset).cut(size);
        self.learn_content(part, &inner);
        let outer = self.content(part).shifted(offset.wrapping_neg());
        self.learn_content(whole, &outer);
    }

    /// The bytes of two values are equal outside of a range.
    pub(super) fn others(&mut self, a: Value, b: Value, offset: i64, size: i64) {
        for (from, to) in [(a, b), (b, a)] {
            let whole = self.size(self.function.ty(from));
            let content = self.content(from);
            let mut outside = content.cut(offset);
            outside.merge(
                &content
                    .shifted(offset.wrapping_add(size))
                    .cut(whole.wrapping_sub(offset).wrapping_sub(size))
                    .shifted(offset.wrapping_add(size).wrapping_neg()),
            );
            self.learn_content(to, &outside);
        }
    }

    pub(super) fn lane_offset(&self, vector: Value, index: Value) -> Option<i64> {
        let index = self.function.as_int(index)?;
        let ty = self.function.ty(vector);
        Some(self.module.layout.part_offset(ty, index as u64) as i64)
    }

    pub(super) fn shuffle(&mut self, mask: &[i32], args: &[Value], result: Value) {
        let function = self.function;
        if function.ty(result).scalar().is_ptr() {
            self.unify(args[0], result);
            self.unify(args[1], result);
            return;
        }
        let lane = self.size(function.ty(result).scalar());
        let lanes = function.ty(args[0]).part_count() as i32;
        for (to, &from) in mask.iter().enumerate() {
            if from < 0 {
                continue;
            }
            let (source, from) = match from < lanes {
                true => (args[0], from),
                false => (args[1], from - lanes),
            };
            let (from, to) = (i64::from(from) * lane, to as i64 * lane);
            let shape = self.shapes[source].shifted(from).cut(lane).shifted(-to);
            self.learn(result, &shape);
            let shape = self.shapes[result].shifted(to).cut(lane).shifted(-from);
            self.learn(source, &shape);
        }
    }

    pub(super) fn copy(&mut self, copy: Inst, args: &[Value]) {
        let (to, from) = (args[0], args[1]);
        for (a, b) in [(to, from), (from, to)] {
            let shape = match self.function.as_int(args[2]) {
                Some(len) if len <= LONGEST_COPY => self.moved(a, len as i64),
                _ => self.shapes[a].repeated(factor(self.function, args[2])),
            };
            self.learn(b, &shape);
            // What memory was used for before it moved, or is used for afterwards, is in doubt: it
            // may have been shorter. But it tells whether numbers and pointers were there by turns.
            if self.relocations.contains(copy) {
                let shape = self.shapes[a].in_doubt();
                self.learn(b, &shape);
            }
        }
        self.learn_bytes(args[2], &Cell::Int);
    }
}
