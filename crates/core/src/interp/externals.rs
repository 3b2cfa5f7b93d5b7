//! Functions without a body that are known by name: the C and C++ allocators and the small part
//! of the C library that programs under test use.

use super::execute::{definite_int, pointer};
use super::memory::{Byte, Memory, ObjectKind};
use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Val};
use crate::ir::{DataLayout, Type};

/// What an external function sees of the machine.
pub(super) struct Environment<'e> {
    pub layout: &'e DataLayout,
    pub memory: &'e mut Memory,
    pub output: &'e mut String,
    /// The type of the result that the call expects.
    pub ret: Type,
    /// The types of the arguments.
    pub types: &'e [Type],
}

/// The alignment of memory that `malloc` returns.
const MALLOC_ALIGN: u64 = 16;

/// Calls a function by name; none if the name is not known.
pub(super) fn call(
    env: &mut Environment<'_>,
    name: &str,
    args: &[Val],
) -> Result<Option<Option<Val>>, Trap> {
    let arg = |i: usize| {
        let missing = || Trap::new(TrapKind::BadCall, format!("too few arguments for {name}"));
        args.get(i).ok_or_else(missing)
    };
    let size = |i: usize| {
        let int = definite_int(arg(i)?, "a size")?.unsigned();
        Ok::<u64, Trap>(u64::try_from(int).unwrap_or(u64::MAX))
    };
    let address = |i: usize| pointer(arg(i)?, name);
    let heap = |env: &mut Environment<'_>, size: u64, align: u64, zeroed: bool| {
        let new = env.memory.allocate(ObjectKind::Heap, size, align, zeroed)?;
        Ok::<_, Trap>(Some(Val::Ptr(new)))
    };
    let result = match name {
        "malloc" | "_Znwm" | "_Znam" | "_ZnwmRKSt9nothrow_t" | "_ZnamRKSt9nothrow_t" => {
            heap(env, size(0)?, MALLOC_ALIGN, false)?
        }
        "calloc" => heap(env, size(0)?.saturating_mul(size(1)?), MALLOC_ALIGN, true)?,
        "aligned_alloc" | "memalign" => heap(env, size(1)?, size(0)?, false)?,
        "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" => heap(env, size(0)?, size(1)?, false)?,
        "posix_memalign" => {
            let new = env
                .memory
                .allocate(ObjectKind::Heap, size(2)?, size(1)?, false)?;
            env.memory.store(Type::ptr(), address(0)?, &Val::Ptr(new))?;
            Some(Val::i32(0))
        }
        "realloc" => Some(Val::Ptr(reallocate(env.memory, address(0)?, size(1)?)?)),
        "free"
        | "_ZdlPv"
        | "_ZdaPv"
        | "_ZdlPvm"
        | "_ZdaPvm"
        | "_ZdlPvSt11align_val_t"
        | "_ZdaPvSt11align_val_t"
        | "_ZdlPvmSt11align_val_t"
        | "_ZdaPvmSt11align_val_t" => {
            env.memory.free(address(0)?)?;
            None
        }
        "memcpy" | "memmove" => {
            let overlapping = name == "memmove";
            let (to, from, len) = (address(0)?, address(1)?, size(2)?);
            env.memory.copy(to, from, len.into(), overlapping, 1, 1)?;
            Some(arg(0)?.clone())
        }
        "memset" => {
            env.memory.fill(address(0)?, arg(1)?, size(2)?.into(), 1)?;
            Some(arg(0)?.clone())
        }
        "memcmp" | "bcmp" => {
            let x = read_plain(env.memory, address(0)?, size(2)?)?;
            let y = read_plain(env.memory, address(1)?, size(2)?)?;
            Some(Val::i32(x.cmp(&y) as i32))
        }
        "strlen" => Some(Val::i64(read_string(env.memory, address(0)?)?.len() as i64)),
        "puts" => {
            let text = read_string(env.memory, address(0)?)?;
            env.output.push_str(&String::from_utf8_lossy(&text));
            env.output.push('\n');
            Some(Val::i32(0))
        }
        "putchar" => {
            env.output.push(char::from(size(0)? as u8));
            Some(arg(0)?.clone())
        }
        "abort" | "exit" | "_exit" => {
            let message = format!("the program called {name}");
            return Err(Trap::new(TrapKind::Aborted, message));
        }
        _ => return Ok(None),
    };
    Ok(Some(result))
}

fn reallocate(memory: &mut Memory, old: Pointer, size: u64) -> Result<Pointer, Trap> {
    let new = memory.allocate(ObjectKind::Heap, size, MALLOC_ALIGN, false)?;
    if old != Pointer::NULL {
        let kept = memory.object_size(old).unwrap_or(0).min(size);
        let mut bytes = Vec::new();
        memory.count_steps(kept / 8)?;
        memory.read(old, kept, 1, &mut bytes)?;
        memory.write(new, &bytes, 1)?;
        memory.free(old)?;
    }
    Ok(new)
}

/// Bytes that must have been written.
fn read_plain(memory: &mut Memory, at: Pointer, len: u64) -> Result<Vec<u8>, Trap> {
    memory.locate(at, len, 1, "read")?;
    memory.count_steps(len / 8)?;
    let mut bytes: Vec<Byte> = Vec::new();
    memory.read(at, len, 1, &mut bytes)?;
    if bytes.iter().any(|b| b.tag == super::Tag::Poison) {
        return Err(Trap::poison("a read of memory that was never written"));
    }
    Ok(bytes.iter().map(|byte| byte.value).collect())
}

/// The bytes before the first zero.
pub(super) fn read_string(memory: &mut Memory, at: Pointer) -> Result<Vec<u8>, Trap> {
    let mut text = Vec::new();
    loop {
        memory.count_steps(1)?;
        match read_plain(memory, at.offset(text.len() as i64), 1)?.first() {
            Some(0) | None => return Ok(text),
            Some(&byte) => text.push(byte),
        }
    }
}
