//! Shadows of memory that is freed where nobody can tell who made it.
//!
//! A structure may hold memory of its own beside pointers to memory of the caller, and then the
//! analysis cannot tell what the function frees that tears it down. If the memory was made while
//! the derivative ran, so was its shadow, and somebody must free that; if not, the shadow is the
//! caller's, who finds derivatives in it after the call and frees it himself.
//!
//! So the forward sweep puts such frees into a set, by the addresses of the shadows, and the reverse
//! of every allocation looks there for the shadow that it made. What it finds goes on the list of
//! [`delayed`] frees. What is still in the set when the outermost reverse sweep has ended is the
//! caller's. Shadows are not freed before that, so no address is used twice.
//!
//! The set is a tree of the C library. Derivatives of derivatives do not follow it there, so they
//! are refused. Only functions that need the set have one (see `Key::settles`).

use super::delayed::{self, ROOT, list_access};
use crate::ir::{
    Access, Builder, Constant, Edge, Func, Function, IntPred, Module, Signature, Symbol, Type,
    Value,
};
use crate::support::{self, Callable};

/// How the functions begin that put frees into the set; the name of what is called follows.
const EXPECT: &str = "zymase.expect.";

/// The function that looks there.
const SETTLE: &str = "zymase.settle";

/// Whether this is the name of a function that works on the set.
pub fn is_helper(name: &str) -> bool {
    name.starts_with(EXPECT) || name == SETTLE || name == FORGET
}

/// The function that ends it.
const FORGET: &str = "zymase.forget_unpaired";

/// `expect(head, primal, arguments…)`: puts a call of `free` with these arguments into the set,
/// unless the pointer that is freed is null or no shadow but the primal.
pub fn expect(module: &mut Module, free: Func, position: usize) -> Callable {
    // Elements go from the set to the list, where their number must mean something.
    delayed::delay(module, free, position);
    let insert = tree(module, "tsearch");
    let compare = compare(module);
    delayed::put(
        module,
        free,
        position,
        EXPECT,
        |b, head, element, shadow| {
            b.store(shadow, element, list_access());
            in_tree(b, &insert, compare, head, element);
        },
    )
}

/// `settle(head, shadow)`: what frees this shadow, if it is in the set, goes on the list.
pub fn settle(module: &mut Module) -> Callable {
    let name = SETTLE;
    let sig = Signature::new(vec![Type::ptr(), Type::ptr()], Type::void());
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let (find, remove) = (tree(module, "tfind"), tree(module, "tdelete"));
    let compare = compare(module);
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let (entry, arguments) = (function.entry(), function.arguments().to_vec());
    let (head, shadow) = (arguments[0], arguments[1]);
    let [look, found, done] = [(); 3].map(|()| function.add_block());
    let mut b = Builder::new(&mut function, entry);
    let key = b.alloca(Type::ptr(), 8);
    let null = b.func.zero(Type::ptr());
    let root = b.offset(head, ROOT);
    let root = b.load(Type::ptr(), root, list_access());
    let empty = b.icmp(IntPred::Eq, root, null);
    b.branch(empty, to(done), to(look));

    b.block = look;
    b.store(shadow, key, Access::aligned(8));
    let node = in_tree(&mut b, &find, compare, head, key).unwrap_or(null);
    let missing = b.icmp(IntPred::Eq, node, null);
    b.branch(missing, to(done), to(found));

    b.block = found;
    let element = b.load(Type::ptr(), node, list_access());
    in_tree(&mut b, &remove, compare, head, key);
    let next = b.load(Type::ptr(), head, list_access());
    b.store(next, element, list_access());
    b.store(element, head, list_access());
    b.jump(done, vec![]);

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// `forget(head)`: ends the set. What is in it is not freed.
pub fn forget(module: &mut Module) -> Callable {
    let name = FORGET;
    let sig = Signature::new(vec![Type::ptr()], Type::void());
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let end_sig = Signature::new(vec![Type::ptr(), Type::ptr()], Type::void());
    let end = module.declare(Function::new("tdestroy", end_sig.clone()));
    let (free, _) = support::free(module, "free");
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let (entry, head) = (function.entry(), function.arguments()[0]);
    let [full, done] = [(); 2].map(|()| function.add_block());
    let mut b = Builder::new(&mut function, entry);
    let null = b.func.zero(Type::ptr());
    let root = b.offset(head, ROOT);
    let root = b.load(Type::ptr(), root, list_access());
    let empty = b.icmp(IntPred::Eq, root, null);
    b.branch(empty, to(done), to(full));

    b.block = full;
    let free = address(&mut b, free);
    b.call(end, end_sig, vec![root, free]);
    b.jump(done, vec![]);

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

fn to(block: crate::ir::Block) -> Edge {
    Edge {
        block,
        args: vec![],
    }
}

/// A function of the C library on trees: `(key, root, compare)`.
fn tree(module: &mut Module, name: &str) -> Callable {
    let sig = Signature::new(vec![Type::ptr(); 3], Type::ptr());
    (module.declare(Function::new(name, sig.clone())), sig)
}

/// Calls one of them on the set.
fn in_tree(
    b: &mut Builder<'_>,
    function: &Callable,
    compare: Func,
    head: Value,
    key: Value,
) -> Option<Value> {
    let root = b.offset(head, ROOT);
    let compare = address(b, compare);
    b.call(function.0, function.1.clone(), vec![key, root, compare])
}

fn address(b: &mut Builder<'_>, func: Func) -> Value {
    let symbol = Constant::Address(Symbol::Func(func), 0);
    b.func.constant(Type::ptr(), symbol)
}

/// `compare(a, b)`: the order of the addresses that two elements begin with.
fn compare(module: &mut Module) -> Func {
    let name = "zymase.compare_addresses";
    if let Some(func) = module.func_by_name(name) {
        return func;
    }
    let int = Type::int(32);
    let sig = Signature::new(vec![Type::ptr(), Type::ptr()], int);
    let mut function = Function::with_entry(name, sig);
    function.local = true;
    let (entry, arguments) = (function.entry(), function.arguments().to_vec());
    let mut b = Builder::new(&mut function, entry);
    let [left, right] = [0, 1].map(|i| b.load(Type::ptr(), arguments[i], list_access()));
    let [less, equal, more] = [-1, 0, 1].map(|n| b.func.iconst(int, n));
    let below = b.icmp(IntPred::Ult, left, right);
    let above = b.icmp(IntPred::Ugt, left, right);
    let order = b.select(above, more, equal);
    let order = b.select(below, less, order);
    b.ret(Some(order));
    module.funcs.push(function)
}
