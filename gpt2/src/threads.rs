//! Work on long tensors, divided among threads. Each number is computed as by one thread.

use std::sync::{Mutex, PoisonError};

/// How many numbers of a tensor are worth a part of their own: some tenths of a millisecond.
pub const PART: usize = 1 << 19;

/// Calls `work` with every part, on so many threads.
pub fn for_each<T: Send>(
    threads: usize,
    parts: impl Iterator<Item = T> + Send,
    work: impl Fn(T) + Sync,
) {
    if threads <= 1 {
        return parts.for_each(work);
    }
    let parts = Mutex::new(parts);
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || {
        while let Some(part) = next() {
            work(part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take);
        }
        take();
    });
}
