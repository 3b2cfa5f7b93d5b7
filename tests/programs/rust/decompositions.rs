// Linear algebra by hand: LU with pivots, Cholesky, QR by reflections, conjugate gradients.
include!("check.rs");

type Matrix = Vec<Vec<f64>>;

fn matrix(x: &[f64], n: usize) -> Matrix {
    let entry = |i: usize, j: usize| x[(2 * i + j) % x.len()] + if i == j { 2.0 } else { 0.0 };
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

fn lu(mut a: Matrix) -> (Matrix, Vec<usize>) {
    let n = a.len();
    let mut order: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .unwrap();
        a.swap(k, pivot);
        order.swap(k, pivot);
        let (done, left) = a.split_at_mut(k + 1);
        for row in left {
            row[k] /= done[k][k];
            for j in k + 1..n {
                row[j] -= row[k] * done[k][j];
            }
        }
    }
    (a, order)
}

fn solved(x: &[f64]) -> f64 {
    let (lu, order) = lu(matrix(x, 4));
    let mut y: Vec<f64> = order.iter().map(|&i| x[i]).collect();
    for i in 0..4 {
        for j in 0..i {
            y[i] -= lu[i][j] * y[j];
        }
    }
    for i in (0..4).rev() {
        for j in i + 1..4 {
            y[i] -= lu[i][j] * y[j];
        }
        y[i] /= lu[i][i];
    }
    y.iter().map(|a| a * a).sum()
}

fn cholesky(x: &[f64]) -> f64 {
    // The logarithm of a determinant and a quadratic form, as a Gaussian has them.
    let m = matrix(x, 4);
    let dot = |i: usize, j: usize| m[i].iter().zip(&m[j]).map(|(a, b)| a * b).sum::<f64>();
    let mut l: Matrix = vec![vec![0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            l[i][j] = match i == j {
                true => (dot(i, i) - sum).sqrt(),
                false => (dot(i, j) - sum) / l[j][j],
            };
        }
    }
    let mut z = Vec::with_capacity(4);
    for i in 0..4 {
        let sum: f64 = l[i].iter().zip(&z).map(|(l, z)| l * z).sum();
        z.push((x[i] - sum) / l[i][i]);
    }
    let logarithm: f64 = (0..4).map(|i| l[i][i].ln()).sum();
    logarithm + 0.5 * z.iter().map(|z| z * z).sum::<f64>()
}

fn reflected(x: &[f64]) -> f64 {
    let mut r = matrix(x, 3);
    for k in 0..2 {
        let mut v: Vec<f64> = (k..3).map(|i| r[i][k]).collect();
        let norm = v.iter().map(|a| a * a).sum::<f64>().sqrt();
        v[0] += norm.copysign(v[0]);
        let length: f64 = v.iter().map(|a| a * a).sum();
        for j in k..3 {
            let along: f64 = v.iter().enumerate().map(|(i, v)| v * r[k + i][j]).sum();
            for (i, v) in v.iter().enumerate() {
                r[k + i][j] -= 2.0 * v * along / length;
            }
        }
    }
    r[0][0] * r[1][1] + r[0][2] * r[2][2]
}

fn conjugate(x: &[f64]) -> f64 {
    let m = matrix(x, 4);
    let times = |v: &[f64]| -> Vec<f64> {
        let inner: Vec<f64> = m.iter().map(|row| dot(row, v)).collect();
        (0..4)
            .map(|j| (0..4).map(|i| m[i][j] * inner[i]).sum::<f64>() + v[j])
            .collect()
    };
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }
    let mut r = x[..4].to_vec();
    let (mut y, mut p, mut rr) = (vec![0.0; 4], r.clone(), dot(&r, &r));
    for _ in 0..4 {
        let ap = times(&p);
        let step = rr / dot(&p, &ap);
        for i in 0..4 {
            y[i] += step * p[i];
            r[i] -= step * ap[i];
        }
        let new = dot(&r, &r);
        p.iter_mut()
            .zip(&r)
            .for_each(|(p, r)| *p = r + new / rr * *p);
        rr = new;
        if rr < 1e-12 {
            break;
        }
    }
    dot(&y, &y)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("decompositions: solved", solved, x);
    check!("decompositions: cholesky", cholesky, x);
    check!("decompositions: reflected", reflected, x);
    check!("decompositions: conjugate", conjugate, x);
}
