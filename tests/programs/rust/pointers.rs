// Unsafe code: raw pointers, uninitialized memory, get_unchecked, unions of floats, allocation by
// hand.
include!("check.rs");

use std::alloc::{Layout, alloc, dealloc};
use std::mem::MaybeUninit;
use std::ptr;

fn raw(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    let (mut at, end) = (x.as_ptr(), x.as_ptr_range().end);
    while at != end {
        // SAFETY: the pointer is inside the slice.
        unsafe {
            sum = sum * 0.5 + *at * *x.get_unchecked(0);
            at = at.add(1);
        }
    }
    sum
}

fn uninitialized(x: &[f64]) -> f64 {
    let mut squares = [const { MaybeUninit::<f64>::uninit() }; 5];
    for (slot, a) in squares.iter_mut().zip(x) {
        slot.write(a * a);
    }
    // SAFETY: all five are written.
    let squares = squares.map(|slot| unsafe { slot.assume_init() });
    let mut v: Vec<f64> = Vec::with_capacity(5);
    for (i, slot) in v.spare_capacity_mut().iter_mut().enumerate().take(5) {
        slot.write(squares[4 - i] * x[i]);
    }
    // SAFETY: as above.
    unsafe { v.set_len(5) };
    v.iter().sum()
}

/// A vector by hand.
struct Buffer {
    start: *mut f64,
    layout: Layout,
}

impl Buffer {
    fn new(x: &[f64]) -> Buffer {
        let layout = Layout::array::<f64>(x.len()).unwrap();
        // SAFETY: the layout is not empty, and the memory is written before it is read.
        unsafe {
            let start = alloc(layout).cast::<f64>();
            ptr::copy_nonoverlapping(x.as_ptr(), start, x.len());
            Buffer { start, layout }
        }
    }

    fn as_mut(&mut self) -> &mut [f64] {
        // SAFETY: the memory is ours.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size() / 8) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.cast(), self.layout) };
    }
}

fn by_hand(x: &[f64]) -> f64 {
    let mut buffer = Buffer::new(x);
    let all = buffer.as_mut();
    // SAFETY: both are inside.
    unsafe { ptr::swap(&raw mut all[0], &raw mut all[3]) };
    all[1] *= all[0];
    all.iter().enumerate().map(|(i, a)| a * a * i as f64).sum()
}

fn leaked(x: &[f64]) -> f64 {
    let boxed = Box::into_raw(Box::new([x[0], x[1] * x[2]]));
    // SAFETY: it comes from a box, and is put back into one.
    let back = unsafe {
        (*boxed)[0] *= x[3];
        Box::from_raw(boxed)
    };
    let mut v = std::mem::ManuallyDrop::new(x.to_vec());
    // SAFETY: the parts are those of the vector, which is not used any more.
    let v = unsafe { Vec::from_raw_parts(v.as_mut_ptr(), v.len(), v.capacity()) };
    back[0] * back[1] + v.iter().map(|a| a.cos()).product::<f64>()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("pointers: raw", raw, x);
    check!("pointers: uninitialized", uninitialized, x);
    check!("pointers: by hand", by_hand, x);
    check!("pointers: leaked", leaked, x);
}
