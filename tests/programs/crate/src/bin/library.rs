//! Derivatives that a library offers, called from a program of another crate.

use programs::{d_energy, d_power, energy, f_energy, like_differences, near, scale, steep};

fn main() {
    let (x, k) = ([0.3, -1.1, 2.0], 0.7);
    let mut dx = [0.0; 3];
    let (value, dk) = d_energy(&x, &mut dx, k, 1.0);
    near(value, energy(&x, k), 1e-15);
    like_differences(|x| energy(x, k), &x, &dx);
    like_differences(|k| energy(&x, k[0]), &[k], &[dk]);
    let (_, tangent) = f_energy(&x, &[1.0, 2.0, 3.0], k, 4.0);
    let sum = dx[0] + 2.0 * dx[1] + 3.0 * dx[2] + 4.0 * dk;
    near(tangent, sum, 1e-12);
    let mut dx = [0.0; 4];
    d_power(&[1.0, 2.0, 3.0, 0.5], &mut dx, 1.0);
    programs::equal(&dx, &[4.0, 32.0, 108.0, 0.5]);
    let derivative = zymase::grad(|x: &f64| scale(*x) * x + steep(*x), &3.0);
    near(derivative, 9.0 + 60.0, 1e-12);
    println!("ok library");
}
