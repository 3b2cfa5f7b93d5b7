//! The benchmarks of the papers.

use crate::measure::{Compared, Effort};
use std::hint::black_box;
use zymase_bench_rust::brusselator::{self, CELLS, Field};
use zymase_bench_rust::{dot, euler, fft, matmul, runge_kutta};
use zymase_gradbench::random::Random;

pub fn dot(effort: Effort) {
    struct State {
        x: Vec<f64>,
        y: Vec<f64>,
        d: [Vec<f64>; 2],
        by_hand: [Vec<f64>; 2],
    }
    for n in effort.sizes(&[20_000, 200_000, 2_000_000, 20_000_000]) {
        let mut random = Random::new(1);
        let zeros = || [vec![0.0; *n], vec![0.0; *n]];
        Compared {
            name: "dot",
            size: &format!("n={n}"),
            restore: |_| (),
            primal: |s: &mut State| {
                black_box(dot::dot(&s.x, &s.y));
            },
            derivative: |s| {
                let [dx, dy] = &mut s.d;
                dot::gradient(&s.x, dx, &s.y, dy);
            },
            by_hand: |s| {
                let [dx, dy] = &mut s.by_hand;
                black_box(dot::by_hand::gradient(&s.x, dx, &s.y, dy));
            },
            results: |s| [&s.d[0], &s.by_hand[0]],
        }
        .run(
            effort,
            State {
                x: random.uniforms(*n),
                y: random.uniforms(*n),
                d: zeros(),
                by_hand: zeros(),
            },
        );
    }
}

pub fn matmul(effort: Effort) {
    struct State {
        n: usize,
        a: Vec<f64>,
        b: Vec<f64>,
        c: Vec<f64>,
        dc: Vec<f64>,
        d: [Vec<f64>; 2],
        by_hand: [Vec<f64>; 2],
    }
    macro_rules! form {
        ($name:expr, $n:expr, $primal:path, $gradient:path, $by_hand:path) => {{
            let (n, mut random) = ($n, Random::new(2));
            let zeros = || [vec![0.0; n * n], vec![0.0; n * n]];
            Compared {
                name: $name,
                size: &format!("n={n}"),
                restore: |s: &mut State| {
                    s.c.fill(0.0);
                    s.dc.fill(1.0);
                },
                primal: |s| $primal(&s.a, &s.b, &mut s.c, s.n),
                derivative: |s| {
                    let [da, db] = &mut s.d;
                    $gradient((&s.a, da), (&s.b, db), &mut s.c, &mut s.dc, s.n);
                },
                by_hand: |s| {
                    let [da, db] = &mut s.by_hand;
                    $primal(&s.a, &s.b, &mut s.c, s.n);
                    $by_hand((&s.a, da), (&s.b, db), &s.dc, s.n);
                },
                results: |s| [&s.d[1], &s.by_hand[1]],
            }
            .run(
                effort,
                State {
                    n,
                    a: random.uniforms(n * n),
                    b: random.uniforms(n * n),
                    c: vec![0.0; n * n],
                    dc: vec![0.0; n * n],
                    d: zeros(),
                    by_hand: zeros(),
                },
            );
        }};
    }
    for n in effort.sizes(&[96, 384, 768]) {
        use matmul::{abt, by_hand, gradient_abt, gradient_ijk, gradient_ikj, ijk, ikj};
        form!("matmul i j k", *n, ijk, gradient_ijk, by_hand::gradient);
        form!("matmul i k j", *n, ikj, gradient_ikj, by_hand::gradient);
        form!("matmul a b^T", *n, abt, gradient_abt, by_hand::gradient_abt);
    }
}

pub fn brusselator(effort: Effort) {
    struct State {
        steps: usize,
        start: Box<[Field; 2]>,
        at: Box<[Field; 2]>,
        d: Box<[Field; 2]>,
    }
    for steps in effort.sizes(&[100, 500, 2500, 5000]) {
        let mut random = Random::new(3);
        let start = Box::new([(); 2].map(|()| [(); CELLS].map(|()| 1.0 + random.uniform())));
        let empty = || Box::new([[0.0; CELLS]; 2]);
        Compared {
            name: "brusselator",
            size: &format!("steps={steps}"),
            restore: |s: &mut State| {
                *s.at = *s.start;
                s.d[0].fill(1.0);
                s.d[1].fill(0.5);
            },
            primal: |s| {
                let [u, v] = &mut *s.at;
                brusselator::steps(u, v, s.steps);
            },
            derivative: |s| {
                let ([u, v], [du, dv]) = (&mut *s.at, &mut *s.d);
                brusselator::gradient(u, du, v, dv, s.steps);
            },
            by_hand: |s| {
                let ([u, v], [du, dv]) = (&mut *s.at, &mut *s.d);
                brusselator::by_hand::gradient(u, du, v, dv, s.steps);
            },
            results: |s| [&s.d[0][..]; 2],
        }
        .run(
            effort,
            State {
                steps: *steps,
                start,
                at: empty(),
                d: empty(),
            },
        );
    }
}

pub fn fft(effort: Effort) {
    struct State {
        start: Vec<f64>,
        roots: Vec<f64>,
        data: Vec<f64>,
        scratch: [Vec<f64>; 2],
        d: Vec<f64>,
    }
    for n in effort.sizes(&[1 << 12, 1 << 16, 1 << 20]) {
        let start = Random::new(4).uniforms(2 * n);
        let zeros = || vec![0.0; 2 * n];
        Compared {
            name: "fft recursive",
            size: &format!("n={n}"),
            restore: |s: &mut State| {
                s.data.copy_from_slice(&s.start);
                s.d.copy_from_slice(&s.start);
                s.scratch[1].fill(0.0);
            },
            primal: |s| fft::transform(&mut s.data, &s.roots, &mut s.scratch[0], 1),
            derivative: |s| {
                let [scratch, d_scratch] = &mut s.scratch;
                fft::gradient((&mut s.data, &mut s.d), &s.roots, (scratch, d_scratch));
            },
            by_hand: |s| {
                fft::by_hand::gradient(&mut s.data, &mut s.d, &s.roots, &mut s.scratch[0]);
            },
            results: |s| [&s.d[..]; 2],
        }
        .run(
            effort,
            State {
                data: start.clone(),
                start,
                roots: fft::roots(*n),
                scratch: [zeros(), zeros()],
                d: zeros(),
            },
        );
    }
}

pub fn euler(effort: Effort) {
    const COUNT: usize = 64;
    #[derive(Default)]
    struct State {
        steps: usize,
        start: [Vec<f64>; 2],
        at: [Vec<f64>; 2],
        d: [Vec<f64>; 2],
    }
    for steps in effort.sizes(&[4000, 40_000, 400_000]) {
        let mut random = Random::new(5);
        let mut numbers = || {
            random
                .uniforms(COUNT)
                .iter()
                .map(|x| 2.0 * x - 1.0)
                .collect()
        };
        let start = [numbers(), numbers()];
        Compared {
            name: "euler",
            size: &format!("steps={steps}"),
            restore: |s: &mut State| {
                s.at = s.start.clone();
                s.d = [vec![1.0; COUNT], vec![0.5; COUNT]];
            },
            primal: |s| {
                let [x, v] = &mut s.at;
                euler::steps(x, v, 2.0, s.steps);
            },
            derivative: |s| {
                let ([x, v], [dx, dv]) = (&mut s.at, &mut s.d);
                euler::gradient((x, dx), (v, dv), 2.0, s.steps);
            },
            by_hand: |s| {
                let ([x, v], [dx, dv]) = (&mut s.at, &mut s.d);
                euler::by_hand::gradient((x, dx), (v, dv), 2.0, s.steps);
            },
            results: |s| [&s.d[0][..]; 2],
        }
        .run(
            effort,
            State {
                steps: *steps,
                start,
                ..State::default()
            },
        );
    }
}

/// The system is chaotic: derivatives are compared after few steps.
pub fn runge_kutta(effort: Effort) {
    struct State {
        steps: usize,
        is_measured: bool,
        at: [f64; 3],
        d: [f64; 3],
    }
    for steps in effort.sizes(&[40_000, 200_000, 1_000_000]) {
        Compared {
            name: "runge-kutta",
            size: &format!("steps={steps}"),
            restore: |s: &mut State| (s.at, s.d) = ([1.0; 3], [1.0; 3]),
            primal: |s| {
                s.is_measured = true;
                runge_kutta::steps(&mut s.at, 1e-4, s.steps);
            },
            derivative: |s| {
                let steps = if s.is_measured { s.steps } else { 2000 };
                runge_kutta::gradient(&mut s.at, &mut s.d, 1e-4, steps);
            },
            by_hand: |s| {
                let steps = if s.is_measured { s.steps } else { 2000 };
                runge_kutta::by_hand::gradient(&mut s.at, &mut s.d, 1e-4, steps);
            },
            results: |s| [&s.d[..]; 2],
        }
        .run(
            effort,
            State {
                steps: *steps,
                is_measured: false,
                at: [0.0; 3],
                d: [0.0; 3],
            },
        );
    }
}
