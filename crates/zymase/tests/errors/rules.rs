//! Marks and rules that do not fit their functions.

use zymase::{derivative, inactive};

#[inactive(always)]
fn marked(x: f64) -> f64 {
    x
}

#[derivative(Active, Active)]
fn without_rule(x: f64) -> f64 {
    x
}

#[derivative(Active, forward = tangent)]
fn too_few(x: f64) -> f64 {
    x
}

#[derivative(Active, Active, backward = tangent)]
fn misspelt(x: f64) -> f64 {
    x
}

#[derivative(Active, Active, reverse = (tangent))]
fn half(x: f64) -> f64 {
    x
}

#[derivative(Duplicated, Active, forward = tangent)]
fn of_value(x: f64) -> f64 {
    x
}

fn tangent(x: f64, dx: f64) -> (f64, f64) {
    (x, dx)
}

fn main() {}
