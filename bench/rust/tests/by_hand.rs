//! Derivatives by Zymase, derivatives by hand and finite differences are the same.

use zymase_bench_rust::{brusselator, dot, euler, fft, matmul, runge_kutta};
use zymase_gradbench::random::Random;

#[track_caller]
fn assert_all_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let scale = f64::max(1.0, found.abs() + expected.abs());
        assert!(
            (found - expected).abs() <= tolerance * scale,
            "{found} is not {expected}"
        );
    }
}

/// Central differences of a function at `x`.
fn differences(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let mut at = x.to_vec();
    let mut difference = |i: usize| {
        at[i] = x[i] + step;
        let above = f(&at);
        at[i] = x[i] - step;
        let below = f(&at);
        at[i] = x[i];
        (above - below) / (2.0 * step)
    };
    (0..x.len()).map(&mut difference).collect()
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[test]
fn dots() {
    let mut random = Random::new(1);
    for n in [0, 1, 7, 100] {
        let (x, y) = (random.normals(n), random.normals(n));
        let [mut dx, mut dy, mut hand_x, mut hand_y] = [(); 4].map(|()| vec![1.0; n]);
        dot::gradient(&x, &mut dx, &y, &mut dy);
        dot::by_hand::gradient(&x, &mut hand_x, &y, &mut hand_y);
        assert_all_near(&dx, &hand_x, 1e-14);
        assert_all_near(&dy, &hand_y, 1e-14);
        let expected = differences(&x, |x| dot::dot(x, &y) + x.iter().sum::<f64>());
        assert_all_near(&dx, &expected, 1e-8);
    }
}

#[test]
fn matrices() {
    type Product = fn(&[f64], &[f64], &mut [f64], usize);
    type Gradient = fn(matmul::Pair, matmul::Pair, &mut [f64], &mut [f64], usize);
    type ByHand = fn(matmul::Pair, matmul::Pair, &[f64], usize);
    let forms: [(Product, Gradient, ByHand); 3] = [
        (matmul::ijk, matmul::gradient_ijk, matmul::by_hand::gradient),
        (matmul::ikj, matmul::gradient_ikj, matmul::by_hand::gradient),
        (
            matmul::abt,
            matmul::gradient_abt,
            matmul::by_hand::gradient_abt,
        ),
    ];
    let mut random = Random::new(2);
    for n in [1, 3, 9] {
        let [a, b, seed] = [(); 3].map(|()| random.normals(n * n));
        for (form, gradient, by_hand) in forms {
            let [mut da, mut db, mut hand_a, mut hand_b] = [(); 4].map(|()| vec![0.0; n * n]);
            gradient(
                (&a, &mut da),
                (&b, &mut db),
                &mut vec![0.0; n * n],
                &mut seed.clone(),
                n,
            );
            by_hand((&a, &mut hand_a), (&b, &mut hand_b), &seed, n);
            assert_all_near(&da, &hand_a, 1e-12);
            assert_all_near(&db, &hand_b, 1e-12);
            let value = |a: &[f64], b: &[f64]| {
                let mut c = vec![0.0; n * n];
                form(a, b, &mut c, n);
                product(&c, &seed)
            };
            assert_all_near(&da, &differences(&a, |a| value(a, &b)), 1e-7);
            assert_all_near(&db, &differences(&b, |b| value(&a, b)), 1e-7);
        }
    }
}

#[test]
fn brusselators() {
    let mut random = Random::new(3);
    let start = random.uniforms(2 * brusselator::CELLS);
    let field = |x: &[f64]| -> brusselator::Field { x.try_into().unwrap() };
    let [u, v] = [&start[..brusselator::CELLS], &start[brusselator::CELLS..]].map(field);
    let seeds = [(); 2].map(|()| field(&random.normals(brusselator::CELLS)));
    let steps = 5;
    let [mut du, mut dv] = seeds;
    brusselator::gradient(&mut u.clone(), &mut du, &mut v.clone(), &mut dv, steps);
    let [mut hand_u, mut hand_v] = seeds;
    brusselator::by_hand::gradient(
        &mut u.clone(),
        &mut hand_u,
        &mut v.clone(),
        &mut hand_v,
        steps,
    );
    assert_all_near(&du, &hand_u, 1e-12);
    assert_all_near(&dv, &hand_v, 1e-12);
    // Corners, edges, and within.
    for cell in [0, 5, 31, 32, 500, 992, 1023] {
        let value = |x: &[f64]| {
            let (mut u, mut v) = (u, v);
            (u[cell], v[cell]) = (x[0], x[1]);
            brusselator::steps(&mut u, &mut v, steps);
            product(&u, &seeds[0]) + product(&v, &seeds[1])
        };
        let expected = differences(&[u[cell], v[cell]], value);
        assert_all_near(&[du[cell], dv[cell]], &expected, 1e-6);
    }
}

#[test]
fn transforms() {
    let mut random = Random::new(4);
    for bits in 0..6 {
        let n = 1 << bits;
        let roots = fft::roots(n);
        let [start, seed] = [(); 2].map(|()| random.normals(2 * n));
        let [mut d, mut by_hand] = [seed.clone(), seed.clone()];
        let [mut scratch, mut d_scratch] = [(); 2].map(|()| vec![0.0; 2 * n]);
        let pair = (&mut scratch[..], &mut d_scratch[..]);
        fft::gradient((&mut start.clone(), &mut d), &roots, pair);
        fft::by_hand::gradient(&mut start.clone(), &mut by_hand, &roots, &mut scratch);
        assert_all_near(&d, &by_hand, 1e-12);
        let value = |x: &[f64]| {
            let (mut x, mut scratch) = (x.to_vec(), vec![0.0; 2 * n]);
            fft::transform(&mut x, &roots, &mut scratch, 1);
            product(&x, &seed)
        };
        assert_all_near(&d, &differences(&start, value), 1e-7);
        // The transform is the one of the definition.
        let mut data = start.clone();
        fft::transform(&mut data, &roots, &mut scratch, 1);
        for k in 0..n {
            let term = |j: usize| {
                let (c, s) = (roots[2 * (j * k % n)], roots[2 * (j * k % n) + 1]);
                start[2 * j] * c - start[2 * j + 1] * s
            };
            let sum: f64 = (0..n).map(term).sum();
            assert_all_near(&[data[2 * k]], &[sum], 1e-12);
        }
    }
}

#[test]
fn eulers() {
    let mut random = Random::new(5);
    let (n, mu, steps) = (6, 2.0, 300);
    let [x, v, seed_x, seed_v] = [(); 4].map(|()| random.normals(n));
    let gradients = [euler::gradient, euler::by_hand::gradient].map(|gradient| {
        let (mut dx, mut dv) = (seed_x.clone(), seed_v.clone());
        let (mut x, mut v) = (x.clone(), v.clone());
        gradient((&mut x, &mut dx), (&mut v, &mut dv), mu, steps);
        [dx, dv].concat()
    });
    assert_all_near(&gradients[0], &gradients[1], 1e-11);
    let value = |both: &[f64]| {
        let mut both = both.to_vec();
        let (x, v) = both.split_at_mut(n);
        euler::steps(x, v, mu, steps);
        product(x, &seed_x) + product(v, &seed_v)
    };
    let expected = differences(&[x.clone(), v.clone()].concat(), value);
    assert_all_near(&gradients[0], &expected, 1e-6);
}

#[test]
fn runge_kuttas() {
    let (start, seed, h, steps) = ([1.0, 0.5, 20.0], [1.0, -2.0, 0.5], 1e-3, 400);
    let gradients = [runge_kutta::gradient, runge_kutta::by_hand::gradient].map(|gradient| {
        let mut d = seed;
        gradient(&mut start.clone(), &mut d, h, steps);
        d
    });
    assert_all_near(&gradients[0], &gradients[1], 1e-11);
    let value = |y: &[f64]| {
        let mut y: [f64; 3] = y.try_into().unwrap();
        runge_kutta::steps(&mut y, h, steps);
        product(&y, &seed)
    };
    assert_all_near(&gradients[0], &differences(&start, value), 1e-6);
}
