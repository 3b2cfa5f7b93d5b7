//! The kernels that programs with derivatives may be linked with.
//!
//! Zymase turns loops that are products of matrices into calls of the functions here, if they are
//! there: its objects refer to them by weak symbols and have loops for the case that nobody defines
//! these. The driver of Zymase carries this crate as one object and adds it to links that refer to
//! it (`crates/cli/build.rs`, `crates/cli/src/driver/ld/kernels.rs`).
//!
//! That object is linked with programs in any language, also with those in Rust, which have a
//! standard library of their own. So this crate does without: there is less to collide, the object
//! is small, and nothing is done behind the back of the program, such as looking for the sizes of
//! caches in the file system. The object is made with `--cfg zymase_object`; as a library the crate
//! is for its tests.

#![no_std]

extern crate alloc;

mod kernel;
#[doc(hidden)]
pub mod memory;
#[cfg(zymase_object)]
mod object;
mod product;
mod threads;

use product::{Operand, Product};

pub use threads::{__zymase_threads, __zymase_threads_chosen};

/// out\[i,j\] += scale · Σ a\[i,k\] b\[k,j\], for `f32`.
///
/// Distances are in bytes and may be of any sign; those of `a` and `b` may be zero. Sizes of zero or
/// less mean that there is nothing to do.
///
/// # Safety
///
/// All elements of `a` and `b` can be read, and all of `out` read and written. Those of `out` are
/// different from each other and from all of `a` and `b`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __zymase_product_f32(
    m: i64,
    n: i64,
    k: i64,
    out: *mut f32,
    out_i: i64,
    out_j: i64,
    a: *const f32,
    a_i: i64,
    a_k: i64,
    b: *const f32,
    b_k: i64,
    b_j: i64,
    scale: f32,
) {
    let out = Operand::new(out, out_i, out_j);
    let (a, b) = (Operand::new(a, a_i, a_k), Operand::new(b, b_k, b_j));
    // SAFETY: the caller's promise is that of `add`.
    unsafe { Product::new([m, n, k], out, a, b, scale).add() }
}

/// out\[i,j\] += scale · Σ a\[i,k\] b\[k,j\], for `f64`; see [`__zymase_product_f32`].
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __zymase_product_f64(
    m: i64,
    n: i64,
    k: i64,
    out: *mut f64,
    out_i: i64,
    out_j: i64,
    a: *const f64,
    a_i: i64,
    a_k: i64,
    b: *const f64,
    b_k: i64,
    b_j: i64,
    scale: f64,
) {
    let out = Operand::new(out, out_i, out_j);
    let (a, b) = (Operand::new(a, a_i, a_k), Operand::new(b, b_k, b_j));
    // SAFETY: the caller's promise is that of `add`.
    unsafe { Product::new([m, n, k], out, a, b, scale).add() }
}
