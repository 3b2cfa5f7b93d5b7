//! Pointers that run over memory.
//!
//! In `p = p + 8` around a loop, the same instruction makes the address of every element, so what
//! is behind it holds at every multiple of the step. Were it taken for one fixed offset, a fact
//! about the first element would become one about the second, the third and so on, one in each
//! round of the analysis. The pointer may live in a register or in memory between two steps.

use super::factor::factor;
use super::shape::gcd;
use crate::ir::{Function, Inst, Op, UnaryOp, Value};
use cranelift_entity::{EntityRef, EntitySet};
use std::collections::HashMap;

/// The pointers of a function that run over memory.
pub(super) struct Advancing {
    /// The address computations whose result comes back as their own base.
    insts: EntitySet<Inst>,
    /// For each value, the number of the cycle that it belongs to.
    cycles: Vec<usize>,
    /// What all steps of a cycle are multiples of.
    steps: HashMap<usize, i64>,
}

impl Advancing {
    /// Finds them.
    pub(super) fn new(function: &Function) -> Advancing {
        let flow = Flow::new(function);
        let cycles = components(&flow.to);
        let mut found = Advancing {
            insts: EntitySet::new(),
            cycles,
            steps: HashMap::new(),
        };
        for (inst, base, result) in flow.steps {
            let cycle = found.cycles[base];
            if cycle != found.cycles[result] {
                continue;
            }
            found.insts.insert(inst);
            let data = function.inst(inst);
            if let Op::Address { offset, scales } = &data.op {
                let terms = scales.iter().zip(&data.args[1..]);
                let terms =
                    terms.map(|(&scale, &index)| scale.saturating_mul(factor(function, index)));
                let step = terms.fold(offset.saturating_abs(), gcd);
                let known = found.steps.entry(cycle).or_insert(0);
                *known = gcd(*known, step);
            }
        }
        found
    }

    /// Whether the result of an address computation comes back as its base.
    pub(super) fn contains(&self, inst: Inst) -> bool {
        self.insts.contains(inst)
    }

    /// The step of a pointer that runs on from where `start` is; none if `start` runs with it, or
    /// if it does not run.
    pub(super) fn step_from(&self, start: Value, pointer: Value) -> Option<i64> {
        let cycle = *self.cycles.get(pointer.index())?;
        let step = self.steps.get(&cycle).filter(|step| **step > 0)?;
        (self.cycles.get(start.index()) != Some(&cycle)).then_some(*step)
    }
}

/// Which pointers are made from which. A node is a value, or all memory that one family of
/// pointers leads to: those that are computed from each other without looking into memory.
struct Flow {
    to: Vec<Vec<usize>>,
    /// Address computations, with base and result.
    steps: Vec<(Inst, usize, usize)>,
}

impl Flow {
    fn new(function: &Function) -> Flow {
        let values = function.values().count();
        let mut families = Families((0..values).collect());
        let mut flow = Flow {
            to: vec![Vec::new(); 2 * values],
            steps: Vec::new(),
        };
        let mut moved = Vec::new();
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                for edge in data.op.edges() {
                    let params = function.block_params(edge.block);
                    moved.extend(edge.args.iter().copied().zip(params.iter().copied()));
                }
                let Some(result) = function.result(inst) else {
                    continue;
                };
                match &data.op {
                    Op::Address { .. } => {
                        moved.push((data.args[0], result));
                        flow.steps
                            .push((inst, data.args[0].index(), result.index()));
                    }
                    Op::Unary(UnaryOp::Freeze) => moved.push((data.args[0], result)),
                    Op::Select => moved.extend([(data.args[1], result), (data.args[2], result)]),
                    _ => {}
                }
            }
        }
        let is_pointer = |v: Value| function.ty(v).is_ptr() && function.as_const(v).is_none();
        for (from, to) in moved {
            if is_pointer(from) && is_pointer(to) {
                flow.to[from.index()].push(to.index());
                families.join(from.index(), to.index());
            }
        }
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                match (&data.op, function.result(inst)) {
                    (Op::Store(_), _) if is_pointer(data.args[0]) => {
                        let memory = values + families.of(data.args[1].index());
                        flow.to[data.args[0].index()].push(memory);
                    }
                    (Op::Load(_), Some(result)) if is_pointer(result) => {
                        let memory = values + families.of(data.args[0].index());
                        flow.to[memory].push(result.index());
                    }
                    _ => {}
                }
            }
        }
        flow
    }
}

/// Disjoint sets of numbers, each known by one of its members.
struct Families(Vec<usize>);

impl Families {
    fn of(&mut self, mut member: usize) -> usize {
        while self.0[member] != member {
            self.0[member] = self.0[self.0[member]];
            member = self.0[member];
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a] = b;
    }
}

/// The strongly connected component of each node, by number (Tarjan's algorithm with a stack of
/// its own, because chains are as long as the program).
fn components(to: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut component = vec![NONE; to.len()];
    let mut order = vec![NONE; to.len()];
    let mut low = vec![NONE; to.len()];
    let (mut count, mut found) = (0, 0);
    let mut open = Vec::new();
    for start in 0..to.len() {
        if order[start] != NONE {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if *next == 0 {
                (order[node], low[node]) = (count, count);
                count += 1;
                open.push(node);
            }
            if let Some(&successor) = to[node].get(*next) {
                *next += 1;
                if order[successor] == NONE {
                    path.push((successor, 0));
                } else if component[successor] == NONE {
                    low[node] = low[node].min(order[successor]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
