// Values that optimizers are kept from looking through.
include!("check.rs");

use std::hint::black_box;

fn boxed(x: &[f64]) -> f64 {
    let a = black_box(x[0]);
    let v = black_box(vec![a, x[1], 2.0]);
    v[0] * v[1].sin() * v[2]
}

fn looped(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for a in x {
        sum = black_box(sum + a * a);
    }
    black_box(&x)[0] * sum
}

fn main() {
    let x = [0.52, 1.57, 0.33];
    check!("hints: boxed", boxed, x);
    check!("hints: looped", looped, x);
}
