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
        if is_usual(layout) {
            // SAFETY: the call has no conditions.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        if layout.align() <= memory::ALIGN {
            let reserved = memory::take(layout.size());
            if !reserved.is_null() {
                return reserved;
            }
        }
        memory::allocate(layout.size(), layout.align())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match is_usual(layout) {
            // SAFETY: the memory is from `malloc`.
            true => unsafe { libc::free(memory.cast()) },
            // SAFETY: the memory is from `allocate`, as is what was reserved.
            false => unsafe { memory::release(memory) },
        }
    }
}

/// Whether memory of the C library has the alignment.
fn is_usual(layout: Layout) -> bool {
    layout.align() <= align_of::<libc::max_align_t>()
}

#[global_allocator]
static MEMORY: Memory = Memory;

/// The kernels do not panic, except when there is no memory.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: the call has no conditions.
    unsafe { libc::abort() }
}
