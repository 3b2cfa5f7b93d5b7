//! A dot product.

use zymase::autodiff_reverse;

/// The dot product.
#[autodiff_reverse(d_dot, Duplicated, Duplicated, Active)]
#[inline(never)]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Adds its derivatives.
pub fn gradient(x: &[f64], dx: &mut [f64], y: &[f64], dy: &mut [f64]) {
    d_dot(x, dx, y, dy, 1.0);
}

/// Written by hand.
pub mod by_hand {
    /// Adds the derivatives, and returns the product as the derivative of the crate does.
    #[inline(never)]
    pub fn gradient(x: &[f64], dx: &mut [f64], y: &[f64], dy: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for ((x, dx), (y, dy)) in x.iter().zip(dx).zip(y.iter().zip(dy)) {
            *dx += y;
            *dy += x;
            sum += x * y;
        }
        sum
    }
}
