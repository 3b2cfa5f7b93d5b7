//! A product of square matrices, row after row, with the loops in three orders.

use zymase::autodiff_reverse;

/// c = a b, each entry by a row and a column.
#[autodiff_reverse(d_ijk, Duplicated, Duplicated, Duplicated, Const)]
#[inline(never)]
pub fn ijk(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for (a, c) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
        for (j, c) in c.iter_mut().enumerate() {
            *c = a
                .iter()
                .zip(b[j..].iter().step_by(n))
                .map(|(a, b)| a * b)
                .sum();
        }
    }
}

/// c += a b, by rows of b.
#[autodiff_reverse(d_ikj, Duplicated, Duplicated, Duplicated, Const)]
#[inline(never)]
pub fn ikj(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for (a, c) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
        for (a, b) in a.iter().zip(b.chunks_exact(n)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += a * b;
            }
        }
    }
}

/// c = a b^T, each entry by two rows.
#[autodiff_reverse(d_abt, Duplicated, Duplicated, Duplicated, Const)]
#[inline(never)]
pub fn abt(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for (a, c) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
        for (b, c) in b.chunks_exact(n).zip(c) {
            *c = a.iter().zip(b).map(|(a, b)| a * b).sum();
        }
    }
}

/// A matrix and its derivative.
pub type Pair<'a> = (&'a [f64], &'a mut [f64]);

/// Adds the derivatives of [`ijk`], with `dc` as adjoint of the product, which is used up.
pub fn gradient_ijk(a: Pair, b: Pair, c: &mut [f64], dc: &mut [f64], n: usize) {
    d_ijk(a.0, a.1, b.0, b.1, c, dc, n);
}

/// Adds the derivatives of [`ikj`].
pub fn gradient_ikj(a: Pair, b: Pair, c: &mut [f64], dc: &mut [f64], n: usize) {
    d_ikj(a.0, a.1, b.0, b.1, c, dc, n);
}

/// Adds the derivatives of [`abt`], with `dc` as adjoint of the product, which is used up.
pub fn gradient_abt(a: Pair, b: Pair, c: &mut [f64], dc: &mut [f64], n: usize) {
    d_abt(a.0, a.1, b.0, b.1, c, dc, n);
}

/// Written by hand.
pub mod by_hand {
    use super::Pair;

    /// Adds the derivatives of a b, whatever the order of its loops: by rows of b and of the product.
    #[inline(never)]
    pub fn gradient((a, da): Pair, (b, db): Pair, dc: &[f64], n: usize) {
        let rows = a.chunks_exact(n).zip(da.chunks_exact_mut(n));
        for ((a, da), dc) in rows.zip(dc.chunks_exact(n)) {
            let rows = b.chunks_exact(n).zip(db.chunks_exact_mut(n));
            for ((a, da), (b, db)) in a.iter().zip(da).zip(rows) {
                *da += dot_and_add(*a, b, db, dc);
            }
        }
    }

    /// Adds `factor` times `dc` to `db`, and gives the dot product of `b` and `dc`, in eight parts so
    /// that it is computed with vectors.
    #[inline]
    fn dot_and_add(factor: f64, b: &[f64], db: &mut [f64], dc: &[f64]) -> f64 {
        let mut sums = [0.0; 8];
        let (b, b_rest) = b.as_chunks::<8>();
        let (db, db_rest) = db.as_chunks_mut::<8>();
        let (dc, dc_rest) = dc.as_chunks::<8>();
        for ((b, db), dc) in b.iter().zip(db).zip(dc) {
            for lane in 0..8 {
                sums[lane] += b[lane] * dc[lane];
                db[lane] += factor * dc[lane];
            }
        }
        let mut sum: f64 = sums.iter().sum();
        for ((b, db), dc) in b_rest.iter().zip(db_rest).zip(dc_rest) {
            sum += b * dc;
            *db += factor * dc;
        }
        sum
    }

    /// Adds the derivatives of a b^T, by rows too.
    #[inline(never)]
    pub fn gradient_abt((a, da): Pair, (b, db): Pair, dc: &[f64], n: usize) {
        let rows = a.chunks_exact(n).zip(da.chunks_exact_mut(n));
        for ((a, da), dc) in rows.zip(dc.chunks_exact(n)) {
            let rows = b.chunks_exact(n).zip(db.chunks_exact_mut(n));
            for ((b, db), factor) in rows.zip(dc) {
                for ((a, da), (b, db)) in a.iter().zip(&mut *da).zip(b.iter().zip(db)) {
                    *da += factor * b;
                    *db += factor * a;
                }
            }
        }
    }
}
