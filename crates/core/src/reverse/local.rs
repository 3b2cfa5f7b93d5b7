//! Which adjoints never leave the reverse of one block, and so need no slot.
//!
//! Most values are used in the block that defines them and nowhere else. All contributions to such
//! an adjoint come before it is taken, in one straight piece of the reverse sweep, so it is a value
//! there. As memory that is zero when the sweep begins, it would cost the optimizer a walk over the
//! whole function to find that out.

use crate::chaos::Choice;
use crate::ir::{Op, Value};
use crate::pipeline::Options;
use crate::primal::Primal;
use cranelift_entity::SecondaryMap;
use std::collections::HashSet;

/// The floats of a function that only their own blocks use.
pub(super) fn local_values(primal: &Primal, options: &Options) -> HashSet<Value> {
    let func = &primal.function;
    // Arguments are returned when the sweep ends.
    let arguments = func.arguments().iter().copied();
    let mut shared: HashSet<Value> = arguments.collect();
    let mut home = SecondaryMap::with_default(None);
    let mut defined = Vec::new();
    for &block in func.blocks() {
        let params = func.block_params(block).iter().copied();
        let insts = func.block_insts(block).iter();
        let results = insts.filter_map(|&inst| func.result(inst));
        for value in params.chain(results) {
            if func.ty(value).float_kind().is_some() {
                home[value] = Some(block);
                defined.push(value);
            }
        }
    }
    for &block in func.blocks() {
        for &inst in func.block_insts(block) {
            let data = func.inst(inst);
            // What a nest contributes goes to memory.
            let elsewhere = matches!(data.op, Op::Nest(_));
            for &value in &data.args {
                if elsewhere || home[value] != Some(block) {
                    shared.insert(value);
                }
            }
            // What an edge passes on is contributed before the reverse of the block begins.
            for edge in data.op.edges() {
                shared.extend(edge.args.iter().copied());
            }
        }
    }
    let by_chance = |&value: &Value| options.flips(Choice::Slot, (&func.name, value));
    defined.retain(|value| !shared.contains(value) && !by_chance(value));
    defined.into_iter().collect()
}
