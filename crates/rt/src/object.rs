//! What an object that is linked with any program has to bring along: memory from the C library,
//! and an end for panics. Nothing unwinds out of it.

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

/// The C library's memory.
struct Memory;

// SAFETY: both calls give memory of that size and alignment, or fail.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= align_of::<libc::max_align_t>() {
            // SAFETY: the call has no conditions.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        let (mut memory, align) = (core::ptr::null_mut(), layout.align());
        // SAFETY: the alignment is a power of two and more than that of a pointer.
        match unsafe { libc::posix_memalign(&mut memory, align, layout.size()) } {
            0 => memory.cast(),
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: the memory is from one of both calls.
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
