// Sequences that are computed on demand: from_fn, successors, peekable, scan, cycle, repeat.
include!("check.rs");

use std::iter;

fn successors(x: &[f64]) -> f64 {
    let orbit = iter::successors(Some(x[0]), |&t| (t < 40.0).then_some(t * t + x[1]));
    orbit.map(|t| t.ln_1p()).sum()
}

fn from_fn(x: &[f64]) -> f64 {
    let (mut a, mut b, mut left) = (x[0], x[1], 8);
    let fibonacci = iter::from_fn(move || {
        left -= 1;
        (a, b) = (b, a + b * 0.5);
        (left > 0).then_some(a)
    });
    fibonacci.enumerate().map(|(i, a)| a / (i + 1) as f64).sum()
}

fn peekable(x: &[f64]) -> f64 {
    // The sum over runs of numbers of the same sign, each run by its product.
    let mut all = x.iter().copied().peekable();
    let mut sum = 0.0;
    while let Some(first) = all.next() {
        let mut product = first;
        while let Some(next) = all.next_if(|next| next.signum() == first.signum()) {
            product *= next;
        }
        if let Some(next) = all.peek() {
            product += 0.1 * next;
        }
        sum += product.sin();
    }
    sum
}

fn running(x: &[f64]) -> f64 {
    let means = x.iter().scan((0.0, 0.0), |(sum, count), a| {
        *sum += a;
        *count += 1.0;
        Some(*sum / *count)
    });
    means
        .skip(1)
        .zip(x)
        .map(|(mean, a)| (a - mean).powi(2))
        .sum()
}

fn repeated(x: &[f64]) -> f64 {
    let cycled = x.iter().cycle().skip(2).step_by(3).take(7);
    let once = iter::once(x[0] * x[1]).chain(iter::repeat_n(x[2], 3));
    cycled
        .zip(once.chain(iter::repeat(0.5)))
        .map(|(a, b)| a * b)
        .sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, -0.81, 2.04];
    check!("lazy: successors", successors, x);
    check!("lazy: from_fn", from_fn, x);
    check!("lazy: peekable", peekable, x);
    check!("lazy: running", running, x);
    check!("lazy: repeated", repeated, x);
}
