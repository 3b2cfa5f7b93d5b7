//! Words that do not exist, do not belong here, or are too few or too many.

use zymase::{autodiff_forward, autodiff_reverse};

#[autodiff_reverse(d_misspelt, Duplicatd, Active)]
fn misspelt(x: &[f64]) -> f64 {
    x[0]
}

#[autodiff_reverse(d_dual, Dual, Active)]
fn dual(x: &[f64]) -> f64 {
    x[0]
}

#[autodiff_forward(d_duplicated, Duplicated, Dual)]
fn duplicated(x: &[f64]) -> f64 {
    x[0]
}

#[autodiff_reverse(d_too_few, Duplicated, Active)]
fn too_few(x: &[f64], y: f64) -> f64 {
    x[0] * y
}

#[autodiff_reverse(d_far_too_few)]
fn far_too_few(_x: &[f64], _y: &[f64]) {}

#[autodiff_reverse(d_too_many, Duplicated, Active, Const)]
fn too_many(x: &[f64]) -> f64 {
    x[0]
}

#[autodiff_reverse]
fn no_name(x: f64) -> f64 {
    x
}

#[autodiff_forward(d_late, Dual, 4, Dual)]
fn late_width(x: f64) -> f64 {
    x
}

#[autodiff_forward(d_none, 0, Dual, Dual)]
fn no_width(x: f64) -> f64 {
    x
}

fn main() {}
