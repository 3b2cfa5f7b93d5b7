// Closures that are returned, composed, stored in structures, and count as they go.
include!("check.rs");

fn compose<A, B, C>(f: impl Fn(A) -> B, g: impl Fn(B) -> C) -> impl Fn(A) -> C {
    move |a| g(f(a))
}

fn composed(x: &[f64]) -> f64 {
    let (a, b) = (x[0], x[1]);
    let line = move |t: f64| a * t + b;
    let both = compose(line, |t| (t, t * t));
    let all = compose(both, |(t, s)| t.sin() * s);
    all(x[2]) + all(x[3])
}

fn polynomial(roots: &[f64]) -> Box<dyn Fn(f64) -> f64 + '_> {
    match roots {
        [] => Box::new(|_| 1.0),
        [root, rest @ ..] => {
            let others = polynomial(rest);
            Box::new(move |t| (t - root) * others(t))
        }
    }
}

fn boxed(x: &[f64]) -> f64 {
    polynomial(x)(0.3) + polynomial(&x[..2])(x[4])
}

fn counting(x: &[f64]) -> f64 {
    fn accumulator(start: f64, decay: f64) -> impl FnMut(f64) -> f64 {
        let (mut sum, mut count) = (start, 0);
        move |a| {
            count += 1;
            sum = decay * sum + a / f64::from(count);
            sum
        }
    }
    let (mut slow, mut fast) = (accumulator(x[0], 0.9), accumulator(1.0, x[1]));
    x.iter().map(|a| slow(*a) * fast(a * a)).sum()
}

struct Integrator<F> {
    f: F,
    step: f64,
}

impl<F: Fn(f64) -> f64> Integrator<F> {
    fn between(&self, from: f64, to: f64) -> f64 {
        let count = ((to - from) / self.step).round() as usize;
        let at = |i: usize| from + (to - from) * i as f64 / count as f64;
        (0..count)
            .map(|i| 0.5 * ((self.f)(at(i)) + (self.f)(at(i + 1))))
            .sum::<f64>()
            * (to - from)
            / count as f64
    }
}

fn stored(x: &[f64]) -> f64 {
    let inner = Integrator {
        f: |t: f64| (x[0] * t).sin() + x[1],
        step: 0.25,
    };
    let outer = Integrator {
        f: |t: f64| inner.between(0.0, 1.0) * t * x[2],
        step: 0.5,
    };
    outer.between(-1.0, 2.0) + inner.between(0.0, x[4])
}

fn curried(x: &[f64]) -> f64 {
    let add = |a: f64| move |b: f64| move |c: f64| a * b + c;
    let functions: [&dyn Fn(f64) -> f64; 3] = [&add(x[0])(x[1]), &f64::cos, &|t| t * x[2]];
    functions.iter().fold(x[3], |t, f| f(t))
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("closures returned: composed", composed, x);
    check!("closures returned: boxed", boxed, x);
    check!("closures returned: counting", counting, x);
    check!("closures returned: stored", stored, x);
    check!("closures returned: curried", curried, x);
}
