//! Steps of Euler's method for the oscillator of van der Pol, many of them side by side.

use zymase::autodiff_reverse;

const H: f64 = 1e-3;

/// So many steps, in place.
#[autodiff_reverse(d_steps, Duplicated, Duplicated, Const, Const)]
#[inline(never)]
pub fn steps(x: &mut [f64], v: &mut [f64], mu: f64, steps: usize) {
    for _ in 0..steps {
        step(x, v, mu);
    }
}

#[inline]
fn step(x: &mut [f64], v: &mut [f64], mu: f64) {
    for (x, v) in x.iter_mut().zip(v) {
        let a = mu * (1.0 - *x * *x) * *v - *x;
        *x += H * *v;
        *v += H * a;
    }
}

/// The steps, and their adjoint, in place.
pub fn gradient(
    (x, dx): (&mut [f64], &mut [f64]),
    (v, dv): (&mut [f64], &mut [f64]),
    mu: f64,
    steps: usize,
) {
    d_steps(x, dx, v, dv, mu, steps);
}

/// Written by hand.
pub mod by_hand {
    use super::{H, step};

    /// The steps, and their adjoint, in place: places and speeds of all steps are kept.
    #[inline(never)]
    pub fn gradient(
        (x, dx): (&mut [f64], &mut [f64]),
        (v, dv): (&mut [f64], &mut [f64]),
        mu: f64,
        steps: usize,
    ) {
        let n = x.len();
        let mut path = Vec::with_capacity(2 * n * steps);
        for _ in 0..steps {
            path.extend_from_slice(x);
            path.extend_from_slice(v);
            step(x, v, mu);
        }
        for kept in path.chunks_exact(2 * n).rev() {
            let (x, v) = kept.split_at(n);
            let adjoints = dx.iter_mut().zip(&mut *dv);
            for ((x, v), (dx, dv)) in x.iter().zip(v).zip(adjoints) {
                let da = H * *dv;
                *dv += H * *dx + mu * (1.0 - x * x) * da;
                *dx -= (1.0 + 2.0 * mu * x * v) * da;
            }
        }
    }
}
