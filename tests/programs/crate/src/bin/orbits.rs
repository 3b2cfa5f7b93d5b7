//! Bodies that attract each other, by leapfrog steps; their first velocities are fitted to a path by
//! the gradient through all steps.

use programs::lbfgs::minimize;
use programs::{equal, like_differences, near};
use std::ops::{Add, AddAssign, Mul, Sub};
use zymase::{check_grad, jvp, value_and_grad};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Vector {
    x: f64,
    y: f64,
}

impl Vector {
    const ZERO: Vector = Vector { x: 0.0, y: 0.0 };

    fn dot(self, other: Vector) -> f64 {
        self.x * other.x + self.y * other.y
    }
}

impl Add for Vector {
    type Output = Vector;
    fn add(self, other: Vector) -> Vector {
        Vector {
            x: self.x + other.x,
            y: self.y + other.y,
        }
    }
}

impl Sub for Vector {
    type Output = Vector;
    fn sub(self, other: Vector) -> Vector {
        Vector {
            x: self.x - other.x,
            y: self.y - other.y,
        }
    }
}

impl Mul<f64> for Vector {
    type Output = Vector;
    fn mul(self, by: f64) -> Vector {
        Vector {
            x: self.x * by,
            y: self.y * by,
        }
    }
}

impl AddAssign for Vector {
    fn add_assign(&mut self, other: Vector) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Vector {
    fn sum<I: Iterator<Item = Vector>>(vectors: I) -> Vector {
        vectors.fold(Vector::ZERO, |sum, v| sum + v)
    }
}

#[derive(Clone)]
struct Body {
    place: Vector,
    velocity: Vector,
    mass: f64,
}

/// What is known before the fit: where the bodies are, how heavy they are, and the steps.
struct Problem {
    places: Vec<Vector>,
    masses: Vec<f64>,
    dt: f64,
    steps: usize,
}

const SOFTENING: f64 = 1e-3;

fn accelerations(bodies: &[Body]) -> Vec<Vector> {
    let pull = |i: usize, j: usize| {
        let away = bodies[j].place - bodies[i].place;
        let r2 = away.dot(away) + SOFTENING;
        away * (bodies[j].mass / (r2 * r2.sqrt()))
    };
    (0..bodies.len())
        .map(|i| {
            let others = (0..bodies.len()).filter(|&j| j != i);
            others.map(|j| pull(i, j)).sum()
        })
        .collect()
}

impl Problem {
    fn bodies(&self, velocities: &[f64]) -> Vec<Body> {
        let velocities = velocities.chunks_exact(2);
        let all = self.places.iter().zip(&self.masses).zip(velocities);
        all.map(|((&place, &mass), v)| Body {
            place,
            velocity: Vector { x: v[0], y: v[1] },
            mass,
        })
        .collect()
    }

    /// Where the bodies are after each step.
    fn paths(&self, velocities: &[f64]) -> Vec<Vec<Vector>> {
        let mut bodies = self.bodies(velocities);
        let mut paths = Vec::with_capacity(self.steps);
        let mut pulls = accelerations(&bodies);
        for _ in 0..self.steps {
            for (body, pull) in bodies.iter_mut().zip(&pulls) {
                body.velocity += *pull * (0.5 * self.dt);
                body.place += body.velocity * self.dt;
            }
            pulls = accelerations(&bodies);
            for (body, pull) in bodies.iter_mut().zip(&pulls) {
                body.velocity += *pull * (0.5 * self.dt);
            }
            paths.push(bodies.iter().map(|body| body.place).collect());
        }
        paths
    }

    /// How far the paths are from those wanted, in the mean over every tenth step.
    fn miss(&self, velocities: &[f64], wanted: &[Vec<Vector>]) -> f64 {
        let paths = self.paths(velocities);
        let pairs = paths.iter().zip(wanted).step_by(10);
        let count = pairs.len() as f64;
        pairs
            .flat_map(|(found, wanted)| found.iter().zip(wanted))
            .map(|(found, wanted)| (*found - *wanted).dot(*found - *wanted))
            .sum::<f64>()
            / count
    }
}

fn problem(steps: usize) -> Problem {
    let at = |x: f64, y: f64| Vector { x, y };
    Problem {
        places: vec![at(0.0, 0.0), at(1.0, 0.0), at(0.0, -1.6)],
        masses: vec![1.0, 0.02, 0.05],
        dt: 0.01,
        steps,
    }
}

const TRUE_VELOCITIES: [f64; 6] = [0.0, 0.0, 0.0, 1.05, 0.75, 0.0];

/// How far velocities lead from the paths wanted.
fn miss<'a>(problem: &'a Problem, wanted: &'a [Vec<Vector>]) -> impl Fn(&[f64]) -> f64 + Copy + 'a {
    move |velocities| problem.miss(velocities, wanted)
}

/// After one step a place is first place + dt · velocity + what does not depend on velocities.
fn one_step() {
    let problem = problem(1);
    let wanted = problem.paths(&TRUE_VELOCITIES);
    let start = [0.01, -0.02, 0.1, 0.9, 0.6, 0.05];
    let (_, gradient) = value_and_grad(&miss(&problem, &wanted), &start[..]);
    let found = problem.paths(&start);
    for (i, gradient) in gradient.chunks(2).enumerate() {
        let by_hand = (found[0][i] - wanted[0][i]) * (2.0 * problem.dt);
        equal(gradient, &[by_hand.x, by_hand.y]);
    }
}

fn gradients() {
    let problem = problem(60);
    let wanted = problem.paths(&TRUE_VELOCITIES);
    let miss = miss(&problem, &wanted);
    let start = [0.01, -0.02, 0.1, 0.9, 0.6, 0.05];
    let (value, gradient) = value_and_grad(&miss, &start[..]);
    near(value, miss(&start), 1e-15);
    like_differences(miss, &start, &gradient);
    check_grad(miss, &start[..]).unwrap();
    let along = [0.3, -0.1, 0.7, 0.2, -0.5, 1.0];
    let (_, tangent) = jvp(&miss, &start[..], &along[..]);
    let product: f64 = gradient.iter().zip(along).map(|(g, d)| g * d).sum();
    near(tangent, product, 1e-12);
    let beside = |h: f64| miss(&std::array::from_fn::<_, 6, _>(|i| start[i] + h * along[i]));
    near(tangent, (beside(1e-5) - beside(-1e-5)) / 2e-5, 1e-8);
}

fn fit() {
    let problem = problem(200);
    let wanted = problem.paths(&TRUE_VELOCITIES);
    let miss = miss(&problem, &wanted);
    let start = [0.0, 0.0, 0.0, 0.9, 0.6, 0.0];
    let minimum = minimize(|v| value_and_grad(&miss, v), &start, 1e-9, 200);
    assert!(minimum.slope <= 1e-9, "the slope is {}", minimum.slope);
    assert!(minimum.value < 1e-15, "the miss is {}", minimum.value);
    for (found, made) in minimum.x.iter().zip(TRUE_VELOCITIES) {
        near(*found, made, 1e-6);
    }
}

fn main() {
    one_step();
    gradients();
    fit();
    println!("ok orbits");
}
