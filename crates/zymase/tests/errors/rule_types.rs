//! Functions of a rule whose types do not fit.

use zymase::derivative;

#[derivative(Active, Active, reverse = (augmented, pullback))]
fn other_tape(x: f64) -> f64 {
    x
}

fn augmented(x: f64) -> (f64, Vec<f64>) {
    (x, vec![x])
}

fn pullback(tape: f64, seed: f64) -> f64 {
    tape * seed
}

#[derivative(Active, Active, forward = tangent)]
fn no_tangent(x: f64) -> f64 {
    x
}

fn tangent(x: f64) -> (f64, f64) {
    (x, x)
}

fn main() {}
