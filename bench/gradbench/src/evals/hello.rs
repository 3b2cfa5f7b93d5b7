//! The square of a number.

use crate::evaluation::{Answer, Outcome, Request, Timing};
use std::time::Instant;
use zymase::autodiff_reverse;

/// Answers `square` and `double`. The input is a number alone, so there is one run.
pub fn evaluate(request: &Request) -> Outcome {
    let function = match request.function {
        "square" => square,
        "double" => double,
        _ => return request.unknown_function(),
    };
    let x: f64 = request.input()?;
    let start = Instant::now();
    let y = function(x);
    Answer::new(&y, vec![Timing::of_run(start.elapsed())])
}

/// The square.
#[autodiff_reverse(d_square, Active, Active)]
pub fn square(x: f64) -> f64 {
    x * x
}

/// The derivative of [`square`].
pub fn double(x: f64) -> f64 {
    d_square(x, 1.0).1
}

/// Written by hand.
pub mod by_hand {
    /// The derivative of the square.
    pub fn double(x: f64) -> f64 {
        2.0 * x
    }
}
