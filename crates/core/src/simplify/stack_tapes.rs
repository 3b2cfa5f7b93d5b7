//! Where the memory of tapes comes from: from a stack for calls, and from what earlier derivatives
//! have given back.
//!
//! The reverse sweep runs backwards, so within one combined derivative the memory of tapes is freed
//! in exactly the opposite order of its allocation. A recursive function allocates a frame for each
//! call; from a stack that costs an addition. Each thread has a stack of its own, made of chunks that
//! are given back when they are empty, so nothing is left on it when the derivative returns.
//!
//! The order is known only from start to end of a combined derivative. A program that asks for the
//! halves one by one may free tapes in any order, and so does a derivative of a derivative with what
//! the inner one allocates; what either uses stays on the heap.
//!
//! Chunks, and the tape that a combined derivative makes for itself, are
//! [`tape_memory`](support::tape_memory), which stays for the next derivative.
//!
//! Before: calls that make or free memory of tapes have the flag [`FnFlags::TAPE`] or
//! [`FnFlags::OWN_TAPE`]. After: none has.

use super::lasting_memory;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::effects::{callees, callers};
use crate::analysis::loops::Loops;
use crate::chaos::Choice;
use crate::ir::{
    Access, BinaryOp, Builder, Callee, CastOp, Constant, Edge, FnFlags, Func, Function, Global,
    GlobalData, Initializer, Inst, IntPred, Module, Op, ParamFlags, Signature, Symbol, Type, Value,
};
use crate::pipeline::Options;
use crate::support::{self, Callable};
use std::collections::HashSet;

/// The functions that free what they make in no certain order: what `halves` reach. The two sweeps of
/// a derivative are given as pairs, because they must agree.
pub fn on_heap(
    module: &Module,
    halves: &[Func],
    pairs: &[(Func, Func)],
    options: &Options,
) -> HashSet<Func> {
    let mut on_heap = reached(module, halves, pairs);
    for &(one, other) in pairs {
        if options.flips(Choice::HeapTape, &module.funcs[one].name) {
            on_heap.extend([one, other]);
        }
    }
    on_heap
}

/// Lets these functions use the stack, except those that are to use the heap. Gives the functions that
/// now do.
pub fn run(
    module: &mut Module,
    funcs: &[Func],
    on_heap: &HashSet<Func>,
    pairs: &[(Func, Func)],
    options: &Options,
) -> HashSet<Func> {
    let mut on_stack = HashSet::new();
    for &func in funcs {
        for inst in calls_with(&module.funcs[func], FLAGS) {
            let Op::Call(call) = &mut module.funcs[func].inst_mut(inst).op else {
                continue;
            };
            let makes = !call.sig.ret.is_void();
            let is_own = call.attrs.flags.contains(FnFlags::OWN_TAPE);
            call.attrs.flags.remove(FLAGS);
            let from_stack = !is_own && !on_heap.contains(&func);
            let callee = match (from_stack, makes) {
                (true, true) => push(module, options).0,
                (true, false) => pop(module, options).0,
                (false, _) if !is_own || !options.keep_memory => continue,
                (false, true) => support::tape_memory(module).0.0,
                (false, false) => support::tape_memory(module).1.0,
            };
            if let Op::Call(call) = &mut module.funcs[func].inst_mut(inst).op {
                call.callee = Callee::Direct(callee);
                if from_stack {
                    call.attrs.flags.remove(FnFlags::MUST_SUCCEED);
                    on_stack.insert(func);
                }
            }
        }
    }
    let whole = funcs.iter().filter(|&func| {
        let is_half = pairs
            .iter()
            .any(|&(one, other)| [one, other].contains(func));
        !is_half && !on_heap.contains(func) && !module.funcs[*func].is_declaration()
    });
    let whole: Vec<Func> = whole.copied().collect();
    hold(module, &whole, options);
    on_stack
}

/// Lets functions hold the stack while a loop in them makes and frees tapes over and over: otherwise
/// the stack would be empty after each iteration, and its memory would go and come back. None of them
/// may return with more or less on the stack than there was.
fn hold(module: &mut Module, funcs: &[Func], options: &Options) {
    let pushing = callers(module, |function| function.name == PUSH);
    for &func in funcs {
        let function = &module.funcs[func];
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let Ok(loops) = Loops::new(function, &cfg, &dominators) else {
            continue;
        };
        let pushes = |&inst: &Inst| match function.inst(inst).op.call().map(|call| call.callee) {
            Some(Callee::Direct(callee)) => pushing.contains(callee),
            _ => false,
        };
        let blocks = function.blocks().iter().copied();
        let mut inside = blocks.filter(|&block| loops.innermost(block).is_some());
        if !inside.any(|block| function.block_insts(block).iter().any(pushes)) {
            continue;
        }
        let ((push, push_sig), (pop, pop_sig)) = (push(module, options), pop(module, options));
        let function = &mut module.funcs[func];
        let least = function.iconst(Type::i64(), ALIGN.into());
        let entry = function.entry();
        let insts = function.block_insts(entry).to_vec();
        function.set_block_insts(entry, Vec::new());
        let held = Builder::new(function, entry).call(push, push_sig, vec![least]);
        for inst in insts {
            function.attach_inst(entry, inst);
        }
        for block in function.blocks().to_vec() {
            let mut insts = function.block_insts(block).to_vec();
            let Some(last) = insts
                .pop()
                .filter(|&last| function.inst(last).op == Op::Return)
            else {
                continue;
            };
            function.set_block_insts(block, insts);
            let mut b = Builder::new(function, block);
            b.call(pop, pop_sig.clone(), held.into_iter().collect());
            function.attach_inst(block, last);
        }
    }
}

const FLAGS: FnFlags = FnFlags::TAPE.union(FnFlags::OWN_TAPE);

/// Keeps what a function and its callees allocate on the heap, because they are differentiated.
pub fn keep_on_heap(module: &mut Module, func: Func, pairs: &[(Func, Func)]) {
    let flags = FLAGS.union(lasting_memory::FLAGS);
    for func in reached(module, &[func], pairs) {
        for inst in calls_with(&module.funcs[func], flags) {
            if let Op::Call(call) = &mut module.funcs[func].inst_mut(inst).op {
                call.attrs.flags.remove(flags);
            }
        }
    }
}

/// What functions call, and with one sweep of a derivative always the other: an early end of the
/// program may be the only way to one of them.
fn reached(module: &Module, from: &[Func], pairs: &[(Func, Func)]) -> HashSet<Func> {
    let mut found: HashSet<Func> = HashSet::new();
    let mut open = from.to_vec();
    while !open.is_empty() {
        for func in open.drain(..) {
            if !found.contains(&func) {
                found.extend(callees(module, func));
            }
        }
        for &(one, other) in pairs {
            match (found.contains(&one), found.contains(&other)) {
                (true, false) => open.push(other),
                (false, true) => open.push(one),
                _ => {}
            }
        }
    }
    found
}

/// The calls that have some of these flags.
pub(super) fn calls_with(function: &Function, flags: FnFlags) -> Vec<Inst> {
    let blocks = function.blocks().iter();
    let insts = blocks
        .flat_map(|&block| function.block_insts(block))
        .copied();
    let flagged = |&inst: &Inst| match &function.inst(inst).op {
        Op::Call(call) => call.attrs.flags.intersects(flags),
        _ => false,
    };
    insts.filter(flagged).collect()
}

/// The state of the stack: where the next memory begins, how many bytes are left behind that, the
/// chunk that it is in, and how many bytes that has for tapes.
const NEXT: i64 = 0;
const LEFT: i64 = 8;
const CHUNK: i64 = 16;
const CAPACITY: i64 = 24;
const FIELDS: [i64; 4] = [NEXT, LEFT, CHUNK, CAPACITY];

/// A chunk begins with the state as it was before.
const STATE_BYTES: i64 = 32;

/// How many bytes the first chunk has for tapes, and how many times more each one has than the one
/// before, up to a limit, unless one tape needs more. There are few of them, so that all are kept for
/// the next derivative.
const FIRST_BYTES: i64 = 1 << 16;
const GROWTH: i64 = 4;
const MOST_BYTES: i64 = 1 << 24;

const ALIGN: i64 = 16;

fn access() -> Access {
    Access {
        align: 8,
        ..Access::default()
    }
}

fn state(module: &mut Module) -> Global {
    let name = "zymase.tape_stack";
    let known = module.globals.iter().find(|(_, data)| data.name == name);
    if let Some((global, _)) = known {
        return global;
    }
    module.globals.push(GlobalData {
        name: name.to_string(),
        size: STATE_BYTES as u64,
        align: 8,
        init: Some(Initializer::default()),
        constant: false,
        thread_local: true,
        local: true,
        inactive: true,
        source: None,
        origin: None,
    })
}

/// The address of the state.
fn state_address(function: &mut Function, global: Global) -> Value {
    function.constant(Type::ptr(), Constant::Address(Symbol::Global(global), 0))
}

fn load(b: &mut Builder<'_>, base: Value, field: i64) -> Value {
    let ty = if field == LEFT || field == CAPACITY {
        Type::i64()
    } else {
        Type::ptr()
    };
    let address = b.offset(base, field);
    b.load(ty, address, access())
}

fn store(b: &mut Builder<'_>, value: Value, base: Value, field: i64) {
    let address = b.offset(base, field);
    b.store(value, address, access());
}

fn to(block: crate::ir::Block) -> Edge {
    Edge {
        block,
        args: Vec::new(),
    }
}

/// What makes and what frees a chunk.
fn memory(module: &mut Module, options: &Options) -> (Callable, Callable) {
    match options.keep_memory {
        true => support::tape_memory(module),
        false => (support::malloc(module), support::free(module, "free")),
    }
}

/// The function that makes memory of the stack.
const PUSH: &str = "zymase.tape_push";

/// `memory = push(bytes)`.
fn push(module: &mut Module, options: &Options) -> Callable {
    let sig = Signature::new(vec![Type::i64()], Type::ptr());
    if let Some(func) = module.func_by_name(PUSH) {
        return (func, sig);
    }
    let (grow, grow_sig) = grow(module, options);
    let state = state(module);
    let mut function = Function::with_entry(PUSH, sig.clone());
    function.local = true;
    function.ret.flags |= ParamFlags::NOALIAS;
    let (entry, bytes) = (function.entry(), function.arguments()[0]);
    let [fits, full] = [(); 2].map(|()| function.add_block());
    let stack = state_address(&mut function, state);
    let mut b = Builder::new(&mut function, entry);
    let up = b.func.iconst(Type::i64(), (ALIGN - 1).into());
    let mask = b.func.iconst(Type::i64(), (-ALIGN).into());
    let least = b.func.iconst(Type::i64(), ALIGN.into());
    let zero = b.func.iconst(Type::i64(), 0);
    let room = b.add(bytes, up);
    let room = b.binary(BinaryOp::And, room, mask);
    // No two tapes have one address.
    let empty = b.icmp(IntPred::Eq, room, zero);
    let room = b.select(empty, least, room);
    let left = load(&mut b, stack, LEFT);
    let enough = b.icmp(IntPred::Uge, left, room);
    b.branch(enough, to(fits), to(full));

    b.block = fits;
    let memory = load(&mut b, stack, NEXT);
    let next = b.element(memory, room, 1);
    store(&mut b, next, stack, NEXT);
    let left = b.sub(left, room);
    store(&mut b, left, stack, LEFT);
    b.ret(Some(memory));

    b.block = full;
    let memory = b.call(grow, grow_sig, vec![room]);
    b.ret(memory);
    (module.funcs.push(function), sig)
}

/// `memory = grow(room)`: the first memory of a new chunk.
fn grow(module: &mut Module, options: &Options) -> Callable {
    let sig = Signature::new(vec![Type::i64()], Type::ptr());
    let name = "zymase.tape_grow_stack";
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let ((take, take_sig), _) = memory(module, options);
    let state = state(module);
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    function.attrs.flags |= FnFlags::NOINLINE;
    let (entry, room) = (function.entry(), function.arguments()[0]);
    let stack = state_address(&mut function, state);
    let mut b = Builder::new(&mut function, entry);
    let first = b.func.iconst(Type::i64(), FIRST_BYTES.into());
    let most = b.func.iconst(Type::i64(), MOST_BYTES.into());
    let header = b.func.iconst(Type::i64(), STATE_BYTES.into());
    let before = load(&mut b, stack, CAPACITY);
    let growth = b.func.iconst(Type::i64(), GROWTH.into());
    let grown = b.mul(before, growth);
    let small = b.icmp(IntPred::Ult, grown, first);
    let usual = b.select(small, first, grown);
    let large = b.icmp(IntPred::Ugt, usual, most);
    let usual = b.select(large, most, usual);
    let large = b.icmp(IntPred::Ugt, room, usual);
    let capacity = b.select(large, room, usual);
    let bytes = b.add(capacity, header);
    let flags = FnFlags::MUST_SUCCEED;
    let chunk = b.call_with(take, take_sig, vec![bytes], flags);
    let chunk = chunk.unwrap_or(stack);
    for field in FIELDS {
        let before = load(&mut b, stack, field);
        store(&mut b, before, chunk, field);
    }
    let memory = b.offset(chunk, STATE_BYTES);
    let next = b.element(memory, room, 1);
    let left = b.sub(capacity, room);
    store(&mut b, next, stack, NEXT);
    store(&mut b, left, stack, LEFT);
    store(&mut b, chunk, stack, CHUNK);
    store(&mut b, capacity, stack, CAPACITY);
    b.ret(Some(memory));
    (module.funcs.push(function), sig)
}

/// `pop(memory)`: frees what was made last.
fn pop(module: &mut Module, options: &Options) -> Callable {
    let sig = Signature::new(vec![Type::ptr()], Type::void());
    let name = "zymase.tape_pop";
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let (_, (give, give_sig)) = memory(module, options);
    let state = state(module);
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let (entry, memory) = (function.entry(), function.arguments()[0]);
    let [more, last] = [(); 2].map(|()| function.add_block());
    let stack = state_address(&mut function, state);
    let mut b = Builder::new(&mut function, entry);
    let chunk = load(&mut b, stack, CHUNK);
    let first = b.offset(chunk, STATE_BYTES);
    let is_first = b.icmp(IntPred::Eq, memory, first);
    b.branch(is_first, to(last), to(more));

    b.block = more;
    let next = load(&mut b, stack, NEXT);
    let end = b.cast(CastOp::PtrToInt, next, Type::i64());
    let start = b.cast(CastOp::PtrToInt, memory, Type::i64());
    let freed = b.sub(end, start);
    let left = load(&mut b, stack, LEFT);
    let left = b.add(left, freed);
    store(&mut b, left, stack, LEFT);
    store(&mut b, memory, stack, NEXT);
    b.ret(None);

    b.block = last;
    for field in FIELDS {
        let before = load(&mut b, chunk, field);
        store(&mut b, before, stack, field);
    }
    b.call(give, give_sig, vec![chunk]);
    b.ret(None);
    (module.funcs.push(function), sig)
}
