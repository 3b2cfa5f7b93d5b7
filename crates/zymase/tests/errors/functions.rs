//! Attributes on what has no derivative.

use zymase::autodiff_reverse;

#[autodiff_reverse(d_structure, Active)]
struct Structure;

#[autodiff_reverse(d_later, Active, Active)]
async fn later(x: f64) -> f64 {
    x
}

#[autodiff_reverse(d_borrowed, Duplicated, Active)]
fn borrowed(x: &[f64]) -> &f64 {
    &x[0]
}

#[autodiff_reverse(d_hidden, Active, Active)]
fn hidden(x: f64) -> impl Copy {
    x
}

fn main() {}
