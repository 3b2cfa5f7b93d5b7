//! Memory that is made anew in each iteration of a loop.
//!
//! What an iteration writes to memory that it has made itself is never what an earlier iteration
//! has read of its own, as long as that is not freed: new memory is none that is in use.

use super::pairs::{Analysis, When};
use crate::analysis::activity::keepable::Group;
use crate::analysis::loops::Loop;
use crate::ir::{CastOp, Constant, Inst, Op, UnaryOp, Value, ValueDef};
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
        let Some(read) = read.filter(|_| !when.same_iteration && !written.is_empty()) else {
            return false;
        };
        let mut loops = self.loops.enclosing(when.common);
        loops.all(|l| {
            let mut written = written.iter();
            written.all(|&written| self.is_renewed(read, written, l, kept))
        })
    }

    /// Whether what an iteration of a loop writes through a pointer is other memory than what an
    /// earlier iteration has read through another.
    pub(super) fn is_renewed(
        &self,
        read: Value,
        written: Value,
        l: Loop,
        kept: &mut BTreeSet<Group>,
    ) -> bool {
        let made = |value| {
            let mut found = BTreeSet::new();
            let made = self.is_made_in(value, l, &mut HashSet::new(), &mut found);
            made.then_some(found)
        };
        match (made(read), made(written)) {
            (Some(groups), Some(_)) => {
                kept.extend(groups);
                true
            }
            _ => false,
        }
    }

    /// Whether a pointer leads to memory that the current iteration of a loop has made, or to none,
    /// and only to memory that may stay; its groups are added.
    fn is_made_in(
        &self,
        value: Value,
        l: Loop,
        seen: &mut HashSet<Value>,
        found: &mut BTreeSet<Group>,
    ) -> bool {
        if !seen.insert(value) {
            return true;
        }
        let in_loop = |inst: Inst| {
            let block = self.func.result(inst);
            let block = block.and_then(|value| self.aliases.values().def_block(value));
            block.is_some_and(|block| self.loops.contains(l, block))
        };
        match self.func.def(value) {
            ValueDef::Const(constant) => matches!(constant, Constant::Zero | Constant::Undef),
            ValueDef::Param(block, position) => {
                // What a header gets may be of the iteration before.
                if !self.loops.contains(l, *block) || self.loops.header(l) == *block {
                    return false;
                }
                let mut edges = self.cfg.predecessors(*block).iter();
                edges.all(|&(from, edge)| {
                    let argument = self.func.edges(from)[edge].args.get(*position);
                    argument.is_some_and(|&value| self.is_made_in(value, l, seen, found))
                })
            }
            ValueDef::Result(inst) => {
                if let Some(group) = self.keepable.group(*inst) {
                    found.insert(group);
                    return in_loop(*inst);
                }
                let data = self.func.inst(*inst);
                let operands = match &data.op {
                    Op::Address { .. } | Op::Unary(UnaryOp::Freeze) => &data.args[..1],
                    Op::Cast(CastOp::Bitcast) => &data.args[..1],
                    Op::Select => &data.args[1..],
                    _ => return false,
                };
                let mut operands = operands.iter();
                operands.all(|&operand| self.is_made_in(operand, l, seen, found))
            }
        }
    }
}
