//! Logistic regression, trained by L-BFGS with the derivative of the loss; the gradient is compared
//! with one written by hand.

use programs::lbfgs::minimize;
use programs::{Random, equal, like_differences, near};
use zymase::{autodiff_reverse, check_grad};

/// Points and the class of each.
struct Data {
    points: Vec<Vec<f64>>,
    labels: Vec<bool>,
}

impl Data {
    /// Points around the origin, labelled by a plane with some errors.
    fn generate(random: &mut Random, count: usize, plane: &[f64]) -> Data {
        let mut data = Data {
            points: Vec::new(),
            labels: Vec::new(),
        };
        for _ in 0..count {
            let point: Vec<f64> = (1..plane.len()).map(|_| random.normal()).collect();
            let score = plane[0] + dot(&plane[1..], &point);
            data.labels.push(random.uniform() < sigmoid(score));
            data.points.push(point);
        }
        data
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// The logarithm of 1 + exp(z), without overflow.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// The mean loss over the data, and a penalty on the weights but not on the offset, which is first.
#[autodiff_reverse(d_loss, Duplicated, Const, Const, Active)]
fn loss(weights: &[f64], data: &Data, penalty: f64) -> f64 {
    let [offset, slopes @ ..] = weights else {
        panic!("there are no weights");
    };
    let mut sum = 0.0;
    for (point, &label) in data.points.iter().zip(&data.labels) {
        let score = offset + dot(slopes, point);
        sum += softplus(if label { -score } else { score });
    }
    sum / data.points.len() as f64 + 0.5 * penalty * dot(slopes, slopes)
}

fn gradient_by_hand(weights: &[f64], data: &Data, penalty: f64) -> Vec<f64> {
    let mut gradient = vec![0.0; weights.len()];
    for (point, &label) in data.points.iter().zip(&data.labels) {
        let residual = sigmoid(weights[0] + dot(&weights[1..], point)) - f64::from(label);
        gradient[0] += residual;
        for (g, x) in gradient[1..].iter_mut().zip(point) {
            *g += residual * x;
        }
    }
    gradient
        .iter_mut()
        .for_each(|g| *g /= data.points.len() as f64);
    for (g, w) in gradient[1..].iter_mut().zip(&weights[1..]) {
        *g += penalty * w;
    }
    gradient
}

fn main() {
    let plane = [0.3, 1.5, -2.0, 0.0, 0.7];
    let mut random = Random(20_170_501);
    let data = Data::generate(&mut random, 300, &plane);
    let penalty = 1e-3;
    let with_gradient = |weights: &[f64]| {
        let mut gradient = vec![0.0; weights.len()];
        let value = d_loss(weights, &mut gradient, &data, penalty, 1.0);
        (value, gradient)
    };

    for _ in 0..3 {
        let weights: Vec<f64> = plane.iter().map(|_| random.normal()).collect();
        let (value, gradient) = with_gradient(&weights);
        near(value, loss(&weights, &data, penalty), 1e-15);
        equal(&gradient, &gradient_by_hand(&weights, &data, penalty));
        like_differences(|w| loss(w, &data, penalty), &weights, &gradient);
        check_grad(|w: &[f64]| loss(w, &data, penalty), &weights[..]).unwrap();
    }

    let start = vec![0.0; plane.len()];
    let minimum = minimize(with_gradient, &start, 1e-10, 100);
    assert!(minimum.slope <= 1e-10, "the slope is {}", minimum.slope);
    assert!(minimum.steps < 40, "{} steps", minimum.steps);
    assert!(minimum.value < 0.7 * loss(&start, &data, penalty));
    // By hand, the same search ends at the same point.
    let by_hand = |w: &[f64]| (loss(w, &data, penalty), gradient_by_hand(w, &data, penalty));
    let expected = minimize(by_hand, &start, 1e-10, 100);
    for (found, expected) in minimum.x.iter().zip(&expected.x) {
        near(*found, *expected, 1e-8);
    }
    for (found, made) in minimum.x.iter().zip(plane) {
        near(*found, made, 0.5);
    }
    println!("ok logistic");
}
