//! The direction of Newton's method for the cost of clusters.

use crate::evaluation::{Answer, Outcome, Request, check, flat, rows};
use serde::Deserialize;
use zymase::{autodiff_forward, autodiff_reverse};

#[derive(Deserialize)]
struct Input {
    points: Vec<Vec<f64>>,
    centroids: Vec<Vec<f64>>,
}

/// Answers `cost` and `dir`.
pub fn evaluate(request: &Request) -> Outcome {
    let Input { points, centroids } = request.input()?;
    let (k, d) = (centroids.len(), centroids.first().map_or(0, Vec::len));
    check(d > 0, "there are no centroids, or they have no coordinates")?;
    let points = flat(&points, d, "points")?;
    let centroids = flat(&centroids, d, "centroids")?;
    match request.function {
        "cost" => request.answer(&centroids[..], |centroids| cost(centroids, &points, d)),
        "dir" => {
            let mut newton = Newton::new(k * d);
            let run = |centroids: &[f64]| newton.direction(centroids, &points, d);
            let ((), timings) = request.repeat(&centroids[..], run)?;
            Answer::new(&rows(&newton.direction, k, d), timings)
        }
        _ => request.unknown_function(),
    }
}

/// The sum of squares of the distances between points and their nearest centroids.
#[autodiff_reverse(d_cost, Duplicated, Const, Const, Active)]
pub fn cost(centroids: &[f64], points: &[f64], d: usize) -> f64 {
    let mut sum = 0.0;
    for point in points.chunks_exact(d) {
        let nearest = nearest(centroids, point);
        sum += squared_distance(&centroids[nearest * d..][..d], point);
    }
    sum
}

/// Which centroid is nearest to a point; the first one of several.
fn nearest(centroids: &[f64], point: &[f64]) -> usize {
    let mut nearest = 0;
    let mut least = f64::INFINITY;
    for (j, centroid) in centroids.chunks_exact(point.len()).enumerate() {
        let distance = squared_distance(centroid, point);
        if distance < least {
            least = distance;
            nearest = j;
        }
    }
    nearest
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The derivative of [`cost`] with respect to the centroids.
#[autodiff_forward(f_gradient, Dual, Dual, Const, Const)]
pub fn gradient(centroids: &[f64], result: &mut [f64], points: &[f64], d: usize) {
    result.fill(0.0);
    d_cost(centroids, result, points, d, 1.0);
}

/// What one run needs and gives.
pub struct Newton {
    ones: Vec<f64>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    /// The gradient divided by the diagonal of the second derivative.
    pub direction: Vec<f64>,
}

impl Newton {
    /// Room for so many coordinates of centroids.
    pub fn new(count: usize) -> Newton {
        Newton {
            ones: vec![1.0; count],
            gradient: vec![0.0; count],
            hessian: vec![0.0; count],
            direction: vec![0.0; count],
        }
    }

    /// The direction: the second derivative is diagonal, so its product with ones is its diagonal.
    pub fn direction(&mut self, centroids: &[f64], points: &[f64], d: usize) {
        f_gradient(
            centroids,
            &self.ones,
            &mut self.gradient,
            &mut self.hessian,
            points,
            d,
        );
        for (i, direction) in self.direction.iter_mut().enumerate() {
            *direction = self.gradient[i] / self.hessian[i];
        }
    }
}

/// Written by hand.
pub mod by_hand {
    use super::nearest;

    /// The derivative of the cost with respect to the centroids.
    pub fn gradient(centroids: &[f64], result: &mut [f64], points: &[f64], d: usize) {
        result.fill(0.0);
        for point in points.chunks_exact(d) {
            let nearest = nearest(centroids, point);
            let centroid = &centroids[nearest * d..][..d];
            let result = &mut result[nearest * d..][..d];
            for j in 0..d {
                result[j] += 2.0 * (centroid[j] - point[j]);
            }
        }
    }

    /// The gradient divided by the diagonal of the second derivative.
    pub fn direction(centroids: &[f64], points: &[f64], d: usize, direction: &mut [f64]) {
        let mut counts = vec![0.0; centroids.len() / d];
        direction.fill(0.0);
        for point in points.chunks_exact(d) {
            let nearest = nearest(centroids, point);
            counts[nearest] += 2.0;
            let centroid = &centroids[nearest * d..][..d];
            let direction = &mut direction[nearest * d..][..d];
            for j in 0..d {
                direction[j] += 2.0 * (centroid[j] - point[j]);
            }
        }
        for (direction, count) in direction.chunks_exact_mut(d).zip(counts) {
            for direction in direction {
                *direction /= count;
            }
        }
    }
}
