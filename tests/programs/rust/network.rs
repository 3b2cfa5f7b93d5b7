// A small network of vectors of vectors.
include!("check.rs");

struct Network {
    layers: Vec<(Vec<Vec<f64>>, Vec<f64>)>,
}

impl Network {
    fn new(sizes: &[usize], parameters: &[f64]) -> Network {
        let mut left = parameters.iter().copied();
        let layers = sizes.windows(2).map(|w| {
            let weights = (0..w[1])
                .map(|_| left.by_ref().take(w[0]).collect())
                .collect();
            (weights, left.by_ref().take(w[1]).collect())
        });
        Network {
            layers: layers.collect(),
        }
    }

    fn run(&self, input: &[f64]) -> Vec<f64> {
        let mut now = input.to_vec();
        for (weights, biases) in &self.layers {
            let sums = weights
                .iter()
                .map(|row| row.iter().zip(&now).map(|(w, a)| w * a).sum::<f64>());
            now = sums.zip(biases).map(|(sum, b)| (sum + b).tanh()).collect();
        }
        now
    }
}

fn loss(x: &[f64]) -> f64 {
    let network = Network::new(&[2, 3, 1], x);
    let cases = [
        ([0.0, 0.0], -0.9),
        ([0.0, 1.0], 0.9),
        ([1.0, 0.0], 0.9),
        ([1.0, 1.0], -0.9),
    ];
    cases
        .iter()
        .map(|(input, wanted)| (network.run(input)[0] - wanted).powi(2))
        .sum()
}

fn main() {
    let x: Vec<f64> = (0..13).map(|i| (f64::from(i) * 1.7).sin()).collect();
    check!("network", loss, x);
}
