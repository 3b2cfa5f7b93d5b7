//! A product of matrices in memory: what shape it is brought into, and who computes it.
//!
//! The kernels want distances in elements and the rows of `out` close together. What cannot be said
//! like that, because something is not aligned, is computed by a plain loop.

use crate::kernel::{self, Number};
use crate::threads;
use core::marker::PhantomData;
use core::mem::size_of;

/// A matrix: an address and two distances in bytes.
pub struct Operand<T> {
    start: *mut u8,
    row: isize,
    column: isize,
    element: PhantomData<T>,
}

impl<T> Clone for Operand<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Operand<T> {}

impl<T> Operand<T> {
    /// A matrix at an address, with the distances of rows and of columns.
    pub fn new(start: *const T, row: i64, column: i64) -> Operand<T> {
        Operand {
            start: start.cast_mut().cast(),
            row: row as isize,
            column: column as isize,
            element: PhantomData,
        }
    }

    /// The address of an element.
    fn at(&self, row: usize, column: usize) -> *mut T {
        let row = self.row.wrapping_mul(row as isize);
        let column = self.column.wrapping_mul(column as isize);
        let offset = row.wrapping_add(column);
        self.start.wrapping_offset(offset).cast()
    }

    /// The part that begins at an element.
    fn from(self, row: usize, column: usize) -> Operand<T> {
        Operand {
            start: self.at(row, column).cast(),
            ..self
        }
    }

    fn transposed(self) -> Operand<T> {
        Operand {
            row: self.column,
            column: self.row,
            ..self
        }
    }

    /// The same rows, the last one first.
    fn rows_reversed(self, rows: usize) -> Operand<T> {
        Operand {
            row: self.row.wrapping_neg(),
            ..self.from(rows - 1, 0)
        }
    }

    /// The same columns, the last one first.
    fn columns_reversed(self, columns: usize) -> Operand<T> {
        self.transposed().rows_reversed(columns).transposed()
    }

    /// The distances in elements.
    fn distances(&self) -> (isize, isize) {
        let size = size_of::<T>() as isize;
        (self.row / size, self.column / size)
    }

    /// Whether the distances are whole elements and the address is one of an element.
    fn is_aligned(&self) -> bool {
        let size = size_of::<T>() as isize;
        self.start.cast::<T>().is_aligned() && self.row % size == 0 && self.column % size == 0
    }
}

/// out += scale · a b.
pub struct Product<T> {
    m: usize,
    n: usize,
    k: usize,
    out: Operand<T>,
    a: Operand<T>,
    b: Operand<T>,
    scale: T,
}

impl<T: Copy> Clone for Product<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for Product<T> {}

impl<T: Number> Product<T> {
    /// A product of m × k by k × n.
    pub fn new(
        sizes: [i64; 3],
        out: Operand<T>,
        a: Operand<T>,
        b: Operand<T>,
        scale: T,
    ) -> Product<T> {
        let [m, n, k] = sizes.map(|size| usize::try_from(size).unwrap_or(0));
        Product {
            m,
            n,
            k,
            out,
            a,
            b,
            scale,
        }
    }

    /// Computes it, by as many threads as it is worth.
    ///
    /// # Safety
    ///
    /// All elements of `a` and `b` can be read, and all of `out` read and written. Those of `out`
    /// are different from each other and from all of `a` and `b`.
    pub unsafe fn add(self) {
        if self.m == 0 || self.n == 0 || self.k == 0 {
            return;
        }
        let product = self.canonical();
        let aligned = [product.out, product.a, product.b];
        if !aligned.iter().all(Operand::is_aligned) || !kernel::can_run() {
            // SAFETY: the elements are those that the caller has promised, in another order.
            return unsafe { product.add_plainly() };
        }
        let work = product
            .m
            .saturating_mul(product.n)
            .saturating_mul(product.k);
        let (rows, columns) = threads::grid(product.m, product.n, work);
        let part = |index: usize| {
            let part = product.part((rows, columns), index);
            // SAFETY: as before; and the parts have no element of `out` in common.
            unsafe { part.add_by_kernel() };
        };
        threads::for_each(rows * columns, &part);
    }

    /// The same product with the rows of `out` closer together than its columns, and no distance
    /// negative that the kernels would step along. Distances that are never stepped by are zero.
    fn canonical(mut self) -> Product<T> {
        if self.m == 1 {
            (self.out.row, self.a.row) = (0, 0);
        }
        if self.n == 1 {
            (self.out.column, self.b.column) = (0, 0);
        }
        if self.k == 1 {
            (self.a.column, self.b.row) = (0, 0);
        }
        let closer = self.out.column.unsigned_abs() < self.out.row.unsigned_abs();
        if self.n > 1 && (closer || self.m == 1) {
            self = Product {
                m: self.n,
                n: self.m,
                k: self.k,
                out: self.out.transposed(),
                a: self.b.transposed(),
                b: self.a.transposed(),
                scale: self.scale,
            };
        }
        if self.out.row < 0 {
            self.out = self.out.rows_reversed(self.m);
            self.a = self.a.rows_reversed(self.m);
        }
        if self.out.column < 0 {
            self.out = self.out.columns_reversed(self.n);
            self.b = self.b.columns_reversed(self.n);
        }
        if self.a.column < 0 {
            self.a = self.a.columns_reversed(self.k);
            self.b = self.b.rows_reversed(self.k);
        }
        self
    }

    /// One part of `out` that is cut into so many rows and columns of parts.
    fn part(&self, (rows, columns): (usize, usize), index: usize) -> Product<T> {
        let (first_row, m) = share(self.m, rows, index % rows);
        let (first_column, n) = share(self.n, columns, index / rows);
        Product {
            m,
            n,
            k: self.k,
            out: self.out.from(first_row, first_column),
            a: self.a.from(first_row, 0),
            b: self.b.from(0, first_column),
            scale: self.scale,
        }
    }

    /// Element by element.
    ///
    /// # Safety
    ///
    /// As for [`Product::add`]; nothing has to be aligned.
    unsafe fn add_plainly(self) {
        for j in 0..self.n {
            for i in 0..self.m {
                let mut sum = T::ZERO;
                for k in 0..self.k {
                    // SAFETY: these are elements of `a` and `b`.
                    let (a, b) = unsafe {
                        let a = self.a.at(i, k).read_unaligned();
                        (a, self.b.at(k, j).read_unaligned())
                    };
                    sum = sum + a * b;
                }
                let out = self.out.at(i, j);
                // SAFETY: this is an element of `out`.
                unsafe { out.write_unaligned(out.read_unaligned() + self.scale * sum) };
            }
        }
    }

    /// By the kernels for this processor, or element by element where there is no memory for them.
    ///
    /// # Safety
    ///
    /// As for [`Product::add`]; the operands are aligned.
    unsafe fn add_by_kernel(self) {
        // SAFETY: the elements are those that the caller has promised.
        let is_done = unsafe {
            T::add_product(
                [self.m, self.n, self.k],
                (self.out.start.cast(), self.out.distances()),
                (self.a.start.cast(), self.a.distances()),
                (self.b.start.cast(), self.b.distances()),
                self.scale,
            )
        };
        if !is_done {
            // SAFETY: as before.
            unsafe { self.add_plainly() };
        }
    }
}

// SAFETY: a product is an address and numbers; that threads share the elements without conflict is
// what `add` takes care of.
unsafe impl<T: Sync> Sync for Product<T> {}

/// The kernels work on blocks of whole vectors, so the border of a part is at a multiple of these.
const BLOCK: usize = 48;

/// Where one of `parts` shares of `size` begins, and how large it is.
fn share(size: usize, parts: usize, index: usize) -> (usize, usize) {
    let block = if size / parts >= 2 * BLOCK { BLOCK } else { 1 };
    let (blocks, more) = (size / block / parts, size / block % parts);
    let border = |index: usize| match index == parts {
        true => size,
        false => (blocks * index + more.min(index)) * block,
    };
    (border(index), border(index + 1) - border(index))
}
