//! Joins of pointers that are a fixed distance apart.
//!
//! After `q = c ? p : p + 16`, what is behind `q` is behind `p` or 16 bytes further on. Were `q`
//! taken for both, a fact at offset 0 of `p` would become one at 16, at 32 and so on, one in each
//! round of the analysis, and none of them true. What is known of `q` is what holds in both
//! places; what was seen in one of them is likely, and goes no further.
//!
//! The distances are found on the graph of all address computations with constant offsets and all
//! joins, without directions. A part of the graph in which all ways between two pointers have the
//! same length has no such joins. Pointers that run over memory close cycles too, and are not
//! looked at here.

use super::advancing::Advancing;
use super::shape::gcd;
use crate::ir::{Function, Op, UnaryOp, Value};
use cranelift_entity::EntityRef;
use std::collections::{BTreeMap, HashMap};

/// The joins of a function whose operands are the same pointer at several distances.
pub(super) struct Apart {
    joins: HashMap<Value, Join>,
}

/// A join of pointers that are a fixed distance apart.
pub(super) struct Join {
    /// What it may be.
    pub(super) operands: Vec<Value>,
    /// What all distances are multiples of.
    pub(super) step: i64,
}

impl Apart {
    /// Finds them.
    pub(super) fn new(function: &Function, advancing: &Advancing) -> Apart {
        let mut places = Places::new(function.values().count());
        let mut joins: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        let is_pointer = |v: Value| function.ty(v).is_ptr() && function.as_const(v).is_none();
        let mut join = |operand: Value, result: Value| {
            if is_pointer(operand) && is_pointer(result) && operand != result {
                joins.entry(result).or_default().push(operand);
            }
        };
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                for edge in data.op.edges() {
                    for (&param, &argument) in
                        function.block_params(edge.block).iter().zip(&edge.args)
                    {
                        if advancing.step_from(argument, param).is_none() {
                            join(argument, param);
                        }
                    }
                }
                let Some(result) = function.result(inst) else {
                    continue;
                };
                match &data.op {
                    Op::Address { offset, scales }
                        if scales.is_empty()
                            && is_pointer(data.args[0])
                            && !advancing.contains(inst) =>
                    {
                        places.connect(data.args[0], *offset, result);
                    }
                    Op::Unary(UnaryOp::Freeze) if is_pointer(result) => {
                        places.connect(data.args[0], 0, result);
                    }
                    Op::Select => {
                        join(data.args[1], result);
                        join(data.args[2], result);
                    }
                    _ => {}
                }
            }
        }
        for (&result, operands) in &joins {
            for &operand in operands {
                places.connect(operand, 0, result);
            }
        }
        let joins = joins.into_iter().filter_map(|(result, mut operands)| {
            let (root, _) = places.find(result.index());
            let step = places.steps[root];
            operands.sort();
            operands.dedup();
            let found = step != 0 && operands.len() > 1;
            found.then_some((result, Join { operands, step }))
        });
        Apart {
            joins: joins.collect(),
        }
    }

    /// The join that makes a value, if it is one of these.
    pub(super) fn join(&self, result: Value) -> Option<&Join> {
        self.joins.get(&result)
    }
}

/// Disjoint sets of pointers, with distances.
struct Places {
    /// A member of the same set that is closer to the root, and how far it is from there.
    parents: Vec<(usize, i64)>,
    /// For roots, what the lengths of all ways around are multiples of: 0 if all are 0.
    steps: Vec<i64>,
}

impl Places {
    fn new(count: usize) -> Places {
        Places {
            parents: (0..count).map(|value| (value, 0)).collect(),
            steps: vec![0; count],
        }
    }

    /// The root of a pointer's set, and how far the pointer is from it.
    fn find(&mut self, mut member: usize) -> (usize, i64) {
        let mut distance: i64 = 0;
        while self.parents[member].0 != member {
            let (parent, to_parent) = self.parents[member];
            let (next, to_next) = self.parents[parent];
            if next != parent {
                self.parents[member] = (next, to_parent.wrapping_add(to_next));
            }
            let (up, step) = self.parents[member];
            distance = distance.wrapping_add(step);
            member = up;
        }
        (member, distance)
    }

    /// Notes that `to` is `from + offset`.
    fn connect(&mut self, from: Value, offset: i64, to: Value) {
        let (a, from) = self.find(from.index());
        let (b, to) = self.find(to.index());
        let between = from.wrapping_add(offset).wrapping_sub(to);
        if a == b {
            self.steps[a] = gcd(self.steps[a], between);
            return;
        }
        self.parents[b] = (a, between);
        self.steps[a] = gcd(self.steps[a], self.steps[b]);
    }
}
