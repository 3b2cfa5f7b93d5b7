// Trait objects behind Rc, with supertraits, default methods, generic wrappers and references to
// each other.
include!("check.rs");

use std::fmt::Debug;
use std::rc::Rc;

trait Function: Debug {
    fn at(&self, t: f64) -> f64;

    fn integral(&self, from: f64, to: f64) -> f64 {
        let h = (to - from) / 8.0;
        (0..8)
            .map(|i| self.at(from + (f64::from(i) + 0.5) * h) * h)
            .sum()
    }

    fn name(&self) -> &str {
        "function"
    }
}

#[derive(Debug)]
struct Power {
    factor: f64,
    exponent: i32,
}

#[derive(Debug)]
struct Wave(f64, f64);

#[derive(Debug)]
struct Sum {
    terms: Vec<Rc<dyn Function>>,
}

#[derive(Debug)]
struct Shifted<F: ?Sized> {
    by: f64,
    inner: Rc<F>,
}

impl Function for Power {
    fn at(&self, t: f64) -> f64 {
        self.factor * t.powi(self.exponent)
    }

    fn integral(&self, from: f64, to: f64) -> f64 {
        let n = self.exponent + 1;
        self.factor * (to.powi(n) - from.powi(n)) / f64::from(n)
    }

    fn name(&self) -> &str {
        "power"
    }
}

impl Function for Wave {
    fn at(&self, t: f64) -> f64 {
        self.0 * (self.1 * t).sin()
    }
}

impl Function for Sum {
    fn at(&self, t: f64) -> f64 {
        self.terms.iter().map(|term| term.at(t)).sum()
    }
}

impl<F: Function + ?Sized> Function for Shifted<F> {
    fn at(&self, t: f64) -> f64 {
        self.inner.at(t - self.by)
    }
}

fn shared(x: &[f64]) -> f64 {
    let wave: Rc<dyn Function> = Rc::new(Wave(x[0], x[1]));
    let power: Rc<dyn Function> = Rc::new(Power {
        factor: x[2],
        exponent: 2,
    });
    let sum = Sum {
        terms: vec![Rc::clone(&wave), power, wave],
    };
    sum.at(x[3]) + sum.integral(0.0, 1.0)
}

fn wrapped(x: &[f64]) -> f64 {
    let power = Rc::new(Power {
        factor: x[0],
        exponent: 3,
    });
    let shifted = Shifted {
        by: x[1],
        inner: power,
    };
    shifted.at(x[4]) + shifted.inner.integral(0.0, x[3])
}

fn chosen(x: &[f64]) -> f64 {
    fn largest<'a>(functions: &[&'a dyn Function], t: f64) -> &'a dyn Function {
        let mut best = functions[0];
        for function in functions {
            if function.at(t) > best.at(t) {
                best = *function;
            }
        }
        best
    }
    let (wave, power) = (
        Wave(x[0], x[3]),
        Power {
            factor: x[1],
            exponent: 1,
        },
    );
    let functions: [&dyn Function; 2] = [&wave, &power];
    let (a, b) = (largest(&functions, 0.5), largest(&functions, -0.5));
    a.at(x[4]) * b.integral(0.0, 1.0) + (a.name().len() + b.name().len()) as f64 * x[2]
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("shared traits: shared", shared, x);
    check!("shared traits: wrapped", wrapped, x);
    check!("shared traits: chosen", chosen, x);
}
