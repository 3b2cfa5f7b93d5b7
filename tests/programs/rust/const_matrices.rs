// Matrices of a size known at compile time, with operators, products of any fitting shapes, and
// determinants.
include!("check.rs");

use std::array;
use std::ops::{Add, Index, IndexMut, Mul, Neg, Sub};

#[derive(Clone, Copy, PartialEq, Debug)]
struct Matrix<const R: usize, const C: usize>([[f64; C]; R]);

impl<const R: usize, const C: usize> Matrix<R, C> {
    const ZERO: Self = Matrix([[0.0; C]; R]);

    fn from_fn(mut f: impl FnMut(usize, usize) -> f64) -> Self {
        Matrix(array::from_fn(|i| array::from_fn(|j| f(i, j))))
    }

    fn transposed(&self) -> Matrix<C, R> {
        Matrix::from_fn(|i, j| self[(j, i)])
    }
}

impl<const N: usize> Matrix<N, N> {
    fn identity() -> Self {
        Self::from_fn(|i, j| f64::from(i == j))
    }

    fn trace(&self) -> f64 {
        (0..N).map(|i| self[(i, i)]).sum()
    }

    fn power(self, n: u32) -> Self {
        match n {
            0 => Self::identity(),
            n if n % 2 == 0 => (self * self).power(n / 2),
            n => self * self.power(n - 1),
        }
    }

    /// The determinant, by elimination with pivots.
    fn determinant(mut self) -> f64 {
        let mut product = 1.0;
        for k in 0..N {
            let pivot = (k..N)
                .max_by(|&a, &b| self[(a, k)].abs().total_cmp(&self[(b, k)].abs()))
                .unwrap();
            if pivot != k {
                self.0.swap(pivot, k);
                product = -product;
            }
            product *= self[(k, k)];
            for i in k + 1..N {
                let factor = self[(i, k)] / self[(k, k)];
                for j in k..N {
                    self[(i, j)] -= factor * self[(k, j)];
                }
            }
        }
        product
    }
}

impl<const R: usize, const C: usize> Index<(usize, usize)> for Matrix<R, C> {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.0[i][j]
    }
}

impl<const R: usize, const C: usize> IndexMut<(usize, usize)> for Matrix<R, C> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.0[i][j]
    }
}

impl<const R: usize, const C: usize> Add for Matrix<R, C> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::from_fn(|i, j| self[(i, j)] + other[(i, j)])
    }
}

impl<const R: usize, const C: usize> Sub for Matrix<R, C> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<const R: usize, const C: usize> Neg for Matrix<R, C> {
    type Output = Self;
    fn neg(self) -> Self {
        Self::from_fn(|i, j| -self[(i, j)])
    }
}

impl<const R: usize, const K: usize, const C: usize> Mul<Matrix<K, C>> for Matrix<R, K> {
    type Output = Matrix<R, C>;
    fn mul(self, other: Matrix<K, C>) -> Matrix<R, C> {
        Matrix::from_fn(|i, j| (0..K).map(|k| self[(i, k)] * other[(k, j)]).sum())
    }
}

impl<const R: usize, const C: usize> Mul<Matrix<R, C>> for f64 {
    type Output = Matrix<R, C>;
    fn mul(self, m: Matrix<R, C>) -> Matrix<R, C> {
        Matrix::from_fn(|i, j| self * m[(i, j)])
    }
}

fn products(x: &[f64]) -> f64 {
    let a = Matrix::<2, 3>::from_fn(|i, j| x[i + j] * (i + 1) as f64);
    let b = Matrix::<3, 1>([[x[4]], [x[0]], [1.0]]);
    let c = a * b;
    let d = (a * a.transposed()).power(3);
    c[(0, 0)] * c[(1, 0)] + d.trace()
}

fn exponential(x: &[f64]) -> f64 {
    // The series of the exponential of a matrix, until nothing is added any more.
    let a = Matrix([[x[0], x[1]], [x[2], x[3]]]);
    let (mut sum, mut term) = (Matrix::ZERO, Matrix::identity());
    for n in 1.. {
        if sum == sum + term {
            break;
        }
        sum = sum + term;
        term = 1.0 / f64::from(n) * (term * a);
    }
    (sum - a).trace() * sum[(0, 1)]
}

fn determinants(x: &[f64]) -> f64 {
    let a = Matrix::<4, 4>::from_fn(|i, j| x[(i * 2 + j) % x.len()] + f64::from(i == j));
    let b = Matrix::<3, 3>::from_fn(|i, j| a[(i, j)] * x[j]);
    a.determinant() * b.determinant()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("const matrices: products", products, x);
    check!("const matrices: exponential", exponential, x);
    check!("const matrices: determinants", determinants, x);
}
