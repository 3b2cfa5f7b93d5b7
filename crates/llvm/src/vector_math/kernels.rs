//! The functions: their mathematics on vectors, without branches, to less than two units in the last
//! place.
//!
//! Single precision is computed in double precision where that is simpler, except for the functions
//! that networks spend their time in: `exp`, `log`, `tanh` and `erf`. No step needs a fused product, and
//! none is harmed by one: products that something is subtracted from to see what rounding took are exact
//! in the first place, because their factors are short ([`V::high`](super::code::V::high)).

mod angles;
mod errors;
mod logarithms;
mod powers;

pub use angles::{MOST_TURNS, acos, asin, atan, cos, sin, tan};
pub use errors::{erf, erfc};
pub use logarithms::{log, log1p, log2, log10};
pub use powers::{cosh, exp, exp2, expm1, pow, sinh, tanh};

use super::code::Lane;

/// ln 2 in two parts; the first times any exponent is exact.
fn ln_2(lane: Lane) -> (f64, f64) {
    match lane {
        Lane::F32 => (355.0 / 512.0, -0.00021219444005469057),
        _ => (0.6931471805598903, 5.497923018708371e-14),
    }
}
