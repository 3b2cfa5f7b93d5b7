//! nalgebra: vectors and matrices of fixed and of dynamic size, decompositions, rotations.

use ecosystem::check;
use nalgebra::{DMatrix, DVector, Isometry3, Matrix2, Matrix3, Point3, Vector2, Vector3};

const X: [f64; 6] = [0.52, 1.57, -0.33, 0.81, 2.04, -1.21];

fn vectors(x: &[f64]) -> f64 {
    let a = Vector3::new(x[0], x[1], x[2]);
    let b = Vector3::from_column_slice(&x[3..]);
    a.cross(&b).norm() + a.dot(&b) * (a - b * 2.0).norm_squared() + a.normalize().x
}

fn matrices(x: &[f64]) -> f64 {
    let m = Matrix3::new(x[0], x[1], x[2], x[3], x[4], x[5], 1.0, -0.5, 2.0);
    let v = m * Vector3::new(0.3, x[1], -0.4);
    (m * m.transpose()).trace() + v.sum() + m.determinant() * v.z
}

fn inverse(x: &[f64]) -> f64 {
    let m = Matrix2::new(x[0], x[1], x[2], x[3]);
    let inverse = m.try_inverse().unwrap();
    (inverse * Vector2::new(x[4], x[5])).dot(&Vector2::new(1.0, 2.0))
}

fn cholesky(x: &[f64]) -> f64 {
    let m = Matrix3::new(4.0, x[0], x[1], x[0], 5.0, x[2], x[1], x[2], 6.0);
    let decomposed = m.cholesky().unwrap();
    let solution = decomposed.solve(&Vector3::new(x[3], x[4], x[5]));
    solution.norm_squared() + decomposed.l()[(2, 0)]
}

fn dynamic(x: &[f64]) -> f64 {
    let m = DMatrix::from_row_slice(2, 3, x);
    let v = DVector::from_vec(vec![0.3, -0.7, x[0]]);
    let w = &m * &v;
    let columns: f64 = m.column_iter().map(|column| column.norm()).sum();
    w.dot(&w) + columns + m.row(0).dot(&m.row(1)) + m.map(|a| a.sin()).sum()
}

fn solved(x: &[f64]) -> f64 {
    let m = DMatrix::from_row_slice(2, 2, &x[..4]);
    let b = DVector::from_row_slice(&x[4..]);
    m.lu().solve(&b).unwrap().norm()
}

fn solved_fixed(x: &[f64]) -> f64 {
    let m = Matrix3::new(4.0, x[0], x[1], x[0], 5.0, x[2], x[1], x[2], 6.0);
    let solution = m.lu().solve(&Vector3::new(x[3], x[4], x[5])).unwrap();
    solution.norm_squared()
}

fn moved(x: &[f64]) -> f64 {
    let by = Isometry3::new(
        Vector3::new(x[0], x[1], x[2]),
        Vector3::new(x[3], x[4], x[5]),
    );
    let place = by * Point3::new(1.0, 2.0, 3.0);
    place.coords.norm() + place.x * by.rotation.angle()
}

fn main() {
    check("vectors", vectors, &X);
    check("matrices", matrices, &X);
    check("inverse", inverse, &X);
    check("cholesky", cholesky, &X);
    check("dynamic", dynamic, &X);
    check("solved", solved, &X);
    check("solved, fixed size", solved_fixed, &X);
    check("moved", moved, &X);
}
