//! A particle between two charges: the derivative of a simulation that contains a derivative.

use super::solver::{Forward, Mode, Reverse, argmin};
use crate::evaluation::{Outcome, Request};
use serde::Deserialize;

#[derive(Deserialize)]
struct Input {
    w: f64,
}

const STEP: f64 = 0.1;

/// Answers `rr`, `ff`, `fr` and `rf`: the mode of the outer derivative, then that of the inner one.
pub fn evaluate(request: &Request) -> Outcome {
    let solve = match request.function {
        "rr" => solve::<Reverse, Reverse>,
        "ff" => solve::<Forward, Forward>,
        "fr" => solve::<Forward, Reverse>,
        "rf" => solve::<Reverse, Forward>,
        _ => return request.unknown_function(),
    };
    let Input { w } = request.input()?;
    request.answer(&w, |w| solve(*w))
}

/// The place of the charge with which the particle lands next to zero.
pub fn solve<Outer: Mode, Inner: Mode>(w: f64) -> f64 {
    argmin::<Outer, 1>(|w| energy::<Inner>(w[0]), [w])[0]
}

/// The square of where the particle lands.
pub fn energy<Inner: Mode>(w: f64) -> f64 {
    simulate(|x| Inner::gradient(|x| potential(x, w), x))
}

/// The square of where a particle lands in a potential with this slope.
fn simulate(slope: impl Fn(&[f64; 2]) -> [f64; 2]) -> f64 {
    let mut x = [0.0, 8.0];
    let mut v = [0.75, 0.0];
    loop {
        let slope = slope(&x);
        x = [x[0] + STEP * v[0], x[1] + STEP * v[1]];
        if x[1] <= 0.0 {
            let time = -x[1] / v[1];
            let place = x[0] + time * v[0];
            return place * place;
        }
        v = [v[0] - STEP * slope[0], v[1] - STEP * slope[1]];
    }
}

/// The potential of the charges at (10, 10 - w) and (10, 0).
fn potential(x: &[f64; 2], w: f64) -> f64 {
    1.0 / distance(x, [10.0, 10.0 - w]) + 1.0 / distance(x, [10.0, 0.0])
}

fn distance(x: &[f64; 2], y: [f64; 2]) -> f64 {
    ((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2)).sqrt()
}

/// Written by hand.
pub mod by_hand {
    use super::{STEP, simulate};
    use crate::evals::solver::descend;

    /// The place of the charge with which the particle lands next to zero.
    pub fn solve(w: f64) -> f64 {
        descend(|w| energy(w[0]), |w| [energy_and_slope(w[0]).1], [w])[0]
    }

    /// The square of where the particle lands.
    pub fn energy(w: f64) -> f64 {
        simulate(|x| {
            let near = attraction([10.0 - x[0], 10.0 - w - x[1]], [0.0; 2]).0;
            let far = attraction([10.0 - x[0], -x[1]], [0.0; 2]).0;
            [near[0] + far[0], near[1] + far[1]]
        })
    }

    /// The square of where the particle lands, and its derivative with respect to `w`.
    pub fn energy_and_slope(w: f64) -> (f64, f64) {
        let (mut x, mut dx) = ([0.0, 8.0], [0.0, 0.0]);
        let (mut v, mut dv) = ([0.75, 0.0], [0.0, 0.0]);
        loop {
            let near = attraction([10.0 - x[0], 10.0 - w - x[1]], [-dx[0], -1.0 - dx[1]]);
            let far = attraction([10.0 - x[0], -x[1]], [-dx[0], -dx[1]]);
            for i in 0..2 {
                x[i] += STEP * v[i];
                dx[i] += STEP * dv[i];
            }
            if x[1] <= 0.0 {
                let time = -x[1] / v[1];
                let dtime = -(dx[1] + time * dv[1]) / v[1];
                let place = x[0] + time * v[0];
                let dplace = dx[0] + dtime * v[0] + time * dv[0];
                return (place * place, 2.0 * place * dplace);
            }
            for i in 0..2 {
                v[i] -= STEP * (near.0[i] + far.0[i]);
                dv[i] -= STEP * (near.1[i] + far.1[i]);
            }
        }
    }

    /// The slope of the potential of a charge that is `r` away, and its derivative: r / |r|³.
    fn attraction(r: [f64; 2], dr: [f64; 2]) -> ([f64; 2], [f64; 2]) {
        let square = r[0] * r[0] + r[1] * r[1];
        let factor = 1.0 / (square * square.sqrt());
        let relative = -3.0 * (r[0] * dr[0] + r[1] * dr[1]) / square;
        (
            [factor * r[0], factor * r[1]],
            [0, 1].map(|i| factor * (dr[i] + relative * r[i])),
        )
    }
}
