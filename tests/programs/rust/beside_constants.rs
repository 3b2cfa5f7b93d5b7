// Objects that hold references to constants beside references to numbers with derivatives, passed to
// functions that are not inlined.
include!("check.rs");

struct Both<'a> {
    weights: &'a [f64],
    x: &'a [f64],
}

#[inline(never)]
fn dot(both: &Both) -> f64 {
    both.weights.iter().zip(both.x).map(|(a, b)| a * b).sum()
}

fn local(x: &[f64]) -> f64 {
    let weights: Vec<f64> = (0..x.len()).map(|i| 1.5 + i as f64).collect();
    let first = dot(&Both {
        weights: &weights,
        x,
    });
    first
        * dot(&Both {
            weights: &weights,
            x,
        })
        + weights[1]
}

static WEIGHTS: [f64; 3] = [0.5, -1.5, 2.5];

fn fixed(x: &[f64]) -> f64 {
    let both = Both {
        weights: &WEIGHTS,
        x,
    };
    dot(&both) * dot(&both)
}

/// Which of the two is the constant changes.
fn turned(x: &[f64]) -> f64 {
    let weights = vec![2.0; x.len()];
    let one = Both {
        weights: &weights,
        x,
    };
    let other = Both {
        weights: x,
        x: &weights,
    };
    dot(&one) * dot(&other).sin()
}

struct Layer {
    weights: Vec<f64>,
    bias: f64,
}

struct Network<'a> {
    layers: Vec<Layer>,
    inputs: &'a [f64],
    scratch: Vec<f64>,
}

impl Network<'_> {
    #[inline(never)]
    fn step(&mut self, index: usize) {
        let layer = &self.layers[index];
        let before = std::mem::take(&mut self.scratch);
        self.scratch = before
            .iter()
            .zip(&layer.weights)
            .zip(self.inputs)
            .map(|((a, w), x)| (a * w + x + layer.bias).tanh())
            .collect();
    }
}

fn network(x: &[f64]) -> f64 {
    let layer = |k: usize| Layer {
        weights: (0..x.len()).map(|i| 0.3 * (i + k) as f64).collect(),
        bias: 0.1,
    };
    let mut network = Network {
        layers: (0..3).map(layer).collect(),
        inputs: x,
        scratch: x.to_vec(),
    };
    for index in 0..3 {
        network.step(index);
    }
    network.scratch.iter().sum::<f64>() * network.layers[2].weights[1]
}

fn listed(x: &[f64]) -> f64 {
    #[inline(never)]
    fn product(rows: &[&[f64]]) -> f64 {
        (0..3)
            .map(|i| rows.iter().map(|row| row[i]).product::<f64>())
            .sum()
    }
    let constant = vec![1.0, 2.0, 3.0];
    product(&[x, &constant, x]) * product(&[&constant, &constant])
}

fn main() {
    let x = [0.52, 1.57, -0.33];
    check!("beside constants: local", local, x);
    check!("beside constants: fixed", fixed, x);
    check!("beside constants: turned", turned, x);
    check!("beside constants: network", network, x);
    check!("beside constants: listed", listed, x);
}
