//! A network with long short-term memory, all of whose matrices are diagonal.

use crate::evaluation::{Answer, Outcome, Request, check, flat};
use crate::random::Random;
use serde::Deserialize;
use zymase::autodiff_reverse;

#[derive(Deserialize)]
struct Input {
    main_params: Vec<Vec<f64>>,
    extra_params: Vec<Vec<f64>>,
    state: Vec<Vec<f64>>,
    sequence: Vec<Vec<f64>>,
}

/// The network's width, the state it begins with and the sequence it predicts, row after row.
pub struct Data {
    /// How many numbers a character has.
    pub width: usize,
    /// For each layer the hidden state and the cells.
    pub state: Vec<f64>,
    /// Characters of zeros and ones.
    pub sequence: Vec<f64>,
}

/// The parameters, row after row.
pub struct Parameters {
    /// For each layer the weights of its four gates, and their biases.
    pub main: Vec<f64>,
    /// The weights of the input, the weights and the biases of the output.
    pub extra: Vec<f64>,
}

/// Answers `objective` and `jacobian`.
pub fn evaluate(request: &Request) -> Outcome {
    let input: Input = request.input()?;
    check(input.extra_params.len() == 3, "extra_params has not 3 rows")?;
    let width = input.extra_params[0].len();
    check(width > 0, "a row of extra_params is empty")?;
    let layers = input.main_params.len() / 2;
    check(
        input.main_params.len() == 2 * layers,
        "main_params has an odd number of rows",
    )?;
    check(
        input.state.len() == 2 * layers,
        "state has not the rows of main_params",
    )?;
    check(input.sequence.len() > 1, "sequence is too short")?;
    let data = Data {
        width,
        state: flat(&input.state, width, "state")?,
        sequence: flat(&input.sequence, width, "sequence")?,
    };
    let parameters = Parameters {
        main: flat(&input.main_params, 4 * width, "main_params")?,
        extra: flat(&input.extra_params, width, "extra_params")?,
    };
    match request.function {
        "objective" => request.answer(&parameters, |parameters| {
            objective(&data, &parameters.main, &parameters.extra)
        }),
        "jacobian" => {
            let mut result = vec![0.0; parameters.main.len() + parameters.extra.len()];
            let run = |parameters: &Parameters| gradient(&data, parameters, &mut result);
            let ((), timings) = request.repeat(&parameters, run)?;
            Answer::new(&result, timings)
        }
        _ => request.unknown_function(),
    }
}

/// How badly the network predicts each character of the sequence from those before it.
#[autodiff_reverse(d_objective, Const, Duplicated, Duplicated, Active)]
pub fn objective(data: &Data, main: &[f64], extra: &[f64]) -> f64 {
    let width = data.width;
    let (in_weight, out) = extra.split_at(width);
    let (out_weight, out_bias) = out.split_at(width);
    let mut state = data.state.clone();
    let mut signal = vec![0.0; width];
    let mut total = 0.0;
    for pair in data.sequence.windows(2 * width).step_by(width) {
        let (now, next) = pair.split_at(width);
        for j in 0..width {
            signal[j] = now[j] * in_weight[j];
        }
        let layers = main.chunks_exact(8 * width);
        for (layer, state) in layers.zip(state.chunks_exact_mut(2 * width)) {
            pass(layer, state, &mut signal);
        }
        let mut sum = 2.0;
        for j in 0..width {
            signal[j] = signal[j] * out_weight[j] + out_bias[j];
            sum += signal[j].exp();
        }
        let normal = sum.ln();
        for j in 0..width {
            total += next[j] * (signal[j] - normal);
        }
    }
    -total / (data.sequence.len() - width) as f64
}

/// One layer: changes its state, and the signal.
fn pass(layer: &[f64], state: &mut [f64], signal: &mut [f64]) {
    let width = signal.len();
    let (weight, bias) = layer.split_at(4 * width);
    let (hidden, cell) = state.split_at_mut(width);
    for j in 0..width {
        let gate = |kind: usize, x: f64| x * weight[kind * width + j] + bias[kind * width + j];
        let forget = sigmoid(gate(0, signal[j]));
        let ingate = sigmoid(gate(1, hidden[j]));
        let outgate = sigmoid(gate(2, signal[j]));
        let change = gate(3, hidden[j]).tanh();
        cell[j] = cell[j] * forget + ingate * change;
        hidden[j] = outgate * cell[j].tanh();
        signal[j] = hidden[j];
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The derivative of [`objective`] with respect to the parameters, one after the other.
pub fn gradient(data: &Data, parameters: &Parameters, result: &mut [f64]) {
    result.fill(0.0);
    let (main, extra) = result.split_at_mut(parameters.main.len());
    d_objective(data, &parameters.main, main, &parameters.extra, extra, 1.0);
}

/// A network and a sequence as GradBench draws them: layers, length, width.
pub fn random(random: &mut Random, l: usize, c: usize, b: usize) -> (Data, Parameters) {
    let data = Data {
        width: b,
        state: random.uniforms(2 * l * b),
        sequence: (0..c * b).map(|_| random.below(2) as f64).collect(),
    };
    let parameters = Parameters {
        main: random.uniforms(8 * l * b),
        extra: random.uniforms(3 * b),
    };
    (data, parameters)
}

/// Written by hand.
pub mod by_hand {
    use super::{Data, Parameters, sigmoid};

    /// What a layer keeps of one step, each a row with all numbers so that the way back has vectors:
    /// signal, hidden and cell before it, the gates forget, ingate, outgate and change, and the
    /// hyperbolic tangent of the cell after it.
    const KEPT: usize = 8;

    /// The derivative of the objective with respect to the parameters, one after the other.
    pub fn gradient(data: &Data, parameters: &Parameters, result: &mut [f64]) {
        let width = data.width;
        let layers = parameters.main.len() / (8 * width);
        let steps = data.sequence.len() / width - 1;
        let (in_weight, out) = parameters.extra.split_at(width);
        let (out_weight, out_bias) = out.split_at(width);
        let mut tape = vec![0.0; KEPT * steps * layers * width];
        let mut outputs = vec![0.0; steps * width];
        let mut dy = vec![0.0; steps * width];
        let scale = -1.0 / (steps * width) as f64;

        let mut state = data.state.clone();
        let mut signal = vec![0.0; width];
        for t in 0..steps {
            let now = &data.sequence[t * width..][..width];
            let next = &data.sequence[(t + 1) * width..][..width];
            for j in 0..width {
                signal[j] = now[j] * in_weight[j];
            }
            for layer in 0..layers {
                let kept = &mut tape[(t * layers + layer) * KEPT * width..][..KEPT * width];
                let parameters = &parameters.main[layer * 8 * width..][..8 * width];
                let state = &mut state[layer * 2 * width..][..2 * width];
                pass(parameters, state, &mut signal, kept);
            }
            outputs[t * width..][..width].copy_from_slice(&signal);
            let dy = &mut dy[t * width..][..width];
            let mut sum = 2.0;
            for j in 0..width {
                dy[j] = (signal[j] * out_weight[j] + out_bias[j]).exp();
                sum += dy[j];
            }
            let share = next.iter().sum::<f64>() / sum;
            for j in 0..width {
                dy[j] = scale * (next[j] - share * dy[j]);
            }
        }

        result.fill(0.0);
        let (dmain, dextra) = result.split_at_mut(parameters.main.len());
        let (din_weight, dout) = dextra.split_at_mut(width);
        let (dout_weight, dout_bias) = dout.split_at_mut(width);
        let mut dstate = vec![0.0; data.state.len()];
        let mut dsignal = vec![0.0; width];
        for t in (0..steps).rev() {
            let dy = &dy[t * width..][..width];
            let output = &outputs[t * width..][..width];
            for j in 0..width {
                dout_weight[j] += dy[j] * output[j];
                dout_bias[j] += dy[j];
                dsignal[j] = dy[j] * out_weight[j];
            }
            for layer in (0..layers).rev() {
                let kept = &tape[(t * layers + layer) * KEPT * width..][..KEPT * width];
                let weights = &parameters.main[layer * 8 * width..][..4 * width];
                let dparameters = &mut dmain[layer * 8 * width..][..8 * width];
                let dstate = &mut dstate[layer * 2 * width..][..2 * width];
                back(weights, dparameters, dstate, &mut dsignal, kept);
            }
            let now = &data.sequence[t * width..][..width];
            for j in 0..width {
                din_weight[j] += dsignal[j] * now[j];
            }
        }
    }

    fn pass(layer: &[f64], state: &mut [f64], signal: &mut [f64], kept: &mut [f64]) {
        let width = signal.len();
        let (weight, bias) = layer.split_at(4 * width);
        let (hidden, cell) = state.split_at_mut(width);
        let mut rows: [&mut [f64]; KEPT] = rows_mut(kept, width);
        for j in 0..width {
            let gate = |kind: usize, x: f64| x * weight[kind * width + j] + bias[kind * width + j];
            let forget = sigmoid(gate(0, signal[j]));
            let ingate = sigmoid(gate(1, hidden[j]));
            let outgate = sigmoid(gate(2, signal[j]));
            let change = gate(3, hidden[j]).tanh();
            let new = cell[j] * forget + ingate * change;
            let tanh = new.tanh();
            for (row, value) in rows.iter_mut().zip([
                signal[j], hidden[j], cell[j], forget, ingate, outgate, change, tanh,
            ]) {
                row[j] = value;
            }
            cell[j] = new;
            hidden[j] = outgate * tanh;
            signal[j] = hidden[j];
        }
    }

    /// Rows of equal length, one after the other.
    fn rows<const N: usize>(all: &[f64], width: usize) -> [&[f64]; N] {
        std::array::from_fn(|row| &all[row * width..][..width])
    }

    fn rows_mut<const N: usize>(mut all: &mut [f64], width: usize) -> [&mut [f64]; N] {
        std::array::from_fn(|_| all.split_off_mut(..width).expect("a row is missing"))
    }

    /// One layer backwards: `dstate` and `dsignal` are those after it, and become those before it.
    fn back(
        weight: &[f64],
        dparameters: &mut [f64],
        dstate: &mut [f64],
        dsignal: &mut [f64],
        kept: &[f64],
    ) {
        let width = dsignal.len();
        let [signal, hidden, cell, forget, ingate, outgate, change, tanh] = rows(kept, width);
        let [forget_weight, ingate_weight, outgate_weight, change_weight] = rows(weight, width);
        let [dw0, dw1, dw2, dw3, db0, db1, db2, db3] = rows_mut(dparameters, width);
        let [dhidden, dcell] = rows_mut(dstate, width);
        for j in 0..width {
            let (forget, ingate, outgate) = (forget[j], ingate[j], outgate[j]);
            let (change, tanh) = (change[j], tanh[j]);
            let dh = dhidden[j] + dsignal[j];
            let dc = dcell[j] + dh * outgate * (1.0 - tanh * tanh);
            let dforget = dc * cell[j] * forget * (1.0 - forget);
            let dingate = dc * change * ingate * (1.0 - ingate);
            let doutgate = dh * tanh * outgate * (1.0 - outgate);
            let dchange = dc * ingate * (1.0 - change * change);
            dw0[j] += dforget * signal[j];
            dw1[j] += dingate * hidden[j];
            dw2[j] += doutgate * signal[j];
            dw3[j] += dchange * hidden[j];
            db0[j] += dforget;
            db1[j] += dingate;
            db2[j] += doutgate;
            db3[j] += dchange;
            dcell[j] = dc * forget;
            dhidden[j] = dingate * ingate_weight[j] + dchange * change_weight[j];
            dsignal[j] = dforget * forget_weight[j] + doutgate * outgate_weight[j];
        }
    }
}
