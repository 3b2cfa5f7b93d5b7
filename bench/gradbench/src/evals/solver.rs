//! Gradient descent, for `particle` and `saddle`, with gradients in either mode.

use zymase::{grad, jvp};

/// How gradients are made.
pub trait Mode {
    /// The gradient of `f` at `x`.
    fn gradient<const N: usize>(f: impl Fn(&[f64; N]) -> f64, x: &[f64; N]) -> [f64; N];
}

/// Reverse mode.
pub struct Reverse;

/// Forward mode: a derivative for each direction.
pub struct Forward;

impl Mode for Reverse {
    #[inline(always)]
    fn gradient<const N: usize>(f: impl Fn(&[f64; N]) -> f64, x: &[f64; N]) -> [f64; N] {
        grad(f, x)
    }
}

impl Mode for Forward {
    #[inline(always)]
    fn gradient<const N: usize>(f: impl Fn(&[f64; N]) -> f64, x: &[f64; N]) -> [f64; N] {
        let mut gradient = [0.0; N];
        for i in 0..N {
            let mut direction = [0.0; N];
            direction[i] = 1.0;
            gradient[i] = jvp(&f, x, &direction).1;
        }
        gradient
    }
}

const PRECISION: f64 = 1e-5;

/// Where `f` is least, from `x` on.
pub fn argmin<M: Mode, const N: usize>(f: impl Fn(&[f64; N]) -> f64, x: [f64; N]) -> [f64; N] {
    descend(&f, |x| M::gradient(&f, x), x)
}

/// Where `f` is greatest, from `x` on.
pub fn argmax<M: Mode, const N: usize>(f: impl Fn(&[f64; N]) -> f64, x: [f64; N]) -> [f64; N] {
    argmin::<M, N>(|x| -f(x), x)
}

/// Follows the gradient down, with steps that grow after ten good ones and shrink after a bad one.
pub fn descend<const N: usize>(
    f: impl Fn(&[f64; N]) -> f64,
    gradient: impl Fn(&[f64; N]) -> [f64; N],
    mut x: [f64; N],
) -> [f64; N] {
    let mut value = f(&x);
    let mut slope = gradient(&x);
    let mut good_steps = 0;
    let mut rate = 1e-5;
    while norm(&slope) > PRECISION {
        if good_steps == 10 {
            rate *= 2.0;
            good_steps = 0;
            continue;
        }
        let mut next = x;
        let mut step = [0.0; N];
        for i in 0..N {
            next[i] -= rate * slope[i];
            step[i] = x[i] - next[i];
        }
        if norm(&step) <= PRECISION {
            break;
        }
        let next_value = f(&next);
        if next_value < value {
            x = next;
            value = next_value;
            slope = gradient(&x);
            good_steps += 1;
        } else {
            rate /= 2.0;
            good_steps = 0;
        }
    }
    x
}

fn norm<const N: usize>(x: &[f64; N]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
