//! Makes the addresses of functions those of the program's own.
//!
//! The private module has clones. Calls go to them, but a pointer to a function must be the same
//! wherever it was made, or comparing it would say something else in a derivative than outside. So
//! when the derivatives exist, everything that is not a call refers to the original instead.

use super::targets::{WRAPPER, is_address_taken};
use super::{Isolated, is_local, set_name};
use crate::ll;
use crate::module::Module;
use crate::raw::{c_string, value_name};
use llvm_sys::LLVMLinkage::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

impl Isolated {
    /// Replaces the addresses of clones by those of the functions they were cloned from.
    pub fn restore_addresses(&mut self, program: &Module) {
        self.resolve_aliases();
        for name in &self.clones {
            let Some(clone) = self.private.function(name).filter(|&f| is_address_taken(f)) else {
                continue;
            };
            let symbol = name.strip_suffix(WRAPPER).unwrap_or(name);
            set_name(clone, &format!("{symbol}.zymase.clone"));
            let ty = ll::value_type(clone);
            // SAFETY: the original has the type of its clone; names are read during the call only.
            unsafe {
                let known = self.private.function(symbol);
                let original = known.unwrap_or_else(|| {
                    LLVMAddFunction(self.private.raw(), c_string(symbol).as_ptr(), ty)
                });
                replace_address(clone, original);
                let own = program.function(symbol);
                match own.filter(|&own| LLVMIsDeclaration(own) == 0) {
                    Some(own) if is_local(own) => {
                        self.promoted.push((own, LLVMGetLinkage(own)));
                        LLVMSetLinkage(own, LLVMExternalLinkage);
                    }
                    None if self.shared.contains(symbol) => self.forward(original, clone),
                    _ => {}
                }
            }
        }
    }

    /// A function of which every file has a copy, and the file that takes its address perhaps none
    /// that the linker can see: one more copy does no harm.
    unsafe fn forward(&self, original: LLVMValueRef, clone: LLVMValueRef) {
        // SAFETY: both are live functions of one type, the original without a body.
        unsafe {
            let context = self.private.context().raw();
            let entry = LLVMAppendBasicBlockInContext(context, original, c"".as_ptr());
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderAtEnd(builder, entry);
            let (ty, count) = (ll::value_type(clone), LLVMCountParams(clone));
            let mut args: Vec<_> = (0..count).map(|i| LLVMGetParam(original, i)).collect();
            let args = args.as_mut_ptr();
            let result = LLVMBuildCall2(builder, ty, clone, args, count, c"".as_ptr());
            match ll::type_kind(ll::return_type(ty)) {
                llvm_sys::LLVMTypeKind::LLVMVoidTypeKind => LLVMBuildRetVoid(builder),
                _ => LLVMBuildRet(builder, result),
            };
            LLVMDisposeBuilder(builder);
            LLVMSetLinkage(original, LLVMLinkOnceODRLinkage);
        }
    }

    /// Uses of another name become uses of the function, whose address is the same.
    fn resolve_aliases(&self) {
        let aliases: Vec<LLVMValueRef> = self.private.aliases().collect();
        for alias in aliases {
            let aliasee = ll::aliasee(alias);
            if ll::is_function(aliasee) && is_local(alias) {
                // SAFETY: nothing uses the alias when its uses are replaced.
                unsafe {
                    LLVMReplaceAllUsesWith(alias, aliasee);
                    LLVMDeleteGlobal(alias);
                }
            }
        }
    }
}

/// Lets all that uses a function, except direct calls of it, use another.
pub(super) unsafe fn replace_address(function: LLVMValueRef, other: LLVMValueRef) {
    let mut calls = Vec::new();
    let mut next = ll::first_use(function);
    while !next.is_null() {
        let user = ll::user(next);
        let last = match ll::is_call(user) || ll::is_invoke(user) {
            true => ll::operand_count(user).checked_sub(1),
            false => None,
        };
        calls.extend(
            last.filter(|&at| ll::operand_use(user, at) == next)
                .map(|at| (user, at)),
        );
        next = ll::next_use(next);
    }
    // SAFETY: the caller has two live functions of one type; operands stay where they are.
    unsafe {
        LLVMReplaceAllUsesWith(function, other);
        for (call, position) in calls {
            LLVMSetOperand(call, position, function);
        }
    }
}

/// The names of the functions that a module defines, and of those that every file may have its own
/// copy of.
pub(super) fn definitions(private: &Module) -> (Vec<String>, Vec<String>) {
    let (mut all, mut shared) = (Vec::new(), Vec::new());
    for function in private.functions() {
        // SAFETY: the functions of a live module are live.
        unsafe {
            if LLVMIsDeclaration(function) != 0 {
                continue;
            }
            let name = value_name(function);
            match LLVMGetLinkage(function) {
                LLVMLinkOnceODRLinkage | LLVMWeakODRLinkage => shared.push(name.clone()),
                _ => {}
            }
            all.push(name);
        }
    }
    (all, shared)
}
