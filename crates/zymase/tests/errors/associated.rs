//! A function of a type that has the name of a free function.

use zymase::autodiff_reverse;

fn square(x: f64) -> f64 {
    x
}

struct Square;

impl Square {
    // Nothing here says that this is not the function above.
    #[autodiff_reverse(d_square, Active, Active)]
    fn square(x: f64) -> f64 {
        x * x
    }

    #[autodiff_reverse(Self::d_cube, Active, Active)]
    fn cube(x: f64) -> f64 {
        x * x * x
    }
}

fn main() {
    square(1.0);
}
