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
//! An element of the list is `{next, function, arguments…}`; the function unpacks the arguments
//! and calls what frees the memory.

use crate::ir::{
    Access, Builder, Call, Callee, Constant, Edge, FnAttrs, Func, Function, IntPred, Module, Op,
    ParamAttrs, Region, Signature, Symbol, Type,
};
use crate::support::{self, Callable};

/// Where the address of the head of the list is in the frame of a function that frees memory.
pub const LIST_FIELD: i64 = 0;

/// The bytes of an argument in an element, and of the fields before the arguments.
const SLOT: i64 = 16;

/// The access to a pointer of a list, or to the field of the frame that leads to it.
pub fn list_access() -> Access {
    Access {
        align: 8,
        region: Region::Tape,
        ..Access::default()
    }
}

/// `delay(head, primal, arguments…)`: puts a call of `free` with these arguments on a list, unless
/// the pointer that is freed, the argument at `position`, is null or no shadow but the primal.
pub fn delay(module: &mut Module, free: Func, position: usize) -> Callable {
    let freed = module.funcs[free].sig.params.clone();
    let mut params = vec![Type::ptr(), Type::ptr()];
    params.extend(&freed);
    let sig = Signature::new(params, Type::void());
    let name = format!("zymase.delay.{}", module.funcs[free].name);
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let run = run_delayed(module, free);
    let (malloc, malloc_sig) = support::malloc(module);
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let arguments = function.arguments().to_vec();
    let (head, primal, arguments) = (arguments[0], arguments[1], &arguments[2..]);
    let entry = function.entry();
    let [other, put, done] = [(); 3].map(|()| function.add_block());
    let to = |block| Edge {
        block,
        args: vec![],
    };

    let mut b = Builder::new(&mut function, entry);
    let null = b.func.zero(Type::ptr());
    let nothing = b.icmp(IntPred::Eq, arguments[position], null);
    b.branch(nothing, to(done), to(other));

    b.block = other;
    let itself = b.icmp(IntPred::Eq, arguments[position], primal);
    b.branch(itself, to(done), to(put));

    b.block = put;
    let bytes = SLOT * (1 + arguments.len() as i64);
    let bytes = b.func.iconst(Type::i64(), bytes.into());
    let element = b.call(malloc, malloc_sig, vec![bytes]).unwrap_or(head);
    let next = b.load(Type::ptr(), head, list_access());
    b.store(next, element, list_access());
    let run = Constant::Address(Symbol::Func(run), 0);
    let run = b.func.constant(Type::ptr(), run);
    let field = b.offset(element, 8);
    b.store(run, field, list_access());
    for (i, &argument) in arguments.iter().enumerate() {
        let field = b.offset(element, SLOT * (1 + i as i64));
        b.store(argument, field, list_access());
    }
    b.store(element, head, list_access());
    b.jump(done, vec![]);

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// `run(element)`: calls `free` with the arguments in an element.
fn run_delayed(module: &mut Module, free: Func) -> Func {
    let sig = module.funcs[free].sig.clone();
    let name = format!("zymase.run_delayed.{}", module.funcs[free].name);
    let mut function = Function::with_entry(name, element_signature());
    function.local = true;
    function.address_taken = true;
    let element = function.arguments()[0];
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let arguments = sig.params.iter().enumerate().map(|(i, &ty)| {
        let field = b.offset(element, SLOT * (1 + i as i64));
        b.load(ty, field, list_access())
    });
    let arguments = arguments.collect();
    b.call(free, sig, arguments);
    b.ret(None);
    module.funcs.push(function)
}

/// `release(head)`: frees all that is on a list, and the list.
pub fn release(module: &mut Module) -> Callable {
    let sig = element_signature();
    let name = "zymase.release_delayed";
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let (free, free_sig) = support::free(module, "free");
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let head = function.arguments()[0];
    let entry = function.entry();
    let [body, done] = [(); 2].map(|()| function.add_block());
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
    let run = b.load(Type::ptr(), field, list_access());
    let call = Call {
        callee: Callee::Indirect,
        sig: sig.clone(),
        attrs: FnAttrs::default(),
        args: vec![ParamAttrs::default()],
        convention: 0,
    };
    b.effect(Op::Call(Box::new(call)), vec![run, element]);
    b.call(free, free_sig, vec![element]);
    let last = b.icmp(IntPred::Eq, next, null);
    b.branch(last, to(done, vec![]), to(body, vec![next]));

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// The signature of a function that takes one address.
fn element_signature() -> Signature {
    Signature::new(vec![Type::ptr()], Type::void())
}

/// `free_shadow(primal, arguments…)`: calls `free`, unless the pointer that is freed is no shadow
/// but the primal.
pub fn free_shadow(module: &mut Module, free: Func, position: usize) -> Callable {
    let freed = module.funcs[free].sig.clone();
    let mut params = vec![Type::ptr()];
    params.extend(&freed.params);
    let sig = Signature::new(params, Type::void());
    let name = format!("zymase.free_shadow.{}", module.funcs[free].name);
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
    b.call(free, freed, arguments[1..].to_vec());
    b.jump(done, vec![]);

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}
