// Traits with associated types and constants, blanket implementations, generic state of a solver.
include!("check.rs");

use std::ops::{Add, Mul};

/// What the steps of a solver need.
trait State: Clone {
    const DIMENSION: usize;
    fn moved(&self, by: f64, along: &Self) -> Self;
}

impl<T: Copy + Add<Output = T> + Mul<f64, Output = T>> State for T {
    const DIMENSION: usize = size_of::<T>() / size_of::<f64>();
    fn moved(&self, by: f64, along: &Self) -> Self {
        *self + *along * by
    }
}

trait System {
    type State: State;
    fn slope(&self, t: f64, state: &Self::State) -> Self::State;

    fn step(&self, t: f64, dt: f64, state: &Self::State) -> Self::State {
        let k1 = self.slope(t, state);
        let k2 = self.slope(t + dt / 2.0, &state.moved(dt / 2.0, &k1));
        let k3 = self.slope(t + dt / 2.0, &state.moved(dt / 2.0, &k2));
        let k4 = self.slope(t + dt, &state.moved(dt, &k3));
        let sum = k1.moved(2.0, &k2).moved(2.0, &k3).moved(1.0, &k4);
        state.moved(dt / 6.0, &sum)
    }
}

fn solve<S: System>(system: &S, start: S::State, end: f64, steps: u32) -> S::State {
    let dt = end / f64::from(steps);
    (0..steps).fold(start, |state, i| system.step(f64::from(i) * dt, dt, &state))
}

struct Decay {
    rate: f64,
}

impl System for Decay {
    type State = f64;
    fn slope(&self, t: f64, state: &f64) -> f64 {
        -self.rate * state + t.sin()
    }
}

#[derive(Clone, Copy)]
struct Pair(f64, f64);

impl Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        Pair(self.0 + other.0, self.1 + other.1)
    }
}

impl Mul<f64> for Pair {
    type Output = Pair;
    fn mul(self, by: f64) -> Pair {
        Pair(self.0 * by, self.1 * by)
    }
}

struct Pendulum<'a> {
    length: &'a f64,
    friction: f64,
}

impl System for Pendulum<'_> {
    type State = Pair;
    fn slope(&self, _: f64, &Pair(angle, speed): &Pair) -> Pair {
        Pair(speed, -angle.sin() / self.length - self.friction * speed)
    }
}

fn decay(x: &[f64]) -> f64 {
    let system = Decay { rate: x[1] };
    solve(&system, x[0], 2.0, 10) * <f64 as State>::DIMENSION as f64
}

fn pendulum(x: &[f64]) -> f64 {
    let system = Pendulum {
        length: &x[4],
        friction: x[3],
    };
    let Pair(angle, speed) = solve(&system, Pair(x[0], x[2]), x[1], 20);
    angle * speed + Pair::DIMENSION as f64 * angle
}

trait Norm {
    fn norm(&self) -> f64;
}

impl<T: AsRef<[f64]> + ?Sized> Norm for T {
    fn norm(&self) -> f64 {
        self.as_ref().iter().map(|a| a * a).sum::<f64>().sqrt()
    }
}

fn largest<'a, T: Norm + ?Sized + 'a>(all: impl IntoIterator<Item = &'a T>) -> f64 {
    all.into_iter().map(|a| a.norm()).fold(0.0, f64::max)
}

fn blanket(x: &[f64]) -> f64 {
    let vectors = vec![x.to_vec(), x[1..].to_vec()];
    let arrays = [[x[0], x[1]], [x[2], x[4]]];
    largest(&vectors) * largest(&arrays) + largest([&x[..3], &x[2..]])
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("traits: decay", decay, x);
    check!("traits: pendulum", pendulum, x);
    check!("traits: blanket", blanket, x);
}
