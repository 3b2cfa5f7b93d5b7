//! How many threads a product is worth, and running its parts.
//!
//! Threads are made for a product and end with it. That costs some ten microseconds each, so only
//! products get them that take much longer; there is no pool that a `fork` would break, and the parts
//! depend on nothing but the number of threads, so results do not change from run to run.

use alloc::vec::Vec;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicI64, Ordering};

/// How many threads the program has chosen: 0 stands for all cores, and less than that for the
/// environment's choice.
///
/// It is a variable, and other definitions may take its place: the crate `zymase` has one, so that
/// programs in Rust can write to it whether there are kernels or not. Programs in C refer to it by a
/// weak symbol.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static __zymase_threads_chosen: AtomicI64 = AtomicI64::new(-1);

/// How many threads products use at most.
#[unsafe(no_mangle)]
pub extern "C" fn __zymase_threads() -> i64 {
    let chosen = match __zymase_threads_chosen.load(Ordering::Relaxed) {
        chosen if chosen >= 0 => chosen,
        _ => of_environment(),
    };
    match chosen {
        0 => cores(),
        threads => threads.min(MOST),
    }
}

/// More threads than any machine has cores.
const MOST: i64 = 4096;

/// What `ZYMASE_THREADS` said when it was first asked for; one if there is no number.
fn of_environment() -> i64 {
    static SAID: AtomicI64 = AtomicI64::new(-1);
    let said = SAID.load(Ordering::Relaxed);
    if said >= 0 {
        return said;
    }
    // SAFETY: the name ends with a zero. Programs that change the environment while others read it
    // are wrong by the rules of C.
    let text = unsafe { libc::getenv(c"ZYMASE_THREADS".as_ptr()) };
    let said = match text.is_null() {
        true => None,
        // SAFETY: what `getenv` gives is text that ends with a zero.
        false => unsafe { CStr::from_ptr(text) }.to_str().ok(),
    };
    let said = said.and_then(|text| text.trim().parse::<u32>().ok());
    let said = said.map_or(1, i64::from);
    SAID.store(said, Ordering::Relaxed);
    said
}

/// How many cores there are for this process.
fn cores() -> i64 {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: a set of cores is bits, and zero is one; the call writes no more than its size.
        let count = unsafe {
            let mut set: libc::cpu_set_t = core::mem::zeroed();
            match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) {
                0 => libc::CPU_COUNT(&set),
                _ => 0,
            }
        };
        if count > 0 {
            return i64::from(count);
        }
    }
    // SAFETY: the call has no conditions.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    (online as i64).clamp(1, MOST)
}

/// How many products of numbers are worth a thread: about a tenth of a millisecond.
const WORTH: usize = 1 << 22;

/// Into how many rows and columns of parts a matrix of m × n is cut for a product of so much work.
/// Each part is for one thread, and they are as square as can be, because every thread reads its
/// rows and columns for itself.
pub fn grid(m: usize, n: usize, work: usize) -> (usize, usize) {
    let most = work / WORTH;
    if most < 2 {
        return (1, 1);
    }
    let threads = most.min(__zymase_threads() as usize);
    let fits = |rows: &usize| threads.is_multiple_of(*rows) && *rows <= m && threads / rows <= n;
    let rows = (1..=threads).filter(fits);
    let rows = rows.min_by_key(|rows| m.div_ceil(*rows) + n.div_ceil(threads / rows));
    rows.map_or((1, 1), |rows| (rows, threads / rows))
}

/// A part for a thread.
struct Job<'a> {
    part: &'a (dyn Fn(usize) + Sync),
    index: usize,
}

/// Calls a function with the numbers below `count`, each in a thread of its own. Where there are no
/// more threads to be had, this one does the work.
pub fn for_each(count: usize, part: &(dyn Fn(usize) + Sync)) {
    let (mut jobs, mut threads) = (Vec::new(), Vec::new());
    let is_there =
        jobs.try_reserve_exact(count).is_ok() && threads.try_reserve_exact(count).is_ok();
    if count == 1 || !is_there {
        return (0..count).for_each(part);
    }
    jobs.extend((0..count).map(|index| Job { part, index }));
    for job in &jobs[1..] {
        // SAFETY: zero is a handle as good as any until it is written; the job lives until the
        // thread has been waited for below, and `run` takes it for what it is.
        let thread = unsafe {
            let mut thread: libc::pthread_t = core::mem::zeroed();
            let job = core::ptr::from_ref(job).cast_mut().cast();
            match libc::pthread_create(&mut thread, core::ptr::null(), run, job) {
                0 => Some(thread),
                _ => None,
            }
        };
        threads.push(thread);
    }
    part(0);
    for (job, thread) in jobs[1..].iter().zip(threads) {
        match thread {
            // SAFETY: the thread was made above and is waited for once.
            Some(thread) => unsafe {
                libc::pthread_join(thread, core::ptr::null_mut());
            },
            None => part(job.index),
        }
    }
}

/// What a thread does.
extern "C" fn run(job: *mut c_void) -> *mut c_void {
    // SAFETY: `for_each` gives a job that lives until this thread ends.
    let job = unsafe { &*job.cast::<Job>() };
    (job.part)(job.index);
    core::ptr::null_mut()
}
