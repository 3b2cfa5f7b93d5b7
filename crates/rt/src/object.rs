//! What an object that is linked with any program has to bring along: memory from the C library,
//! and an end for panics. Nothing unwinds out of it.

use crate::memory;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

/// The C library's memory.
struct Memory;

// SAFETY: all of these give memory of that size and alignment, or fail.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= align_of::<libc::max_align_t>() {
            // SAFETY: the call has no conditions.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        if layout.align() <= memory::ALIGN {
            let reserved = memory::take(layout.size());
            if !reserved.is_null() {
                return reserved;
            }
        }
        let (mut memory, align) = (core::ptr::null_mut(), layout.align());
        // SAFETY: the alignment is a power of two and more than that of a pointer.
        match unsafe { libc::posix_memalign(&mut memory, align, layout.size()) } {
            0 => memory.cast(),
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: the memory is from one of these, and all of them are the C library's.
        unsafe { libc::free(memory.cast()) }
    }
}

#[global_allocator]
static MEMORY: Memory = Memory;

/// The kernels do not panic, except when there is no memory.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: the call has no conditions.
    unsafe { libc::abort() }
}
