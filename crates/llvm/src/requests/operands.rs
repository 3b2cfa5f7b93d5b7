//! Sees through what compilers put between a marker or function and the call that gets it.
//!
//! Without optimization, values travel through stack slots and casts; a slot that is stored to
//! once holds what was stored.

use super::grammar;
use super::parse::Word;
use super::types::core_type;
use crate::raw::value_name;
use llvm_sys::LLVMOpcode::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// How many casts and slots to look through.
const DEPTH: usize = 16;

/// What an argument of a request is.
///
/// # Safety
/// `value` is a live value.
pub unsafe fn word(value: LLVMValueRef) -> Word {
    // SAFETY: as the caller promises.
    unsafe {
        if let Some(global) = marker_global(value, DEPTH)
            && let Some(marker) = grammar::marker(&value_name(global))
        {
            return match marker {
                Ok(marker) => Word::Marker(marker),
                Err(name) => Word::Unknown(name),
            };
        }
        let integer = stored_constant(value);
        let small = !LLVMIsAConstantInt(integer).is_null()
            && LLVMGetIntTypeWidth(LLVMTypeOf(integer)) <= 64;
        Word::Value {
            ty: core_type(LLVMTypeOf(value)),
            constant: small.then(|| i128::from(LLVMConstIntGetSExtValue(integer))),
        }
    }
}

/// Whether a value is the float zero, written as a constant.
///
/// # Safety
/// `value` is a live value.
pub unsafe fn is_float_zero(value: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises.
    unsafe { !LLVMIsAConstantFP(value).is_null() && LLVMIsNull(value) != 0 }
}

/// The function that a value is, if that is known.
///
/// # Safety
/// `value` is a live value.
pub unsafe fn function(value: LLVMValueRef) -> Option<LLVMValueRef> {
    let mut value = value;
    // SAFETY: operands of live values are live.
    unsafe {
        for _ in 0..DEPTH {
            if !LLVMIsAFunction(value).is_null() {
                return Some(value);
            }
            value = if !LLVMIsAGlobalAlias(value).is_null() {
                LLVMAliasGetAliasee(value)
            } else {
                step(value)?
            };
        }
    }
    None
}

/// The text of a constant string that a value points to.
///
/// # Safety
/// `value` is a live value.
pub unsafe fn text(value: LLVMValueRef) -> Option<String> {
    let mut value = value;
    // SAFETY: operands of live values are live.
    unsafe {
        for _ in 0..DEPTH {
            if let Some(text) = super::registrations::string(value) {
                return Some(text);
            }
            value = step(value)?;
        }
    }
    None
}

/// The parameter of the surrounding function that a value is, if it is one.
///
/// # Safety
/// `value` is a live value.
pub unsafe fn parameter(value: LLVMValueRef) -> Option<LLVMValueRef> {
    let mut value = value;
    // SAFETY: operands of live values are live.
    unsafe {
        for _ in 0..DEPTH {
            if !LLVMIsAArgument(value).is_null() {
                return Some(value);
            }
            value = step(value)?;
        }
    }
    None
}

/// The global variable whose value or address this is.
unsafe fn marker_global(value: LLVMValueRef, depth: usize) -> Option<LLVMValueRef> {
    // SAFETY: operands of live values are live.
    unsafe {
        if depth == 0 {
            return None;
        }
        if !LLVMIsAGlobalVariable(value).is_null() {
            return Some(value);
        }
        if !LLVMIsALoadInst(value).is_null() {
            let source = LLVMGetOperand(value, 0);
            if !LLVMIsAGlobalVariable(source).is_null() {
                return Some(source);
            }
        }
        marker_global(step(value)?, depth - 1)
    }
}

/// What a value is without one cast or stack slot.
unsafe fn step(value: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: operands of live values are live.
    unsafe {
        let opcode = if !LLVMIsAConstantExpr(value).is_null() {
            LLVMGetConstOpcode(value)
        } else if !LLVMIsAInstruction(value).is_null() {
            LLVMGetInstructionOpcode(value)
        } else {
            return None;
        };
        match opcode {
            LLVMBitCast | LLVMAddrSpaceCast | LLVMPtrToInt | LLVMIntToPtr | LLVMTrunc
            | LLVMZExt | LLVMSExt | LLVMFreeze => Some(LLVMGetOperand(value, 0)),
            LLVMLoad => stored(LLVMGetOperand(value, 0)),
            _ => None,
        }
    }
}

/// What memory holds, if that is known: a constant variable, or a stack slot that is stored to
/// once and otherwise only loaded from.
unsafe fn stored(pointer: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: uses of live values are live.
    unsafe {
        if !LLVMIsAGlobalVariable(pointer).is_null() {
            let known = LLVMIsGlobalConstant(pointer) != 0 && LLVMIsDeclaration(pointer) == 0;
            return known.then(|| LLVMGetInitializer(pointer));
        }
        if LLVMIsAAllocaInst(pointer).is_null() {
            return None;
        }
        let mut found = None;
        let mut next = LLVMGetFirstUse(pointer);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            next = LLVMGetNextUse(next);
            match LLVMGetInstructionOpcode(user) {
                LLVMLoad => {}
                LLVMStore if LLVMGetOperand(user, 1) == pointer && found.is_none() => {
                    found = Some(LLVMGetOperand(user, 0));
                }
                LLVMCall if is_bookkeeping(user) => {}
                _ => return None,
            }
        }
        found
    }
}

/// Whether a call only tells about a variable: its lifetime, or debug information.
unsafe fn is_bookkeeping(call: LLVMValueRef) -> bool {
    // SAFETY: a call has a callee.
    let name = unsafe { value_name(LLVMGetCalledValue(call)) };
    name.starts_with("llvm.lifetime.") || name.starts_with("llvm.dbg.")
}

/// A value, or the constant that the stack slot it is loaded from holds.
unsafe fn stored_constant(value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: as above.
    unsafe {
        if LLVMIsALoadInst(value).is_null() {
            return value;
        }
        match stored(LLVMGetOperand(value, 0)) {
            Some(constant) if !LLVMIsAConstantInt(constant).is_null() => constant,
            _ => value,
        }
    }
}
