//! The matrix product by the crate gemm, which is tuned for the machine, with a derivative that is
//! two more of them.

use super::product::{Product, by_hand};
use gemm::{Parallelism, gemm};
use std::sync::atomic::{AtomicUsize, Ordering};
use zymase::derivative;

/// By the crate gemm.
pub struct Tuned;

impl Product for Tuned {
    fn product(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
        tuned(out, x, weight, bias, channels);
    }

    fn backward(
        dout: &[f32],
        (x, dx): (&[f32], &mut [f32]),
        (weight, dweight): (&[f32], &mut [f32]),
        dbias: &mut [f32],
        channels: usize,
    ) {
        add_derivatives(dout, (x, dx), (weight, dweight), dbias, channels);
    }
}

static THREADS: AtomicUsize = AtomicUsize::new(1);

/// How many threads products use; 0 stands for all that the machine has.
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// out = x weightᵀ + bias.
#[derivative(Duplicated, Duplicated, Duplicated, Duplicated, Const, reverse = pullback)]
pub fn tuned(out: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32], channels: usize) {
    let outputs = weight.len() / channels;
    if !bias.is_empty() {
        out.chunks_exact_mut(outputs)
            .for_each(|row| row.copy_from_slice(bias));
    }
    let weight = Matrix::new(weight, channels).transposed();
    multiply(
        out,
        outputs,
        !bias.is_empty(),
        Matrix::new(x, channels),
        weight,
    );
}

/// The derivative of [`tuned`]. What it was given is what it was: where something overwrites it, the
/// compiler keeps a copy.
#[expect(clippy::too_many_arguments)]
fn pullback(
    dout: &mut [f32],
    x: &[f32],
    dx: &mut [f32],
    weight: &[f32],
    dweight: &mut [f32],
    _bias: &[f32],
    dbias: &mut [f32],
    channels: usize,
) {
    add_derivatives(dout, (x, dx), (weight, dweight), dbias, channels);
    // What `out` was before is lost, so nothing depends on it.
    dout.fill(0.0);
}

fn add_derivatives(
    dout: &[f32],
    (x, dx): (&[f32], &mut [f32]),
    (weight, dweight): (&[f32], &mut [f32]),
    dbias: &mut [f32],
    channels: usize,
) {
    let outputs = weight.len() / channels;
    let seeds = Matrix::new(dout, outputs);
    multiply(dx, channels, true, seeds, Matrix::new(weight, channels));
    multiply(
        dweight,
        channels,
        true,
        seeds.transposed(),
        Matrix::new(x, channels),
    );
    by_hand::bias(dout, dbias, outputs);
}

/// A matrix in a slice, row after row or column after column.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    transposed: bool,
}

impl<'a> Matrix<'a> {
    fn new(numbers: &'a [f32], columns: usize) -> Matrix<'a> {
        Matrix {
            numbers,
            rows: numbers.len() / columns,
            columns,
            transposed: false,
        }
    }

    fn transposed(self) -> Matrix<'a> {
        Matrix {
            rows: self.columns,
            columns: self.rows,
            transposed: !self.transposed,
            ..self
        }
    }

    /// The distances from row to row and from column to column.
    fn strides(&self) -> (isize, isize) {
        match self.transposed {
            false => (self.columns as isize, 1),
            true => (1, self.rows as isize),
        }
    }
}

/// out = a b, or what it was plus a b.
fn multiply(out: &mut [f32], columns: usize, add: bool, a: Matrix, b: Matrix) {
    assert_eq!((a.columns, columns), (b.rows, b.columns));
    assert_eq!(out.len(), a.rows * columns);
    assert!(a.numbers.len() >= a.rows * a.columns && b.numbers.len() >= b.rows * b.columns);
    let (a_row, a_column) = a.strides();
    let (b_row, b_column) = b.strides();
    let parallelism = match THREADS.load(Ordering::Relaxed) {
        1 => Parallelism::None,
        threads => Parallelism::Rayon(threads),
    };
    // SAFETY: every element is inside of its slice, as has been checked, and nobody else has `out`.
    unsafe {
        gemm(
            a.rows,
            columns,
            a.columns,
            out.as_mut_ptr(),
            1,
            columns as isize,
            add,
            a.numbers.as_ptr(),
            a_column,
            a_row,
            b.numbers.as_ptr(),
            b_column,
            b_row,
            1.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}
