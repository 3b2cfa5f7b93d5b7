//! Turns loads through a choice of pointers into a choice of loads.
//!
//! Optimizers write `c ? x[i] : y[i]` as one load from `(c ? x : y)[i]`. If a derivative flows
//! through one of the two and the other has no shadow, then nobody can tell where the shadow of the
//! chosen pointer is. Of two loads, each has its own pointer.
//!
//! Before: any function. After: no plain load has an address that is computed from a select of
//! pointers; what computed the others is gone.

use crate::ir::{Block, Builder, Edge, Function, Inst, Op, Type, Value};
use crate::simplify::dead_code;
use crate::simplify::dispatch_calls::{place_behind, split_behind};

/// Selects of selects make ever more loads; a function with more is left with the rest.
const MOST_LOADS: usize = 256;

/// Splits the loads of a function; whether there were any.
pub fn run(function: &mut Function) -> bool {
    let mut changed = false;
    for _ in 0..MOST_LOADS {
        let Some((block, load, way)) = find(function) else {
            break;
        };
        split(function, block, load, &way);
        changed = true;
    }
    if changed {
        dead_code::run(function);
    }
    changed
}

/// How the address of a load comes from a select: the select, and what is added on the way.
struct Way {
    select: Inst,
    /// From the load to the select.
    addresses: Vec<Inst>,
}

/// The first load through a choice of pointers.
fn find(function: &Function) -> Option<(Block, Inst, Way)> {
    let blocks = function.blocks().iter();
    let mut insts = blocks.flat_map(|&block| {
        let insts = function.block_insts(block).iter();
        insts.map(move |&inst| (block, inst))
    });
    insts.find_map(|(block, inst)| {
        let data = function.inst(inst);
        match &data.op {
            Op::Load(access) if !access.volatile && access.atomic.is_none() => {
                Some((block, inst, way(function, data.args[0])?))
            }
            _ => None,
        }
    })
}

fn way(function: &Function, mut pointer: Value) -> Option<Way> {
    let mut addresses = Vec::new();
    loop {
        let inst = function.def_inst(pointer)?;
        let data = function.inst(inst);
        match &data.op {
            Op::Address { .. } => {
                addresses.push(inst);
                pointer = data.args[0];
            }
            Op::Select if function.ty(pointer).is_ptr() && function.ty(data.args[0]).is_int() => {
                return Some(Way {
                    select: inst,
                    addresses,
                });
            }
            _ => return None,
        }
    }
}

fn split(function: &mut Function, block: Block, load: Inst, way: &Way) {
    let data = function.inst(load).clone();
    let choice = function.inst(way.select).args.clone();
    let Some(ty) = function.result(load).map(|result| function.ty(result)) else {
        return;
    };
    let after = split_behind(function, block, load);
    let [then, other] = [(); 2].map(|()| function.add_block());
    let to = |block| Edge {
        block,
        args: Vec::new(),
    };
    let mut builder = Builder::new(function, block);
    builder.loc = data.loc;
    builder.branch(choice[0], to(then), to(other));
    for (arm, mut pointer) in [(then, choice[1]), (other, choice[2])] {
        builder.block = arm;
        for &inst in way.addresses.iter().rev() {
            let address = builder.func.inst(inst).clone();
            let mut args = address.args;
            args[0] = pointer;
            pointer = builder.value(address.op, args, Type::ptr());
        }
        let loaded = builder.inst(data.op.clone(), vec![pointer], ty, data.flags);
        let loaded = builder.func.result(loaded);
        builder.jump(after, loaded.into_iter().collect());
    }
    place_behind(function, block, vec![then, other, after]);
}
