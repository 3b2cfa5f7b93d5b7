//! Activities that do not fit the types they are for.

use zymase::{autodiff_forward, autodiff_reverse};

#[autodiff_reverse(d_reference, Active, Active)]
fn reference(x: &f64) -> f64 {
    *x
}

#[autodiff_reverse(d_value, Duplicated, Active)]
fn value(x: f64) -> f64 {
    x
}

#[autodiff_reverse(d_integer, Active, Active)]
fn integer(n: usize) -> f64 {
    n as f64
}

#[autodiff_reverse(d_integers, Duplicated, Active)]
fn integers(n: &[i32]) -> f64 {
    n[0] as f64
}

#[autodiff_reverse(d_count, Duplicated, Active)]
fn count(x: &[f64]) -> usize {
    x.len()
}

struct Opaque(f64);

#[autodiff_reverse(d_opaque, Active, Active)]
fn opaque(x: Opaque) -> f64 {
    x.0
}

#[autodiff_reverse(d_result, Duplicated, Duplicated)]
fn result(x: &[f64]) -> f64 {
    x[0]
}

#[autodiff_reverse(d_only, ActiveOnly, Active)]
fn only(x: f64) -> f64 {
    x
}

#[autodiff_forward(d_strided, 2, Dualv, Dual)]
fn strided(x: &f64) -> f64 {
    *x
}

#[autodiff_forward(d_function, Dual, Dual, Dual)]
fn function(f: fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

fn main() {}
