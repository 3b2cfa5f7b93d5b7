//! Rules of one function, which finds what the function was given.

use programs::{equal, near};
use std::sync::atomic::{AtomicUsize, Ordering};
use zymase::{autodiff_forward, autodiff_reverse, derivative, hessian, inactive};

/// Where the pullback found what the function was given.
static FOUND: AtomicUsize = AtomicUsize::new(0);

/// The derivative is wrong by a factor of ten, so that one sees where it comes from.
#[derivative(Duplicated, Duplicated, Const, Active, reverse = squares_pullback)]
fn squares(out: &mut [f64], x: &[f64], scale: f64) -> f64 {
    for (out, x) in out.iter_mut().zip(x) {
        *out = scale * x * x;
    }
    scale * x.iter().sum::<f64>()
}

fn squares_pullback(dout: &mut [f64], x: &[f64], dx: &mut [f64], scale: f64, dret: f64) {
    FOUND.store(x.as_ptr().addr(), Ordering::Relaxed);
    for ((dout, x), dx) in dout.iter_mut().zip(x).zip(dx) {
        *dx += 10.0 * (2.0 * scale * x * *dout + scale * dret);
        *dout = 0.0;
    }
}

#[autodiff_reverse(d_intact, Duplicated, Active)]
#[autodiff_forward(f_intact, Dual, Dual)]
fn intact(x: &[f64]) -> f64 {
    let mut out = vec![0.0; x.len()];
    let sum = squares(&mut out, x, 0.5);
    sum + out.iter().map(|y| y * y).sum::<f64>()
}

/// What is read is where it was.
fn of_intact_memory() {
    let (x, mut dx) = ([1.0, 2.0], [0.0; 2]);
    near(d_intact(&x, &mut dx, 1.0), 1.5 + 0.25 + 4.0, 1e-15);
    // y = x²/2 and dy = 2 y, so 2 · 0.5 · x · dy + 0.5.
    equal(&dx, &[10.0 * 1.5, 10.0 * 8.5]);
    // Without optimization nobody knows that what is written is other memory.
    if !cfg!(debug_assertions) {
        assert_eq!(FOUND.load(Ordering::Relaxed), x.as_ptr().addr());
    }
    // There is no rule for forward mode: the body is differentiated.
    near(f_intact(&x, &[1.0, 0.0]).1, 1.5, 1e-15);
}

#[inactive]
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x))
}

struct Layer {
    x: Vec<f64>,
}

#[autodiff_reverse(d_looked_at, Duplicated, Active)]
fn looked_at(layer: &Layer) -> f64 {
    let mut out = vec![0.0; layer.x.len()];
    squares(&mut out, &layer.x, 0.5);
    let most = largest(&out);
    out.iter().map(|y| y / most).sum()
}

/// A function without a derivative that only reads leaves memory intact.
fn of_memory_that_is_looked_at() {
    let layer = Layer { x: vec![1.0, 2.0] };
    let mut shadow = Layer { x: vec![0.0; 2] };
    near(d_looked_at(&layer, &mut shadow, 1.0), 1.25, 1e-15);
    equal(&shadow.x, &[10.0 * 0.5, 10.0 * 1.0]);
    if !cfg!(debug_assertions) {
        assert_eq!(FOUND.load(Ordering::Relaxed), layer.x.as_ptr().addr());
    }
}

#[autodiff_reverse(d_overwritten, Duplicated, Active)]
fn overwritten(x: &mut [f64]) -> f64 {
    let mut out = vec![0.0; x.len()];
    squares(&mut out, x, 0.5);
    x.iter_mut().for_each(|x| *x = 3.0 * *x);
    out.iter().sum::<f64>() + x.iter().sum::<f64>()
}

/// What is overwritten has been copied.
fn of_overwritten_memory() {
    let (mut x, mut dx) = ([1.0, 2.0], [0.0; 2]);
    near(d_overwritten(&mut x, &mut dx, 1.0), 2.5 + 9.0, 1e-15);
    equal(&dx, &[10.0 + 3.0, 20.0 + 3.0]);
    assert_ne!(FOUND.load(Ordering::Relaxed), x.as_ptr().addr());
}

#[autodiff_reverse(d_layers, Duplicated, Const, Active)]
fn layers(x: &[f64], depth: usize) -> f64 {
    let mut x = x.to_vec();
    for _ in 0..depth {
        let mut next = vec![0.0; x.len()];
        squares(&mut next, &x, 0.5);
        x = next;
    }
    x.iter().sum()
}

/// What each iteration makes stays until the reverse sweep, though the program frees it.
fn of_memory_that_is_freed() {
    let (x, mut dx) = ([1.5, 2.0], [0.0; 2]);
    d_layers(&x, &mut dx, 3, 1.0);
    for (x, dx) in x.into_iter().zip(dx) {
        let (mut value, mut slope): (f64, f64) = (x, 1.0);
        for _ in 0..3 {
            slope *= 10.0 * value;
            value = 0.5 * value * value;
        }
        near(dx, slope, 1e-12);
    }
}

#[derive(Clone, Copy)]
struct Gain {
    factor: f64,
}

impl Gain {
    #[derivative(Const, Active, Active, reverse = Self::amplify_pullback)]
    fn amplify(&self, x: f64) -> f64 {
        self.factor * x * x
    }

    fn amplify_pullback(&self, x: f64, dret: f64) -> f64 {
        10.0 * 2.0 * self.factor * x * dret
    }
}

#[autodiff_reverse(d_signal, Const, Active, Active)]
fn signal(gain: &Gain, x: f64) -> f64 {
    gain.amplify(x) + x
}

/// The derivative of a generic function is by its type.
trait Weight {
    const WEIGHT: f64;
}
struct Double;
impl Weight for Double {
    const WEIGHT: f64 = 2.0;
}

#[derivative(Duplicated, Active, reverse = weighted_pullback::<W>)]
fn weighted<W: Weight>(x: &[f64]) -> f64 {
    W::WEIGHT * x.iter().sum::<f64>()
}

fn weighted_pullback<W: Weight>(x: &[f64], dx: &mut [f64], dret: f64) {
    assert_eq!(x.len(), dx.len());
    dx.iter_mut().for_each(|dx| *dx += 10.0 * W::WEIGHT * dret);
}

#[autodiff_reverse(d_weighted, Duplicated, Active)]
fn twice(x: &[f64]) -> f64 {
    weighted::<Double>(x)
}

fn of_methods_and_generics() {
    let gain = Gain { factor: 3.0 };
    assert_eq!(d_signal(&gain, 2.0, 1.0), (14.0, 121.0));
    let mut dx = [0.0; 2];
    assert_eq!(d_weighted(&[1.0, 2.0], &mut dx, 1.0), 6.0);
    equal(&dx, &[20.0, 20.0]);
}

/// The second derivative goes through the rule: what it computes is differentiated.
fn of_second_order() {
    let cubes = |x: &[f64; 2]| {
        let mut out = [0.0; 2];
        squares(&mut out, x, 0.5);
        out[0] * x[1]
    };
    let second = hessian(cubes, &[2.0, 3.0]);
    near(second[0][0], 10.0 * 3.0, 1e-12);
}

fn main() {
    of_intact_memory();
    of_memory_that_is_looked_at();
    of_overwritten_memory();
    of_memory_that_is_freed();
    of_methods_and_generics();
    of_second_order();
    println!("ok pullbacks");
}
