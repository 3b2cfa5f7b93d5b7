//! The Brusselator: a reaction with diffusion on a square with periodic edges, by Euler's method.

use zymase::autodiff_reverse;

const SIDE: usize = 32;

/// How many cells the square has.
pub const CELLS: usize = SIDE * SIDE;

const A: f64 = 3.4;
const B: f64 = 1.0;
const ALPHA: f64 = 10.0 / SIDE as f64;
const H: f64 = 1e-3;

/// A number for each cell.
pub type Field = [f64; CELLS];

/// The cells around one: north, south, west, east.
#[inline]
fn around(i: usize, j: usize) -> [usize; 4] {
    let [north, west] = [i, j].map(|at| if at == 0 { SIDE - 1 } else { at - 1 });
    let [south, east] = [i, j].map(|at| if at == SIDE - 1 { 0 } else { at + 1 });
    [
        north * SIDE + j,
        south * SIDE + j,
        i * SIDE + west,
        i * SIDE + east,
    ]
}

fn slope(u: &Field, v: &Field, du: &mut Field, dv: &mut Field) {
    for i in 0..SIDE {
        for j in 0..SIDE {
            let (at, [north, south, west, east]) = (i * SIDE + j, around(i, j));
            let reaction = u[at] * u[at] * v[at];
            let spread = u[north] + u[south] + u[west] + u[east] - 4.0 * u[at];
            du[at] = ALPHA * spread + B + reaction - (A + 1.0) * u[at];
            let spread = v[north] + v[south] + v[west] + v[east] - 4.0 * v[at];
            dv[at] = ALPHA * spread + A * u[at] - reaction;
        }
    }
}

/// So many steps, in place.
#[autodiff_reverse(d_steps, Duplicated, Duplicated, Const)]
#[inline(never)]
pub fn steps(u: &mut Field, v: &mut Field, steps: usize) {
    let (mut du, mut dv) = ([0.0; CELLS], [0.0; CELLS]);
    for _ in 0..steps {
        slope(u, v, &mut du, &mut dv);
        for i in 0..CELLS {
            u[i] += H * du[i];
            v[i] += H * dv[i];
        }
    }
}

/// The steps, and their adjoint, in place.
pub fn gradient(u: &mut Field, du: &mut Field, v: &mut Field, dv: &mut Field, steps: usize) {
    d_steps(u, du, v, dv, steps);
}

/// Written by hand.
pub mod by_hand {
    use super::{A, ALPHA, CELLS, Field, H, SIDE, around, slope};

    /// The adjoint of `slope`, added. What a cell spreads to its neighbours, it also gets from them, so
    /// that the adjoint can read around a cell as the function does, and write to it alone.
    fn slope_adjoint(
        (u, v): (&Field, &Field),
        (du, dv): (&Field, &Field),
        (u_adjoint, v_adjoint): (&mut Field, &mut Field),
    ) {
        for i in 0..SIDE {
            for j in 0..SIDE {
                let (at, [north, south, west, east]) = (i * SIDE + j, around(i, j));
                let (p, q) = (du[at], dv[at]);
                let r = p - q;
                let spread = du[north] + du[south] + du[west] + du[east] - 4.0 * p;
                u_adjoint[at] += ALPHA * spread + A * q - (A + 1.0) * p + 2.0 * u[at] * v[at] * r;
                let spread = dv[north] + dv[south] + dv[west] + dv[east] - 4.0 * q;
                v_adjoint[at] += ALPHA * spread + u[at] * u[at] * r;
            }
        }
    }

    /// The steps, and their adjoint, in place: the fields of all steps are kept.
    #[inline(never)]
    pub fn gradient(u: &mut Field, du: &mut Field, v: &mut Field, dv: &mut Field, steps: usize) {
        let mut path = Vec::with_capacity(steps);
        let (mut p, mut q) = ([0.0; CELLS], [0.0; CELLS]);
        for _ in 0..steps {
            path.push((*u, *v));
            slope(u, v, &mut p, &mut q);
            for i in 0..CELLS {
                u[i] += H * p[i];
                v[i] += H * q[i];
            }
        }
        for (u, v) in path.iter().rev() {
            for i in 0..CELLS {
                p[i] = H * du[i];
                q[i] = H * dv[i];
            }
            slope_adjoint((u, v), (&p, &q), (du, dv));
        }
    }
}
