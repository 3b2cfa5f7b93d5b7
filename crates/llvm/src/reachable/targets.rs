//! The functions that calls through pointers may reach.

use crate::known;
use crate::ll;
use crate::module::{Module, blocks_of, instructions_of};
use crate::raw::{c_string, value_name};
use crate::requests::is_target_of_request;
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::HashSet;
use zymase_core::ir::FloatKind;

/// The attribute of a function whose address is taken somewhere in the program, though perhaps not
/// in the private module.
pub(crate) const ADDRESS_TAKEN: &str = "zymase-address-taken";

/// The types of the calls through pointers in a function.
pub(super) fn called_types(function: LLVMValueRef) -> HashSet<LLVMTypeRef> {
    let mut types = HashSet::new();
    // SAFETY: the caller has a live function.
    for block in unsafe { blocks_of(function) } {
        // SAFETY: its blocks are live.
        for inst in unsafe { instructions_of(block) } {
            if !ll::is_call(inst) && !ll::is_invoke(inst) {
                continue;
            }
            let callee = ll::called_value(inst);
            let named = ll::is_function(callee)
                || ll::is_global_alias(callee)
                || ll::is_inline_assembly(callee);
            if !named {
                types.insert(ll::called_type(inst));
            }
        }
    }
    types
}

/// Marks the functions of a module whose address something takes, before variables lose their
/// content.
pub(super) fn mark_address_taken(module: &Module) {
    let context = module.context().raw();
    for function in module.functions().filter(|&f| is_address_taken(f)) {
        if !value_name_of(function).starts_with("llvm.") {
            ll::set_string_attribute(context, function, ADDRESS_TAKEN, "");
        }
    }
}

/// Lets a constant refer to the marked functions, so that a linker does not leave them behind.
pub(super) fn hold_marked(module: &Module, tag: &str) {
    let functions = module.functions().filter(is_marked).collect();
    hold(module, functions, &format!("__zymase_taken_{tag}"));
}

/// Lets a constant of this name refer to some functions.
pub(super) fn hold(module: &Module, mut functions: Vec<LLVMValueRef>, name: &str) {
    // SAFETY: the content has the type of the constant; LLVM copies the list and the name.
    unsafe {
        let pointer = LLVMPointerTypeInContext(module.context().raw(), 0);
        let count = functions.len() as u64;
        let list = LLVMConstArray2(pointer, functions.as_mut_ptr(), count);
        let holder = LLVMAddGlobal(module.raw(), LLVMTypeOf(list), c_string(name).as_ptr());
        LLVMSetInitializer(holder, list);
        LLVMSetGlobalConstant(holder, 1);
    }
}

/// Takes all marks away.
pub(super) fn unmark(module: &Module) {
    let (key, len) = (ADDRESS_TAKEN.as_ptr().cast(), ADDRESS_TAKEN.len() as u32);
    for function in module.functions() {
        // SAFETY: the function is live; LLVM reads the length of the name that is given.
        unsafe { LLVMRemoveStringAttributeAtIndex(function, ll::FUNCTION_INDEX, key, len) };
    }
}

fn is_marked(function: &LLVMValueRef) -> bool {
    ll::string_attribute(*function, ADDRESS_TAKEN).is_some()
}

/// The names of the marked functions. The mark of a declaration is lost when its definition comes
/// from another module, so these are remembered.
pub(super) fn marked(module: &Module) -> impl Iterator<Item = String> {
    module.functions().filter(is_marked).map(value_name_of)
}

/// Whether anything but a call uses a function, itself or under another name, so that the address
/// may get somewhere. What is there for the compiler to keep does not count, nor does a request for
/// its derivative, nor memory that nobody reads: without optimization, every variable has some.
pub(crate) fn is_address_taken(symbol: LLVMValueRef) -> bool {
    let mut next = ll::first_use(symbol);
    while !next.is_null() {
        let user = ll::user(next);
        let called = (ll::is_call(user) || ll::is_invoke(user))
            && (ll::operand_use(user, ll::operand_count(user) - 1) == next
                || is_target_of_request(user, next))
            || is_stored_in_vain(user, symbol);
        let taken = match ll::is_global_alias(user) {
            true => is_address_taken(user),
            false => !called && !is_kept(user),
        };
        if taken {
            return true;
        }
        next = ll::next_use(next);
    }
    false
}

/// Whether a store puts a value into a slot of the stack that is never read.
fn is_stored_in_vain(store: LLVMValueRef, value: LLVMValueRef) -> bool {
    // SAFETY: operands and users of live values are live.
    unsafe {
        if LLVMIsAStoreInst(store).is_null() || LLVMGetOperand(store, 0) != value {
            return false;
        }
        let slot = LLVMGetOperand(store, 1);
        let mut next = ll::first_use(slot);
        let mut in_vain = !LLVMIsAAllocaInst(slot).is_null();
        while in_vain && !next.is_null() {
            let user = ll::user(next);
            in_vain &= !LLVMIsAStoreInst(user).is_null() && LLVMGetOperand(user, 1) == slot;
            next = ll::next_use(next);
        }
        in_vain
    }
}

/// Whether a constant is only the content of a list of symbols to keep.
fn is_kept(constant: LLVMValueRef) -> bool {
    let mut next = match ll::is_constant(constant) {
        true => ll::first_use(constant),
        false => return false,
    };
    let mut kept = !next.is_null();
    while !next.is_null() {
        let user = ll::user(next);
        // SAFETY: users of live values are live.
        let variable = unsafe { !LLVMIsAGlobalVariable(user).is_null() };
        kept &= variable && ["llvm.compiler.used", "llvm.used"].contains(&&*value_name_of(user));
        next = ll::next_use(next);
    }
    kept
}

/// Gives a function of the C library a body that calls it, if it has a derivative, so that calls
/// through pointers can be directed there; all that takes its address takes that of the new one.
pub(super) fn wrap(private: &Module, function: LLVMValueRef) -> Option<LLVMValueRef> {
    let name = value_name_of(function);
    let ty = ll::value_type(function);
    let kind = match ll::type_kind(ll::return_type(ty)) {
        LLVMFloatTypeKind => FloatKind::F32,
        LLVMDoubleTypeKind => FloatKind::F64,
        LLVMX86_FP80TypeKind => FloatKind::X86Fp80,
        LLVMFP128TypeKind => FloatKind::F128,
        _ => return None,
    };
    known::math_function(&name, kind)?;
    // SAFETY: the new function has the type of the old one, and passes on all it gets.
    unsafe {
        let wrapper = LLVMAddFunction(
            private.raw(),
            c_string(&format!("{name}{WRAPPER}")).as_ptr(),
            ty,
        );
        super::addresses::replace_address(function, wrapper);
        let context = private.context().raw();
        let entry = LLVMAppendBasicBlockInContext(context, wrapper, c"".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, entry);
        let count = LLVMCountParams(wrapper);
        let mut args: Vec<_> = (0..count).map(|i| LLVMGetParam(wrapper, i)).collect();
        let args = args.as_mut_ptr();
        let result = LLVMBuildCall2(builder, ty, function, args, count, c"".as_ptr());
        LLVMBuildRet(builder, result);
        LLVMDisposeBuilder(builder);
        Some(wrapper)
    }
}

/// What the name of a wrapper has behind that of the function it calls.
pub(super) const WRAPPER: &str = ".zymase.wrapper";

fn value_name_of(value: LLVMValueRef) -> String {
    // SAFETY: callers have live values.
    unsafe { value_name(value) }
}
