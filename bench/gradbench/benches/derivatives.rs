//! How long primals, derivatives by Zymase and derivatives by hand take, side by side:
//!
//!     cargo zymase bench                  # all evals
//!     cargo zymase bench -- gmm lstm      # some of them
//!
//! The three take turns, and the fastest repetition of each counts. Every eval has a process of its
//! own, as in GradBench: memory that another one has left to the allocator would make it faster.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;
use zymase_gradbench::evals::solver::{Forward, Reverse};
use zymase_gradbench::evals::{ba, det, gmm, ht, kmeans, llsq, lse, lstm, ode, particle, saddle};
use zymase_gradbench::random::Random;

/// A line of the table; times are in milliseconds.
struct Line {
    name: String,
    /// Where there is one without derivatives.
    primal: Option<f64>,
    derivative: f64,
    by_hand: f64,
}

/// An eval's lines.
type Eval = fn() -> Vec<Line>;

const SECONDS: f64 = 2.0;

/// The word before the name of the one eval that a process measures.
const ALONE: &str = "--alone";

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let evals: [(&str, Eval); 11] = [
        ("llsq", llsq),
        ("lse", lse),
        ("det", det),
        ("ode", ode),
        ("gmm", gmm),
        ("lstm", lstm),
        ("ba", ba),
        ("ht", ht),
        ("kmeans", kmeans),
        ("particle", particle),
        ("saddle", saddle),
    ];
    if let [flag, name] = &words[..]
        && flag == ALONE
    {
        let chosen = evals.iter().filter(|(eval, _)| eval == name);
        chosen.for_each(|(_, eval)| eval().iter().for_each(Line::print));
        return;
    }
    println!("times in ms                 primal derivative    by hand  /primal /by hand");
    for (name, _) in evals {
        if words.is_empty() || words.iter().any(|word| word == name) {
            let program = std::env::current_exe().unwrap();
            let status = Command::new(program).args([ALONE, name]).status();
            assert!(status.unwrap().success());
        }
    }
}

impl Line {
    fn print(&self) {
        let (derivative, by_hand) = (self.derivative, self.by_hand);
        let over_hand = derivative / by_hand;
        let (primal, over_primal) = match self.primal {
            Some(primal) => (
                format!("{primal:.3}"),
                format!("{:.2}", derivative / primal),
            ),
            None => ("-".into(), "-".into()),
        };
        let name = &self.name;
        println!(
            "{name:<24} {primal:>9} {derivative:>10.3} {by_hand:>10.3} {over_primal:>8} {over_hand:>8.2}"
        );
    }
}

/// Runs three functions in turns.
fn measure<A, B, C>(
    name: &str,
    mut primal: impl FnMut() -> A,
    mut derivative: impl FnMut() -> B,
    mut by_hand: impl FnMut() -> C,
) -> Line {
    let mut best = [f64::INFINITY; 3];
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || start.elapsed().as_secs_f64() < SECONDS {
        let times = [time(&mut primal), time(&mut derivative), time(&mut by_hand)];
        for (best, time) in best.iter_mut().zip(times) {
            *best = time.min(*best);
        }
        rounds += 1;
    }
    let [primal, derivative, by_hand] = best;
    Line {
        name: name.into(),
        primal: Some(primal),
        derivative,
        by_hand,
    }
}

/// Runs two functions in turns that contain many derivatives.
fn measure_solvers<R>(
    name: &str,
    derivative: impl FnMut() -> R,
    by_hand: impl FnMut() -> R,
) -> Line {
    Line {
        primal: None,
        ..measure(name, || (), derivative, by_hand)
    }
}

fn time<T>(function: &mut impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    black_box(function());
    start.elapsed().as_secs_f64() * 1e3
}

fn llsq() -> Vec<Line> {
    let x = black_box(Random::new(1).uniforms(128));
    let n = 16392;
    let (mut dx, mut by_hand) = (vec![0.0; 128], vec![0.0; 128]);
    vec![measure(
        "llsq n=16392",
        || llsq::primal(&x, n),
        || llsq::gradient(&x, n, &mut dx),
        || llsq::by_hand::gradient(&x, n, &mut by_hand),
    )]
}

fn lse() -> Vec<Line> {
    let x = black_box(Random::new(2).uniforms(1_280_000));
    let (mut dx, mut by_hand) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    vec![measure(
        "lse n=1280000",
        || lse::primal(&x),
        || lse::gradient(&x, &mut dx),
        || lse::by_hand::gradient(&x, &mut by_hand),
    )]
}

fn det() -> Vec<Line> {
    let ell = 10;
    let a = black_box(Random::new(3).uniforms(ell * ell));
    let (mut da, mut by_hand) = (vec![0.0; a.len()], vec![0.0; a.len()]);
    vec![measure(
        "det ell=10",
        || det::primal(&a, ell),
        || det::gradient(&a, ell, &mut da),
        || det::by_hand::gradient(&a, ell, &mut by_hand),
    )]
}

fn ode() -> Vec<Line> {
    let steps = 100;
    let x = black_box(Random::new(4).uniforms(100_000));
    let [mut y, mut y2, mut y3] = [x.clone(), x.clone(), x.clone()];
    let [mut dx, mut dy, mut by_hand] = [x.clone(), x.clone(), x.clone()];
    let mut dy_by_hand = x.clone();
    vec![measure(
        "ode n=100000,s=100",
        || ode::primal(&x, steps, &mut y),
        || ode::gradient(&x, steps, &mut y2, &mut dx, &mut dy),
        || ode::by_hand::gradient(&x, steps, &mut y3, &mut by_hand, &mut dy_by_hand),
    )]
}

fn gmm() -> Vec<Line> {
    let mut lines = Vec::new();
    for (d, k) in [(10, 100), (20, 50), (64, 100)] {
        let n = 1000;
        let (data, mixture) = gmm::random(&mut Random::new(5), d, k, n);
        let (data, mixture) = black_box((data, mixture));
        let (mut result, mut by_hand) = (mixture.zeros_like(), mixture.zeros_like());
        lines.push(measure(
            &format!("gmm {d}_{k}_{n}"),
            || gmm::objective(&data, &mixture.alpha, &mixture.mu, &mixture.q, &mixture.l),
            || gmm::gradient(&data, &mixture, &mut result),
            || gmm::by_hand::gradient(&data, &mixture, &mut by_hand),
        ));
    }
    lines
}

fn lstm() -> Vec<Line> {
    let (data, parameters) = black_box(lstm::random(&mut Random::new(6), 6, 8192, 14));
    let count = parameters.main.len() + parameters.extra.len();
    let (mut result, mut by_hand) = (vec![0.0; count], vec![0.0; count]);
    vec![measure(
        "lstm l=6,c=8192",
        || lstm::objective(&data, &parameters.main, &parameters.extra),
        || lstm::gradient(&data, &parameters, &mut result),
        || lstm::by_hand::gradient(&data, &parameters, &mut by_hand),
    )]
}

fn ba() -> Vec<Line> {
    let p = 225_911;
    let scene = black_box(ba::random(&mut Random::new(7), 257, 65132, p));
    let mut residuals = ba::Residuals::new(p);
    let (mut matrix, mut by_hand) = (ba::Matrix::new(p), ba::Matrix::new(p));
    vec![measure(
        "ba n257_m65132",
        || ba::objective(&scene, &mut residuals),
        || ba::jacobian(&scene, &mut matrix),
        || ba::by_hand::jacobian(&scene, &mut by_hand),
    )]
}

fn ht() -> Vec<Line> {
    let mut lines = Vec::new();
    for count in [100, 100_000] {
        let size = ht::Size {
            vertices: 10_000,
            triangles: 1084,
            points: count,
            in_triangles: true,
        };
        let (problem, theta, us) = black_box(ht::random(&mut Random::new(8), &size));
        let mut residuals = vec![0.0; 3 * count];
        let mut jacobian = ht::Jacobian::new(&problem, &us);
        let mut by_hand = jacobian.values.clone();
        lines.push(measure(
            &format!("ht c{count} "),
            || ht::objective(&problem, &theta, &us, &mut residuals),
            || jacobian.compute(&problem, &theta, &us),
            || ht::by_hand::jacobian(&problem, &theta, &us, &mut by_hand),
        ));
    }
    lines
}

fn kmeans() -> Vec<Line> {
    let (k, n, d) = (1000, 10_000, 16);
    let points = black_box(Random::new(9).uniforms(n * d));
    let centroids = black_box(points[(n - k) * d..].to_vec());
    let mut newton = kmeans::Newton::new(k * d);
    let mut by_hand = vec![0.0; k * d];
    vec![measure(
        &format!("kmeans k={k},n={n},d={d}"),
        || kmeans::cost(&centroids, &points, d),
        || newton.direction(&centroids, &points, d),
        || kmeans::by_hand::direction(&centroids, &points, d, &mut by_hand),
    )]
}

fn particle() -> Vec<Line> {
    let line = |name: &str, solve: fn(f64) -> f64| {
        let by_hand = || particle::by_hand::solve(black_box(0.0));
        measure_solvers(name, || solve(black_box(0.0)), by_hand)
    };
    vec![
        line("particle rr", particle::solve::<Reverse, Reverse>),
        line("particle ff", particle::solve::<Forward, Forward>),
        line("particle fr", particle::solve::<Forward, Reverse>),
        line("particle rf", particle::solve::<Reverse, Forward>),
    ]
}

fn saddle() -> Vec<Line> {
    let line = |name: &str, solve: fn([f64; 2]) -> [f64; 4]| {
        let by_hand = || saddle::by_hand::solve(black_box([1.0; 2]));
        measure_solvers(name, || solve(black_box([1.0; 2])), by_hand)
    };
    vec![
        line("saddle rr", saddle::solve::<Reverse, Reverse>),
        line("saddle ff", saddle::solve::<Forward, Forward>),
        line("saddle fr", saddle::solve::<Forward, Reverse>),
        line("saddle rf", saddle::solve::<Reverse, Forward>),
    ]
}
