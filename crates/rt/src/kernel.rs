//! The kernels of the crates gemm-f32 and gemm-f64, chosen for the processor that the program runs
//! on.
//!
//! The crates choose by themselves only with the standard library. What they choose from is public,
//! and so is the way to ask the processor.

use crate::memory;
use core::ops::{Add, Mul};
use gemm_common::Parallelism;
use gemm_common::cache::{CACHE_INFO, KernelParams, kernel_params};
use gemm_common::gemm::gemm_basic_generic;
use gemm_common::simd::Scalar;
#[cfg(target_arch = "x86_64")]
use gemm_common::simd::{V3, V4};

/// Whether the kernels can run here. They choose the sizes of blocks by those of the caches, and
/// stop the program where a virtual machine says that there are none, or some that hold no block.
pub fn can_run() -> bool {
    let [first, second, third] = CACHE_INFO.map(|cache| cache.cache_bytes);
    let least = 1 << 18;
    second >= least && second / 2 >= first && (third == 0 || third >= least)
}

/// A matrix of numbers: its address, and the distances of rows and columns in elements.
pub type Matrix<T> = (*mut T, (isize, isize));

/// The instructions that kernels use, with a token where it takes proof that the processor has them.
#[derive(Copy, Clone)]
pub enum Level {
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    V4(V4),
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    V3(V3),
    /// What every processor of this kind has.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// One number after the other.
    #[cfg_attr(target_arch = "aarch64", allow(dead_code))]
    Scalar,
}

impl Level {
    /// The best that there is here.
    fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = V4::try_new() {
            return Level::V4(simd);
        } else if let Some(simd) = V3::try_new() {
            return Level::V3(simd);
        }
        #[cfg(target_arch = "aarch64")]
        return Level::Neon;
        #[cfg(not(target_arch = "aarch64"))]
        Level::Scalar
    }
}

/// A number that there are kernels for.
pub trait Number: Copy + Sync + Add<Output = Self> + Mul<Output = Self> {
    /// Zero.
    const ZERO: Self;

    /// out += scale · a b by the kernels of one level; the sizes are m, n and k. Says whether there was
    /// memory for that; if not, nothing has been done.
    ///
    /// # Safety
    ///
    /// All elements of `a` and `b` can be read, and all of `out` read and written. Those of `out`
    /// are different from each other and from all of `a` and `b`.
    unsafe fn add_product_at(
        level: Level,
        sizes: [usize; 3],
        out: Matrix<Self>,
        a: Matrix<Self>,
        b: Matrix<Self>,
        scale: Self,
    ) -> bool;

    /// out += scale · a b by the best kernels that there are here. Says whether there was memory for
    /// that; if not, nothing has been done.
    ///
    /// # Safety
    ///
    /// As for [`Number::add_product_at`].
    unsafe fn add_product(
        sizes: [usize; 3],
        out: Matrix<Self>,
        a: Matrix<Self>,
        b: Matrix<Self>,
        scale: Self,
    ) -> bool {
        // SAFETY: this is the promise of the caller.
        unsafe { Self::add_product_at(Level::best(), sizes, out, a, b, scale) }
    }
}

/// Calls the kernels of one module with a token that the processor has what they need.
macro_rules! add_product {
    ($kernels:path, $number:ty, $lanes:expr, $simd:expr, $sizes:ident, $out:ident, $a:ident, $b:ident, $scale:ident) => {{
        use $kernels::{H_M, H_N, H_UKR, MR_DIV_N, NR, UKR};
        let [m, n, k] = $sizes;
        let (out, (out_row, out_column)) = $out;
        let (a, (a_row, a_column)) = $a;
        let (b, (b_row, b_column)) = $b;
        let buffers = buffers([m, n, k], MR_DIV_N * $lanes, NR, size_of::<$number>());
        // SAFETY: the token is proof that the processor has these instructions; the elements are
        // those that the caller has promised.
        memory::with_reserved(buffers, || unsafe {
            gemm_basic_generic::<
                _,
                $number,
                { $lanes },
                { MR_DIV_N * $lanes },
                NR,
                MR_DIV_N,
                H_M,
                H_N,
            >(
                $simd,
                m,
                n,
                k,
                out,
                out_column,
                out_row,
                true,
                a,
                a_column,
                a_row,
                b,
                b_column,
                b_row,
                1.0,
                $scale,
                false,
                false,
                false,
                |a, b, c| a * b + c,
                &UKR,
                &H_UKR,
                false,
                Parallelism::None,
            );
        })
    }};
}

/// How much memory the kernels ask for at most, in their two buffers: one for packed matrices and one
/// for the part of `a` that stays in the cache.
fn buffers([m, n, k]: [usize; 3], rows: usize, columns: usize, size: usize) -> [usize; 2] {
    let KernelParams { kc, mc, nc } = match m <= 64 && n <= 64 {
        true => {
            let kc = k.clamp(1, 512);
            let mc = CACHE_INFO[1].cache_bytes / size / kc / rows * rows;
            let nc = n.next_multiple_of(columns);
            KernelParams { kc, mc, nc }
        }
        false => kernel_params(m, n, k, rows, columns, size),
    };
    let nc = if nc > 0 { nc } else { 128 * columns };
    let bytes = |numbers: usize| numbers.saturating_mul(kc).saturating_mul(size);
    let packed =
        bytes(nc.next_multiple_of(columns)).saturating_add(bytes(m.next_multiple_of(rows)));
    [packed, bytes(mc)].map(|bytes| bytes.saturating_add(2 * memory::ALIGN))
}

/// The kernels for a type, with the numbers of its elements in vectors of 64, 32 and 16 bytes.
macro_rules! number {
    ($number:ident, $crate_of_kernels:ident, $v4:expr, $v3:expr, $neon:expr) => {
        impl Number for $number {
            const ZERO: $number = 0.0;

            unsafe fn add_product_at(
                level: Level,
                sizes: [usize; 3],
                out: Matrix<$number>,
                a: Matrix<$number>,
                b: Matrix<$number>,
                scale: $number,
            ) -> bool {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    Level::V4(simd) => {
                        use $crate_of_kernels::microkernel::avx512f;
                        add_product!(
                            avx512f::$number,
                            $number,
                            $v4,
                            simd,
                            sizes,
                            out,
                            a,
                            b,
                            scale
                        )
                    }
                    #[cfg(target_arch = "x86_64")]
                    Level::V3(simd) => {
                        use $crate_of_kernels::microkernel::fma;
                        add_product!(fma::$number, $number, $v3, simd, sizes, out, a, b, scale)
                    }
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => {
                        use $crate_of_kernels::microkernel::neon;
                        add_product!(
                            neon::$number,
                            $number,
                            $neon,
                            Scalar,
                            sizes,
                            out,
                            a,
                            b,
                            scale
                        )
                    }
                    Level::Scalar => {
                        use $crate_of_kernels::microkernel::scalar;
                        add_product!(scalar::$number, $number, 1, Scalar, sizes, out, a, b, scale)
                    }
                }
            }
        }
    };
}

number!(f32, gemm_f32, 16, 8, 4);
number!(f64, gemm_f64, 8, 4, 2);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The other tests see only the best kernels for the machine that they run on.
    #[test]
    fn every_level() {
        for level in levels() {
            for (m, n, k) in [(1, 1, 1), (3, 5, 7), (16, 8, 2), (70, 1, 33), (65, 67, 130)] {
                for transposed in [false, true] {
                    check::<f32>(level, [m, n, k], transposed, |x| x as f32);
                    check::<f64>(level, [m, n, k], transposed, f64::from);
                }
            }
        }
    }

    fn levels() -> Vec<Level> {
        #[allow(unused_mut)]
        let mut levels = alloc::vec![Level::Scalar];
        #[cfg(target_arch = "x86_64")]
        levels.extend(V3::try_new().map(Level::V3));
        #[cfg(target_arch = "x86_64")]
        levels.extend(V4::try_new().map(Level::V4));
        #[cfg(target_arch = "aarch64")]
        levels.push(Level::Neon);
        levels
    }

    /// Numbers that are exact, so that sums are the same in any order.
    fn check<T: Number + PartialEq + core::fmt::Debug>(
        level: Level,
        [m, n, k]: [usize; 3],
        transposed: bool,
        number: fn(i16) -> T,
    ) {
        let fill = |size: usize, step: usize| -> Vec<T> {
            (0..size)
                .map(|i| number((i * step % 7) as i16 - 3))
                .collect()
        };
        let (mut a, mut b, mut out) = (fill(m * k, 3), fill(k * n, 5), fill(m * n, 1));
        let scale = number(if transposed { 1 } else { -2 });
        let mut expected = out.clone();
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            for l in 0..k {
                let a = if transposed {
                    a[l * m + i]
                } else {
                    a[i * k + l]
                };
                expected[j * m + i] = expected[j * m + i] + scale * a * b[j * k + l];
            }
        }
        let a_distances = if transposed {
            (1, m as isize)
        } else {
            (k as isize, 1)
        };
        // SAFETY: these are matrices of m × k, k × n and m × n.
        unsafe {
            let out = (out.as_mut_ptr(), (1, m as isize));
            let (a, b) = (
                (a.as_mut_ptr(), a_distances),
                (b.as_mut_ptr(), (1, k as isize)),
            );
            assert!(T::add_product_at(level, [m, n, k], out, a, b, scale));
        }
        assert!(out == expected, "{m} {n} {k} {transposed}");
    }
}
