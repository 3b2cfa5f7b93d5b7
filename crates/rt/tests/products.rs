//! Products of random shapes and layouts, against plain loops in `f64`.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use zymase_rt::{__zymase_product_f32, __zymase_product_f64, __zymase_threads};

/// The number of threads is one for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn set_threads(threads: i64) {
    zymase_rt::__zymase_threads_chosen.store(threads, Ordering::Relaxed);
}

/// A number that there are products of.
trait Number: Copy + PartialEq + std::fmt::Debug {
    const SIZE: i64;
    const EPSILON: f64;
    fn rounded(value: f64) -> Self;
    fn to(self) -> f64;
    #[expect(clippy::too_many_arguments)]
    unsafe fn product(
        m: i64,
        n: i64,
        k: i64,
        out: *mut Self,
        out_distances: (i64, i64),
        a: *const Self,
        a_distances: (i64, i64),
        b: *const Self,
        b_distances: (i64, i64),
        scale: Self,
    );
}

macro_rules! number {
    ($number:ty, $product:ident) => {
        impl Number for $number {
            const SIZE: i64 = size_of::<$number>() as i64;
            const EPSILON: f64 = <$number>::EPSILON as f64;
            fn rounded(value: f64) -> Self {
                value as $number
            }
            fn to(self) -> f64 {
                self.into()
            }
            unsafe fn product(
                m: i64,
                n: i64,
                k: i64,
                out: *mut Self,
                (out_i, out_j): (i64, i64),
                a: *const Self,
                (a_i, a_k): (i64, i64),
                b: *const Self,
                (b_k, b_j): (i64, i64),
                scale: Self,
            ) {
                // SAFETY: this is the promise of the caller.
                unsafe { $product(m, n, k, out, out_i, out_j, a, a_i, a_k, b, b_k, b_j, scale) }
            }
        }
    };
}

number!(f32, __zymase_product_f32);
number!(f64, __zymase_product_f64);

/// A matrix somewhere in bytes.
#[derive(Clone, Debug)]
struct Matrix {
    bytes: Vec<u64>,
    start: i64,
    row: i64,
    column: i64,
}

impl Matrix {
    /// Memory for a matrix with these distances, that begins so many bytes after what is aligned.
    fn new(rows: i64, columns: i64, row: i64, column: i64, shift: i64, size: i64) -> Matrix {
        let (down, right) = (row * (rows - 1).max(0), column * (columns - 1).max(0));
        let before = (-down.min(0) - right.min(0) + 7) / 8 * 8;
        let after = down.max(0) + right.max(0) + size + shift;
        Matrix {
            bytes: vec![0; ((before + after + 7) / 8) as usize],
            start: before + shift,
            row,
            column,
        }
    }

    fn distances(&self) -> (i64, i64) {
        (self.row, self.column)
    }

    fn start<T>(&mut self) -> *mut T {
        self.at(0, 0)
    }

    fn at<T>(&mut self, i: i64, j: i64) -> *mut T {
        let offset = self.start + i * self.row + j * self.column;
        let end = offset as usize + size_of::<T>();
        assert!(offset >= 0 && end <= self.bytes.len() * 8);
        self.bytes
            .as_mut_ptr()
            .wrapping_byte_offset(offset as isize)
            .cast()
    }

    fn get<T: Number>(&mut self, i: i64, j: i64) -> T {
        // SAFETY: `at` has checked that the element is in the memory.
        unsafe { self.at::<T>(i, j).read_unaligned() }
    }

    fn fill<T: Number>(&mut self, rows: i64, columns: i64, random: &mut fastrand::Rng) {
        for i in 0..rows {
            for j in 0..columns {
                let value = T::rounded(random.f64() * 2.0 - 1.0);
                // SAFETY: as in `get`.
                unsafe { self.at::<T>(i, j).write_unaligned(value) };
            }
        }
    }
}

/// A layout: dense or with gaps, transposed or not, one direction backwards, off the grid.
fn layout(rows: i64, columns: i64, size: i64, input: bool, random: &mut fastrand::Rng) -> Matrix {
    let gap = match random.u8(0..6) {
        0 => random.i64(1..4) * size,
        1 => random.i64(1..2 * size),
        _ => 0,
    };
    let inner = match random.u8(0..8) {
        0 => 2 * size,
        1 => size + random.i64(1..size),
        _ => size,
    };
    let (rows_inside, inside) = match random.bool() {
        true => (true, rows),
        false => (false, columns),
    };
    let outer = inner * inside.max(1) + gap;
    let (mut row, mut column) = if rows_inside {
        (inner, outer)
    } else {
        (outer, inner)
    };
    for distance in [&mut row, &mut column] {
        match random.u8(0..8) {
            0 => *distance = -*distance,
            1 if input => *distance = 0,
            _ => {}
        }
    }
    let shift = match random.u8(0..6) {
        0 => random.i64(1..8),
        1 => size,
        _ => 0,
    };
    Matrix::new(rows, columns, row, column, shift, size)
}

/// Computes a product in both ways and compares it, also what lies between the elements.
fn check<T: Number>([m, n, k]: [i64; 3], random: &mut fastrand::Rng, what: &str) {
    let mut a = layout(m, k, T::SIZE, true, random);
    let mut b = layout(k, n, T::SIZE, true, random);
    let mut out = layout(m, n, T::SIZE, false, random);
    a.fill::<T>(m, k, random);
    b.fill::<T>(k, n, random);
    out.fill::<T>(m, n, random);
    let mut expected = out.clone();
    let scale = T::rounded([1.0, -1.0, 0.5, random.f64()][random.usize(..4)]);
    // SAFETY: all elements are in the memory of their matrix, and `layout` gives those of `out`
    // different places.
    unsafe {
        let (to, distances) = (out.start(), out.distances());
        let (x, y) = ((a.start(), a.distances()), (b.start(), b.distances()));
        T::product(m, n, k, to, distances, x.0, x.1, y.0, y.1, scale);
    }
    for i in 0..m {
        for j in 0..n {
            let (mut sum, mut size) = (expected.get::<T>(i, j).to(), 1.0);
            for l in 0..k {
                let term = scale.to() * a.get::<T>(i, l).to() * b.get::<T>(l, j).to();
                (sum, size) = (sum + term, size + term.abs());
            }
            let found: T = out.get(i, j);
            // As far as sums in any order can be from each other.
            let far = (found.to() - sum).abs() > (k as f64 + 4.0) * T::EPSILON * size;
            assert!(
                !far,
                "{what}: {found:?} instead of {sum} at {i}, {j}\n{m} {n} {k}"
            );
            // SAFETY: as in `get`.
            unsafe { expected.at::<T>(i, j).write_unaligned(found) };
        }
    }
    assert_eq!(
        out.bytes, expected.bytes,
        "{what}: something else is changed"
    );
}

fn random_shapes<T: Number>(
    rounds: u64,
    threads: &[i64],
    size: impl Fn(&mut fastrand::Rng) -> i64,
) {
    let _alone = ALONE.lock();
    let first = fastrand::u64(..);
    for round in 0..rounds {
        let seed = first.wrapping_add(round);
        let mut random = fastrand::Rng::with_seed(seed);
        let threads = threads[round as usize % threads.len()];
        set_threads(threads);
        let sizes = [size(&mut random), size(&mut random), size(&mut random)];
        check::<T>(
            sizes,
            &mut random,
            &format!("seed {seed}, {threads} threads"),
        );
    }
}

fn small(random: &mut fastrand::Rng) -> i64 {
    match random.u8(0..10) {
        0 => random.i64(-1..2),
        1..6 => random.i64(1..9),
        _ => random.i64(1..70),
    }
}

/// Large enough for several threads most of the time.
fn large(random: &mut fastrand::Rng) -> i64 {
    match random.u8(0..8) {
        0 => random.i64(1..9),
        _ => random.i64(200..420),
    }
}

#[test]
fn small_products() {
    random_shapes::<f32>(1500, &[1, 2, 3], small);
    random_shapes::<f64>(1500, &[1, 2, 3], small);
}

#[test]
fn large_products() {
    random_shapes::<f32>(9, &[1, 2, 3], large);
    random_shapes::<f64>(9, &[1, 2, 3], large);
}

#[test]
fn an_operand_may_be_both_factors() {
    let _alone = ALONE.lock();
    set_threads(1);
    let n = 37;
    let a: Vec<f64> = (0..n * n).map(|i| (i % 11) as f64 - 5.0).collect();
    let mut out = vec![0.0; n * n];
    let (row, size) = (n as i64 * 8, n as i64);
    let (at, to) = (a.as_ptr(), out.as_mut_ptr());
    // SAFETY: all are matrices of n × n.
    unsafe { __zymase_product_f64(size, size, size, to, row, 8, at, 8, row, at, row, 8, 1.0) };
    for i in 0..n {
        for j in 0..n {
            let sum: f64 = (0..n).map(|k| a[k * n + i] * a[k * n + j]).sum();
            assert_eq!(out[i * n + j], sum);
        }
    }
}

#[test]
fn the_same_threads_give_the_same_bits() {
    let _alone = ALONE.lock();
    let n = 350;
    let mut random = fastrand::Rng::with_seed(7);
    let a: Vec<f32> = (0..n * n).map(|_| random.f32() - 0.5).collect();
    let b: Vec<f32> = (0..n * n).map(|_| random.f32() - 0.5).collect();
    for threads in [1, 2, 3, 5] {
        set_threads(threads);
        let mut first: Option<Vec<f32>> = None;
        for _ in 0..4 {
            let mut out = vec![0.0f32; n * n];
            let (row, n) = (n as i64 * 4, n as i64);
            let (to, a, b) = (out.as_mut_ptr(), a.as_ptr(), b.as_ptr());
            // SAFETY: all are matrices of n × n.
            unsafe { __zymase_product_f32(n, n, n, to, row, 4, a, row, 4, b, row, 4, 1.0) };
            assert_eq!(first.get_or_insert_with(|| out.clone()), &out);
        }
    }
}

#[test]
fn threads_are_counted() {
    let _alone = ALONE.lock();
    let check = |chosen, expected: &dyn Fn(i64) -> bool| {
        set_threads(chosen);
        assert!(expected(__zymase_threads()), "{chosen}");
    };
    check(1, &|threads| threads == 1);
    check(3, &|threads| threads == 3);
    check(0, &|threads| threads >= 1);
    check(i64::MAX, &|threads| threads == 4096);
    // There is no variable in the environment of a test.
    if std::env::var_os("ZYMASE_THREADS").is_none() {
        check(-1, &|threads| threads == 1);
    }
}
