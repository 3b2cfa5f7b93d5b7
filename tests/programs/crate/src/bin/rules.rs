//! Functions with derivatives of their own.

use programs::{equal, near};
use zymase::{autodiff_forward, autodiff_reverse, derivative};

/// The root of x³ + x = a, by iteration. Its derivative needs none: 1/(3x² + 1).
#[derivative(Active, Active, forward = root_tangent, reverse = (root_augmented, root_pullback))]
fn root(a: f64) -> f64 {
    let mut x = a;
    for _ in 0..50 {
        x -= (x * x * x + x - a) / (3.0 * x * x + 1.0);
    }
    x
}

fn root_tangent(a: f64, da: f64) -> (f64, f64) {
    let x = root(a);
    (x, da / (3.0 * x * x + 1.0))
}

fn root_augmented(a: f64) -> (f64, f64) {
    let x = root(a);
    (x, 3.0 * x * x + 1.0)
}

fn root_pullback(slope: f64, dret: f64) -> f64 {
    dret / slope
}

#[autodiff_reverse(d_cost, Active, Active)]
#[autodiff_forward(f_cost, Dual, Dual)]
fn cost(a: f64) -> f64 {
    3.0 * root(a) + root(2.0 * a)
}

fn of_numbers() {
    let slope = |x: f64| 1.0 / (3.0 * x * x + 1.0);
    let expected = 3.0 * slope(root(2.0)) + 2.0 * slope(root(4.0));
    let (value, da) = d_cost(2.0, 1.0);
    near(value, cost(2.0), 1e-15);
    near(da, expected, 1e-12);
    let (value, tangent) = f_cost(2.0, 1.0);
    near(value, cost(2.0), 1e-15);
    near(tangent, expected, 1e-12);
}

/// What the tape keeps has a type of its own.
struct Kept {
    x: Vec<f64>,
    scale: f64,
}

/// The derivative is wrong by a factor of ten, so that one sees where it comes from. The scale has
/// none: the rule handles the first argument only.
#[derivative(Duplicated, Const, Active, reverse = (power_augmented, power_pullback))]
fn power(x: &[f64], scale: f64) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>() * scale
}

fn power_augmented(x: &[f64], scale: f64) -> (f64, Kept) {
    let x = x.to_vec();
    (power(&x, scale), Kept { x, scale })
}

fn power_pullback(kept: Kept, dx: &mut [f64], dret: f64) {
    for (dx, x) in dx.iter_mut().zip(kept.x) {
        *dx += 10.0 * 2.0 * x * kept.scale * dret;
    }
}

#[autodiff_reverse(d_energy, Duplicated, Active)]
#[autodiff_forward(f_energy, Dual, Dual)]
fn energy(x: &mut [f64]) -> f64 {
    let before = power(x, 0.5);
    // What the tape does not keep is gone in the reverse sweep.
    x.iter_mut().for_each(|x| *x = 3.0 * *x);
    before + x.iter().sum::<f64>()
}

fn of_slices() {
    let (mut x, mut dx) = ([1.0, 2.0], [0.0; 2]);
    near(d_energy(&mut x, &mut dx, 1.0), 2.5 + 9.0, 1e-15);
    equal(&dx, &[13.0, 23.0]);
    // There is no rule for forward mode: the body is differentiated.
    let (mut x, mut dx) = ([1.0, 2.0], [1.0, 0.0]);
    near(f_energy(&mut x, &mut dx).1, 1.0 + 3.0, 1e-15);
}

struct Spring {
    stiffness: f64,
}

impl Spring {
    #[derivative(Const, Active, Active, Active, forward = Self::force_tangent, reverse = (Self::force_augmented, Self::force_pullback))]
    fn force(&self, x: f64, y: f64) -> f64 {
        self.stiffness * x * y
    }

    fn force_tangent(&self, x: f64, dx: f64, y: f64, dy: f64) -> (f64, f64) {
        (self.force(x, y), self.stiffness * (dx * y + x * dy))
    }

    fn force_augmented(&self, x: f64, y: f64) -> (f64, [f64; 2]) {
        (self.force(x, y), [self.stiffness * y, self.stiffness * x])
    }

    fn force_pullback([by_x, by_y]: [f64; 2], dret: f64) -> (f64, f64) {
        (by_x * dret, by_y * dret)
    }
}

#[autodiff_reverse(d_work, Const, Active, Const, Active)]
#[autodiff_forward(f_work, Const, Dual, Dual, Dual)]
fn work(spring: &Spring, x: f64, y: f64) -> f64 {
    spring.force(x, y) * x
}

fn of_methods() {
    let spring = Spring { stiffness: 4.0 };
    assert_eq!(d_work(&spring, 3.0, 2.0, 1.0), (72.0, 48.0));
    assert_eq!(f_work(&spring, 3.0, 1.0, 2.0, 10.0), (72.0, 48.0 + 360.0));
    assert_eq!(work(&spring, 3.0, 2.0), 72.0);
}

fn main() {
    of_numbers();
    of_slices();
    of_methods();
    println!("ok rules");
}
