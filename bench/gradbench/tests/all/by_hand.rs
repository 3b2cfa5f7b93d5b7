//! Derivatives by Zymase, those written by hand, and finite differences.

use crate::{assert_all_near, assert_near};
use zymase_gradbench::evals::solver::{Forward, Mode, Reverse};
use zymase_gradbench::evals::{
    ba, det, gmm, hello, ht, kmeans, llsq, lse, lstm, ode, particle, saddle,
};
use zymase_gradbench::random::Random;

/// Random numbers; a test that fails shows their seed.
fn seeded(seed: u64) -> Random {
    println!("seed {seed}");
    Random::new(seed)
}

/// The gradient of `f`, by differences.
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

#[test]
fn hello() {
    for x in [-3.0, 0.0, 0.5, 1e100] {
        assert_near(hello::double(x), hello::by_hand::double(x), 1e-15);
    }
}

#[test]
fn llsq() {
    let mut random = seeded(11);
    for (m, n) in [(1, 2), (3, 4), (8, 5), (128, 300)] {
        let x = random.uniforms(m);
        let (mut dx, mut by_hand) = (vec![1.0; m], vec![1.0; m]);
        llsq::gradient(&x, n, &mut dx);
        llsq::by_hand::gradient(&x, n, &mut by_hand);
        assert_all_near(&dx, &by_hand, 1e-12);
        assert_all_near(&dx, &differences(&x, |x| llsq::primal(x, n)), 1e-6);
    }
}

#[test]
fn lse() {
    let mut random = seeded(12);
    for n in [1, 2, 3, 17, 1000] {
        let x = random.normals(n);
        let (mut dx, mut by_hand) = (vec![1.0; n], vec![1.0; n]);
        lse::gradient(&x, &mut dx);
        lse::by_hand::gradient(&x, &mut by_hand);
        assert_all_near(&dx, &by_hand, 1e-13);
        assert_all_near(&dx, &differences(&x, lse::primal), 1e-8);
    }
    // The greatest number twice: what flows through the maximum cancels.
    let mut dx = [0.0; 3];
    lse::gradient(&[2.0, 2.0, 2.0], &mut dx);
    assert_all_near(&dx, &[1.0 / 3.0; 3], 1e-14);
}

#[test]
fn det() {
    let mut random = seeded(13);
    for ell in 1..8 {
        let a = random.normals(ell * ell);
        let (mut da, mut by_hand) = (vec![1.0; ell * ell], vec![1.0; ell * ell]);
        det::gradient(&a, ell, &mut da);
        det::by_hand::gradient(&a, ell, &mut by_hand);
        assert_all_near(&da, &by_hand, 1e-12);
        assert_all_near(&da, &differences(&a, |a| det::primal(a, ell)), 1e-7);
    }
}

#[test]
fn ode() {
    let mut random = seeded(14);
    for (n, steps) in [(1, 1), (2, 3), (4, 1), (5, 2), (9, 7), (30, 20)] {
        let x: Vec<f64> = random.uniforms(n).iter().map(|x| 5.0 * x).collect();
        let [mut y, mut dx, mut dy] = [vec![1.0; n], vec![1.0; n], vec![1.0; n]];
        ode::gradient(&x, steps, &mut y, &mut dx, &mut dy);
        let (gradient, value) = (dx.clone(), y.clone());
        ode::by_hand::gradient(&x, steps, &mut y, &mut dx, &mut dy);
        assert_all_near(&value, &y, 1e-14);
        assert_all_near(&gradient, &dx, 1e-12);
        let last = |x: &[f64]| {
            let mut y = vec![0.0; n];
            ode::primal(x, steps, &mut y);
            y[n - 1]
        };
        assert_all_near(&gradient, &differences(&x, last), 1e-7);
    }
}

#[test]
fn gmm() {
    let mut random = seeded(15);
    for (d, k, n) in [(1, 1, 1), (2, 3, 5), (5, 2, 7), (10, 5, 30)] {
        let (mut data, mut mixture) = gmm::random(&mut random, d, k, n);
        (data.gamma, data.m) = (1.25, 2);
        mixture.q.iter_mut().for_each(|q| *q *= 0.3);
        let (mut result, mut by_hand) = (mixture.zeros_like(), mixture.zeros_like());
        gmm::gradient(&data, &mixture, &mut result);
        gmm::gradient(&data, &mixture, &mut result);
        gmm::by_hand::gradient(&data, &mixture, &mut by_hand);
        let gmm::Mixture { alpha, mu, q, l } = &mixture;
        let objective = |alpha: &[f64], mu: &[f64], q: &[f64], l: &[f64]| {
            gmm::objective(&data, alpha, mu, q, l)
        };
        let parts = [
            (
                &result.alpha,
                &by_hand.alpha,
                differences(alpha, |x| objective(x, mu, q, l)),
            ),
            (
                &result.mu,
                &by_hand.mu,
                differences(mu, |x| objective(alpha, x, q, l)),
            ),
            (
                &result.q,
                &by_hand.q,
                differences(q, |x| objective(alpha, mu, x, l)),
            ),
            (
                &result.l,
                &by_hand.l,
                differences(l, |x| objective(alpha, mu, q, x)),
            ),
        ];
        for (result, by_hand, differences) in parts {
            assert_all_near(result, by_hand, 1e-11);
            assert_all_near(result, &differences, 1e-5);
        }
    }
}

#[test]
fn lstm() {
    let mut random = seeded(16);
    for (layers, length, width) in [(1, 2, 1), (2, 5, 3), (3, 40, 14)] {
        let (data, parameters) = lstm::random(&mut random, layers, length, width);
        let count = parameters.main.len() + parameters.extra.len();
        let (mut result, mut by_hand) = (vec![1.0; count], vec![1.0; count]);
        lstm::gradient(&data, &parameters, &mut result);
        lstm::by_hand::gradient(&data, &parameters, &mut by_hand);
        assert_all_near(&result, &by_hand, 1e-13);
        let lstm::Parameters { main, extra } = &parameters;
        let mut expected = differences(main, |main| lstm::objective(&data, main, extra));
        expected.extend(differences(extra, |extra| {
            lstm::objective(&data, main, extra)
        }));
        assert_all_near(&result, &expected, 1e-8);
    }
}

#[test]
fn ba() {
    let mut scene = ba::random(&mut seeded(17), 3, 5, 16);
    scene.cameras[1][..3].fill(0.0);
    let p = scene.observations.len();
    let (mut matrix, mut by_hand) = (ba::Matrix::new(p), ba::Matrix::new(p));
    ba::jacobian(&scene, &mut matrix);
    ba::by_hand::jacobian(&scene, &mut by_hand);
    assert_eq!(matrix.rows, by_hand.rows);
    assert_eq!(matrix.columns, by_hand.columns);
    assert_all_near(&matrix.values, &by_hand.values, 1e-12);
    for (i, seen) in scene.observations.iter().enumerate() {
        let parameters: Vec<f64> = scene.cameras[seen.camera]
            .into_iter()
            .chain(scene.points[seen.point])
            .chain([seen.weight])
            .collect();
        for row in 0..2 {
            let residual = |x: &[f64]| {
                let (camera, rest) = x.split_first_chunk().unwrap();
                let (point, rest) = rest.split_first_chunk().unwrap();
                ba::reprojection(camera, point, rest[0], &seen.feature)[row]
            };
            let mut expected = differences(&parameters, residual);
            if seen.camera == 1 {
                // Without rotation another formula holds, and differences would leave it.
                expected[..3].copy_from_slice(&by_hand.values[15 * (2 * i + row)..][..3]);
            }
            assert_all_near(&matrix.values[15 * (2 * i + row)..][..15], &expected, 1e-6);
        }
    }
}

#[test]
fn ht() {
    let mut random = seeded(18);
    for in_triangles in [false, true] {
        for mirrored in [false, true] {
            let size = ht::Size {
                vertices: 20,
                triangles: 9,
                points: 7,
                in_triangles,
            };
            let (mut problem, mut theta, us) = ht::random(&mut random, &size);
            problem.model.is_mirrored = mirrored;
            check_hand(&problem, &theta, &us);
            theta[..3].fill(1e-5);
            check_hand(&problem, &theta, &us);
        }
    }
}

fn check_hand(problem: &ht::Problem, theta: &[f64], us: &[f64]) {
    let mut jacobian = ht::Jacobian::new(problem, us);
    jacobian.compute(problem, theta, us);
    let mut by_hand = vec![1.0; jacobian.rows * jacobian.columns];
    ht::by_hand::jacobian(problem, theta, us, &mut by_hand);
    assert_all_near(&jacobian.values[..by_hand.len()], &by_hand, 1e-12);
    for row in 0..jacobian.rows {
        let column = |column: usize| jacobian.values[column * jacobian.rows + row];
        let values: Vec<f64> = (0..jacobian.columns).map(column).collect();
        let residual = |theta: &[f64], us: &[f64]| {
            let mut residuals = vec![0.0; jacobian.rows];
            ht::objective(problem, theta, us, &mut residuals);
            residuals[row]
        };
        let mut expected = Vec::new();
        if !us.is_empty() {
            let all = differences(us, |us| residual(theta, us));
            expected.extend(&all[2 * (row / 3)..][..2]);
        }
        expected.extend(differences(theta, |theta| residual(theta, us)));
        assert_all_near(&values, &expected, 1e-7);
    }
}

#[test]
fn kmeans() {
    let mut random = seeded(19);
    for (k, n, d) in [(1, 1, 1), (3, 20, 2), (10, 200, 8)] {
        let points = random.uniforms(n * d);
        let centroids = &points[(n - k) * d..];
        let (mut newton, mut by_hand) = (kmeans::Newton::new(k * d), vec![1.0; k * d]);
        newton.direction(centroids, &points, d);
        kmeans::by_hand::direction(centroids, &points, d, &mut by_hand);
        assert_all_near(&newton.direction, &by_hand, 1e-13);
        let mut gradient = vec![1.0; k * d];
        kmeans::gradient(centroids, &mut gradient, &points, d);
        kmeans::by_hand::gradient(centroids, &mut by_hand, &points, d);
        assert_all_near(&gradient, &by_hand, 1e-13);
        let expected = differences(centroids, |x| kmeans::cost(x, &points, d));
        assert_all_near(&gradient, &expected, 1e-8);
    }
}

#[test]
fn particle() {
    fn slope<Outer: Mode, Inner: Mode>(w: f64) -> f64 {
        Outer::gradient(|w| particle::energy::<Inner>(w[0]), &[w])[0]
    }
    let mut random = seeded(20);
    for _ in 0..5 {
        let w = random.uniform();
        let (value, derivative) = particle::by_hand::energy_and_slope(w);
        assert_near(particle::energy::<Forward>(w), value, 1e-10);
        assert_near(particle::energy::<Reverse>(w), value, 1e-10);
        assert_near(slope::<Reverse, Reverse>(w), derivative, 1e-9);
        assert_near(slope::<Forward, Forward>(w), derivative, 1e-9);
        assert_near(slope::<Forward, Reverse>(w), derivative, 1e-9);
        assert_near(slope::<Reverse, Forward>(w), derivative, 1e-9);
        let expected = differences(&[w], |w| particle::by_hand::energy(w[0]));
        assert_near(derivative, expected[0], 1e-6);
    }
    assert_near(particle::by_hand::solve(0.0), 0.2071918746486116, 1e-9);
}

#[test]
fn saddle() {
    fn slope<Outer: Mode, Inner: Mode>(x: &[f64; 2], start: [f64; 2]) -> [f64; 2] {
        Outer::gradient(|x| saddle::greatest::<Inner>(x, start), x)
    }
    let mut random = seeded(21);
    for _ in 0..5 {
        let [x, start] = [(); 2].map(|()| [random.normal(), random.normal()]);
        let (value, derivative) = saddle::by_hand::greatest(&x, start);
        assert_near(saddle::greatest::<Forward>(&x, start), value, 1e-12);
        assert_near(saddle::greatest::<Reverse>(&x, start), value, 1e-12);
        assert_all_near(&slope::<Reverse, Reverse>(&x, start), &derivative, 1e-12);
        assert_all_near(&slope::<Forward, Forward>(&x, start), &derivative, 1e-12);
        assert_all_near(&slope::<Forward, Reverse>(&x, start), &derivative, 1e-12);
        assert_all_near(&slope::<Reverse, Forward>(&x, start), &derivative, 1e-12);
        let expected = differences(&x, |x| {
            let x = x.first_chunk().unwrap();
            saddle::greatest::<Forward>(x, start)
        });
        assert_all_near(&derivative, &expected, 1e-8);
    }
    let expected = [8.246324826140356e-06; 4];
    assert_all_near(&saddle::by_hand::solve([1.0; 2]), &expected, 1e-15);
}
