//! Shadow memory that the program has freed and the reverse sweep still needs.
//!
//! Going backwards, memory is there from where it was freed to where it was made. If the function
//! that made it also frees it, the reverse of the allocation ends its shadow. Otherwise nothing in
//! the program text pairs the two: nodes of a tree are made by one function and freed by another.
//! Then the forward sweep puts the shadow on a list instead of freeing it, and all of the list is
//! freed when the outermost reverse sweep has ended. No more memory is in use for that than at the
//! end of the forward sweep.
//!
//! The list belongs to the outermost derivative. Functions that free memory, or call such, have
//! the address of its head in the first field of their frames.
//!
//! An element of the list is `{next, number, arguments…}`; the number says which function frees the
//! memory. It is not the address of the function, so that a derivative of the derivative sees
//! nothing but branches and calls.

use crate::ir::{
    Access, Builder, Edge, FnFlags, Func, Function, IntPred, Module, Op, Region, Signature, Type,
    Value,
};
use crate::support::{self, Callable};

/// Where the address of the head of the list is in the frame of a function that frees memory.
pub const LIST_FIELD: i64 = 0;

/// The bytes of an argument in an element, and of the fields before the arguments.
const SLOT: i64 = 16;

/// How the functions begin that put calls on a list; the name of what is called follows.
const DELAY: &str = "zymase.delay.";

/// The access to a pointer of a list, or to the field of the frame that leads to it.
pub fn list_access() -> Access {
    Access {
        align: 8,
        region: Region::Tape,
        ..Access::default()
    }
}

/// The bytes of the head of a list: the first element, and the root of the set of frees that are
/// [`unpaired`](super::unpaired).
pub const HEAD_BYTES: u64 = 16;

/// Writes the head of an empty list.
pub fn start(builder: &mut Builder<'_>, head: Value) {
    let null = builder.func.zero(Type::ptr());
    builder.store(null, head, list_access());
    let root = builder.offset(head, ROOT);
    builder.store(null, root, list_access());
}

/// Where the root of that set is in the head.
pub(super) const ROOT: i64 = 8;

/// `delay(head, primal, arguments…)`: puts a call of `free` with these arguments on a list, unless
/// the pointer that is freed, the argument at `position`, is null or no shadow but the primal. What
/// is beside a primal that is null is left over from another that was there before.
pub fn delay(module: &mut Module, free: Func, position: usize) -> Callable {
    put(module, free, position, DELAY, |b, head, element, _| {
        let next = b.load(Type::ptr(), head, list_access());
        b.store(next, element, list_access());
        b.store(element, head, list_access());
    })
}

/// A function as [`delay`], named after a prefix, that makes an element and puts it where `keep`
/// says, which gets the head, the element and the pointer that is freed.
pub(super) fn put(
    module: &mut Module,
    free: Func,
    position: usize,
    prefix: &str,
    keep: impl FnOnce(&mut Builder<'_>, Value, Value, Value),
) -> Callable {
    let freed = module.funcs[free].sig.params.clone();
    let mut params = vec![Type::ptr(), Type::ptr()];
    params.extend(&freed);
    let sig = Signature::new(params, Type::void());
    let name = format!("{prefix}{}", module.funcs[free].name);
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let known = delayed(module).iter().position(|&func| func == free);
    let number = known.unwrap_or(delayed(module).len()) as i128;
    let (malloc, malloc_sig) = support::malloc(module);
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let arguments = function.arguments().to_vec();
    let (head, primal, arguments) = (arguments[0], arguments[1], &arguments[2..]);
    let entry = function.entry();
    let [memory, other, put, done] = [(); 4].map(|()| function.add_block());
    let to = |block| Edge {
        block,
        args: vec![],
    };

    let mut b = Builder::new(&mut function, entry);
    let null = b.func.zero(Type::ptr());
    let nothing = b.icmp(IntPred::Eq, primal, null);
    b.branch(nothing, to(done), to(memory));

    b.block = memory;
    let nothing = b.icmp(IntPred::Eq, arguments[position], null);
    b.branch(nothing, to(done), to(other));

    b.block = other;
    let itself = b.icmp(IntPred::Eq, arguments[position], primal);
    b.branch(itself, to(done), to(put));

    b.block = put;
    let bytes = SLOT * (1 + arguments.len() as i64);
    let bytes = b.func.iconst(Type::i64(), bytes.into());
    let flags = FnFlags::MUST_SUCCEED;
    let element = b.call_with(malloc, malloc_sig, vec![bytes], flags);
    let element = element.unwrap_or(head);
    let number = b.func.iconst(Type::i64(), number);
    let field = b.offset(element, 8);
    b.store(number, field, list_access());
    for (i, &argument) in arguments.iter().enumerate() {
        let field = b.offset(element, SLOT * (1 + i as i64));
        b.store(argument, field, list_access());
    }
    keep(&mut b, head, element, arguments[position]);
    b.jump(done, vec![]);

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// The functions whose calls can be on a list, by their numbers.
fn delayed(module: &Module) -> Vec<Func> {
    let names = module.funcs.values().map(|function| &function.name);
    let freed = names.filter_map(|name| name.strip_prefix(DELAY));
    freed.filter_map(|name| module.func_by_name(name)).collect()
}

/// `release(head)`: frees all that is on a list, and the list. It knows the functions that are
/// numbered when it is made, which those of the derivative that it ends are.
pub fn release(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::ptr()], Type::void());
    let delayed = delayed(module);
    let name = format!("zymase.release_delayed.{}", delayed.len());
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let (free, free_sig) = support::free(module, "free");
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let head = function.arguments()[0];
    let entry = function.entry();
    let [body, unknown, after, done] = [(); 4].map(|()| function.add_block());
    let element = function.add_block_param(body, Type::ptr());
    let to = |block, args| Edge { block, args };

    let mut b = Builder::new(&mut function, entry);
    let null = b.func.zero(Type::ptr());
    let first = b.load(Type::ptr(), head, list_access());
    let empty = b.icmp(IntPred::Eq, first, null);
    b.branch(empty, to(done, vec![]), to(body, vec![first]));

    b.block = body;
    let next = b.load(Type::ptr(), element, list_access());
    let field = b.offset(element, 8);
    let number = b.load(Type::i64(), field, list_access());
    let cases: Vec<(u128, Edge)> = (0..delayed.len() as u128)
        .map(|n| (n, to(b.func.add_block(), vec![])))
        .collect();
    let op = Op::Switch {
        cases: cases.clone(),
        default: to(unknown, vec![]),
    };
    b.effect(op, vec![number]);
    for (&func, (_, case)) in delayed.iter().zip(&cases) {
        b.block = case.block;
        let sig = module.funcs[func].sig.clone();
        let arguments = sig.params.iter().enumerate().map(|(i, &ty)| {
            let field = b.offset(element, SLOT * (1 + i as i64));
            b.load(ty, field, list_access())
        });
        let arguments = arguments.collect();
        b.call_with(func, sig, arguments, FnFlags::FREES_OWN);
        b.jump(after, vec![]);
    }

    b.block = unknown;
    b.effect(Op::Unreachable, vec![]);

    b.block = after;
    b.call_with(free, free_sig, vec![element], FnFlags::FREES_OWN);
    let last = b.icmp(IntPred::Eq, next, null);
    b.branch(last, to(done, vec![]), to(body, vec![next]));

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// `free_shadow(primal, arguments…)`: calls `free`, unless the pointer that is freed is no shadow
/// but the primal. `own` says that the memory was made while the derivative ran.
pub fn free_shadow(module: &mut Module, free: Func, position: usize, own: bool) -> Callable {
    let freed = module.funcs[free].sig.clone();
    let mut params = vec![Type::ptr()];
    params.extend(&freed.params);
    let sig = Signature::new(params, Type::void());
    let (kind, flags) = match own {
        true => ("free_own_shadow", FnFlags::FREES_OWN),
        false => ("free_shadow", FnFlags::empty()),
    };
    let name = format!("zymase.{kind}.{}", module.funcs[free].name);
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let arguments = function.arguments().to_vec();
    let entry = function.entry();
    let [other, done] = [(); 2].map(|()| function.add_block());
    let to = |block| Edge {
        block,
        args: vec![],
    };
    let mut b = Builder::new(&mut function, entry);
    let itself = b.icmp(IntPred::Eq, arguments[1 + position], arguments[0]);
    b.branch(itself, to(done), to(other));

    b.block = other;
    b.call_with(free, freed, arguments[1..].to_vec(), flags);
    b.jump(done, vec![]);

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}
