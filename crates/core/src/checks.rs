//! Checks that a program makes while it runs: functions that compare what a request was given with
//! what it needs, and end the program with a message if it cannot work.
//!
//! The messages are texts for `printf` that begin with the place of the request.

use crate::ir::{Builder, CastOp, Value};
use crate::ir::{Edge, FnFlags, Function, IntPred, MemoryEffects, ModRef, Module, Signature, Type};
use crate::support::{Callable, stop_with};

/// `shadow(primal, shadow, no_shadow, same)`: stops with the message `no_shadow` if a pointer that
/// is not null has a shadow that is, and with `same` if it is its own shadow. Both messages may
/// print the pointer.
pub fn shadow(module: &mut Module) -> Callable {
    let ptr = Type::ptr();
    let params = vec![ptr; 4];
    check(module, "zymase.check_shadow", params, |b, args, refuse| {
        let null = b.func.zero(ptr);
        let (primal, shadow) = (args[0], args[1]);
        let nothing = b.icmp(IntPred::Eq, primal, null);
        pass_if(b, nothing);
        let missing = b.icmp(IntPred::Eq, shadow, null);
        refuse(b, missing, args[2], primal);
        let same = b.icmp(IntPred::Eq, shadow, primal);
        refuse(b, same, args[3], primal);
    })
}

/// `outside(pointer, start, bytes, inside)`: stops with the message `inside`, which may print the
/// pointer, if it leads to one of these bytes.
pub fn outside(module: &mut Module) -> Callable {
    let (ptr, long) = (Type::ptr(), Type::i64());
    let params = vec![ptr, ptr, long, ptr];
    check(module, "zymase.check_outside", params, |b, args, refuse| {
        let [pointer, start] = [0, 1].map(|i| b.cast(CastOp::PtrToInt, args[i], long));
        let distance = b.sub(pointer, start);
        let inside = b.icmp(IntPred::Ult, distance, args[2]);
        refuse(b, inside, args[3], args[0]);
    })
}

/// `room(given, needed, tape, too_small)`: stops with the message `too_small`, which may print the
/// address of the tape, if there are fewer bytes for it than needed.
pub fn room(module: &mut Module) -> Callable {
    let (ptr, long) = (Type::ptr(), Type::i64());
    let params = vec![long, long, ptr, ptr];
    check(module, "zymase.check_room", params, |b, args, refuse| {
        let less = b.icmp(IntPred::Ult, args[0], args[1]);
        refuse(b, less, args[3], args[2]);
    })
}

/// Stops if the condition holds, with this message about this address.
type Refuse<'a> = &'a dyn Fn(&mut Builder<'_>, Value, Value, Value);

fn check(
    module: &mut Module,
    name: &str,
    params: Vec<Type>,
    body: impl FnOnce(&mut Builder<'_>, &[Value], Refuse<'_>),
) -> Callable {
    let sig = Signature::new(params, Type::void());
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let (stop, stop_sig) = stop_with(module);
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    function.attrs.flags = FnFlags::INACTIVE;
    // Who goes on has seen nothing of it.
    function.attrs.memory = MemoryEffects {
        inaccessible: ModRef::all(),
        ..MemoryEffects::NONE
    };
    let (entry, args) = (function.entry(), function.arguments().to_vec());
    let mut b = Builder::new(&mut function, entry);
    let refuse = |b: &mut Builder<'_>, condition: Value, message: Value, about: Value| {
        let (bad, good) = fork(b, condition);
        b.block = bad;
        b.call(stop, stop_sig.clone(), vec![message, about]);
        b.effect(crate::ir::Op::Unreachable, Vec::new());
        b.block = good;
    };
    body(&mut b, &args, &refuse);
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// Returns if the condition holds.
fn pass_if(b: &mut Builder<'_>, condition: Value) {
    let (done, further) = fork(b, condition);
    b.block = done;
    b.ret(None);
    b.block = further;
}

/// Two new blocks: where a condition holds, and where it does not.
fn fork(b: &mut Builder<'_>, condition: Value) -> (crate::ir::Block, crate::ir::Block) {
    let [yes, no] = [(); 2].map(|()| b.func.add_block());
    let to = |block| Edge {
        block,
        args: Vec::new(),
    };
    b.branch(condition, to(yes), to(no));
    (yes, no)
}
