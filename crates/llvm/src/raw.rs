//! Strings and buffers across the border.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::ffi::{CStr, CString, c_char};

/// A C string of `text`; what follows a zero byte is cut, since LLVM could not see it.
pub fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Copies a message that LLVM allocated, and frees it.
///
/// # Safety
/// `message` is null or was allocated by LLVM for the caller to dispose of.
pub unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a message is a zero-terminated string that belongs to the caller.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Copies a string given by its start and length.
///
/// # Safety
/// `start` is null or points to `len` bytes.
pub unsafe fn text(start: *const c_char, len: usize) -> String {
    // SAFETY: passed on.
    String::from_utf8_lossy(unsafe { bytes(start, len) }).into_owned()
}

/// The bytes at an address, for as long as LLVM keeps them.
///
/// # Safety
/// `start` is null or points to `len` bytes that live at least as long as the result is used.
pub unsafe fn bytes<'a>(start: *const c_char, len: usize) -> &'a [u8] {
    if start.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(start.cast(), len) }
}

/// The name of a value.
///
/// # Safety
/// `value` is a live value.
pub unsafe fn value_name(value: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: the name lives as long as the value does not change.
    unsafe {
        let start = LLVMGetValueName2(value, &mut len);
        text(start, len)
    }
}

/// A memory buffer of LLVM, freed when dropped.
pub struct Buffer(pub LLVMMemoryBufferRef);

impl Buffer {
    /// A copy of some bytes, under a name for messages.
    pub fn copy_of(bytes: &[u8], name: &str) -> Buffer {
        let name = c_string(name);
        // SAFETY: LLVM copies the bytes and the name.
        Buffer(unsafe {
            LLVMCreateMemoryBufferWithMemoryRangeCopy(
                bytes.as_ptr().cast(),
                bytes.len(),
                name.as_ptr(),
            )
        })
    }

    /// What is in it.
    pub fn to_vec(&self) -> Vec<u8> {
        // SAFETY: the buffer is alive and has this size.
        unsafe { bytes(LLVMGetBufferStart(self.0), LLVMGetBufferSize(self.0)).to_vec() }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: nothing else owns the buffer.
        unsafe { LLVMDisposeMemoryBuffer(self.0) }
    }
}
