//! Runs compiled code in this process, with the just-in-time linker of LLVM.

use crate::raw::{Buffer, c_string};
use llvm_sys::error::{
    LLVMConsumeError, LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage,
};
use llvm_sys::orc2::lljit::*;
use llvm_sys::orc2::*;
use std::ffi::CStr;
use std::ptr::null_mut;
use zymase_core::diagnostic::{Diagnostic, Result};

/// Native code that is loaded into this process, for as long as this lives.
pub struct Jit(LLVMOrcLLJITRef);

impl Jit {
    /// Loads an object for this machine. What it does not define comes from this process, so the C
    /// library is there. A [`TargetMachine`](crate::TargetMachine) made the object, so the target
    /// is known to LLVM.
    pub fn load(object: &[u8]) -> Result<Jit> {
        let (mut raw, mut process) = (null_mut(), null_mut());
        // SAFETY: each handle is used only after the call that makes it has succeeded; the generator
        // and the buffer are consumed by what they are given to.
        unsafe {
            check(LLVMOrcCreateLLJIT(&mut raw, null_mut()))?;
            let jit = Jit(raw);
            let library = LLVMOrcLLJITGetMainJITDylib(raw);
            let prefix = LLVMOrcLLJITGetGlobalPrefix(raw);
            check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut process,
                prefix,
                None,
                null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(library, process);
            let buffer = Buffer::copy_of(object, "object");
            let consumed = buffer.0;
            std::mem::forget(buffer);
            check(LLVMOrcLLJITAddObjectFile(raw, library, consumed))?;
            Ok(jit)
        }
    }

    /// A function of the loaded code, as a function pointer of type `F`.
    ///
    /// # Safety
    /// `F` is the type of a function pointer with the C calling convention and the parameters and
    /// result of the function. The pointer must not be used after the `Jit` is dropped.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let mut address = 0;
        // SAFETY: the session is alive; the caller promises the type.
        unsafe {
            check(LLVMOrcLLJITLookup(
                self.0,
                &mut address,
                c_string(name).as_ptr(),
            ))?;
            let address = address as usize;
            Ok(std::mem::transmute_copy(&address))
        }
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: this is the only owner; nothing is to be done about an error now.
        unsafe {
            let error = LLVMOrcDisposeLLJIT(self.0);
            if !error.is_null() {
                LLVMConsumeError(error);
            }
        }
    }
}

/// The error as a value; it is consumed.
unsafe fn check(error: LLVMErrorRef) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: a message of an error is a string that is ours to dispose of.
    let reason = unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        text
    };
    Err(Diagnostic::defect("cannot load compiled code", reason))
}
