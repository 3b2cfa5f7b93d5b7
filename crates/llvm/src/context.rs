//! A context owns types, constants and metadata, and hears what LLVM has to say.

use crate::raw::take_message;
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

/// A context of LLVM. Clones are the same context; it lives as long as any of them and any module
/// in it.
#[derive(Clone)]
pub struct Context(Rc<Inner>);

struct Inner {
    raw: LLVMContextRef,
    /// Errors that LLVM reported through the diagnostic handler and nobody has taken yet. Boxed so
    /// that the address given to LLVM stays.
    errors: Box<RefCell<Vec<String>>>,
}

impl Default for Context {
    fn default() -> Context {
        Context::new()
    }
}

impl Context {
    /// A new context. Its errors become values of whatever is running; they never reach LLVM's own
    /// handler, which would end the process.
    pub fn new() -> Context {
        let errors = Box::new(RefCell::new(Vec::new()));
        // SAFETY: the handler gets the address of `errors`, which outlives the context.
        let raw = unsafe {
            let raw = LLVMContextCreate();
            let sink: *const RefCell<Vec<String>> = &*errors;
            LLVMContextSetDiagnosticHandler(raw, Some(collect), sink.cast_mut().cast());
            raw
        };
        Context(Rc::new(Inner { raw, errors }))
    }

    /// The handle of LLVM's C API.
    pub fn raw(&self) -> LLVMContextRef {
        self.0.raw
    }

    /// The errors reported since the last call, joined; none if there were none.
    pub fn take_errors(&self) -> Option<String> {
        let errors = std::mem::take(&mut *self.0.errors.borrow_mut());
        (!errors.is_empty()).then(|| errors.join("\n"))
    }

    /// Whether two handles are the same context.
    pub fn same_as(&self, other: &Context) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: modules hold a clone of the context, so none is left.
        unsafe { LLVMContextDispose(self.raw) }
    }
}

extern "C" fn collect(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: LLVM passes a live diagnostic and the address given at registration.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) == LLVMDiagnosticSeverity::LLVMDSError {
            let message = take_message(LLVMGetDiagInfoDescription(info));
            let sink: &RefCell<Vec<String>> = &*sink.cast();
            sink.borrow_mut().push(message);
        }
    }
}
