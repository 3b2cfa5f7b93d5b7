//! The evals of GradBench.

use crate::measure::{Compared, Effort};
use std::hint::black_box;
use zymase_gradbench::evals::solver::{Forward, Mode, Reverse};
use zymase_gradbench::evals::{ba, det, gmm, ht, kmeans, llsq, lse, lstm, ode, particle, saddle};
use zymase_gradbench::random::Random;

/// What several need: an input, a size, and two results.
struct Plain {
    x: Vec<f64>,
    n: usize,
    d: Vec<f64>,
    by_hand: Vec<f64>,
}

impl Plain {
    fn new(x: Vec<f64>, n: usize) -> Plain {
        let zeros = || vec![0.0; x.len()];
        Plain {
            d: zeros(),
            by_hand: zeros(),
            n,
            x,
        }
    }
}

pub fn llsq(effort: Effort) {
    for n in effort.sizes(&[256, 4096, 65_536, 262_144]) {
        Compared {
            name: "llsq",
            size: &format!("n={n} m=128"),
            restore: |_| (),
            primal: |s: &mut Plain| {
                black_box(llsq::primal(&s.x, s.n));
            },
            derivative: |s| llsq::gradient(&s.x, s.n, &mut s.d),
            by_hand: |s| llsq::by_hand::gradient(&s.x, s.n, &mut s.by_hand),
            results: |s| [&s.d, &s.by_hand],
        }
        .run(effort, Plain::new(Random::new(1).uniforms(128), *n));
    }
}

pub fn lse(effort: Effort) {
    for n in effort.sizes(&[20_000, 160_000, 1_280_000, 2_560_000]) {
        Compared {
            name: "lse",
            size: &format!("n={n}"),
            restore: |_| (),
            primal: |s: &mut Plain| {
                black_box(lse::primal(&s.x));
            },
            derivative: |s| lse::gradient(&s.x, &mut s.d),
            by_hand: |s| lse::by_hand::gradient(&s.x, &mut s.by_hand),
            results: |s| [&s.d, &s.by_hand],
        }
        .run(effort, Plain::new(Random::new(2).uniforms(*n), *n));
    }
}

pub fn det(effort: Effort) {
    for ell in effort.sizes(&[8, 9, 10, 11]) {
        Compared {
            name: "det",
            size: &format!("ell={ell}"),
            restore: |_| (),
            primal: |s: &mut Plain| {
                black_box(det::primal(&s.x, s.n));
            },
            derivative: |s| det::gradient(&s.x, s.n, &mut s.d),
            by_hand: |s| det::by_hand::gradient(&s.x, s.n, &mut s.by_hand),
            results: |s| [&s.d, &s.by_hand],
        }
        .run(effort, Plain::new(Random::new(3).uniforms(ell * ell), *ell));
    }
}

/// The derivative of the last entry, which costs as much as that of all.
pub fn ode(effort: Effort) {
    struct State {
        plain: Plain,
        y: Vec<f64>,
        dy: Vec<f64>,
    }
    let sizes = [
        (1000, 100),
        (10_000, 10),
        (10_000, 100),
        (100_000, 10),
        (100_000, 100),
    ];
    for (n, steps) in effort.sizes(&sizes) {
        Compared {
            name: "ode",
            size: &format!("n={n} s={steps}"),
            restore: |_| (),
            primal: |s: &mut State| ode::primal(&s.plain.x, s.plain.n, &mut s.y),
            derivative: |State { plain, y, dy }| {
                ode::gradient(&plain.x, plain.n, y, &mut plain.d, dy);
            },
            by_hand: |State { plain, y, dy }| {
                ode::by_hand::gradient(&plain.x, plain.n, y, &mut plain.by_hand, dy);
            },
            results: |s| [&s.plain.d, &s.plain.by_hand],
        }
        .run(
            effort,
            State {
                plain: Plain::new(Random::new(4).uniforms(*n), *steps),
                y: vec![0.0; *n],
                dy: vec![0.0; *n],
            },
        );
    }
}

pub fn gmm(effort: Effort) {
    struct State {
        data: gmm::Data,
        mixture: gmm::Mixture,
        d: gmm::Mixture,
        by_hand: gmm::Mixture,
    }
    let n = if effort.is_tiny { 20 } else { 1000 };
    let sizes = [
        (2, 5),
        (2, 100),
        (10, 10),
        (10, 50),
        (20, 25),
        (64, 10),
        (32, 25),
        (64, 100),
    ];
    for (d, k) in effort.sizes(&sizes) {
        let (data, mixture) = gmm::random(&mut Random::new(5), *d, *k, n);
        Compared {
            name: "gmm",
            size: &format!("d={d} k={k} n={n}"),
            restore: |_| (),
            primal: |s: &mut State| {
                let gmm::Mixture { alpha, mu, q, l } = &s.mixture;
                black_box(gmm::objective(&s.data, alpha, mu, q, l));
            },
            derivative: |s| gmm::gradient(&s.data, &s.mixture, &mut s.d),
            by_hand: |s| gmm::by_hand::gradient(&s.data, &s.mixture, &mut s.by_hand),
            results: |s| [&s.d.l, &s.by_hand.l],
        }
        .run(
            effort,
            State {
                d: mixture.zeros_like(),
                by_hand: mixture.zeros_like(),
                data,
                mixture,
            },
        );
    }
}

pub fn lstm(effort: Effort) {
    struct State {
        data: lstm::Data,
        parameters: lstm::Parameters,
        d: Vec<f64>,
        by_hand: Vec<f64>,
    }
    let sizes = [(2, 1024), (4, 1024), (2, 4096), (4, 4096), (6, 8192)];
    for (layers, length) in effort.sizes(&sizes) {
        let (data, parameters) = lstm::random(&mut Random::new(6), *layers, *length, 14);
        let zeros = || vec![0.0; parameters.main.len() + parameters.extra.len()];
        Compared {
            name: "lstm",
            size: &format!("l={layers} c={length}"),
            restore: |_| (),
            primal: |s: &mut State| {
                let parameters = &s.parameters;
                black_box(lstm::objective(
                    &s.data,
                    &parameters.main,
                    &parameters.extra,
                ));
            },
            derivative: |s| lstm::gradient(&s.data, &s.parameters, &mut s.d),
            by_hand: |s| lstm::by_hand::gradient(&s.data, &s.parameters, &mut s.by_hand),
            results: |s| [&s.d, &s.by_hand],
        }
        .run(
            effort,
            State {
                d: zeros(),
                by_hand: zeros(),
                data,
                parameters,
            },
        );
    }
}

pub fn ba(effort: Effort) {
    struct State {
        scene: ba::Scene,
        residuals: ba::Residuals,
        d: ba::Matrix,
        by_hand: ba::Matrix,
    }
    let sizes = [
        (49, 7776, 31_843),
        (21, 11_315, 36_455),
        (257, 65_132, 225_911),
        (356, 226_730, 1_255_268),
    ];
    for (n, m, p) in effort.sizes(&sizes) {
        Compared {
            name: "ba",
            size: &format!("n={n} m={m} p={p}"),
            restore: |_| (),
            primal: |s: &mut State| ba::objective(&s.scene, &mut s.residuals),
            derivative: |s| ba::jacobian(&s.scene, &mut s.d),
            by_hand: |s| ba::by_hand::jacobian(&s.scene, &mut s.by_hand),
            results: |s| [&s.d.values, &s.by_hand.values],
        }
        .run(
            effort,
            State {
                scene: ba::random(&mut Random::new(7), *n, *m, *p),
                residuals: ba::Residuals::new(*p),
                d: ba::Matrix::new(*p),
                by_hand: ba::Matrix::new(*p),
            },
        );
    }
}

pub fn ht(effort: Effort) {
    struct State {
        problem: ht::Problem,
        theta: Vec<f64>,
        us: Vec<f64>,
        residuals: Vec<f64>,
        jacobian: ht::Jacobian,
        by_hand: Vec<f64>,
        count: usize,
    }
    let sizes = [
        (544, 100),
        (544, 800),
        (10_000, 800),
        (10_000, 100_000),
        (200_000, 100_000),
    ];
    for (vertices, points) in effort.sizes(&sizes) {
        let size = ht::Size {
            vertices: *vertices,
            triangles: 1084,
            points: *points,
            in_triangles: true,
        };
        let (problem, theta, us) = ht::random(&mut Random::new(8), &size);
        let jacobian = ht::Jacobian::new(&problem, &us);
        let count = jacobian.rows * jacobian.columns;
        Compared {
            name: "ht",
            size: &format!("complicated V={vertices} c={points}"),
            restore: |_| (),
            primal: |s: &mut State| ht::objective(&s.problem, &s.theta, &s.us, &mut s.residuals),
            derivative: |s| s.jacobian.compute(&s.problem, &s.theta, &s.us),
            by_hand: |s| ht::by_hand::jacobian(&s.problem, &s.theta, &s.us, &mut s.by_hand),
            results: |s| [&s.jacobian.values[..s.count], &s.by_hand],
        }
        .run(
            effort,
            State {
                residuals: vec![0.0; 3 * points],
                by_hand: vec![0.0; count],
                problem,
                theta,
                us,
                jacobian,
                count,
            },
        );
    }
}

pub fn kmeans(effort: Effort) {
    struct State {
        points: Vec<f64>,
        centroids: Vec<f64>,
        d: usize,
        newton: kmeans::Newton,
        by_hand: Vec<f64>,
    }
    let sizes = [
        (10, 1000, 8),
        (10, 10_000, 16),
        (100, 10_000, 16),
        (1000, 10_000, 16),
    ];
    for (k, n, d) in effort.sizes(&sizes) {
        let points = Random::new(9).uniforms(n * d);
        let state = || State {
            centroids: points[(n - k) * d..].to_vec(),
            newton: kmeans::Newton::new(k * d),
            by_hand: vec![0.0; k * d],
            points: points.clone(),
            d: *d,
        };
        Compared {
            name: "kmeans gradient",
            size: &format!("k={k} n={n} d={d}"),
            restore: |_| (),
            primal: |s: &mut State| {
                black_box(kmeans::cost(&s.centroids, &s.points, s.d));
            },
            derivative: |s| {
                let result = &mut s.newton.direction;
                kmeans::gradient(&s.centroids, result, &s.points, s.d);
            },
            by_hand: |s| {
                kmeans::by_hand::gradient(&s.centroids, &mut s.by_hand, &s.points, s.d);
            },
            results: |s| [&s.newton.direction, &s.by_hand],
        }
        .run(effort, state());
        Compared {
            name: "kmeans direction",
            size: &format!("k={k} n={n} d={d}"),
            restore: |_| (),
            primal: |s: &mut State| {
                black_box(kmeans::cost(&s.centroids, &s.points, s.d));
            },
            derivative: |s| s.newton.direction(&s.centroids, &s.points, s.d),
            by_hand: |s| {
                kmeans::by_hand::direction(&s.centroids, &s.points, s.d, &mut s.by_hand);
            },
            results: |s| [&s.newton.direction, &s.by_hand],
        }
        .run(effort, state());
    }
}

/// Derivatives at many points, and those by hand.
struct Many {
    d: Vec<f64>,
    by_hand: Vec<f64>,
}

impl Many {
    fn new(count: usize) -> Many {
        Many {
            d: vec![0.0; count],
            by_hand: vec![0.0; count],
        }
    }
}

pub fn particle(effort: Effort) {
    fn place(i: usize) -> f64 {
        1e-4 * i as f64
    }
    fn measure<Outer: Mode, Inner: Mode>(name: &str, effort: Effort) {
        let count = if effort.is_tiny { 3 } else { 2500 };
        Compared {
            name,
            size: &format!("{count} evaluations"),
            restore: |_| (),
            primal: |s: &mut Many| {
                for i in 0..s.d.len() {
                    black_box(particle::energy::<Inner>(place(i)));
                }
            },
            derivative: |s| {
                for (i, d) in s.d.iter_mut().enumerate() {
                    *d = Outer::gradient(|w| particle::energy::<Inner>(w[0]), &[place(i)])[0];
                }
            },
            by_hand: |s| {
                for (i, d) in s.by_hand.iter_mut().enumerate() {
                    *d = particle::by_hand::energy_and_slope(place(i)).1;
                }
            },
            results: |s| [&s.d, &s.by_hand],
        }
        .run(effort, Many::new(count));
    }
    measure::<Reverse, Reverse>("particle rr", effort);
    measure::<Reverse, Forward>("particle rf", effort);
    measure::<Forward, Reverse>("particle fr", effort);
    measure::<Forward, Forward>("particle ff", effort);
}

pub fn saddle(effort: Effort) {
    const START: [f64; 2] = [1.0; 2];
    fn place(i: usize) -> [f64; 2] {
        [1.0 + 1e-5 * i as f64, 0.5]
    }
    fn measure<Outer: Mode, Inner: Mode>(name: &str, effort: Effort) {
        let count = if effort.is_tiny { 3 } else { 30_000 };
        Compared {
            name,
            size: &format!("{count} evaluations"),
            restore: |_| (),
            primal: |s: &mut Many| {
                for i in 0..s.d.len() / 2 {
                    black_box(saddle::greatest::<Inner>(&place(i), START));
                }
            },
            derivative: |s| {
                for (i, d) in s.d.chunks_exact_mut(2).enumerate() {
                    let gradient = |x: &[f64; 2]| saddle::greatest::<Inner>(x, START);
                    d.copy_from_slice(&Outer::gradient(gradient, &place(i)));
                }
            },
            by_hand: |s| {
                for (i, d) in s.by_hand.chunks_exact_mut(2).enumerate() {
                    d.copy_from_slice(&saddle::by_hand::greatest(&place(i), START).1);
                }
            },
            results: |s| [&s.d, &s.by_hand],
        }
        .run(effort, Many::new(2 * count));
    }
    measure::<Reverse, Reverse>("saddle rr", effort);
    measure::<Reverse, Forward>("saddle rf", effort);
    measure::<Forward, Reverse>("saddle fr", effort);
    measure::<Forward, Forward>("saddle ff", effort);
}
