// Arrays and const generics.
include!("check.rs");

fn mul<const N: usize>(a: [[f64; N]; N], b: [[f64; N]; N]) -> [[f64; N]; N] {
    let mut c = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..N {
            for k in 0..N {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

fn cubed(x: &[f64]) -> f64 {
    let a = [[x[0], x[1]], [x[2], 1.0]];
    let b = mul(mul(a, a), a);
    b[0][0] + 2.0 * b[0][1] * b[1][1]
}

#[derive(Clone, Copy)]
struct Polynomial<const N: usize>([f64; N]);

impl<const N: usize> Polynomial<N> {
    fn at(&self, t: f64) -> f64 {
        self.0.iter().rev().fold(0.0, |sum, c| sum * t + c)
    }
}

fn polynomial(x: &[f64]) -> f64 {
    let p = Polynomial::<4>([x[0], x[1], x[2], x[3]]);
    let q = p;
    p.at(x[4]) * q.at(0.3)
}

fn mapped(x: &[f64]) -> f64 {
    let a: [f64; 5] = x.try_into().unwrap();
    let b = a.map(|v| v.sin());
    let c = std::array::from_fn::<f64, 5, _>(|i| a[i] * b[4 - i]);
    c.iter().sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("arrays: cubed", cubed, x);
    check!("arrays: polynomial", polynomial, x);
    check!("arrays: mapped", mapped, x);
}
