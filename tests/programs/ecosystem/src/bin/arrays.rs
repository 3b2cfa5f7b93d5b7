//! ndarray: vectors, matrices, views and slices.

use ecosystem::check;
use ndarray::{Array1, Array2, ArrayView1, Axis, Zip, s};

const X: [f64; 6] = [0.52, 1.57, -0.33, 0.81, 2.04, -1.21];

fn product(x: &[f64]) -> f64 {
    let v = Array1::from_vec(x.to_vec());
    v.dot(&v)
}

fn sliced(x: &[f64]) -> f64 {
    let v = ArrayView1::from(x);
    v.slice(s![1..4]).sum() * v[0] + v.iter().rev().fold(0.0, |sum, a| sum * 0.7 + a)
}

fn rows(x: &[f64]) -> f64 {
    let m = Array2::from_shape_vec((2, 3), x.to_vec()).unwrap();
    m.rows().into_iter().map(|row| row[0] * row[2].exp()).sum()
}

fn zipped(x: &[f64]) -> f64 {
    let v = ArrayView1::from(x);
    let mut sum = 0.0;
    Zip::from(&v).and(&v).for_each(|a, b| sum += a * b.sin());
    sum
}

fn vectors(x: &[f64]) -> f64 {
    let v = Array1::from_vec(x.to_vec());
    let w = ArrayView1::from(x);
    let sum = &v + &w;
    v.dot(&w) + sum.sum() * v[0] + v.fold(1.0, |p, a| p * 0.5 + a * a)
}

fn mapped(x: &[f64]) -> f64 {
    let v = ArrayView1::from(x);
    let w = v.mapv(f64::sin);
    (&v * &w).sum() + w.map(|a| a * a).dot(&v)
}

fn slices(x: &[f64]) -> f64 {
    let v = ArrayView1::from(x);
    let (head, tail) = (v.slice(s![..3]), v.slice(s![3..]));
    let back = v.slice(s![..;-2]);
    head.dot(&tail) + back.iter().map(|a| a.exp()).sum::<f64>()
}

fn matrices(x: &[f64]) -> f64 {
    let m = Array2::from_shape_fn((3, 2), |(i, j)| x[2 * i + j] * (i + 1) as f64);
    let norms: Vec<f64> = m.rows().into_iter().map(|r| r.dot(&r).sqrt()).collect();
    let columns = m.sum_axis(Axis(0));
    norms.iter().product::<f64>() + columns[0] * columns[1] * m[[1, 1]]
}

fn zipped_arrays(x: &[f64]) -> f64 {
    let a = Array1::from_vec(x.to_vec());
    let b = a.mapv(|a| a * a);
    let mut c = Array1::<f64>::zeros(x.len());
    Zip::from(&mut c)
        .and(&a)
        .and(&b)
        .for_each(|c, &a, &b| *c = a * b + 1.0);
    c.iter().map(|c| c.tanh()).sum()
}

/// What is differentiated in optimized programs only, today.
#[cfg(not(debug_assertions))]
mod optimized {
    use super::*;

    pub fn in_place(x: &[f64]) -> f64 {
        let mut v = Array1::from_vec(x.to_vec());
        v.mapv_inplace(|a| a * a + x[0]);
        v *= 2.0;
        v.iter_mut().for_each(|a| *a += x[1]);
        v.as_slice().unwrap().iter().product::<f64>().ln()
    }

    pub fn arithmetic(x: &[f64]) -> f64 {
        let a = Array1::from_vec(x.to_vec());
        let b = &a * 2.0 + &a * &a;
        (b / 3.0).sum()
    }
}

fn main() {
    check("product", product, &X);
    check("sliced", sliced, &X);
    check("rows", rows, &X);
    check("zipped", zipped, &X);
    check("vectors", vectors, &X);
    check("mapped", mapped, &X);
    check("slices", slices, &X);
    check("matrices", matrices, &X);
    check("zipped arrays", zipped_arrays, &X);
    #[cfg(not(debug_assertions))]
    {
        check("optimized: in place", optimized::in_place, &X);
        check("optimized: arithmetic", optimized::arithmetic, &X);
    }
}
