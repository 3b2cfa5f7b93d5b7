// Iterations that converge: Newton's method in several unknowns, bisection, gradient descent inside
// the function, golden section, and a line search.
include!("check.rs");

fn newton(x: &[f64]) -> f64 {
    // Where a circle meets a parabola.
    let (radius, bend) = (1.0 + x[0] * x[0], x[1]);
    let (mut u, mut v) = (1.0, 1.0);
    for iteration in 0.. {
        let f = [u * u + v * v - radius, v - bend * u * u];
        if f.iter().map(|a| a.abs()).sum::<f64>() < 1e-13 || iteration > 50 {
            break;
        }
        let [[a, b], [c, d]] = [[2.0 * u, 2.0 * v], [-2.0 * bend * u, 1.0]];
        let determinant = a * d - b * c;
        u -= (d * f[0] - b * f[1]) / determinant;
        v -= (a * f[1] - c * f[0]) / determinant;
    }
    // One more step carries the derivative, however good the point is.
    let f = [u * u + v * v - radius, v - bend * u * u];
    let determinant = 2.0 * u + 4.0 * bend * u * v;
    (u - (f[0] - 2.0 * v * f[1]) / determinant) * x[4]
}

fn descent(x: &[f64]) -> f64 {
    // The minimum of a quadratic function, by a fixed number of steps with momentum.
    let (mut at, mut speed) = ([0.0; 2], [0.0; 2]);
    for _ in 0..30 {
        let slope = [
            2.0 * (at[0] - x[0]) + x[2] * at[1],
            2.0 * (at[1] - x[1]) + x[2] * at[0],
        ];
        for k in 0..2 {
            speed[k] = 0.5 * speed[k] - 0.1 * slope[k];
            at[k] += speed[k];
        }
    }
    at[0] * at[1]
}

fn search(x: &[f64]) -> f64 {
    // A line search that halves the step until the value is lower.
    let f = |t: f64| (t - x[0]).powi(2) + 0.3 * (x[1] * t).sin();
    let mut t = 2.5;
    for _ in 0..5 {
        let slope = 2.0 * (t - x[0]) + 0.3 * x[1] * (x[1] * t).cos();
        let mut step = 2.0;
        let next = loop {
            let next = t - step * slope;
            if f(next) < f(t) - 0.1 * step * slope * slope {
                break next;
            }
            step *= 0.5;
            if step < 1e-6 {
                return f(t);
            }
        };
        t = next;
    }
    f(t)
}

fn bracket(x: &[f64]) -> f64 {
    // A root between two points: the secant of the last bracket carries the derivative.
    let f = |t: f64| t * t * t + x[3] * t - x[4];
    let (mut low, mut high) = (0.0, 2.0);
    'search: while high - low > 1e-3 {
        for part in [0.25, 0.5, 0.75] {
            let middle = low + part * (high - low);
            match f(middle) > 0.0 {
                true => {
                    high = middle;
                    continue 'search;
                }
                false => low = middle,
            }
        }
    }
    let mut t = low;
    for _ in 0..4 {
        t -= f(t) / (3.0 * t * t + x[3]);
    }
    t
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("optimization: newton", newton, x);
    check!("optimization: descent", descent, x);
    check!("optimization: search", search, x);
    check!("optimization: bracket", bracket, x);
}
