//! How many threads the kernels use that Zymase links with programs.
//!
//! Kernels are in a program only if it has use for them, and Rust cannot ask whether a symbol is
//! there. So it is a variable that is set, and it is here as well as in the kernels: theirs gives way
//! to this one (`crates/rt/src/threads.rs`).

use std::sync::atomic::{AtomicI64, Ordering};

/// The number; less than zero if none was set.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static __zymase_threads_chosen: AtomicI64 = AtomicI64::new(-1);

/// How many threads compute the products of matrices that Zymase has found in a program, if they are
/// large; 0 stands for all cores.
///
/// Without it, the environment says so in `ZYMASE_THREADS`, and else there is one. Threads change the
/// order in which numbers are added; the same number of threads gives the same bits.
pub fn set_threads(threads: usize) {
    let threads = i64::try_from(threads).unwrap_or(i64::MAX);
    __zymase_threads_chosen.store(threads, Ordering::Relaxed);
}
