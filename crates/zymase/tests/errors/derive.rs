//! Types that `Differentiable` cannot be derived for, and functions that have no gradient.

use zymase::Differentiable;

#[derive(Differentiable)]
enum Choice {
    One(f64),
    Two(f64, f64),
}

#[derive(Differentiable)]
struct Named {
    value: f64,
    name: String,
}

fn main() {
    zymase::grad(|x: &[i32; 2]| x[0] as f64, &[1, 2]);
    zymase::grad(|x: &[f64; 2]| x[0] as i32, &[1.0, 2.0]);
}
