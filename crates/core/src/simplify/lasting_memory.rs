//! Where the memory comes from that lasts until the reverse sweep is back where it was made: shadows
//! of memory that only the function knows, and such memory itself where it is kept.
//!
//! The forward sweep makes it and the reverse sweep frees it, in the opposite order, so it comes from
//! stacks ([`support::lasting_memory`]). A shadow is not touched before the reverse sweep comes to the
//! last use of its memory; from a stack it has no pages until then, and is gone soon after. So of the
//! shadows of a network in layers, only those of one layer are there at a time.
//!
//! Allocators of the program are not replaced, nor those that align more than `malloc` does. What is
//! handed on in no certain order stays on the heap, as tapes do ([`stack_tapes`](super::stack_tapes)),
//! and so does everything where the room of an allocation is asked for, which only the heap knows.
//!
//! Before: calls that make or free such memory have the flag [`FnFlags::SHADOW`] or [`FnFlags::COPY`].
//! After: none has.

use super::stack_tapes::calls_with;
use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::known::rust;
use crate::ir::{
    AllocInfo, AllocKind, Builder, Call, Callee, FnAttrs, FnFlags, Func, Function, Inst, InstData,
    Module, Op, ParamAttrs, Value,
};
use crate::pipeline::Options;
use crate::support::{self, Lasting};
use std::collections::HashSet;

/// The flags of such calls.
pub const FLAGS: FnFlags = FnFlags::SHADOW.union(FnFlags::COPY);

/// What the memory of a stack is aligned to at least.
const ALIGN: i128 = 16;

/// Lets these functions use the stacks, except those that are to use the heap.
pub fn run(module: &mut Module, funcs: &[Func], on_heap: &HashSet<Func>, options: &Options) {
    let asks_for_room = module.func_by_name(support::ROOM).map(Callee::Direct);
    let asks = |function: &Function| {
        let blocks = function.blocks().iter();
        let mut insts = blocks.flat_map(|&block| function.block_insts(block));
        insts.any(|&inst| {
            let call = function.inst(inst).op.call();
            call.is_some_and(|call| Some(call.callee) == asks_for_room)
        })
    };
    let never = !options.keep_memory || module.funcs.values().any(asks);
    for &func in funcs {
        for inst in calls_with(&module.funcs[func], FLAGS) {
            let Op::Call(call) = &mut module.funcs[func].inst_mut(inst).op else {
                continue;
            };
            let is_shadow = call.attrs.flags.contains(FnFlags::SHADOW);
            call.attrs.flags.remove(FLAGS);
            if !never && !on_heap.contains(&func) {
                replace(module, func, inst, is_shadow);
            }
        }
    }
}

/// Whether what an allocation makes could as well come from a stack.
pub fn is_able(function: &Function, data: &InstData, info: &AllocInfo) -> bool {
    let others = (0..data.args.len() as u32).filter(|at| !info.size_args.contains(at));
    let mut others = others.map(|at| function.as_int(data.args[at as usize]));
    info.kind == AllocKind::Alloc
        && info.freed.as_ref().is_none_or(|freed| rust::allocator(&freed.by).is_some())
        && !info.size_args.is_empty()
        // All that they could say is how the memory is aligned.
        && others.all(|other| other.is_some_and(|align| align <= ALIGN))
}

/// Replaces a call of an allocation function by one that does it on a stack.
fn replace(module: &mut Module, func: Func, inst: Inst, is_shadow: bool) {
    let CallKind::Allocation(info) = call_kind(module, module.funcs[func].inst(inst)) else {
        return;
    };
    let which = match is_shadow {
        true => Lasting::Shadow,
        false => Lasting::Copy {
            zeroed: info.zeroed,
        },
    };
    let (push, pop) = support::lasting_memory(module, which);
    let function = &mut module.funcs[func];
    let data = function.inst(inst).clone();
    let ((callee, sig), arg) = match info.kind {
        AllocKind::Free => (pop, data.args[info.ptr_arg.unwrap_or(0) as usize]),
        _ => {
            let blocks = function.inst_blocks();
            let (Some(block), Some(memory)) = (blocks[inst], function.result(inst)) else {
                return;
            };
            let mut before = function.take_block_insts(block);
            let at = before.iter().position(|&other| other == inst);
            let after = before.split_off(at.unwrap_or(0));
            function.set_block_insts(block, before);
            let mut builder = Builder::new(function, block);
            builder.loc = data.loc;
            let bytes = support::allocated_bytes(&mut builder, &data, &info);
            for inst in after {
                if !(is_shadow && zeroes(function, inst, memory)) {
                    function.attach_inst(block, inst);
                }
            }
            (push, bytes)
        }
    };
    let kept = match &data.op {
        Op::Call(call) => call.attrs.flags & FnFlags::MUST_SUCCEED,
        _ => FnFlags::empty(),
    };
    let call = Call {
        callee: Callee::Direct(callee),
        args: vec![ParamAttrs::default()],
        sig,
        attrs: FnAttrs {
            flags: kept,
            ..FnAttrs::default()
        },
        convention: 0,
    };
    *function.inst_mut(inst) = InstData {
        op: Op::Call(Box::new(call)),
        args: vec![arg],
        ..data
    };
}

/// Whether an instruction makes all of a new shadow zero, which it is already.
fn zeroes(function: &Function, inst: Inst, shadow: Value) -> bool {
    let data = function.inst(inst);
    matches!(data.op, Op::MemSet(_)) && data.args[0] == shadow
}
