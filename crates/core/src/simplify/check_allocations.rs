//! Memory that a derivative makes for itself must be there.
//!
//! A program checks what `malloc` gives it, or does not. A derivative makes memory that the program
//! knows nothing of: tapes, shadows, copies. If there is none, the program ends with a message that
//! says so and how many bytes were asked for, instead of at an access to address zero.
//!
//! The check comes last, because the analyses of derivatives that are differentiated again know
//! allocation functions and not what calls them. It is a function around the allocation, which the
//! optimizer puts in its place.
//!
//! Before: calls that make such memory have the flag [`FnFlags::MUST_SUCCEED`]. After: none has.

use crate::ir::{
    AllocKind, BinaryOp, Builder, Callee, CastOp, Constant, Edge, FnFlags, Func, Function, Inst,
    IntPred, Module, Op, ParamFlags, Symbol, Type,
};
use crate::support;
use std::collections::HashMap;

const MESSAGE: &str = "zymase: out of memory: the derivative needs %zu bytes more for its tape or \
                       for shadow memory, and there are none\n\0";

/// Checks what these functions allocate.
pub fn run(module: &mut Module, funcs: &[Func]) {
    let mut checked: HashMap<Func, Option<Func>> = HashMap::new();
    for &func in funcs {
        for inst in flagged(&module.funcs[func]) {
            let callee = match module.funcs[func].inst(inst).op.call() {
                Some(call) => call.callee,
                None => continue,
            };
            let checked = match callee {
                Callee::Direct(callee) => *checked
                    .entry(callee)
                    .or_insert_with(|| around(module, callee)),
                Callee::Indirect => None,
            };
            if let Op::Call(call) = &mut module.funcs[func].inst_mut(inst).op {
                call.attrs.flags.remove(FnFlags::MUST_SUCCEED);
                if let Some(checked) = checked {
                    call.callee = Callee::Direct(checked);
                }
            }
        }
    }
}

fn flagged(function: &Function) -> Vec<Inst> {
    let blocks = function.blocks().iter();
    let insts = blocks.flat_map(|&block| function.block_insts(block));
    let flagged = |&&inst: &&Inst| match &function.inst(inst).op {
        Op::Call(call) => call.attrs.flags.contains(FnFlags::MUST_SUCCEED),
        _ => false,
    };
    insts.filter(flagged).copied().collect()
}

/// A function that allocates as another does, and ends the program if there is no memory.
fn around(module: &mut Module, callee: Func) -> Option<Func> {
    let sig = module.funcs[callee].sig.clone();
    let info = module.funcs[callee].attrs.alloc.clone()?;
    if !sig.ret.is_ptr() || sig.variadic {
        return None;
    }
    let (stop, stop_sig) = support::stop_with(module);
    let message = support::constant_text(module, MESSAGE.to_string());
    let name = format!("zymase.checked.{}", module.funcs[callee].name);
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    if info.kind != AllocKind::Free {
        function.ret.flags |= ParamFlags::NOALIAS;
    }
    let (entry, args) = (function.entry(), function.arguments().to_vec());
    let [none, fails, done] = [(); 3].map(|()| function.add_block());
    let to = |block| Edge {
        block,
        args: Vec::new(),
    };
    let mut b = Builder::new(&mut function, entry);
    let memory = b.call(callee, sig, args.clone())?;
    let null = b.func.zero(Type::ptr());
    let is_null = b.icmp(IntPred::Eq, memory, null);
    b.branch(is_null, to(none), to(done));

    // Memory without bytes may be nowhere.
    b.block = none;
    let mut bytes = b.func.iconst(Type::i64(), 1);
    for &position in &info.size_args {
        let size = support::extend(&mut b, *args.get(position as usize)?, Type::i64());
        bytes = b.binary(BinaryOp::Mul, bytes, size);
    }
    let zero = b.func.iconst(Type::i64(), 0);
    let empty = b.icmp(IntPred::Eq, bytes, zero);
    b.branch(empty, to(done), to(fails));

    b.block = fails;
    let message = Constant::Address(Symbol::Global(message), 0);
    let message = b.func.constant(Type::ptr(), message);
    let bytes = b.cast(CastOp::IntToPtr, bytes, Type::ptr());
    b.call(stop, stop_sig, vec![message, bytes]);
    b.effect(Op::Unreachable, Vec::new());

    b.block = done;
    b.ret(Some(memory));
    Some(module.funcs.push(function))
}
