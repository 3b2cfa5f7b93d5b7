//! Functions without a body that are known by name: the small part of the C library that programs
//! under test use, and the way to the allocators and intrinsics.

use super::allocators;
use super::cmath;
use super::execute::{definite_int, pointer};
use super::intrinsics;
use super::math;
use super::memory::{Byte, Memory};
use super::printf;
use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Val};
use crate::ir::{AllocInfo, DataLayout, Flags, Type};

/// What an external function sees of the machine.
pub(super) struct Environment<'e> {
    pub layout: &'e DataLayout,
    pub memory: &'e mut Memory,
    pub output: &'e mut String,
    /// The type of the result that the call expects.
    pub ret: Type,
    /// The types of the arguments.
    pub types: &'e [Type],
    /// What the attributes of the function say of its allocating.
    pub alloc: Option<&'e AllocInfo>,
}

/// What a function by name is called with.
pub(super) struct Given<'a> {
    pub name: &'a str,
    pub args: &'a [Val],
}

impl<'a> Given<'a> {
    fn arg(&self, i: usize) -> Result<&'a Val, Trap> {
        let missing = || format!("too few arguments for {}", self.name);
        let arg = self.args.get(i);
        arg.ok_or_else(|| Trap::new(TrapKind::BadCall, missing()))
    }

    /// An argument that counts bytes.
    pub fn size(&self, i: usize) -> Result<u64, Trap> {
        let int = definite_int(self.arg(i)?, "a size")?.unsigned();
        Ok(u64::try_from(int).unwrap_or(u64::MAX))
    }

    /// An argument that is an address.
    pub fn address(&self, i: usize) -> Result<Pointer, Trap> {
        pointer(self.arg(i)?, self.name)
    }
}

/// Calls a function by name; none if the name is not known.
pub(super) fn call(
    env: &mut Environment<'_>,
    name: &str,
    args: &[Val],
) -> Result<Option<Option<Val>>, Trap> {
    let given = Given { name, args };
    let arg = |i: usize| given.arg(i);
    let size = |i: usize| given.size(i);
    let address = |i: usize| given.address(i);
    if let Some(result) = allocators::call(env, name, args)? {
        return Ok(Some(result));
    }
    if let Some(intrinsic) = name.strip_prefix("llvm.") {
        return intrinsics::call(env, intrinsic, args);
    }
    if let Some(function) = intrinsics::c_function(name, args) {
        return Ok(Some(Some(math::call(function, Flags::empty(), args)?)));
    }
    if let Some(result) = cmath::c_call(env, name, args)? {
        return Ok(Some(result));
    }
    let result = match name {
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
        "printf" => {
            let format = read_string(env.memory, address(0)?)?;
            let text = printf::format(env.memory, &format, &args[1..])?;
            env.memory.count_steps(text.len() as u64)?;
            env.memory.reserve(text.len() as u64)?;
            env.output.push_str(&text);
            Some(Val::i32(text.len() as i32))
        }
        // Advice, which changes nothing.
        "__zymase_use_large_pages" => None,
        "abort" | "exit" | "_exit" => {
            let message = format!("the program called {name}");
            return Err(Trap::new(TrapKind::Aborted, message));
        }
        _ => return Ok(None),
    };
    Ok(Some(result))
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
