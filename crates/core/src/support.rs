//! Small functions that derivatives call, written in the IR so that they can be interpreted,
//! inlined and differentiated like any other.

use crate::analysis::known::{self, rust};
use crate::analysis::types::Kinds;
use crate::ir::{
    Access, AllocInfo, AllocKind, Builder, Call, Callee, CastOp, Constant, Edge, FloatKind,
    FnAttrs, FnFlags, Func, Function, Global, GlobalData, Initializer, InstData, IntPred,
    MemoryEffects, ModRef, Module, Op, ParamAttrs, Region, Signature, Symbol, Type, Value,
};

/// A function and its signature, ready to be called.
pub type Callable = (Func, Signature);

/// `malloc`, declared if it is not yet.
pub fn malloc(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::i64()], Type::ptr());
    let info = AllocInfo {
        kind: AllocKind::Alloc,
        zeroed: false,
        family: "malloc".to_string(),
        size_args: vec![0],
        ptr_arg: None,
        freed: None,
    };
    declare_allocator(module, "malloc", sig, info)
}

/// The symbol of [`room`].
pub const ROOM: &str = "malloc_usable_size";

/// `malloc_usable_size`, declared if it is not yet: how many bytes an allocation has.
pub fn room(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::ptr()], Type::i64());
    let room = Function::new(ROOM, sig.clone());
    (module.declare(room), sig)
}

/// `calloc`, declared if it is not yet.
pub fn calloc(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::i64(), Type::i64()], Type::ptr());
    let info = AllocInfo {
        kind: AllocKind::Alloc,
        zeroed: true,
        family: "malloc".to_string(),
        size_args: vec![0, 1],
        ptr_arg: None,
        freed: None,
    };
    declare_allocator(module, "calloc", sig, info)
}

/// `memalign`, declared if it is not yet.
pub fn memalign(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::i64(), Type::i64()], Type::ptr());
    let info = AllocInfo {
        kind: AllocKind::Alloc,
        zeroed: false,
        family: "malloc".to_string(),
        size_args: vec![1],
        ptr_arg: None,
        freed: None,
    };
    declare_allocator(module, "memalign", sig, info)
}

/// A deallocation function of C or C++, declared if it is not yet.
pub fn free(module: &mut Module, name: &str) -> Callable {
    let sig = Signature::new(vec![Type::ptr()], Type::void());
    (free_like(module, name, sig.clone()), sig)
}

/// A deallocation function that takes the pointer and more, declared if it is not yet.
pub fn free_like(module: &mut Module, name: &str, sig: Signature) -> Func {
    let info = AllocInfo {
        kind: AllocKind::Free,
        zeroed: false,
        family: "malloc".to_string(),
        size_args: Vec::new(),
        ptr_arg: Some(0),
        freed: None,
    };
    declare_allocator(module, name, sig, info).0
}

/// What allocates and what frees memory that one of Rust's functions reallocates, declared if they
/// are not yet.
pub fn rust_allocators(module: &mut Module, realloc: Func) -> (Callable, Callable) {
    let symbol = module.funcs[realloc].name.clone();
    let beside = |plain: &str| rust::beside(&symbol, plain).unwrap_or(plain.to_string());
    let (ptr, long) = (Type::ptr(), Type::i64());
    let mut declare = |plain: &str, sig: Signature| {
        let mut function = Function::new(beside(plain), sig.clone());
        function.attrs.alloc = known::allocation(&function);
        (module.declare(function), sig)
    };
    let allocate = declare("__rust_alloc", Signature::new(vec![long, long], ptr));
    let freed = Signature::new(vec![ptr, long, long], Type::void());
    (allocate, declare("__rust_dealloc", freed))
}

/// The symbols of [`tape_memory`], [`use_large_pages`] and [`lasting_memory`]. Who compiles the
/// derivative defines them.
pub const TAPE_MEMORY: [&str; 8] = [
    TAKE,
    GIVE,
    USE_LARGE_PAGES,
    PUSH_SHADOW,
    POP_SHADOW,
    PUSH_COPY,
    PUSH_ZEROED_COPY,
    POP_COPY,
];
const TAKE: &str = "__zymase_take";
const GIVE: &str = "__zymase_give";
const USE_LARGE_PAGES: &str = "__zymase_use_large_pages";
const PUSH_SHADOW: &str = "__zymase_push_shadow";
const POP_SHADOW: &str = "__zymase_pop_shadow";
const PUSH_COPY: &str = "__zymase_push_copy";
const PUSH_ZEROED_COPY: &str = "__zymase_push_zeroed_copy";
const POP_COPY: &str = "__zymase_pop_copy";

/// What stacks of [`lasting_memory`] are called in what is known of allocation functions. The
/// interpreter sees to it that what was made last is freed first.
pub const STACKS: [&str; 2] = ["__zymase_shadows", "__zymase_copies"];

/// What allocates and what frees memory of tapes like `malloc` and `free`, except that memory which
/// one derivative has given back is there for the next. Fresh memory comes full of zeros from the
/// system, a page at a time, which takes longer than to write a tape and to read it.
pub fn tape_memory(module: &mut Module) -> (Callable, Callable) {
    let take = declare_own_allocator(module, TAKE, "__zymase", AllocKind::Alloc, false);
    let give = declare_own_allocator(module, GIVE, "__zymase", AllocKind::Free, false);
    (take, give)
}

/// Memory that lasts until the reverse sweep has come back to where it was made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Lasting {
    /// A shadow, which is zero at first.
    Shadow,
    /// Memory that the program asked for, with this or that in it, or zeros.
    Copy {
        /// Whether it is zero at first.
        zeroed: bool,
    },
}

/// What makes and what frees memory of a stack: what is made last is freed first. New memory has no
/// pages until it is touched, and what is freed gives them back.
pub fn lasting_memory(module: &mut Module, which: Lasting) -> (Callable, Callable) {
    let (push, pop, family, zeroed) = match which {
        Lasting::Shadow => (PUSH_SHADOW, POP_SHADOW, STACKS[0], true),
        Lasting::Copy { zeroed: false } => (PUSH_COPY, POP_COPY, STACKS[1], false),
        Lasting::Copy { zeroed: true } => (PUSH_ZEROED_COPY, POP_COPY, STACKS[1], true),
    };
    let push = declare_own_allocator(module, push, family, AllocKind::Alloc, zeroed);
    let pop = declare_own_allocator(module, pop, family, AllocKind::Free, false);
    (push, pop)
}

/// A function of ours that takes a number of bytes and gives memory, or takes memory back.
fn declare_own_allocator(
    module: &mut Module,
    name: &str,
    family: &str,
    kind: AllocKind,
    zeroed: bool,
) -> Callable {
    let (sig, size_args, ptr_arg) = match kind {
        AllocKind::Free => (
            Signature::new(vec![Type::ptr()], Type::void()),
            vec![],
            Some(0),
        ),
        _ => (
            Signature::new(vec![Type::i64()], Type::ptr()),
            vec![0],
            None,
        ),
    };
    let info = AllocInfo {
        kind,
        zeroed,
        family: family.to_string(),
        size_args,
        ptr_arg,
        freed: None,
    };
    let (func, sig) = declare_allocator(module, name, sig, info);
    module.funcs[func].attrs.flags |= FnFlags::NOUNWIND | FnFlags::WILLRETURN;
    (func, sig)
}

/// `use_large_pages(memory, bytes)` tells the system that new memory will be filled from one end to
/// the other. It then comes in few large pages, if there are many bytes.
fn use_large_pages(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::ptr(), Type::i64()], Type::void());
    let mut function = Function::new(USE_LARGE_PAGES, sig.clone());
    function.attrs = FnAttrs {
        flags: FnFlags::INACTIVE | FnFlags::NOUNWIND | FnFlags::WILLRETURN | FnFlags::NOFREE,
        memory: MemoryEffects {
            inaccessible: ModRef::all(),
            ..MemoryEffects::NONE
        },
        alloc: None,
    };
    (module.declare(function), sig)
}

/// The kernels of the runtime library: out\[i,j\] += s Σ a\[i,k\] b\[k,j\]. Programs need not have them, so
/// they are referred to by weak symbols.
pub const PRODUCTS: [&str; 2] = ["__zymase_product_f32", "__zymase_product_f64"];

/// The kernel for products of this kind of numbers: three sizes, then the address of each matrix with
/// the distances in bytes from row to row and from column to column, then the factor of all.
pub fn product(module: &mut Module, kind: FloatKind) -> Callable {
    let name = PRODUCTS[usize::from(kind == FloatKind::F64)];
    let (i64, ptr) = (Type::i64(), Type::ptr());
    let matrix = [ptr, i64, i64];
    let mut params = [[i64; 3], matrix, matrix, matrix].concat();
    params.push(Type::float(kind));
    let sig = Signature::new(params, Type::void());
    let mut function = Function::new(name, sig.clone());
    function.attrs.flags |= FnFlags::NOUNWIND | FnFlags::WILLRETURN | FnFlags::NOFREE;
    (module.declare(function), sig)
}

/// How many bytes an allocation asks for.
pub fn allocated_bytes(builder: &mut Builder<'_>, data: &InstData, info: &AllocInfo) -> Value {
    let mut bytes = builder.func.iconst(Type::i64(), 1);
    for &position in &info.size_args {
        let size = data.args[position as usize];
        let size = extend(builder, size, Type::i64());
        bytes = match builder.func.as_int(bytes) {
            Some(1) => size,
            _ => builder.mul(bytes, size),
        };
    }
    bytes
}

fn realloc(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::ptr(), Type::i64()], Type::ptr());
    let info = AllocInfo {
        kind: AllocKind::Realloc,
        zeroed: false,
        family: "malloc".to_string(),
        size_args: vec![1],
        ptr_arg: Some(0),
        freed: None,
    };
    declare_allocator(module, "realloc", sig, info)
}

fn declare_allocator(module: &mut Module, name: &str, sig: Signature, info: AllocInfo) -> Callable {
    let mut function = Function::new(name, sig.clone());
    function.attrs.memory = MemoryEffects {
        arguments: ModRef::all(),
        inaccessible: ModRef::all(),
        other: ModRef::empty(),
    };
    function.attrs.alloc = Some(info);
    let func = module.declare(function);
    (func, sig)
}

/// `base = tape_grow(field, n, size)`: makes sure that the array of records whose address is in
/// `field` has room for record `n`, given that it has room for all before. Capacities are powers
/// of two, so the index alone tells when to grow.
pub fn tape_grow(module: &mut Module, room: u64, large_pages: bool) -> Callable {
    let params = vec![Type::ptr(), Type::i64(), Type::i64()];
    let sig = Signature::new(params, Type::ptr());
    let name = format!("zymase.tape_grow{room}");
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let (malloc, malloc_sig) = malloc(module);
    let (realloc, realloc_sig) = realloc(module);
    let in_large_pages = large_pages.then(|| use_large_pages(module));
    let tape = Access {
        align: 8,
        region: Region::Tape,
        ..Access::default()
    };
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let [field, n, size] = function.arguments() else {
        return (module.funcs.push(function), sig);
    };
    let (field, n, size) = (*field, *n, *size);
    let entry = function.entry();
    let [first, later, grow, done] = [(); 4].map(|()| function.add_block());
    let result = function.add_block_param(done, Type::ptr());
    let to = |block, args| Edge { block, args };

    let mut b = Builder::new(&mut function, entry);
    let zero = b.func.iconst(Type::i64(), 0);
    let one = b.func.iconst(Type::i64(), 1);
    let start = b.func.iconst(Type::i64(), room.into());
    let is_first = b.icmp(IntPred::Eq, n, zero);
    b.branch(is_first, to(first, vec![]), to(later, vec![]));

    b.block = first;
    let bytes = b.mul(start, size);
    let flags = FnFlags::MUST_SUCCEED;
    let fresh = b.call_with(malloc, malloc_sig, vec![bytes], flags);
    let fresh = fresh.unwrap_or(field);
    b.store(fresh, field, tape.clone());
    b.jump(done, vec![fresh]);

    b.block = later;
    let old = b.load(Type::ptr(), field, tape.clone());
    let below = b.sub(n, one);
    let common = b.binary(crate::ir::BinaryOp::And, n, below);
    let power = b.icmp(IntPred::Eq, common, zero);
    let large = b.icmp(IntPred::Uge, n, start);
    let full = b.binary(crate::ir::BinaryOp::And, power, large);
    b.branch(full, to(grow, vec![]), to(done, vec![old]));

    b.block = grow;
    let double = b.add(n, n);
    let bytes = b.mul(double, size);
    let grown = b
        .call_with(
            realloc,
            realloc_sig,
            vec![old, bytes],
            FnFlags::FREES_OWN | flags,
        )
        .unwrap_or(old);
    if let Some((large, sig)) = in_large_pages {
        b.call(large, sig, vec![grown, bytes]);
    }
    b.store(grown, field, tape);
    b.jump(done, vec![grown]);

    b.block = done;
    b.ret(Some(result));
    (module.funcs.push(function), sig)
}

/// `copy_pointers(to, from, len, period, shift)` copies the pointer at each multiple of `period`,
/// as many as fit in `len` bytes that begin `shift` bytes before `to` and `from`.
pub fn copy_pointers(module: &mut Module) -> Callable {
    // A pointer must be read before another is written there, so the loop runs towards the source.
    let name = "zymase.copy_pointers";
    strided(module, name, 8, IntPred::Ult, |b, to, from| {
        let pointer = b.load(Type::ptr(), from, Access::aligned(1));
        b.store(pointer, to, Access::aligned(1));
    })
}

/// `move_adjoint(to, from, len, period, shift)` reverses the copy of floats from `from` to `to`:
/// adds the adjoint of each destination to that of its source and zeroes it.
pub fn move_adjoint(module: &mut Module, kind: FloatKind, backwards: bool) -> Callable {
    let name = format!("zymase.move_adjoint.{}", kind.name());
    let ty = Type::float(kind);
    // The adjoint of a place must be taken before another is added to it, so the loop runs away
    // from the source.
    let direction = match backwards {
        true => IntPred::Ult,
        false => IntPred::Ugt,
    };
    let size = i128::from(kind.bytes());
    strided(module, &name, size, direction, |b, to, from| {
        let adjoint = b.load(ty, to, Access::aligned(1));
        let zero = b.func.zero(ty);
        b.store(zero, to, Access::aligned(1));
        b.accumulate(from, adjoint, Access::aligned(1));
    })
}

/// `move_word(to, from, bits)` reverses the copy of a word from `from` to `to` that held numbers or
/// a pointer: a pointer if its shadow `bits` were not zero. The destination's is zeroed, and if it
/// was an adjoint, added to the source's. Where the size of the numbers is not known, that works
/// only if the source has no adjoint of its own, and otherwise stops the program.
pub fn move_word(module: &mut Module, kinds: Kinds) -> Callable {
    let long = Type::i64();
    let sig = Signature::new(vec![Type::ptr(), Type::ptr(), long], Type::void());
    let float = match kinds & Kinds::FLOATS {
        Kinds::SINGLE => Some(FloatKind::F32),
        Kinds::DOUBLE => Some(FloatKind::F64),
        _ => None,
    };
    let name = format!("zymase.move_word.{}", float.map_or("bits", FloatKind::name));
    if let Some(func) = module.func_by_name(&name) {
        return (func, sig);
    }
    let stop = stop_with(module);
    let message = "zymase: cannot differentiate memory that holds numbers or pointers, nobody knows \
                   which: both the memory at %p and a copy of it are used\n\0";
    let message = constant_text(module, message.to_string());
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let args = function.arguments().to_vec();
    let (to, from, bits) = (args[0], args[1], args[2]);
    let entry = function.entry();
    let [number, done] = [(); 2].map(|()| function.add_block());
    let edge = |block| Edge {
        block,
        args: Vec::new(),
    };
    let access = || Access::aligned(1);
    let mut b = Builder::new(&mut function, entry);
    let zero = b.func.iconst(long, 0);
    let adjoint = b.load(long, to, access());
    let parts: Vec<(i64, Value)> = match float {
        Some(kind) => (0..8)
            .step_by(kind.bytes() as usize)
            .map(|at| {
                let place = b.offset(to, at);
                (at, b.load(Type::float(kind), place, access()))
            })
            .collect(),
        None => Vec::new(),
    };
    // Source and destination may be the same.
    b.store(zero, to, access());
    let is_number = b.icmp(IntPred::Eq, bits, zero);
    b.branch(is_number, edge(number), edge(done));

    b.block = number;
    match float {
        Some(_) => {
            for (at, part) in parts {
                let source = b.offset(from, at);
                b.accumulate(source, part, access());
            }
            b.jump(done, Vec::new());
        }
        None => {
            let [some, fits, fails] = [(); 3].map(|()| b.func.add_block());
            let any = b.icmp(IntPred::Ne, adjoint, zero);
            b.branch(any, edge(some), edge(done));
            b.block = some;
            let own = b.load(long, from, access());
            let free = b.icmp(IntPred::Eq, own, zero);
            b.branch(free, edge(fits), edge(fails));
            b.block = fits;
            b.store(adjoint, from, access());
            b.jump(done, Vec::new());
            b.block = fails;
            let message = Constant::Address(Symbol::Global(message), 0);
            let message = b.func.constant(Type::ptr(), message);
            b.call(stop.0, stop.1, vec![message, from]);
            b.effect(Op::Unreachable, Vec::new());
        }
    }
    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// A loop over scalars of `size` bytes at two addresses. It runs upwards if `to` compares so with
/// `from`, and downwards otherwise.
fn strided(
    module: &mut Module,
    name: &str,
    size: i128,
    upwards: IntPred,
    body: impl FnOnce(&mut Builder<'_>, Value, Value),
) -> Callable {
    let long = Type::i64();
    let params = vec![Type::ptr(), Type::ptr(), long, long, long];
    let sig = Signature::new(params, Type::void());
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    let args = function.arguments().to_vec();
    let (to, from, len, period, shift) = (args[0], args[1], args[2], args[3], args[4]);
    let entry = function.entry();
    let [setup, header, step, done] = [(); 4].map(|()| function.add_block());
    let i = function.add_block_param(header, long);
    let edge = |block, args| Edge { block, args };

    let mut b = Builder::new(&mut function, entry);
    let zero = b.func.iconst(long, 0);
    let one = b.func.iconst(long, 1);
    let size = b.func.iconst(long, size);
    let end = b.add(shift, size);
    let fits = b.icmp(IntPred::Uge, len, end);
    b.branch(fits, edge(setup, vec![]), edge(done, vec![]));

    b.block = setup;
    let room = b.sub(len, end);
    let last = b.binary(crate::ir::BinaryOp::UDiv, room, period);
    let upwards = b.icmp(upwards, to, from);
    b.jump(header, vec![zero]);

    b.block = header;
    let mirrored = b.sub(last, i);
    let index = b.select(upwards, i, mirrored);
    let offset = b.mul(index, period);
    let to = b.element(to, offset, 1);
    let from = b.element(from, offset, 1);
    body(&mut b, to, from);
    b.jump(step, vec![]);

    b.block = step;
    let next = b.add(i, one);
    let more = b.icmp(IntPred::Ule, next, last);
    b.branch(more, edge(header, vec![next]), edge(done, vec![]));

    b.block = done;
    b.ret(None);
    (module.funcs.push(function), sig)
}

/// A range of a table for [`are_apart`]: its first byte and the one after its last, as integers.
pub type Bounds = [Value; 2];

/// Code for whether the ranges of each of these pairs have no byte in common, as a loop over a table:
/// many comparisons would be more code than what they decide about.
pub fn are_apart(
    module: &mut Module,
    b: &mut Builder<'_>,
    ranges: &[Bounds],
    pairs: &[[u16; 2]],
) -> Value {
    let (function, sig) = all_apart(module);
    let bytes = pairs.iter().flatten().flat_map(|i| i.to_le_bytes());
    let table = Constant::Address(Symbol::Global(constant(module, bytes.collect())), 0);
    let table = b.func.constant(Type::ptr(), table);
    let long = Type::i64();
    let words = b.func.iconst(long, 2 * ranges.len() as i128);
    let op = Op::Alloca { ty: long, align: 8 };
    let memory = b.value(op, vec![words], Type::ptr());
    for (i, &bound) in ranges.iter().flatten().enumerate() {
        let place = b.offset(memory, 8 * i as i64);
        b.store(bound, place, Access::aligned(8));
    }
    let count = b.func.iconst(long, pairs.len() as i128);
    match b.call(function, sig, vec![memory, table, count]) {
        Some(apart) => apart,
        None => unreachable!("it returns whether they are"),
    }
}

/// `all_apart(ranges, pairs, count)`, where at least one pair is to be compared.
fn all_apart(module: &mut Module) -> Callable {
    let long = Type::i64();
    let name = "zymase.all_apart";
    let sig = Signature::new(vec![Type::ptr(), Type::ptr(), long], Type::i1());
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    function.attrs.flags = FnFlags::INACTIVE
        | FnFlags::NOINLINE
        | FnFlags::NOUNWIND
        | FnFlags::WILLRETURN
        | FnFlags::NOFREE;
    let args = function.arguments().to_vec();
    let (ranges, pairs, count) = (args[0], args[1], args[2]);
    let entry = function.entry();
    let [header, step, done] = [(); 3].map(|()| function.add_block());
    let i = function.add_block_param(header, long);
    let answer = function.add_block_param(done, Type::i1());
    let edge = |block, args| Edge { block, args };

    let mut b = Builder::new(&mut function, entry);
    let [zero, one] = [0, 1].map(|n| b.func.iconst(long, n));
    let [no, yes] = [0, 1].map(|n| b.func.iconst(Type::i1(), n));
    b.jump(header, vec![zero]);

    b.block = header;
    let pair = b.element(pairs, i, 4);
    let [first, second] = [0, 2].map(|at| {
        let place = b.offset(pair, at);
        let index = b.load(Type::int(16), place, Access::aligned(1));
        let index = b.cast(CastOp::ZExt, index, long);
        let range = b.element(ranges, index, 16);
        [0, 8].map(|at| {
            let place = b.offset(range, at);
            b.load(long, place, Access::aligned(8))
        })
    });
    let below = b.icmp(IntPred::Ule, first[1], second[0]);
    let above = b.icmp(IntPred::Ule, second[1], first[0]);
    let apart = b.select(below, yes, above);
    b.branch(apart, edge(step, vec![]), edge(done, vec![no]));

    b.block = step;
    let next = b.add(i, one);
    let more = b.icmp(IntPred::Ult, next, count);
    b.branch(more, edge(header, vec![next]), edge(done, vec![yes]));

    b.block = done;
    b.ret(Some(answer));
    (module.funcs.push(function), sig)
}

/// An integer in another width, zero-extended or cut.
pub fn extend(builder: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    resize(builder, value, ty, CastOp::ZExt)
}

/// An integer in another width, sign-extended or cut.
pub fn sign_extend(builder: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    resize(builder, value, ty, CastOp::SExt)
}

fn resize(builder: &mut Builder<'_>, value: Value, ty: Type, wider: CastOp) -> Value {
    let from = builder.func.ty(value);
    let (Some(from_bits), Some(to_bits)) = (from.int_bits(), ty.int_bits()) else {
        return value;
    };
    if let Some(n) = builder.func.as_int(value) {
        let unsigned = n & ((1 << from_bits.min(126)) - 1);
        let n = if wider == CastOp::SExt { n } else { unsigned };
        return builder.func.iconst(ty, n);
    }
    match from_bits.cmp(&to_bits) {
        std::cmp::Ordering::Less => builder.cast(wider, value, ty),
        std::cmp::Ordering::Equal => value,
        std::cmp::Ordering::Greater => builder.cast(CastOp::Trunc, value, ty),
    }
}

/// The memory operation that zeroes `bytes` at a pointer.
pub fn zero_bytes(builder: &mut Builder<'_>, pointer: Value, bytes: Value) {
    let zero = builder.func.iconst(Type::int(8), 0);
    let op = Op::MemSet(Access::aligned(1));
    builder.effect(op, vec![pointer, zero, bytes]);
}

/// Stops the program because a call through a pointer reached a function that has no derivative;
/// `why` goes before the address.
pub fn stop(module: &mut Module, builder: &mut Builder<'_>, address: Value, why: &str) {
    let why = format!("cannot differentiate a call through a function pointer: {why}");
    stop_at(module, builder, address, &why);
}

/// Stops the program with a message that ends with an address.
pub fn stop_at(module: &mut Module, builder: &mut Builder<'_>, address: Value, why: &str) {
    let place = builder.loc.map(|loc| &module.locs[loc]);
    let place = place.map_or(String::new(), |loc| format!("{}:{}: ", loc.file, loc.line));
    let place = place.replace('%', "%%");
    let message = format!("zymase: {place}{why} %p\n\0");
    let message = constant_text(module, message);
    let (stop, sig) = stop_with(module);
    let message = Constant::Address(Symbol::Global(message), 0);
    let message = builder.func.constant(Type::ptr(), message);
    let call = Call {
        callee: Callee::Direct(stop),
        args: vec![ParamAttrs::default(); 2],
        sig,
        attrs: FnAttrs {
            flags: FnFlags::NORETURN,
            ..FnAttrs::default()
        },
        convention: 0,
    };
    builder.effect(Op::Call(Box::new(call)), vec![message, address]);
}

/// The product of two numbers that are not negative, or the largest number if that is less.
pub fn saturating_product(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    if let (Some(x), Some(y)) = (b.func.as_int(x), b.func.as_int(y)) {
        let product = x.saturating_mul(y).min(i64::MAX.into());
        return b.func.iconst(Type::i64(), product);
    }
    let wide = Type::int(128);
    let [x, y] = [x, y].map(|value| b.cast(CastOp::ZExt, value, wide));
    let product = b.mul(x, y);
    let most = b.func.iconst(wide, i64::MAX.into());
    let large = b.icmp(IntPred::Ugt, product, most);
    let product = b.select(large, most, product);
    b.cast(CastOp::Trunc, product, Type::i64())
}

/// A function that prints a message about an address on the error stream and aborts.
pub(crate) fn stop_with(module: &mut Module) -> Callable {
    let name = "zymase.stop";
    let sig = Signature::new(vec![Type::ptr(), Type::ptr()], Type::void());
    if let Some(func) = module.func_by_name(name) {
        return (func, sig);
    }
    let mut print_sig = Signature::new(vec![Type::int(32), Type::ptr()], Type::int(32));
    print_sig.variadic = true;
    let print = module.declare(Function::new("dprintf", print_sig.clone()));
    let abort_sig = Signature::new(Vec::new(), Type::void());
    let abort = module.declare(Function::new("abort", abort_sig.clone()));
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    function.attrs.flags = FnFlags::NORETURN | FnFlags::INACTIVE | FnFlags::NOINLINE;
    // The program ends there, so nobody sees what it does.
    function.attrs.memory = MemoryEffects {
        inaccessible: ModRef::all(),
        ..MemoryEffects::NONE
    };
    let (entry, args) = (function.entry(), function.arguments().to_vec());
    let mut b = Builder::new(&mut function, entry);
    let stream = b.func.iconst(Type::int(32), 2);
    b.call(print, print_sig, [vec![stream], args].concat());
    b.call(abort, abort_sig, Vec::new());
    b.effect(Op::Unreachable, Vec::new());
    (module.funcs.push(function), sig)
}

/// A constant variable with this text.
pub fn constant_text(module: &mut Module, text: String) -> Global {
    constant(module, text.into_bytes())
}

/// A constant variable with these bytes.
fn constant(module: &mut Module, bytes: Vec<u8>) -> Global {
    let init = Some(Initializer {
        bytes,
        ..Initializer::default()
    });
    let known = module.globals.iter().find(|(_, data)| data.init == init);
    if let Some((global, _)) = known.filter(|(_, data)| data.constant) {
        return global;
    }
    let size = init.as_ref().map_or(0, |init| init.bytes.len() as u64);
    module.globals.push(GlobalData {
        name: format!("zymase.constant.{}", module.globals.len()),
        size,
        align: 1,
        init,
        constant: true,
        thread_local: false,
        local: true,
        inactive: true,
        source: None,
        origin: None,
    })
}
