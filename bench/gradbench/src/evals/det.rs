//! The determinant by expansion in minors.

use crate::evaluation::{Answer, Count, Outcome, Request, check};
use serde::Deserialize;
use zymase::autodiff_reverse;

#[derive(Deserialize)]
struct Input {
    #[serde(rename = "A")]
    a: Vec<f64>,
    ell: Count,
}

/// Answers `primal` and `gradient`.
pub fn evaluate(request: &Request) -> Outcome {
    let Input { a, ell: Count(ell) } = request.input()?;
    check(ell > 0, "the matrix is empty")?;
    check(
        ell.checked_mul(ell) == Some(a.len()),
        "A has not ell * ell numbers",
    )?;
    match request.function {
        "primal" => request.answer(&a[..], |a| primal(a, ell)),
        "gradient" => {
            let mut da = vec![0.0; a.len()];
            let ((), timings) = request.repeat(&a[..], |a| gradient(a, ell, &mut da))?;
            Answer::new(&da, timings)
        }
        _ => request.unknown_function(),
    }
}

/// The determinant of a matrix with `ell` rows.
#[autodiff_reverse(d_primal, Duplicated, Const, Active)]
pub fn primal(a: &[f64], ell: usize) -> f64 {
    minor(a, ell, 0, &mut all_columns(ell))
}

/// A list of all columns: the entry of a column is the next one, the last entry the first one.
fn all_columns(ell: usize) -> Vec<usize> {
    (1..=ell).chain([0]).collect()
}

/// The determinant of the rows from `row` on, and the columns that are left in the list.
fn minor(a: &[f64], ell: usize, row: usize, next: &mut [usize]) -> f64 {
    if row + 1 == ell {
        return a[row * ell + next[ell]];
    }
    let mut sum = 0.0;
    let mut sign = 1.0;
    let mut before = ell;
    for _ in row..ell {
        let column = next[before];
        next[before] = next[column];
        sum += sign * a[row * ell + column] * minor(a, ell, row + 1, next);
        next[before] = column;
        before = column;
        sign = -sign;
    }
    sum
}

/// The derivative of [`primal`] with respect to `a`.
pub fn gradient(a: &[f64], ell: usize, da: &mut [f64]) {
    da.fill(0.0);
    d_primal(a, da, ell, 1.0);
}

/// Written by hand.
pub mod by_hand {
    /// The derivative of the primal with respect to `a`. The factor of a minor is known before the
    /// minor is, so one pass computes both.
    pub fn gradient(a: &[f64], ell: usize, da: &mut [f64]) {
        da.fill(0.0);
        minor(a, ell, 0, &mut super::all_columns(ell), 1.0, da);
    }

    fn minor(
        a: &[f64],
        ell: usize,
        row: usize,
        next: &mut [usize],
        seed: f64,
        da: &mut [f64],
    ) -> f64 {
        if row + 1 == ell {
            let place = row * ell + next[ell];
            da[place] += seed;
            return a[place];
        }
        let mut sum = 0.0;
        let mut sign = 1.0;
        let mut before = ell;
        for _ in row..ell {
            let column = next[before];
            let place = row * ell + column;
            let factor = sign * a[place];
            next[before] = next[column];
            let value = minor(a, ell, row + 1, next, seed * factor, da);
            next[before] = column;
            sum += factor * value;
            da[place] += seed * sign * value;
            before = column;
            sign = -sign;
        }
        sum
    }
}
