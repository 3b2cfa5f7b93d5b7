//! Keeps the optimizer out of functions of the library that are known by their names.
//!
//! Clang gives bodies of library functions along for the optimizer alone (`available_externally`):
//! the native library has them too. Where the name says all that differentiation needs, the body
//! is in the way: its parts would be differentiated, other parts are in the native library only,
//! and memory that one makes the other frees. Without these bodies a program means the same to
//! Zymase at every level of optimization.

use super::{forget_body, keep_out_of_line};
use crate::module::Module;
use crate::raw::value_name;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use zymase_core::analysis::known;

/// Makes declarations of bodies that the library has too, and keeps those out of line that only
/// the program has.
pub(super) fn hide(private: &Module) {
    for function in private.functions().collect::<Vec<_>>() {
        // SAFETY: the functions of a live module are live until they are replaced.
        let (name, linkage, defined) = unsafe {
            let defined = LLVMIsDeclaration(function) == 0;
            (value_name(function), LLVMGetLinkage(function), defined)
        };
        if !defined {
            continue;
        }
        if known::is_opaque(&name) {
            keep_out_of_line(private, &name);
        }
        let inactive = || known::known_name(&name).is_some_and(|known| known.inactive);
        if linkage == LLVMLinkage::LLVMAvailableExternallyLinkage && inactive() {
            forget_body(private, &name);
        }
    }
}
