//! Lowers functions that allocate and do something else besides to an allocation and the rest.
//!
//! A reallocation allocates, copies and frees; `posix_memalign` allocates and stores the address.
//! Then shadows need to know of plain allocations only, and the
//! copies have derivatives like any other.
//!
//! How much a reallocation copies is what the old memory has room for, which the library of C tells.
//! It may tell more for the shadow than for the primal, or less; the walk that puts shadows beside
//! values takes the least, see [`Walk`](crate::shadow::Walk). In Rust the caller tells it.
//!
//! Before: any function. After: the same meaning, and none of these calls, except those that have
//! other types than the name promises, or are marked as no builtins. Invokes are left alone.

use crate::analysis::known::{self, rust};
use crate::ir::{
    Access, Builder, Callee, FnFlags, Func, Function, Inst, IntPred, Module, Op, Region, Signature,
    Type, Value,
};
use crate::support::{self, Callable};
use std::collections::HashMap;

/// Lowers the calls in one function; whether anything changed.
pub fn run(module: &mut Module, func: Func) -> bool {
    let mut replaced = HashMap::new();
    for block in module.funcs[func].blocks().to_vec() {
        let insts = module.funcs[func].block_insts(block).to_vec();
        let found = |&inst: &Inst| find(module, &module.funcs[func], inst);
        if !insts.iter().any(|inst| found(inst).is_some()) {
            continue;
        }
        let lowerings: Vec<_> = insts.iter().map(found).collect();
        module.funcs[func].set_block_insts(block, Vec::new());
        for (inst, lowering) in insts.into_iter().zip(lowerings) {
            let Some(lowering) = lowering else {
                module.funcs[func].attach_inst(block, inst);
                continue;
            };
            let callee = module.funcs[func].inst(inst).op.call().map(|c| c.callee);
            let library = Library::new(module, lowering, callee);
            let function = &mut module.funcs[func];
            let data = function.inst(inst).clone();
            let result = function.result(inst);
            let mut builder = Builder::new(function, block);
            builder.loc = data.loc;
            let flags = data.op.call().map(|call| call.attrs.flags);
            let own = flags.unwrap_or_default() & FnFlags::FREES_OWN;
            let value = lower(&mut builder, lowering, &library, &data.args, own);
            replaced.extend(result.zip(value));
        }
    }
    module.funcs[func].replace_uses(&replaced);
    !replaced.is_empty()
}

/// What becomes of a call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Lowering {
    /// Pointer, size.
    Realloc,
    /// Pointer, count, size of one.
    ReallocArray,
    /// Pointer, size until now, alignment, size.
    RustRealloc,
    /// Where the address goes, alignment, size.
    Memalign,
}

/// How an instruction is lowered, if it is.
fn find(module: &Module, function: &Function, inst: Inst) -> Option<Lowering> {
    let data = function.inst(inst);
    let Op::Call(call) = &data.op else {
        return None;
    };
    let callee = known::library_callee(module, call)?;
    let (ptr, long) = (Type::ptr(), Type::i64());
    let name = rust::allocator(&callee.name).unwrap_or(&callee.name);
    let (lowering, params, ret) = match name {
        "realloc" => (Lowering::Realloc, vec![ptr, long], ptr),
        "reallocarray" => (Lowering::ReallocArray, vec![ptr, long, long], ptr),
        "__rust_realloc" => (Lowering::RustRealloc, vec![ptr, long, long, long], ptr),
        "posix_memalign" => (Lowering::Memalign, vec![ptr, long, long], Type::int(32)),
        _ => return None,
    };
    (call.sig == Signature::new(params, ret)).then_some(lowering)
}

/// The functions that a lowering calls.
struct Library {
    allocate: Callable,
    free: Callable,
    /// How many bytes an allocation has.
    room: Callable,
}

impl Library {
    fn new(module: &mut Module, lowering: Lowering, callee: Option<Callee>) -> Library {
        let (allocate, free) = match (lowering, callee) {
            (Lowering::RustRealloc, Some(Callee::Direct(realloc))) => {
                support::rust_allocators(module, realloc)
            }
            (Lowering::Memalign, _) => (support::memalign(module), support::free(module, "free")),
            _ => (support::malloc(module), support::free(module, "free")),
        };
        Library {
            allocate,
            free,
            room: support::room(module),
        }
    }
}

/// Emits what a call is lowered to; gives what stands for its result.
fn lower(
    b: &mut Builder<'_>,
    lowering: Lowering,
    library: &Library,
    args: &[Value],
    own: FnFlags,
) -> Option<Value> {
    let call = |b: &mut Builder<'_>, callable: &Callable, args: Vec<Value>| {
        b.call(callable.0, callable.1.clone(), args)
    };
    match lowering {
        Lowering::Realloc | Lowering::ReallocArray | Lowering::RustRealloc => {
            let old = args[0];
            let (bytes, room) = match lowering {
                Lowering::ReallocArray => (b.mul(args[1], args[2]), None),
                Lowering::RustRealloc => (args[3], Some(args[1])),
                _ => (args[1], None),
            };
            let room = match room {
                Some(room) => room,
                None => call(b, &library.room, vec![old])?,
            };
            let (mut made, mut freed) = (vec![bytes], vec![old]);
            if lowering == Lowering::RustRealloc {
                made.push(args[2]);
                freed.extend(&args[1..3]);
            }
            let smaller = b.icmp(IntPred::Ult, room, bytes);
            let kept = b.select(smaller, room, bytes);
            // The old memory is copied and freed, so this is no way back to it.
            let (allocate, sig) = library.allocate.clone();
            let new = b.call_with(allocate, sig, made, FnFlags::MUST_SUCCEED)?;
            // Only tapes grow in derivatives.
            let access = Access {
                region: match own.contains(FnFlags::FREES_OWN) {
                    true => Region::Tape,
                    false => Region::User,
                },
                ..Access::aligned(1)
            };
            let copy = Op::MemCopy {
                overlapping: false,
                dst: access.clone(),
                src: access,
            };
            b.effect(copy, vec![new, old, kept]);
            let (free, sig) = library.free.clone();
            b.call_with(free, sig, freed, own);
            Some(new)
        }
        Lowering::Memalign => {
            let new = call(b, &library.allocate, vec![args[1], args[2]])?;
            b.store(new, args[0], Access::aligned(8));
            let null = b.func.zero(Type::ptr());
            let failed = b.icmp(IntPred::Eq, new, null);
            let success = b.func.iconst(Type::int(32), 0);
            let no_memory = b.func.iconst(Type::int(32), 12);
            Some(b.select(failed, no_memory, success))
        }
    }
}
