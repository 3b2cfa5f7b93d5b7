//! Removes instructions whose results nobody needs, and block parameters that nobody reads.
//!
//! Needed are instructions that do something besides computing a result, terminators, and what
//! those need in turn. An argument on an edge is needed only if the parameter it is for is, so
//! values that only feed themselves around a loop go away too. Parameters of the function stay.
//!
//! Phases: mark what is needed, then sweep. Both are linear; nothing is left for a second run.

use crate::ir::{
    Access, Block, Call, FnFlags, Function, Inst, InstData, ModRef, Op, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;

/// Removes dead code from a function; whether there was any.
pub fn run(func: &mut Function) -> bool {
    if func.is_declaration() {
        return false;
    }
    let live = Live::new(func);
    let mut changed = false;
    let blocks = func.blocks().to_vec();
    for &block in &blocks {
        changed |= sweep_insts(func, block, &live);
    }
    for &block in &blocks[1..] {
        changed |= sweep_params(func, block, &live);
    }
    changed
}

/// Whether an instruction can be left out if its result is not used.
pub fn is_removable(data: &InstData) -> bool {
    let plain = |access: &Access| !access.volatile && access.atomic.is_none();
    match &data.op {
        Op::Load(access) => plain(access),
        Op::Call(call) => is_removable_call(call),
        Op::Store(_)
        | Op::Accumulate(_)
        | Op::AtomicRmw(..)
        | Op::CmpXchg { .. }
        | Op::Fence(..)
        | Op::MemCopy { .. }
        | Op::MemSet(_)
        | Op::Nest(_)
        | Op::Request(_)
        | Op::Opaque(_) => false,
        op => !op.is_terminator(),
    }
}

/// A call that its site promises to write nothing, to return and not to unwind.
fn is_removable_call(call: &Call) -> bool {
    let memory = call.attrs.memory;
    let touched = memory.arguments | memory.inaccessible | memory.other;
    let flags = FnFlags::WILLRETURN | FnFlags::NOUNWIND;
    !touched.contains(ModRef::WRITE) && call.attrs.flags.contains(flags)
}

struct Live {
    insts: SecondaryMap<Inst, bool>,
    values: SecondaryMap<Value, bool>,
}

impl Live {
    fn new(func: &Function) -> Live {
        let mut live = Live {
            insts: SecondaryMap::new(),
            values: SecondaryMap::new(),
        };
        // For each block parameter the arguments that edges give it.
        let mut incoming: SecondaryMap<Value, Vec<Value>> = SecondaryMap::new();
        let mut work = Vec::new();
        for &block in func.blocks() {
            for edge in func.edges(block) {
                for (&param, &arg) in func.block_params(edge.block).iter().zip(&edge.args) {
                    incoming[param].push(arg);
                }
            }
            for &inst in func.block_insts(block) {
                let data = func.inst(inst);
                if !is_removable(data) {
                    live.insts[inst] = true;
                    work.extend(&data.args);
                }
            }
        }
        while let Some(value) = work.pop() {
            if std::mem::replace(&mut live.values[value], true) {
                continue;
            }
            match *func.def(value) {
                ValueDef::Const(_) => {}
                ValueDef::Param(..) => work.extend(&incoming[value]),
                ValueDef::Result(inst) => {
                    if !std::mem::replace(&mut live.insts[inst], true) {
                        work.extend(&func.inst(inst).args);
                    }
                }
            }
        }
        live
    }
}

fn sweep_insts(func: &mut Function, block: Block, live: &Live) -> bool {
    let old = func.block_insts(block);
    let new: Vec<Inst> = old.iter().copied().filter(|&i| live.insts[i]).collect();
    let changed = new.len() != old.len();
    // The edges lose the arguments of parameters that are about to go.
    if let Some(&last) = new.last() {
        let kept: Vec<Vec<bool>> = func
            .inst(last)
            .op
            .edges()
            .iter()
            .map(|edge| {
                let params = func.block_params(edge.block).iter();
                params.map(|&param| live.values[param]).collect()
            })
            .collect();
        for (edge, kept) in func.inst_mut(last).op.edges_mut().into_iter().zip(kept) {
            let mut kept = kept.into_iter();
            edge.args.retain(|_| kept.next().unwrap_or(true));
        }
    }
    func.set_block_insts(block, new);
    changed
}

fn sweep_params(func: &mut Function, block: Block, live: &Live) -> bool {
    let params = func.block_params(block).to_vec();
    let mut changed = false;
    for (position, param) in params.into_iter().enumerate().rev() {
        if !live.values[param] {
            func.remove_block_param(block, position);
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::{parse_module, print_module};

    fn check(body: &str, expected: &str) {
        let mut module = parse_module(body).unwrap();
        let func = module.funcs.keys().next().unwrap();
        run(&mut module.funcs[func]);
        assert_eq!(print_module(&module).trim(), expected.trim());
        assert!(!run(&mut module.funcs[func]));
    }

    #[test]
    fn a_sum_that_nobody_reads_goes_and_a_store_stays() {
        check(
            "func @f(%p: ptr, %n: i64) {
entry:
    jump loop(0, 0.0)
loop(%i: i64, %sum: f64):
    %a = address %p + 8*%i
    %x = load f64 %a
    %s = fadd %sum, %x
    store %i, %a
    %i2 = add %i, 1
    %more = icmp slt %i2, %n
    branch %more, loop(%i2, %s), done(%s)
done(%r: f64):
    %twice = fadd %r, %r
    return
}",
            "func @f(%p: ptr, %n: i64) {
block0:
    jump block1(0)
block1(%i: i64):
    %a = address %p + 8*%i
    store %i, %a
    %i2 = add %i, 1 : i64
    %more = icmp slt %i2, %n
    branch %more, block1(%i2), block2
block2:
    return
}",
        );
    }
}
