//! What a loop hands on from one iteration to the next: sums, products, and the largest or smallest of
//! all, each piece of which becomes a write that is joined with its slot.

use super::{Reader, Runs};
use crate::analysis::affine::{Affine, Factor};
use crate::analysis::loops::Loop;
use crate::ir::{
    BinaryOp, Combiner, Flags, FloatPred, InstData, Loc, MathFn, Op, Type, UnaryOp, Value,
};
use crate::raise::Stop;
use crate::raise::tree::{Id, Item, Join, Moment, Node, Place, Write};

/// A piece that is joined with what was there.
pub(super) struct Part {
    /// The piece.
    pub value: Id,
    /// How it is joined.
    pub join: Join,
    /// The place in the source program.
    pub loc: Option<Loc>,
}

/// Whether a load gives what was there before.
type IsStart<'a> = &'a dyn Fn(&Place, Moment) -> bool;

impl Reader<'_> {
    /// Takes apart what a loop hands on to its next iteration.
    pub(super) fn carry(
        &mut self,
        next: Value,
        slot: Value,
        l: Loop,
        runs: Runs,
        body: &mut Vec<Item>,
        sunk: &mut Vec<(Place, Option<Loc>, Value)>,
    ) -> Result<(), Stop> {
        let func = self.analyses.func;
        let loc = func.def_inst(next).and_then(|inst| func.inst(inst).loc);
        let next = self.operand(next)?;
        let written = self.last_write(slot, body);
        let mut parts = Vec::new();
        let is_slot = |place: &Place, at: Moment| place.is_at(slot) && written < at;
        if !self.reduction(next, &is_slot, &mut parts) {
            let reason = "what the loop hands on to its next iteration is no sum, product, maximum or minimum";
            return Err(Stop::Refused(reason, loc.or(self.loc)));
        }
        // A sum that is stored in each iteration at the same place is there after the last one.
        let inside = |address: &Affine| {
            let mut factors = address.factors();
            factors.any(|f| matches!(f, Factor::Counter(m) if self.analyses.loops.is_inside(m, l)))
        };
        let mut kept = Vec::new();
        for item in std::mem::take(body) {
            match item {
                Item::Write(write)
                    if write.value == next
                        && write.join.is_store()
                        && runs == Runs::OnceMore
                        && !inside(&write.place.address) =>
                {
                    sunk.push((write.place, write.loc, slot));
                }
                item => kept.push(item),
            }
        }
        *body = kept;
        for Part { value, join, loc } in parts {
            let at = self.tick();
            let place = self.slot_place(slot);
            body.push(Item::Write(Write {
                place,
                value,
                join,
                at,
                loc,
            }));
        }
        Ok(())
    }

    /// Takes a reduction apart: a load that `start` accepts, and what is joined with it, in order. All
    /// pieces are joined in the same way.
    pub(super) fn reduction(&mut self, id: Id, start: IsStart, found: &mut Vec<Part>) -> bool {
        let (data, args) = match self.tree.node(id) {
            Node::Load(place, at) => return start(place, *at),
            Node::Op(data, _, args) => (data.clone(), args.clone()),
            _ => return false,
        };
        let Some((rest, part)) = self.last_part(id, &data, &args, start) else {
            return false;
        };
        if self.has_start(part.value, start) || !self.reduction(rest, start, found) {
            return false;
        }
        let first = found.first().map_or(part.join, |first| first.join);
        found.push(part);
        let Part { join, .. } = &found[found.len() - 1];
        join.combiner == first.combiner
    }

    /// The piece that is joined last, and what it is joined with.
    fn last_part(
        &mut self,
        id: Id,
        data: &InstData,
        args: &[Id],
        start: IsStart,
    ) -> Option<(Id, Part)> {
        let flags = data.flags;
        let (rest, value, combiner, flags) = match (&data.op, args) {
            (Op::Binary(op @ (BinaryOp::FAdd | BinaryOp::FMul)), &[x, y]) => {
                let (rest, piece) = match self.has_start(x, start) {
                    true => (x, y),
                    false => (y, x),
                };
                let combiner = match op {
                    BinaryOp::FAdd => Combiner::Sum,
                    _ => Combiner::Product,
                };
                (rest, piece, combiner, flags)
            }
            (Op::Binary(BinaryOp::FSub), &[x, y]) => {
                let negative = Op::Unary(UnaryOp::FNeg);
                let piece = self.op_like(data, negative, Flags::empty(), vec![y], id);
                (x, piece, Combiner::Sum, flags)
            }
            (Op::Math(MathFn::Fmuladd), &[a, b, x]) => {
                let product = Op::Binary(BinaryOp::FMul);
                let flags = flags | Flags::CONTRACT;
                let piece = self.op_like(data, product, flags, vec![a, b], id);
                (x, piece, Combiner::Sum, flags)
            }
            // Which of two zeros it is may depend on the order of the operands.
            (Op::Math(MathFn::Fmax), &[x, y]) => (x, y, Combiner::Max, flags),
            (Op::Math(MathFn::Fmin), &[x, y]) => (x, y, Combiner::Min, flags),
            (Op::Select, &[condition, yes, no]) => {
                let is_old = self.has_start(yes, start);
                let (rest, piece) = if is_old { (yes, no) } else { (no, yes) };
                let combiner = self.choice(condition, rest, piece, is_old)?;
                (rest, piece, combiner, Flags::empty())
            }
            _ => return None,
        };
        let loc = data.loc;
        let join = Join { combiner, flags };
        Some((rest, Part { value, join, loc }))
    }

    /// How a condition chooses between what was there and a piece. `keeps` says whether it is what was
    /// there that is chosen where the condition holds.
    fn choice(&self, condition: Id, rest: Id, piece: Id, keeps: bool) -> Option<Combiner> {
        let Node::Op(data, _, args) = self.tree.node(condition) else {
            return None;
        };
        let Op::FCmp(pred) = data.op else {
            return None;
        };
        use FloatPred::{Oge, Ogt, Ole, Olt, Uge, Ugt, Ule, Ult};
        // As a comparison of the piece with what was there.
        let pred = match args[..] {
            [x, y] if (x, y) == (piece, rest) => pred,
            [x, y] if (x, y) == (rest, piece) => match pred {
                Ogt => Olt,
                Olt => Ogt,
                Oge => Ole,
                Ole => Oge,
                Ugt => Ult,
                Ult => Ugt,
                Uge => Ule,
                Ule => Uge,
                _ => return None,
            },
            _ => return None,
        };
        let pred = match (keeps, pred) {
            (false, pred) => pred,
            (true, Ogt) => Ule,
            (true, Olt) => Uge,
            (true, Oge) => Ult,
            (true, Ole) => Ugt,
            (true, Ugt) => Ole,
            (true, Ult) => Oge,
            (true, Uge) => Olt,
            (true, Ule) => Ogt,
            (true, _) => return None,
        };
        let all = Combiner::ALL.iter().copied();
        all.into_iter()
            .find(|combiner| combiner.choice() == Some(pred))
    }

    /// Whether an expression depends on what was there.
    fn has_start(&self, id: Id, start: IsStart) -> bool {
        let mut has = false;
        self.tree
            .for_each_load(id, &mut |_, place, at| has |= start(place, at));
        has
    }

    fn op_like(&mut self, data: &InstData, op: Op, flags: Flags, args: Vec<Id>, like: Id) -> Id {
        let ty = match self.tree.node(like) {
            Node::Op(_, ty, _) => *ty,
            _ => Type::void(),
        };
        let data = InstData {
            loc: data.loc,
            flags,
            ..InstData::new(op, Vec::new())
        };
        self.tree.add(Node::Op(data, ty, args))
    }
}
