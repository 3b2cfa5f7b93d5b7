//! A small network of vectors of vectors, trained on two spirals; its gradient is compared with one
//! written by hand.

use programs::lbfgs::minimize;
use programs::{Random, equal, like_differences, near};
use zymase::{Differentiable, check_grad, value_and_grad, zeros_like};

#[derive(Differentiable, Clone, Debug)]
struct Layer {
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
}

#[derive(Differentiable, Clone, Debug)]
struct Network {
    layers: Vec<Layer>,
    #[constant]
    sizes: Vec<usize>,
}

impl Layer {
    fn random(random: &mut Random, inputs: usize, outputs: usize) -> Layer {
        let scale = (1.0 / inputs as f64).sqrt();
        let mut row = || (0..inputs).map(|_| scale * random.normal()).collect();
        Layer {
            weights: (0..outputs).map(|_| row()).collect(),
            biases: vec![0.0; outputs],
        }
    }

    /// The sums before the activation.
    fn sums(&self, input: &[f64]) -> Vec<f64> {
        let rows = self.weights.iter().zip(&self.biases);
        rows.map(|(row, bias)| bias + row.iter().zip(input).map(|(w, a)| w * a).sum::<f64>())
            .collect()
    }
}

impl Network {
    fn random(random: &mut Random, sizes: &[usize]) -> Network {
        let pairs = sizes.windows(2);
        Network {
            layers: pairs.map(|w| Layer::random(random, w[0], w[1])).collect(),
            sizes: sizes.to_vec(),
        }
    }

    /// The score of a point: positive for the first spiral.
    fn score(&self, point: &[f64; 2]) -> f64 {
        let (last, hidden) = self.layers.split_last().unwrap();
        let mut now = vec![point[0], point[1]];
        for layer in hidden {
            now = layer.sums(&now).into_iter().map(f64::tanh).collect();
        }
        last.sums(&now)[0]
    }
}

type Case = ([f64; 2], f64);

/// The mean over the cases, whose labels are one and minus one.
fn loss(network: &Network, cases: &[Case]) -> f64 {
    let mut sum = 0.0;
    for (point, label) in cases {
        let margin = label * network.score(point);
        sum += (-margin.abs()).exp().ln_1p() + (-margin).max(0.0);
    }
    sum / cases.len() as f64
}

/// The gradient by backpropagation, as one writes it by hand.
fn backpropagation(network: &Network, cases: &[Case]) -> Network {
    let mut gradient = zeros_like(network);
    for (point, label) in cases {
        let mut activations = vec![point.to_vec()];
        for (l, layer) in network.layers.iter().enumerate() {
            let sums = layer.sums(&activations[l]);
            let last = l + 1 == network.layers.len();
            activations.push(match last {
                true => sums,
                false => sums.into_iter().map(f64::tanh).collect(),
            });
        }
        let score = activations.last().unwrap()[0];
        let mut delta = vec![-label / (1.0 + (label * score).exp()) / cases.len() as f64];
        for l in (0..network.layers.len()).rev() {
            let input = &activations[l];
            let mut before = vec![0.0; input.len()];
            for (i, d) in delta.iter().enumerate() {
                gradient.layers[l].biases[i] += d;
                for (j, a) in input.iter().enumerate() {
                    gradient.layers[l].weights[i][j] += d * a;
                    before[j] += d * network.layers[l].weights[i][j] * (1.0 - a * a);
                }
            }
            delta = before;
        }
    }
    gradient
}

fn spirals(random: &mut Random, count: usize) -> Vec<Case> {
    (0..count)
        .flat_map(|i| {
            let t = 0.3 + 1.2 * i as f64 / count as f64;
            let (sin, cos) = (3.5 * t).sin_cos();
            let mut around = |a: f64| a + 0.02 * random.normal();
            let first = [around(t * cos), around(t * sin)];
            let second = [around(-t * cos), around(-t * sin)];
            [(first, 1.0), (second, -1.0)]
        })
        .collect()
}

fn numbers(network: &Network) -> Vec<f64> {
    let mut numbers = Vec::new();
    network.flatten(&mut numbers);
    numbers
}

fn main() {
    let mut random = Random(7_777_777);
    let cases = spirals(&mut random, 40);
    let network = Network::random(&mut random, &[2, 10, 6, 1]);

    let loss = |network: &Network| loss(network, &cases);
    let borrowed = &loss;
    let (value, gradient) = value_and_grad(borrowed, &network);
    near(value, loss(&network), 1e-15);
    equal(
        &numbers(&gradient),
        &numbers(&backpropagation(&network, &cases)),
    );
    let of_numbers = |numbers: &[f64]| {
        let mut network = network.clone();
        network.unflatten(&mut numbers.iter());
        loss(&network)
    };
    like_differences(of_numbers, &numbers(&network), &numbers(&gradient));
    check_grad(loss, &network).unwrap();

    let minimum = minimize(
        |numbers| {
            let mut network = network.clone();
            network.unflatten(&mut numbers.iter());
            let (value, gradient) = value_and_grad(borrowed, &network);
            (value, self::numbers(&gradient))
        },
        &numbers(&network),
        1e-5,
        400,
    );
    let mut trained = network.clone();
    trained.unflatten(&mut minimum.x.iter());
    let right = cases.iter().filter(|(p, l)| trained.score(p) * l > 0.0);
    assert_eq!(trained.sizes, [2, 10, 6, 1]);
    assert!(minimum.value < 0.01, "the loss is {}", minimum.value);
    assert_eq!(right.count(), cases.len());
    println!("ok spirals");
}
