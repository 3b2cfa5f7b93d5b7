//! Memory that is made anew in each iteration of a loop.
//!
//! What an iteration writes to memory that it has made itself is never what an earlier iteration
//! has read, as long as that is not freed: new memory is none that is in use. Whether the iteration
//! before has made it too does not matter; the layers of a network hand on what they have made. In the
//! same iteration, what the one before has handed on is other memory than what this one makes.

use super::pairs::{Analysis, When};
use crate::analysis::activity::keepable::Group;
use crate::analysis::loops::Loop;
use crate::analysis::points_to::is_below_memory;
use crate::ir::{CastOp, Constant, Function, Inst, Op, UnaryOp, Value, ValueDef};
use std::collections::{BTreeSet, HashSet};

impl Analysis<'_> {
    /// Whether what a later iteration of the loops around both writes through some pointers is other
    /// memory than what was read through one, because it has been made since. What has to stay for
    /// that is added to `kept`.
    pub(super) fn renews(
        &self,
        read: Option<Value>,
        written: &[Value],
        when: When,
        kept: &mut BTreeSet<Group>,
    ) -> bool {
        let Some(read) = read.filter(|_| !written.is_empty()) else {
            return false;
        };
        let mut now = written.iter().filter(|_| when.same_iteration);
        if !now.all(|&written| self.is_older(read, written, when.common, kept)) {
            return false;
        }
        let mut loops = self.loops.enclosing(when.common);
        loops.all(|l| {
            let mut written = written.iter();
            written.all(|&written| self.is_other_later(read, written, l, kept))
        })
    }

    /// Whether what a later iteration of a loop writes through a pointer is other memory than what was
    /// read through another: new memory, or new in the same iteration of a loop around it.
    pub(super) fn is_other_later(
        &self,
        read: Value,
        written: Value,
        l: Loop,
        kept: &mut BTreeSet<Group>,
    ) -> bool {
        self.is_renewed(read, written, l, kept)
            || self.is_older(read, written, self.loops.parent(l), kept)
    }

    /// Whether what an iteration of a loop writes through a pointer is other memory than what an
    /// earlier iteration has read through another.
    fn is_renewed(&self, read: Value, written: Value, l: Loop, kept: &mut BTreeSet<Group>) -> bool {
        let mut groups = BTreeSet::new();
        let other = self.is_made(written, Some(l), &mut HashSet::new(), &mut BTreeSet::new())
            && self.is_made(read, None, &mut HashSet::new(), &mut groups);
        if other {
            kept.extend(groups);
        }
        other
    }

    /// Whether what is read through a pointer was made before the current iteration of some loop, which
    /// has itself made what is written through another.
    pub(super) fn is_older(
        &self,
        read: Value,
        written: Value,
        common: Option<Loop>,
        kept: &mut BTreeSet<Group>,
    ) -> bool {
        self.loops.enclosing(common).any(|l| {
            let mut groups = BTreeSet::new();
            let older = self.is_made(written, Some(l), &mut HashSet::new(), &mut BTreeSet::new())
                && self.is_from_before(read, l, &mut HashSet::new())
                && self.is_made(read, None, &mut HashSet::new(), &mut groups);
            if older {
                kept.extend(groups);
            }
            older
        })
    }

    /// Whether an iteration of a loop had a pointer already when it began.
    fn is_from_before(&self, value: Value, l: Loop, seen: &mut HashSet<Value>) -> bool {
        if !seen.insert(value) {
            return true;
        }
        let block = self.aliases.values().def_block(value);
        if block.is_none_or(|block| !self.loops.contains(l, block)) {
            return true;
        }
        match self.func.def(value) {
            ValueDef::Const(_) => true,
            ValueDef::Param(block, _) if self.loops.header(l) == *block => true,
            ValueDef::Param(block, position) => {
                let mut edges = self.cfg.predecessors(*block).iter();
                edges.all(|&(from, edge)| {
                    let argument = self.func.edges(from)[edge].args.get(*position);
                    argument.is_some_and(|&value| self.is_from_before(value, l, seen))
                })
            }
            ValueDef::Result(inst) => {
                let mut operands = passed_on(self.func, *inst).iter();
                operands.len() > 0 && operands.all(|&operand| self.is_from_before(operand, l, seen))
            }
        }
    }

    /// Whether a pointer leads to memory that the current iteration of a loop has made, or the
    /// function at any time, or to none, and only to memory that may stay; its groups are added.
    fn is_made(
        &self,
        value: Value,
        within: Option<Loop>,
        seen: &mut HashSet<Value>,
        found: &mut BTreeSet<Group>,
    ) -> bool {
        if !seen.insert(value) {
            return true;
        }
        let in_loop = |inst: Inst, l: Loop| {
            let block = self.func.result(inst);
            let block = block.and_then(|value| self.aliases.values().def_block(value));
            block.is_some_and(|block| self.loops.contains(l, block))
        };
        match self.func.def(value) {
            ValueDef::Const(constant) => matches!(constant, Constant::Zero | Constant::Undef),
            ValueDef::Param(block, position) => {
                // What a header gets may be of the iteration before.
                let before = |l| !self.loops.contains(l, *block) || self.loops.header(l) == *block;
                if within.is_some_and(before) || *block == self.func.entry() {
                    return false;
                }
                let mut edges = self.cfg.predecessors(*block).iter();
                edges.all(|&(from, edge)| {
                    let argument = self.func.edges(from)[edge].args.get(*position);
                    argument.is_some_and(|&value| self.is_made(value, within, seen, found))
                })
            }
            ValueDef::Result(inst) => {
                if let Some(group) = self.keepable.group(*inst) {
                    found.insert(group);
                    return within.is_none_or(|l| in_loop(*inst, l));
                }
                let data = self.func.inst(*inst);
                if data.op == Op::Cast(CastOp::IntToPtr) {
                    return is_below_memory(self.func, data.args[0]);
                }
                let mut operands = passed_on(self.func, *inst).iter();
                operands.len() > 0
                    && operands.all(|&operand| self.is_made(operand, within, seen, found))
            }
        }
    }
}

/// The pointers of which the result of an instruction is one, or one into the same memory; none if it
/// may be another.
pub(crate) fn passed_on(func: &Function, inst: Inst) -> &[Value] {
    let data = func.inst(inst);
    match &data.op {
        Op::Address { .. } | Op::Unary(UnaryOp::Freeze) | Op::Cast(CastOp::Bitcast) => {
            &data.args[..1]
        }
        Op::Select => &data.args[1..],
        _ => &[],
    }
}
