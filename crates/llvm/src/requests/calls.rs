//! Questions about calls of request functions and the functions they name.

use super::complaints as complain;
use super::grammar::{CallKind, call_kind, spoken_name};
use super::parse::Target;
use super::types::core_type;
use crate::raw::value_name;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use zymase_core::diagnostic::Result;
use zymase_core::ir::Type;

/// The calls and invokes of a function; any other use of a request function is an error.
///
/// # Safety
/// `function` is a live function.
pub unsafe fn calls_of(function: LLVMValueRef) -> Result<Vec<LLVMValueRef>> {
    // SAFETY: uses of a live function are live.
    unsafe {
        let mut calls = Vec::new();
        let mut next = LLVMGetFirstUse(function);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            next = LLVMGetNextUse(next);
            let is_call = !LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null();
            if !is_call || LLVMGetCalledValue(user) != function {
                return Err(complain::address_taken(&spoken_name(&value_name(function))));
            }
            calls.push(user);
        }
        // The uses of a function come last first.
        calls.reverse();
        Ok(calls)
    }
}

/// The function to differentiate, as the module declares it.
///
/// # Safety
/// `function` is a live function.
pub unsafe fn target(function: LLVMValueRef) -> Target {
    // SAFETY: the function is live.
    unsafe {
        let ty = LLVMGlobalGetValueType(function);
        let mut params = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, params.as_mut_ptr());
        Target {
            name: value_name(function),
            params: params.into_iter().map(|ty| core_type(ty)).collect(),
            ret: core_type(LLVMGetReturnType(ty)),
            sret: type_attribute(LLVMGetEnumAttributeAtIndex(function, 1, sret_kind())),
        }
    }
}

/// If the first argument of a call is memory for the result, the type of the result.
///
/// # Safety
/// `call` is a live call or invoke of `callee`.
pub unsafe fn sret_type(call: LLVMValueRef, callee: LLVMValueRef) -> Option<Type> {
    // SAFETY: both are live.
    unsafe {
        let at_call = LLVMGetCallSiteEnumAttribute(call, 1, sret_kind());
        type_attribute(at_call).or_else(|| {
            let declared = !LLVMIsAFunction(callee).is_null();
            declared.then(|| type_attribute(LLVMGetEnumAttributeAtIndex(callee, 1, sret_kind())))?
        })
    }
}

/// Whether a use of a function is the one by which a request names what to differentiate.
pub fn is_target_of_request(call: LLVMValueRef, operand: LLVMUseRef) -> bool {
    // SAFETY: the caller has a live call or invoke, and one of its operands.
    unsafe {
        let callee = LLVMGetCalledValue(call);
        let asks = matches!(
            call_kind(&value_name(callee)),
            Some(CallKind::Derivative(_))
        );
        let first = u32::from(asks && sret_type(call, callee).is_some());
        asks && LLVMGetOperandUse(call, first) == operand
    }
}

unsafe fn type_attribute(attribute: LLVMAttributeRef) -> Option<Type> {
    // SAFETY: an attribute with a type has a live type.
    (!attribute.is_null()).then(|| unsafe { core_type(LLVMGetTypeAttributeValue(attribute)) })
}

fn sret_kind() -> u32 {
    // SAFETY: LLVM reads four bytes.
    unsafe { LLVMGetEnumAttributeKindForName(c"sret".as_ptr(), 4) }
}
