// Closures that borrow, move and are passed on.
include!("check.rs");

fn borrowing(x: &[f64]) -> f64 {
    let scale = x[0];
    let mut total = 0.0;
    let mut add = |a: f64| total += scale * a;
    x.iter().for_each(|a| add(a * a));
    total
}

fn moving(x: &[f64]) -> f64 {
    fn line(slope: f64, offset: f64) -> impl Fn(f64) -> f64 {
        move |t| slope * t + offset
    }
    let lines: Vec<_> = x.windows(2).map(|w| line(w[0], w[1])).collect();
    lines.iter().fold(0.4, |t, f| f(t))
}

fn generic(x: &[f64]) -> f64 {
    fn newton(f: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64, mut t: f64) -> f64 {
        for _ in 0..20 {
            t -= f(t) / slope(t);
        }
        t
    }
    let (a, b) = (x[1], x[4]);
    newton(|t| t * t * t + a * t - b, |t| 3.0 * t * t + a, 1.0) * x[0]
}

fn by_reference(x: &[f64]) -> f64 {
    fn twice(f: &dyn Fn(f64) -> f64, a: f64) -> f64 {
        f(f(a))
    }
    let owned = x.to_vec();
    let shifted = move |a: f64| a * owned[1] + owned[2];
    twice(&shifted, x[0]) + twice(&|a| a.sin() * x[3], x[4])
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("closures: borrowing", borrowing, x);
    check!("closures: moving", moving, x);
    check!("closures: generic", generic, x);
    check!("closures: by reference", by_reference, x);
}
