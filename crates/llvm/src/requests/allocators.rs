//! Allocators of the program's own: `{alloc, (void *)size, "-1,0", free}`.
//!
//! The shadow of memory that `alloc` returns comes from `alloc` too, with the same arguments. What
//! frees it is called with what the string lists: -1 is the memory, and other numbers are positions
//! of arguments of the allocation. The same in an annotation of `alloc` is
//! `enzyme_allocation_like=size;-1,0;free`.
//!
//! Before: a module of LLVM with registrations. After [`mark`]: the functions are allocation
//! functions to core, whose bodies nobody looks into.

use super::complaints as complain;
use super::places::place_of_variable;
use super::registrations::string;
use crate::module::Module;
use crate::raw::value_name;
use llvm_sys::LLVMTypeKind::{LLVMIntegerTypeKind, LLVMPointerTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use zymase_core::analysis::known;
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_core::ir::{self, AllocInfo, AllocKind, Freed};

/// What is registered about a function that allocates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocator {
    /// The position of the argument with the size in bytes.
    pub size: u32,
    /// What the function takes that frees: positions of arguments of the allocation, and the memory.
    pub args: Vec<Option<u32>>,
    /// The name of the function that frees.
    pub free: String,
}

/// What a variable registers: the name of the function that allocates, and what is said of it.
///
/// # Safety
/// `variable` is a live global variable with an initializer, called `by`.
pub(super) unsafe fn registered(variable: LLVMValueRef, by: &str) -> Result<(String, Allocator)> {
    // SAFETY: the operands of a live constant are live.
    let read = unsafe {
        let list = LLVMGetInitializer(variable);
        let is_list =
            !LLVMIsAConstantArray(list).is_null() || !LLVMIsAConstantStruct(list).is_null();
        let count = match is_list {
            true => LLVMGetNumOperands(list).max(0) as u32,
            false => 0,
        };
        let entries: Vec<_> = (0..count).map(|i| LLVMGetOperand(list, i)).collect();
        read(&entries, by)
    };
    read.map_err(|mut complaint: Box<Diagnostic>| {
        // SAFETY: as the caller promises.
        complaint.places = unsafe { place_of_variable(variable) }.into_iter().collect();
        complaint
    })
}

unsafe fn read(entries: &[LLVMValueRef], by: &str) -> Result<(String, Allocator)> {
    let malformed = || complain::malformed_allocator(by);
    // SAFETY: the entries are live.
    unsafe {
        let [alloc, size, rest @ ..] = entries else {
            return Err(malformed());
        };
        if LLVMIsAFunction(*alloc).is_null() {
            return Err(malformed());
        }
        let about = value_name(*alloc);
        let free = rest
            .get(1)
            .filter(|&&free| !LLVMIsAFunction(free).is_null());
        let Some(&free) = free else {
            return Err(
                match rest.get(1).is_none_or(|&free| LLVMIsNull(free) != 0) {
                    true => complain::allocator_without_free(by, &about),
                    false => malformed(),
                },
            );
        };
        let size = integer(*size).ok_or_else(malformed)?;
        let list = string(rest[0]).ok_or_else(malformed)?;
        if rest.len() != 2 {
            return Err(malformed());
        }
        Ok((about, check(*alloc, free, size, &list, by)?))
    }
}

/// What an annotation of a function that allocates says.
///
/// # Safety
/// `alloc` is a live symbol of the module.
pub(super) unsafe fn annotated(
    module: &Module,
    alloc: LLVMValueRef,
    by: &str,
) -> Result<Allocator> {
    let malformed = || complain::malformed_allocator(by);
    let value = by.split_once('=').map_or("", |(_, value)| value.trim());
    let parts: Vec<&str> = value.split(';').map(str::trim).collect();
    // SAFETY: as the caller promises.
    unsafe {
        if LLVMIsAFunction(alloc).is_null() {
            return Err(malformed());
        }
        let [size, list, free] = parts[..] else {
            return Err(match parts.len() {
                0..3 => complain::allocator_without_free(by, &value_name(alloc)),
                _ => malformed(),
            });
        };
        let size = size.parse().map_err(|_| malformed())?;
        match module.function(free) {
            Some(free) => check(alloc, free, size, list, by),
            None => Err(complain::missing_part(by, free)),
        }
    }
}

/// The number in an entry of an array of pointers.
unsafe fn integer(entry: LLVMValueRef) -> Option<i64> {
    // SAFETY: the entry is a live constant.
    unsafe {
        if LLVMIsAConstantPointerNull(entry) == entry {
            return Some(0);
        }
        let cast = !LLVMIsAConstantExpr(entry).is_null();
        let number = match cast && LLVMGetNumOperands(entry) == 1 {
            true => LLVMGetOperand(entry, 0),
            false => entry,
        };
        let known = !LLVMIsAConstantInt(number).is_null();
        known.then(|| LLVMConstIntGetSExtValue(number))
    }
}

/// The types of the functions must fit what is said of them.
unsafe fn check(
    alloc: LLVMValueRef,
    free: LLVMValueRef,
    size: i64,
    list: &str,
    by: &str,
) -> Result<Allocator> {
    // SAFETY: the functions are live, and LLVM fills in as many types as it counts.
    let (about, name, params, taken, returns) = unsafe {
        let params = |function| {
            let ty = LLVMGlobalGetValueType(function);
            let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
            LLVMGetParamTypes(ty, types.as_mut_ptr());
            types
        };
        let result = LLVMGetReturnType(LLVMGlobalGetValueType(alloc));
        let returns = LLVMGetTypeKind(result) == LLVMPointerTypeKind;
        let (about, name) = (value_name(alloc), value_name(free));
        (about, name, params(alloc), params(free), returns)
    };
    if !returns {
        return Err(complain::malformed_allocator(by));
    }
    let at = |position: i64| usize::try_from(position).ok().and_then(|p| params.get(p));
    let count = params.len();
    let no_size = |what: &str| complain::allocator_without_size(by, &about, size, what);
    // SAFETY: types live as long as their context.
    let is_integer = |ty: &LLVMTypeRef| unsafe { LLVMGetTypeKind(*ty) == LLVMIntegerTypeKind };
    match at(size) {
        None => return Err(no_size(&format!("`{about}` takes {count} arguments"))),
        Some(ty) if !is_integer(ty) => return Err(no_size("it is no integer")),
        Some(_) => {}
    }
    let wrong = |what: String| complain::wrong_free(by, &about, &name, &what);
    let words: Vec<&str> = list.split(',').map(str::trim).collect();
    if words.len() != taken.len() {
        let (given, takes) = (words.len(), taken.len());
        return Err(wrong(format!(
            "it takes {takes} arguments, and \"{list}\" lists {given}"
        )));
    }
    let mut args = Vec::new();
    for (word, &wanted) in words.iter().zip(&taken) {
        let Ok(index) = word.parse::<i64>() else {
            return Err(wrong(format!(
                "`{word}` in \"{list}\" is no position of an argument"
            )));
        };
        // SAFETY: as before.
        let is_pointer = unsafe { LLVMGetTypeKind(wanted) == LLVMPointerTypeKind };
        let fits = match index {
            -1 => is_pointer,
            _ => match at(index) {
                None => {
                    let takes = format!("`{about}` takes {count} arguments");
                    return Err(wrong(format!("{takes}, and \"{list}\" asks for {index}")));
                }
                Some(&ty) => ty == wanted,
            },
        };
        if !fits {
            let position = args.len();
            let what =
                format!("{word} in \"{list}\" has another type than its argument {position}");
            return Err(wrong(what));
        }
        args.push(u32::try_from(index).ok());
    }
    if args.iter().filter(|arg| arg.is_none()).count() != 1 {
        return Err(wrong(format!(
            "\"{list}\" does not say once where the memory goes, with -1"
        )));
    }
    Ok(Allocator {
        size: size as u32,
        args,
        free: name,
    })
}

/// Marks the functions in a module of core, where derivatives need them.
pub(super) fn mark(module: &mut ir::Module, about: &str, allocator: &Allocator) {
    let functions = (
        module.func_by_name(about),
        module.func_by_name(&allocator.free),
    );
    let (Some(alloc), Some(free)) = functions else {
        return;
    };
    let pointer = allocator.args.iter().position(Option::is_none);
    let frees = AllocInfo {
        kind: AllocKind::Free,
        zeroed: false,
        family: allocator.free.clone(),
        size_args: Vec::new(),
        ptr_arg: pointer.map(|position| position as u32),
        freed: None,
    };
    let known = known::allocation(&module.funcs[free]);
    let frees = known
        .filter(|known| known.ptr_arg == frees.ptr_arg)
        .unwrap_or(frees);
    module.funcs[alloc].attrs.alloc = Some(AllocInfo {
        kind: AllocKind::Alloc,
        zeroed: false,
        family: frees.family.clone(),
        size_args: vec![allocator.size],
        ptr_arg: None,
        freed: Some(Freed {
            by: allocator.free.clone(),
            args: allocator.args.clone(),
        }),
    });
    module.funcs[free].attrs.alloc = Some(frees);
}
