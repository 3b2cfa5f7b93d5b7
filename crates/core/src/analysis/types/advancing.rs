//! Pointers that run over memory.
//!
//! In `p = p + 8` around a loop, the same instruction makes the address of every element, so what
//! is behind it holds at every multiple of the step. Were it taken for one fixed offset, a fact
//! about the first element would become one about the second, the third and so on, one in each
//! round of the analysis.

use crate::ir::{Function, Inst, Op, UnaryOp, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The address computations whose result comes back as their own base.
pub(super) fn advancing(function: &Function) -> EntitySet<Inst> {
    let mut flow = Flow::default();
    let mut params = Vec::new();
    let mut steps = Vec::new();
    for &block in function.blocks() {
        for &param in function.block_params(block) {
            if function.ty(param).is_ptr() && block != function.entry() {
                params.push(param);
            }
        }
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            for edge in data.op.edges() {
                let targets = function.block_params(edge.block);
                for (&argument, &param) in edge.args.iter().zip(targets) {
                    flow.add(argument, param);
                }
            }
            let Some(result) = function.result(inst) else {
                continue;
            };
            match &data.op {
                Op::Address { .. } => {
                    flow.add(data.args[0], result);
                    steps.push((inst, data.args[0], result));
                }
                Op::Unary(UnaryOp::Freeze) => flow.add(data.args[0], result),
                Op::Select => {
                    flow.add(data.args[1], result);
                    flow.add(data.args[2], result);
                }
                _ => {}
            }
        }
    }
    let mut found = EntitySet::new();
    for param in params {
        let after = reached(&flow.to, param);
        let before = reached(&flow.from, param);
        for &(inst, base, result) in &steps {
            let around = |v: Value| after.contains(v) && before.contains(v);
            if around(base) && around(result) {
                found.insert(inst);
            }
        }
    }
    found
}

/// Which values are made from which, step by step.
#[derive(Default)]
struct Flow {
    to: SecondaryMap<Value, Vec<Value>>,
    from: SecondaryMap<Value, Vec<Value>>,
}

impl Flow {
    fn add(&mut self, from: Value, to: Value) {
        self.to[from].push(to);
        self.from[to].push(from);
    }
}

fn reached(next: &SecondaryMap<Value, Vec<Value>>, start: Value) -> EntitySet<Value> {
    let mut seen = EntitySet::new();
    let mut open = vec![start];
    seen.insert(start);
    while let Some(value) = open.pop() {
        for &other in &next[value] {
            if seen.insert(other) {
                open.push(other);
            }
        }
    }
    seen
}
