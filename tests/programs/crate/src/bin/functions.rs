//! Attributes on functions: every activity, several at once, generic, nested.

use programs::{equal, like_differences, near};
use zymase::{autodiff_forward, autodiff_reverse};

#[autodiff_reverse(d_wave, Duplicated, Const, Active)]
#[autodiff_reverse(d_wave_only, Duplicated, Const, ActiveOnly)]
#[autodiff_reverse(d_wave_both, Duplicated, Active, Active)]
#[autodiff_reverse(d_wave_twice, 2, Duplicated, Active, Active)]
#[autodiff_reverse(d_wave_unasked, Const, Active, ActiveOnly)]
#[autodiff_forward(f_wave, Dual, Const, Dual)]
#[autodiff_forward(f_wave_only, Dual, Dual, DualOnly)]
#[autodiff_forward(f_wave_twice, 2, Dual, Dual, Dual)]
#[autodiff_forward(f_wave_twice_only, 2, Dual, Const, DualOnly)]
#[autodiff_forward(f_wave_strided, 2, Dualv, Const, Dual)]
fn wave(x: &[f64], y: f64) -> f64 {
    x.iter().map(|x| x * x * x).sum::<f64>() * y.sin()
}

fn every_activity() {
    let (x, y): (_, f64) = ([1.0, -2.0, 0.5], 0.7);
    let of_x = x.map(|x: f64| 3.0 * x * x * y.sin());
    let of_y = x.iter().map(|x| x * x * x).sum::<f64>() * y.cos();
    like_differences(|x| wave(x, y), &x, &of_x);

    let mut dx = [0.0; 3];
    let value = d_wave(&x, &mut dx, y, 1.0);
    near(value, wave(&x, y), 0.0);
    equal(&dx, &of_x);
    // Derivatives are added, and scale with the seed.
    d_wave_only(&x, &mut dx, y, 2.0);
    equal(&dx, &of_x.map(|d| 3.0 * d));
    let mut dx = [0.0; 3];
    let (value, dy) = d_wave_both(&x, &mut dx, y, 1.0);
    near(value, wave(&x, y), 0.0);
    equal(&dx, &of_x);
    near(dy, of_y, 1e-12);
    near(d_wave_unasked(&x, y, 1.0), of_y, 1e-12);

    let (mut first, mut second) = ([0.0; 3], [0.0; 3]);
    let (_, [dy, dy_10]) = d_wave_twice(&x, &mut first, &mut second, y, [1.0, 10.0]);
    equal(&first, &of_x);
    equal(&second, &of_x.map(|d| 10.0 * d));
    equal(&[dy, dy_10], &[of_y, 10.0 * of_y]);

    let (value, tangent) = f_wave(&x, &[1.0, 0.0, 2.0], y);
    near(value, wave(&x, y), 1e-15);
    near(tangent, of_x[0] + 2.0 * of_x[2], 1e-12);
    near(
        f_wave_only(&x, &[0.0, 1.0, 0.0], y, 3.0),
        of_x[1] + 3.0 * of_y,
        1e-12,
    );
    let (a, b) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let results = f_wave_twice(&x, &a, &b, y, 0.0, 1.0);
    equal(&results, &[wave(&x, y), of_x[0], of_x[1] + of_y]);
    equal(&f_wave_twice_only(&x, &a, &b, y), &of_x[..2]);
    let results = f_wave_strided(&x, &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0], y);
    equal(&results, &[wave(&x, y), of_x[0], of_x[2]]);
}

#[autodiff_reverse(d_cubes, Duplicated, Duplicated)]
#[autodiff_reverse(d_cubes_only, Duplicated, DuplicatedOnly)]
#[autodiff_forward(f_cubes, Dual, Dual)]
fn cubes(x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x * x * x;
    }
}

fn outputs() {
    let (x, mut y) = ([1.0f32, 2.0], [0.0; 2]);
    let (mut dx, mut dy) = ([0.0; 2], [1.0, 10.0]);
    d_cubes(&x, &mut dx, &mut y, &mut dy);
    assert_eq!((dx, y, dy), ([3.0, 120.0], [1.0, 8.0], [0.0, 0.0]));
    (dx, dy) = ([0.0; 2], [1.0, 1.0]);
    d_cubes_only(&x, &mut dx, &mut y, &mut dy);
    assert_eq!(dx, [3.0, 12.0]);
    f_cubes(&x, &[1.0, 2.0], &mut y, &mut dy);
    assert_eq!((y, dy), ([1.0, 8.0], [3.0, 24.0]));
}

#[autodiff_reverse(d_squares, Duplicated, Active)]
fn squares<T, const N: usize>(x: &[T; N]) -> T
where
    T: zymase::Differentiable + Copy + std::ops::Mul<Output = T> + std::iter::Sum,
{
    x.iter().map(|&x| x * x).sum()
}

#[autodiff_reverse(d_apply, Const, Active, Active)]
fn apply(function: impl Fn(f64) -> f64, x: f64) -> f64 {
    function(x) * x
}

fn generic() {
    let mut dx = [0.0f32; 3];
    assert_eq!(d_squares(&[1.0, 2.0, 3.0], &mut dx, 1.0), 14.0);
    assert_eq!(dx, [2.0, 4.0, 6.0]);
    let mut dx = [0.0; 1];
    d_squares(&[5.0], &mut dx, 1.0);
    assert_eq!(dx, [10.0]);

    // What a closure has captured is constant.
    let (a, x): (f64, f64) = (3.0, 0.7);
    let (value, dx) = d_apply(|x| a * x.sin(), x, 1.0);
    near(value, a * x.sin() * x, 1e-15);
    near(dx, a * (x.cos() * x + x.sin()), 1e-12);
}

fn nested() {
    #[autodiff_reverse(d_inner, Active, Const, Active)]
    fn inner(inner: f64, text: &str) -> f64 {
        inner * inner * text.len() as f64
    }
    assert_eq!(d_inner(3.0, "four", 1.0), (36.0, 24.0));
}

#[autodiff_reverse(d_count, Duplicated, Duplicated, Const)]
fn count(x: &[f64], product: &mut f64) -> usize {
    *product = x.iter().product();
    x.len()
}

fn results_without_derivative() {
    let (mut dx, mut product, mut seed) = ([0.0; 3], 0.0, 1.0);
    assert_eq!(
        d_count(&[2.0, 3.0, 4.0], &mut dx, &mut product, &mut seed),
        3
    );
    assert_eq!(product, 24.0);
    equal(&dx, &[12.0, 8.0, 6.0]);
}

fn main() {
    every_activity();
    outputs();
    generic();
    nested();
    results_without_derivative();
    println!("ok functions");
}
