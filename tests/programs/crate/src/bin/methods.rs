//! Attributes on functions of types and traits.

use programs::{equal, near};
use zymase::{Differentiable, autodiff_forward, autodiff_reverse};

#[derive(Differentiable, Clone)]
struct Model {
    weights: Vec<f64>,
    bias: f64,
}

impl Model {
    #[autodiff_reverse(d_input, Const, Duplicated, Active)]
    #[autodiff_reverse(d_model, Duplicated, Const, Active)]
    #[autodiff_forward(f_input, Const, Dual, Dual)]
    fn predict(&self, x: &[f64]) -> f64 {
        let sum: f64 = self.weights.iter().map(|w| w * w).sum();
        sum * x.iter().map(|x| x * x).sum::<f64>() + self.bias
    }

    #[autodiff_reverse(d_shift, Duplicated, Const, Active)]
    fn shift(&mut self, by: f64) -> f64 {
        self.bias *= by;
        self.bias * self.bias
    }

    #[autodiff_reverse(d_consume, Active, Active)]
    fn consume(self) -> f64 {
        self.weights.iter().sum::<f64>() * self.bias
    }

    // Nothing but `Self::` says that this is a function of a type.
    #[autodiff_reverse(Self::d_scale, Active, Active)]
    fn scale(x: f64) -> f64 {
        x * x
    }
}

fn inherent() {
    let model = Model {
        weights: vec![1.0, 2.0],
        bias: 0.5,
    };
    let (x, mut dx) = ([3.0, 4.0], [0.0; 2]);
    assert_eq!(model.d_input(&x, &mut dx, 1.0), 125.5);
    equal(&dx, &[30.0, 40.0]);
    assert_eq!(model.f_input(&x, &[1.0, 0.0]), (125.5, 30.0));
    let mut shadow = model.zeros_like();
    model.d_model(&mut shadow, &x, 1.0);
    equal(&shadow.weights, &[50.0, 100.0]);
    assert_eq!(shadow.bias, 1.0);

    let (mut moved, mut shadow) = (model.clone(), model.zeros_like());
    assert_eq!(moved.d_shift(&mut shadow, 4.0, 1.0), 4.0);
    assert_eq!((moved.bias, shadow.bias), (2.0, 16.0));
    let (value, derivative) = model.d_consume(1.0);
    assert_eq!((value, derivative.bias), (1.5, 3.0));
    equal(&derivative.weights, &[0.5, 0.5]);
    assert_eq!(Model::d_scale(3.0, 1.0), (9.0, 6.0));
}

trait Shape {
    #[autodiff_reverse(d_area, Duplicated, Active)]
    #[autodiff_forward(f_area, Dual, Dual)]
    fn area(&self) -> f64;

    #[autodiff_reverse(d_scaled, Const, Active, Active)]
    fn scaled(&self, by: f64) -> f64 {
        self.area() * by * by
    }
}

struct Rectangle(f64, f64);
struct Circle {
    radius: f64,
}

impl Shape for Rectangle {
    fn area(&self) -> f64 {
        self.0 * self.1
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }
}

fn gradient_of<S: Shape>(shape: S, mut shadow: S) -> S {
    shape.d_area(&mut shadow, 1.0);
    shadow
}

fn traits() {
    let shadow = gradient_of(Rectangle(2.0, 3.0), Rectangle(0.0, 0.0));
    assert_eq!((shadow.0, shadow.1), (3.0, 2.0));
    let shadow = gradient_of(Circle { radius: 2.0 }, Circle { radius: 0.0 });
    assert_eq!(shadow.radius, 12.0);
    let (value, tangent) = Rectangle(2.0, 3.0).f_area(&Rectangle(1.0, 0.0));
    assert_eq!((value, tangent), (6.0, 3.0));
    let (value, dby) = Circle { radius: 1.0 }.d_scaled(2.0, 1.0);
    near(value, 12.0, 1e-15);
    near(dby, 12.0, 1e-15);
    // Derivatives do not keep a trait from being used for trait objects.
    let shape: &dyn Shape = &Rectangle(2.0, 3.0);
    assert_eq!(shape.scaled(2.0), 24.0);
    assert_eq!(shape.d_scaled(2.0, 1.0), (24.0, 24.0));
}

struct Scaled<T>(T);

impl<T: Copy + Into<f64>> Scaled<T> {
    #[autodiff_reverse(d_times, Const, Active, Active)]
    fn times<U: Into<f64> + Differentiable>(&self, x: U) -> f64 {
        self.0.into() * x.into()
    }
}

fn main() {
    inherent();
    traits();
    assert_eq!(Scaled(2.0f32).d_times(3.0f64, 1.0), (6.0, 2.0));
    assert_eq!(Scaled(2u8).d_times(3.0f32, 1.0), (6.0, 2.0));
    println!("ok methods");
}
