// A trait for floats, implemented for both precisions by a macro, and operators on references.
include!("check.rs");

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

trait Float:
    Copy
    + Debug
    + PartialOrd
    + Default
    + Sum
    + AddAssign
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    const ONE: Self;
    fn of(value: f64) -> Self;
    fn exp(self) -> Self;
    fn sqrt(self) -> Self;
}

macro_rules! float {
    ($($type:ty),*) => {
        $(impl Float for $type {
            const ONE: $type = 1.0;
            fn of(value: f64) -> $type {
                value as $type
            }
            fn exp(self) -> $type {
                <$type>::exp(self)
            }
            fn sqrt(self) -> $type {
                <$type>::sqrt(self)
            }
        })*
    };
}

float!(f32, f64);

fn sigmoid<T: Float>(a: T) -> T {
    T::ONE / (T::ONE + (-a).exp())
}

fn layer<T: Float>(weights: &[T], input: &[T]) -> Vec<T> {
    weights
        .chunks(input.len())
        .map(|row| sigmoid(row.iter().zip(input).map(|(w, a)| *w * *a).sum()))
        .collect()
}

fn norm<T: Float>(v: &[T]) -> T {
    let mut sum = T::default();
    for a in v {
        sum += *a * *a;
    }
    sum.sqrt()
}

fn doubles(x: &[f64]) -> f64 {
    let weights: Vec<f64> = x.iter().flat_map(|a| [*a, f64::of(0.5) - a]).collect();
    norm(&layer(&weights, &[0.7, x[4]])) + norm(x)
}

#[derive(Clone, Debug, PartialEq)]
struct Polynomial<T>(Vec<T>);

impl<'a, T: Float> Mul<&'a Polynomial<T>> for &'a Polynomial<T> {
    type Output = Polynomial<T>;
    fn mul(self, other: &Polynomial<T>) -> Polynomial<T> {
        let mut product = vec![T::default(); self.0.len() + other.0.len() - 1];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                product[i + j] += *a * *b;
            }
        }
        Polynomial(product)
    }
}

impl<T: Float> Add for &Polynomial<T> {
    type Output = Polynomial<T>;
    fn add(self, other: &Polynomial<T>) -> Polynomial<T> {
        let n = self.0.len().max(other.0.len());
        let get = |p: &Polynomial<T>, i: usize| p.0.get(i).copied().unwrap_or_default();
        Polynomial((0..n).map(|i| get(self, i) + get(other, i)).collect())
    }
}

impl<T: Float> Polynomial<T> {
    fn at(&self, t: T) -> T {
        self.0
            .iter()
            .rev()
            .fold(T::default(), |sum, c| sum * t + *c)
    }
}

fn polynomials(x: &[f64]) -> f64 {
    let (p, q) = (Polynomial(x[..3].to_vec()), Polynomial(x[2..].to_vec()));
    let product = &(&p * &q) + &p;
    (&product * &product).at(0.7) + product.0.len() as f64 * q.at(x[0])
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("generic floats: doubles", doubles, x);
    check!("generic floats: polynomials", polynomials, x);
    // In single precision, close to what double precision gives.
    let single = norm(&layer(&[0.5f32, -0.25], &[1.0, 2.0]));
    let double = norm(&layer(&[0.5f64, -0.25], &[1.0, 2.0]));
    assert!((f64::from(single) - double).abs() < 1e-6);
}
