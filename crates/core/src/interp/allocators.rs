//! Functions that allocate and free: those of C and C++ by name, Rust's by what their symbols stand for,
//! and others by their attributes.

use super::execute::{definite_int, pointer};
use super::externals::{Environment, Given};
use super::memory::{Memory, ObjectKind};
use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Val};
use crate::analysis::known::rust;
use crate::ir::{AllocInfo, AllocKind, Type};

/// The alignment of memory whose allocation does not say.
const DEFAULT_ALIGN: u64 = 16;

/// Calls an allocation function; none if the name and the attributes say nothing.
pub(super) fn call(
    env: &mut Environment<'_>,
    name: &str,
    args: &[Val],
) -> Result<Option<Option<Val>>, Trap> {
    let given = Given { name, args };
    let size = |i: usize| given.size(i);
    let address = |i: usize| given.address(i);
    let memory = &mut *env.memory;
    let mut heap = |size: u64, align: u64, zeroed: bool| {
        let new = memory.allocate(ObjectKind::Heap, size, align, zeroed)?;
        Ok::<_, Trap>(Some(Val::Ptr(new)))
    };
    let result = match rust::allocator(name).unwrap_or(name) {
        "malloc" | "_Znwm" | "_Znam" | "_ZnwmRKSt9nothrow_t" | "_ZnamRKSt9nothrow_t" => {
            heap(size(0)?, DEFAULT_ALIGN, false)?
        }
        "calloc" => heap(size(0)?.saturating_mul(size(1)?), DEFAULT_ALIGN, true)?,
        "aligned_alloc" | "memalign" => heap(size(1)?, size(0)?, false)?,
        "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" => heap(size(0)?, size(1)?, false)?,
        "__rust_alloc" => heap(size(0)?, size(1)?, false)?,
        "__rust_alloc_zeroed" => heap(size(0)?, size(1)?, true)?,
        "posix_memalign" => {
            let new = memory.allocate(ObjectKind::Heap, size(2)?, size(1)?, false)?;
            memory.store(Type::ptr(), address(0)?, &Val::Ptr(new))?;
            Some(Val::i32(0))
        }
        "realloc" => {
            let new = reallocate(memory, address(0)?, size(1)?, DEFAULT_ALIGN)?;
            Some(Val::Ptr(new))
        }
        "__rust_realloc" => {
            let new = reallocate(memory, address(0)?, size(3)?, size(2)?)?;
            Some(Val::Ptr(new))
        }
        "malloc_usable_size" => {
            let room = match address(0)? {
                Pointer::NULL => 0,
                old => memory.object_size(old).unwrap_or(0),
            };
            Some(Val::i64(room as i64))
        }
        "free"
        | "_ZdlPv"
        | "_ZdaPv"
        | "_ZdlPvm"
        | "_ZdaPvm"
        | "_ZdlPvSt11align_val_t"
        | "_ZdaPvSt11align_val_t"
        | "_ZdlPvmSt11align_val_t"
        | "_ZdaPvmSt11align_val_t"
        | "__rust_dealloc" => {
            memory.free(address(0)?)?;
            None
        }
        _ => match env.alloc {
            Some(info) => by_attributes(memory, info, args)?,
            None => return Ok(None),
        },
    };
    Ok(Some(result))
}

fn by_attributes(memory: &mut Memory, info: &AllocInfo, args: &[Val]) -> Result<Option<Val>, Trap> {
    let bad = || {
        Trap::new(
            TrapKind::BadCall,
            "too few arguments for an allocation function",
        )
    };
    let mut size = 1u64;
    for &index in &info.size_args {
        let arg = args.get(index as usize).ok_or_else(bad)?;
        let factor = definite_int(arg, "a size")?.unsigned();
        size = size.saturating_mul(u64::try_from(factor).unwrap_or(u64::MAX));
    }
    let old = match info.ptr_arg {
        Some(index) => {
            let arg = args.get(index as usize).ok_or_else(bad)?;
            pointer(arg, "an allocation function")?
        }
        None => Pointer::NULL,
    };
    Ok(match info.kind {
        AllocKind::Free => {
            memory.pop(&info.family, old)?;
            memory.free(old)?;
            None
        }
        _ if info.size_args.is_empty() => {
            return Err(Trap::unsupported("an allocation of unknown size"));
        }
        AllocKind::Alloc => {
            let new = memory.allocate(ObjectKind::Heap, size, DEFAULT_ALIGN, info.zeroed)?;
            memory.push(&info.family, new);
            Some(Val::Ptr(new))
        }
        AllocKind::Realloc => {
            let new = reallocate(memory, old, size, DEFAULT_ALIGN)?;
            Some(Val::Ptr(new))
        }
    })
}

/// New memory with the old content; the old memory is freed.
fn reallocate(memory: &mut Memory, old: Pointer, size: u64, align: u64) -> Result<Pointer, Trap> {
    let new = memory.allocate(ObjectKind::Heap, size, align, false)?;
    if old != Pointer::NULL {
        let kept = memory.object_size(old).unwrap_or(1).min(size);
        let mut bytes = Vec::new();
        memory.count_steps(kept / 8)?;
        memory.read(old, kept, 1, &mut bytes)?;
        memory.write(new, &bytes, 1)?;
        memory.free(old)?;
    }
    Ok(new)
}
