//! Products of matrices, which ndarray and nalgebra leave to matrixmultiply.

use ecosystem::check;
use nalgebra::DMatrix;
use ndarray::Array2;

const X: [f64; 6] = [0.52, 1.57, -0.33, 0.81, 2.04, -1.21];

fn plain(x: &[f64]) -> f64 {
    let a = Array2::from_shape_vec((2, 3), x.to_vec()).unwrap();
    let p = a.dot(&a.t());
    p[[0, 1]] * p[[1, 1]] + a.t().dot(&a)[[2, 0]]
}

fn dynamic(x: &[f64]) -> f64 {
    let a = DMatrix::from_fn(8, 7, |i, j| x[(i + j) % 6] + (i * j) as f64 * 0.1);
    let b = DMatrix::from_fn(7, 9, |i, j| x[(i * j) % 6] - i as f64 * 0.2);
    (a * b).map(f64::tanh).sum()
}

/// A layer of a network in single precision.
fn single(x: &[f64]) -> f64 {
    let input = Array2::from_shape_fn((4, 3), |(i, j)| x[(i * j) % 6] as f32);
    let weights = Array2::from_shape_fn((3, 2), |(i, j)| x[i + j] as f32 * 0.5);
    f64::from(input.dot(&weights).mapv(f32::tanh).sum())
}

fn in_double(x: &[f64]) -> f64 {
    let input = Array2::from_shape_fn((4, 3), |(i, j)| x[(i * j) % 6]);
    let weights = Array2::from_shape_fn((3, 2), |(i, j)| x[i + j] * 0.5);
    input.dot(&weights).mapv(f64::tanh).sum()
}

/// What is differentiated in optimized programs only, today.
#[cfg(not(debug_assertions))]
mod optimized {
    use ndarray::linalg::general_mat_mul;
    use ndarray::{Array2, ArrayView2, s};

    /// Rows in reverse order, every other column, and a row that stands for all rows.
    pub fn strided(x: &[f64]) -> f64 {
        let a = ArrayView2::from_shape((2, 3), x).unwrap();
        let backwards = a.slice(s![..;-1, ..;2]);
        let row = a.slice(s![..1, ..]);
        let same = row.broadcast((2, 3)).unwrap();
        backwards.dot(&same).iter().map(|p| p.sin()).sum()
    }

    /// All operands have derivatives, and are overwritten before the reverse sweep.
    pub fn general(x: &[f64]) -> f64 {
        let mut a = Array2::from_shape_fn((2, 2), |(i, j)| x[i + j] * (1 + i) as f64);
        let mut b = Array2::from_shape_fn((2, 2), |(i, j)| x[2 + i * j].exp());
        let mut c = Array2::from_shape_fn((2, 2), |(i, j)| x[3 + i] - x[j]);
        for _ in 0..3 {
            general_mat_mul(x[4], &a, &b, x[5], &mut c);
            a.mapv_inplace(|a| a * 0.5);
            b.assign(&c);
        }
        c.iter().map(|c| c * c).sum::<f64>().ln()
    }
}

fn main() {
    check("plain", plain, &X);
    check("dynamic", dynamic, &X);
    #[cfg(not(debug_assertions))]
    {
        check("optimized: strided", optimized::strided, &X);
        check("optimized: general", optimized::general, &X);
    }
    let gradient = zymase::grad(single, &X[..]);
    for (single, double) in gradient.iter().zip(zymase::grad(in_double, &X[..])) {
        assert!((single - double).abs() < 1e-5 * double.abs().max(1.0));
    }
    println!("ok single");
    let second = zymase::hessian(plain, &X[..]);
    for (i, row) in second.iter().enumerate() {
        let beside = |h: f64| {
            let mut x = X;
            x[i] += h;
            zymase::grad(plain, &x[..])
        };
        let (above, below) = (beside(1e-5), beside(-1e-5));
        for (j, found) in row.iter().enumerate() {
            let expected = (above[j] - below[j]) / 2e-5;
            assert!(
                (found - expected).abs() < 1e-5,
                "{i} {j}: {found} {expected}"
            );
        }
    }
    println!("ok second derivatives");
}
