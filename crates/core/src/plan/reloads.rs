//! Which memory of the program a reverse sweep reads again.
//!
//! Who calls a function must leave memory as it is that the reverse sweep of the function reads. What
//! the function only writes, such as the result of a product, is not among that.

use super::{Plan, Source};
use crate::analysis::overwrite::passed_on;
use crate::ir::{Op, Region, Value};
use crate::primal::Primal;
use crate::reverse::{Augmented, nest};
use crate::shadow::{ActiveCall, Reversal};
use std::collections::HashSet;

/// The memory of the program that a reverse sweep reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reloads {
    /// That behind these arguments, and no memory that addresses in there lead to.
    Behind(HashSet<usize>),
    /// Any.
    All,
}

impl Reloads {
    /// No memory.
    pub fn none() -> Reloads {
        Reloads::Behind(HashSet::new())
    }

    fn add(&mut self, argument: Option<HashSet<usize>>) {
        match (&mut *self, argument) {
            (Reloads::Behind(known), Some(new)) => known.extend(new),
            _ => *self = Reloads::All,
        }
    }
}

/// What the reverse sweep of a function reads, itself or in a callee.
pub fn reloads(plan: &Plan, primal: &Primal, augmented: &Augmented) -> Reloads {
    let mut found = Reloads::none();
    let func = &augmented.func;
    let again = plan.sources.iter();
    for (need, _) in again.filter(|(_, source)| **source == Source::Recompute) {
        if let Some(inst) = func.def_inst(need.value)
            && let Op::Load(access) = &func.inst(inst).op
            && access.region != Region::Tape
            && !augmented.mirrors.contains_key(&inst)
        {
            found.add(behind(primal, augmented, func.inst(inst).args[0]));
        }
    }
    for (&inst, call) in &augmented.calls {
        let args = &primal.function.inst(inst).args;
        match call.reloads() {
            Reloads::All => found = Reloads::All,
            Reloads::Behind(arguments) => {
                for argument in arguments {
                    let pointer = args.get(argument);
                    found.add(pointer.and_then(|&pointer| behind(primal, augmented, pointer)));
                }
            }
        }
    }
    let insts = primal.order.iter();
    for &inst in insts.flat_map(|&block| primal.function.block_insts(block)) {
        let data = primal.function.inst(inst);
        if let Op::Nest(nest) = &data.op {
            for input in nest::read_again(primal, data, nest) {
                let pointer = data.args[nest.view(input)][0];
                found.add(behind(primal, augmented, pointer));
            }
        }
    }
    found
}

impl ActiveCall {
    /// What its reverse may read, in terms of its arguments.
    pub fn reloads(&self) -> Reloads {
        match &self.reversal {
            Reversal::Split { pair, .. } => pair.reloads.clone().unwrap_or(Reloads::All),
            Reversal::Replay { .. } => Reloads::All,
            Reversal::Early { .. } => Reloads::none(),
        }
    }
}

/// The arguments of the function that a pointer is one of, or points into the memory of; nothing is
/// known if it may be another.
fn behind(primal: &Primal, augmented: &Augmented, pointer: Value) -> Option<HashSet<usize>> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![pointer];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if let Some(at) = (primal.function.arguments().iter()).position(|&param| param == value) {
            found.insert(at);
            continue;
        }
        let inst = augmented.func.def_inst(value)?;
        let pointers = passed_on(&augmented.func, inst);
        if pointers.is_empty() {
            return None;
        }
        open.extend(pointers);
    }
    Some(found)
}
