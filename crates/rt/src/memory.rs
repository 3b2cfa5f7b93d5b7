//! Memory for the kernels, asked for before they begin.
//!
//! The kernels pack parts of matrices into buffers of their own, and stop the program where there is
//! no memory for these. So the buffers are reserved first, and a product for which that fails is
//! computed by plain loops. What is reserved waits in a place of the thread; the allocator of the
//! object ([`take`]) hands it out when the kernels ask for it.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernels ask for no more than this alignment.
pub const ALIGN: usize = 128;

/// A block that nobody has taken yet, or null, and its size.
type Block = (Cell<*mut u8>, usize);

/// Calls a function that allocates no more than one block of each of these sizes; says whether there
/// was memory for that. If there is none, nothing is called.
pub fn with_reserved(sizes: [usize; 2], run: impl FnOnce()) -> bool {
    let blocks = sizes.map(|size| (Cell::new(allocate(size, ALIGN)), size));
    let is_there = blocks.iter().all(|(memory, _)| !memory.get().is_null());
    if is_there {
        let key = key();
        keep(key, &blocks);
        run();
        keep(key, null_mut());
    }
    for (memory, _) in &blocks {
        // SAFETY: what was not taken is still ours.
        unsafe { release(memory.get()) };
    }
    is_there
}

/// A block that this thread has reserved and that is large enough, aligned to [`ALIGN`]; null if there
/// is none. It is freed by [`release`].
pub fn take(size: usize) -> *mut u8 {
    let Some(key) = key() else {
        return null_mut();
    };
    // SAFETY: the key is never deleted. What it leads to is null or lives until `with_reserved` sets it
    // to null, in this thread.
    let blocks = unsafe { libc::pthread_getspecific(key).cast::<[Block; 2]>().as_ref() };
    let fits = |(memory, has): &&Block| !memory.get().is_null() && *has >= size;
    let fitting = blocks.into_iter().flatten().filter(fits);
    let smallest = fitting.min_by_key(|(_, has)| *has);
    smallest.map_or(null_mut(), |(memory, _)| memory.replace(null_mut()))
}

/// Memory with an alignment, or null. The C library's own `posix_memalign` frees what it cuts off by
/// itself, and such a piece stays in the heap and keeps it from becoming smaller; so the address of the
/// memory is kept in front of what is aligned.
pub fn allocate(size: usize, align: usize) -> *mut u8 {
    let align = align.max(align_of::<*mut u8>());
    let more = align + size_of::<*mut u8>();
    let Some(whole) = size.checked_add(more) else {
        return null_mut();
    };
    // SAFETY: the call has no conditions.
    let start: *mut u8 = unsafe { libc::malloc(whole) }.cast();
    if start.is_null() {
        return null_mut();
    }
    let after = start.wrapping_add(size_of::<*mut u8>());
    let aligned = after.wrapping_add(after.align_offset(align));
    // SAFETY: there is room for an address in front of the memory, and it is aligned like that.
    unsafe { aligned.cast::<*mut u8>().sub(1).write(start) };
    aligned
}

/// Frees what [`allocate`] has made, or nothing for null.
///
/// # Safety
///
/// Nobody uses the memory any more.
pub unsafe fn release(memory: *mut u8) {
    if !memory.is_null() {
        // SAFETY: the address of the memory is in front of it.
        unsafe { libc::free(memory.cast::<*mut u8>().sub(1).read().cast()) };
    }
}

/// Sets the place of the thread. Without one, the kernels allocate for themselves.
fn keep(key: Option<libc::pthread_key_t>, blocks: *const [Block; 2]) {
    if let Some(key) = key {
        // SAFETY: the key is never deleted.
        unsafe { libc::pthread_setspecific(key, blocks.cast::<c_void>()) };
    }
}

/// The key of the places of threads, if the system has one left.
fn key() -> Option<libc::pthread_key_t> {
    /// One more than the key; zero as long as there is none.
    static KEY: AtomicU64 = AtomicU64::new(0);
    let known = |made: u64| Some((made - 1) as libc::pthread_key_t);
    let made = KEY.load(Ordering::Acquire);
    if made != 0 {
        return known(made);
    }
    let mut key = 0;
    // SAFETY: the call writes the key. There is nothing to be done when a thread ends.
    if unsafe { libc::pthread_key_create(&mut key, None) } != 0 {
        return None;
    }
    let new = u64::from(key) + 1;
    match KEY.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => known(new),
        Err(made) => {
            // Another thread was faster.
            // SAFETY: nobody has used the key.
            unsafe { libc::pthread_key_delete(key) };
            known(made)
        }
    }
}
