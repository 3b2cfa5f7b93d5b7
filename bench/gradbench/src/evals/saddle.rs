//! A saddle point: the derivative of an optimizer that contains a derivative.

use super::solver::{Forward, Mode, Reverse, argmax, argmin};
use crate::evaluation::{Outcome, Request};
use serde::Deserialize;

#[derive(Deserialize)]
struct Input {
    start: [f64; 2],
}

/// Answers `rr`, `ff`, `fr` and `rf`: the mode of the outer derivative, then that of the inner one.
pub fn evaluate(request: &Request) -> Outcome {
    let solve = match request.function {
        "rr" => solve::<Reverse, Reverse>,
        "ff" => solve::<Forward, Forward>,
        "fr" => solve::<Forward, Reverse>,
        "rf" => solve::<Reverse, Forward>,
        _ => return request.unknown_function(),
    };
    let Input { start } = request.input()?;
    request.answer(&start, |start| solve(*start))
}

/// Where the greatest value over y is least over x: first x, then y.
pub fn solve<Outer: Mode, Inner: Mode>(start: [f64; 2]) -> [f64; 4] {
    let x = argmin::<Outer, 2>(|x| greatest::<Inner>(x, start), start);
    let y = argmax::<Outer, 2>(|y| value(&x, y), start);
    [x[0], x[1], y[0], y[1]]
}

/// The greatest value over y.
pub fn greatest<Inner: Mode>(x: &[f64; 2], start: [f64; 2]) -> f64 {
    let y = argmax::<Inner, 2>(|y| value(x, y), start);
    value(x, &y)
}

fn value(x: &[f64; 2], y: &[f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]) - (y[0] * y[0] + y[1] * y[1])
}

/// Written by hand.
pub mod by_hand {
    use super::value;
    use crate::evals::solver::descend;

    /// Where the greatest value over y is least over x: first x, then y.
    pub fn solve(start: [f64; 2]) -> [f64; 4] {
        let x = descend(|x| greatest(x, start).0, |x| greatest(x, start).1, start);
        let y = arg_greatest(&x, start);
        [x[0], x[1], y[0], y[1]]
    }

    /// The greatest value over y, and its derivative: the steps to the greatest value do not depend
    /// on x, only the value there does.
    pub fn greatest(x: &[f64; 2], start: [f64; 2]) -> (f64, [f64; 2]) {
        let y = arg_greatest(x, start);
        (value(x, &y), x.map(|x| 2.0 * x))
    }

    fn arg_greatest(x: &[f64; 2], start: [f64; 2]) -> [f64; 2] {
        descend(|y| -value(x, y), |y| y.map(|y| 2.0 * y), start)
    }
}
