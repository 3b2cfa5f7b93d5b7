//! What is reserved for the kernels is all that they ask for: in the object, they then never fail.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use zymase_rt::{__zymase_product_f32, __zymase_product_f64, memory};

/// The allocator of the object, which counts what was not reserved.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static UNEXPECTED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread computes a product. Others, such as that of the test runner, also ask for
    /// memory.
    static MULTIPLIES: Cell<bool> = const { Cell::new(false) };
}

/// Only the kernels ask for such alignments.
fn is_theirs(layout: &Layout) -> bool {
    (64..=memory::ALIGN).contains(&layout.align()) && MULTIPLIES.get()
}

// SAFETY: memory is from the system, or reserved, and goes back to where it is from.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_theirs(&layout) {
            let reserved = memory::take(layout.size());
            if !reserved.is_null() {
                TAKEN.fetch_add(1, Ordering::Relaxed);
                return reserved;
            }
            UNEXPECTED.fetch_add(1, Ordering::Relaxed);
            return memory::allocate(layout.size(), layout.align());
        }
        // SAFETY: the layout is the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match is_theirs(&layout) {
            // SAFETY: so it was made.
            true => unsafe { memory::release(memory) },
            // SAFETY: as before.
            false => unsafe { System.dealloc(memory, layout) },
        }
    }
}

#[global_allocator]
static MEMORY: Counting = Counting;

#[test]
fn what_is_reserved_is_enough() {
    MULTIPLIES.set(true);
    let sizes = [1, 2, 3, 7, 17, 48, 63, 64, 65, 130, 257, 700, 2100];
    let largest = 2100 * 700;
    let (a, b) = (vec![1f32; largest], vec![1f32; largest]);
    let (x, y) = (vec![1f64; largest], vec![1f64; largest]);
    let (mut c, mut z) = (vec![0f32; largest], vec![0f64; largest]);
    for (m, n, k) in sizes.iter().flat_map(|&m| {
        let rest = move |n| sizes.map(|k| (m, n, k));
        sizes.into_iter().flat_map(rest)
    }) {
        if m * n > largest || n * k > largest || m * k > largest || m * n * k > 1 << 25 {
            continue;
        }
        let [rows, columns, inner] = [m, n, k].map(|size| size as i64);
        for transposed in [false, true] {
            let distances = |rows: i64, columns: i64, size: i64| match transposed {
                false => (columns * size, size),
                true => (size, rows * size),
            };
            // SAFETY: these are matrices of these sizes.
            unsafe {
                let (a_i, a_k) = distances(rows, inner, 4);
                let (b_k, b_j) = distances(inner, columns, 4);
                let (c, a, b) = (c.as_mut_ptr(), a.as_ptr(), b.as_ptr());
                __zymase_product_f32(
                    rows,
                    columns,
                    inner,
                    c,
                    columns * 4,
                    4,
                    a,
                    a_i,
                    a_k,
                    b,
                    b_k,
                    b_j,
                    1.0,
                );
                let (z, x, y) = (z.as_mut_ptr(), x.as_ptr(), y.as_ptr());
                __zymase_product_f64(
                    rows,
                    columns,
                    inner,
                    z,
                    8,
                    rows * 8,
                    x,
                    a_i * 2,
                    a_k * 2,
                    y,
                    b_k * 2,
                    b_j * 2,
                    1.0,
                );
            }
        }
    }
    assert_eq!(
        UNEXPECTED.load(Ordering::Relaxed),
        0,
        "more than was reserved"
    );
    assert!(TAKEN.load(Ordering::Relaxed) > 0, "nothing was reserved");
}
