// Generic functions and structures, traits with associated types and constants.
include!("check.rs");

use std::ops::{Add, Mul};

fn dot<T: Copy + Default + Add<Output = T> + Mul<Output = T>>(a: &[T], b: &[T]) -> T {
    a.iter()
        .zip(b)
        .fold(T::default(), |sum, (a, b)| sum + *a * *b)
}

fn dots(x: &[f64]) -> f64 {
    let small: Vec<f32> = x.iter().map(|a| *a as f32).collect();
    let counts: Vec<i32> = x.iter().map(|a| *a as i32 + 1).collect();
    dot(x, x) * x[0] + f64::from(dot(&counts, &counts)) * x[1] + 0.0 * f64::from(small[0])
}

trait Activation {
    const SCALE: f64;
    fn value(a: f64) -> f64;
}

struct Tanh;
struct Smooth;

impl Activation for Tanh {
    const SCALE: f64 = 1.5;
    fn value(a: f64) -> f64 {
        a.tanh()
    }
}

impl Activation for Smooth {
    const SCALE: f64 = 0.5;
    fn value(a: f64) -> f64 {
        (1.0 + a.exp()).ln()
    }
}

fn apply<A: Activation>(x: &[f64]) -> Vec<f64> {
    x.iter().map(|a| A::SCALE * A::value(*a)).collect()
}

fn activations(x: &[f64]) -> f64 {
    dot(&apply::<Tanh>(x), &apply::<Smooth>(x))
}

trait Differentiate {
    type Value: Into<f64>;
    fn get(&self) -> Self::Value;
}

impl Differentiate for f64 {
    type Value = f64;
    fn get(&self) -> f64 {
        self * self
    }
}

impl Differentiate for (f64, f64) {
    type Value = f64;
    fn get(&self) -> f64 {
        self.0 / self.1
    }
}

fn sum_of<D: Differentiate>(all: &[D]) -> f64 {
    all.iter().map(|d| d.get().into()).sum()
}

fn associated(x: &[f64]) -> f64 {
    let pairs: Vec<(f64, f64)> = x.windows(2).map(|w| (w[0], w[1])).collect();
    sum_of(x) * sum_of(&pairs)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("generics: dots", dots, x);
    check!("generics: activations", activations, x);
    check!("generics: associated", associated, x);
}
