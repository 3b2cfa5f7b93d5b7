//! Steps of the classical method of Runge and Kutta for the system of Lorenz.

use zymase::autodiff_reverse;

type Point = [f64; 3];

#[inline]
fn lorenz(y: &Point) -> Point {
    [
        10.0 * (y[1] - y[0]),
        y[0] * (28.0 - y[2]) - y[1],
        y[0] * y[1] - 8.0 / 3.0 * y[2],
    ]
}

#[inline]
fn moved(y: &Point, h: f64, k: &Point) -> Point {
    [y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]]
}

#[inline]
fn step(y: &mut Point, h: f64) {
    let k1 = lorenz(y);
    let k2 = lorenz(&moved(y, h / 2.0, &k1));
    let k3 = lorenz(&moved(y, h / 2.0, &k2));
    let k4 = lorenz(&moved(y, h, &k3));
    for i in 0..3 {
        y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}

/// So many steps, in place.
#[autodiff_reverse(d_steps, Duplicated, Const, Const)]
#[inline(never)]
pub fn steps(y: &mut Point, h: f64, steps: usize) {
    for _ in 0..steps {
        step(y, h);
    }
}

/// The steps, and their adjoint, in place.
pub fn gradient(y: &mut Point, dy: &mut Point, h: f64, steps: usize) {
    d_steps(y, dy, h, steps);
}

/// Written by hand.
pub mod by_hand {
    use super::{Point, lorenz, moved, step};

    #[inline]
    fn lorenz_adjoint(y: &Point, d: &Point) -> Point {
        [
            -10.0 * d[0] + (28.0 - y[2]) * d[1] + y[1] * d[2],
            10.0 * d[0] - d[1] + y[0] * d[2],
            -y[0] * d[1] - 8.0 / 3.0 * d[2],
        ]
    }

    /// `a` times `x` plus `b` times `y`.
    #[inline]
    fn sum(a: f64, x: &Point, b: f64, y: &Point) -> Point {
        [
            a * x[0] + b * y[0],
            a * x[1] + b * y[1],
            a * x[2] + b * y[2],
        ]
    }

    /// The steps, and their adjoint, in place: the points of all steps are kept, the stages within a
    /// step are computed again.
    #[inline(never)]
    pub fn gradient(y: &mut Point, dy: &mut Point, h: f64, steps: usize) {
        let mut path = Vec::with_capacity(steps);
        for _ in 0..steps {
            path.push(*y);
            step(y, h);
        }
        for y in path.iter().rev() {
            let y2 = moved(y, h / 2.0, &lorenz(y));
            let y3 = moved(y, h / 2.0, &lorenz(&y2));
            let y4 = moved(y, h, &lorenz(&y3));
            let d4 = lorenz_adjoint(&y4, &sum(h / 6.0, dy, 0.0, dy));
            let d3 = lorenz_adjoint(&y3, &sum(h / 3.0, dy, h, &d4));
            let d2 = lorenz_adjoint(&y2, &sum(h / 3.0, dy, h / 2.0, &d3));
            let d1 = lorenz_adjoint(y, &sum(h / 6.0, dy, h / 2.0, &d2));
            for i in 0..3 {
                dy[i] += d1[i] + d2[i] + d3[i] + d4[i];
            }
        }
    }
}
