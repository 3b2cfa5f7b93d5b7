//! Finite differences: the oracle is compared with what the function itself does near a point.
//!
//! Central differences are taken with two steps. Where the two disagree, a component is badly
//! conditioned, or a decision changes in between, and nothing can be said: it is counted, not
//! compared. So is a component whose oracle is between the slopes on the two sides: there is a kink
//! nearby, as of a minimum.

use super::arguments::{Arg, Beside, inputs, place};
use super::{floats, machine, run_on_duals};
use std::ops::AddAssign;
use zymase_core::interp::{Trap, Val};
use zymase_core::ir::{Func, Module};

/// How many derivatives were compared with finite differences.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Those that agree.
    pub components: usize,
    /// Those where finite differences say nothing.
    pub skipped: usize,
}

impl AddAssign for Compared {
    fn add_assign(&mut self, other: Compared) {
        self.components += other.components;
        self.skipped += other.skipped;
    }
}

/// How finite differences are taken.
#[derive(Copy, Clone, Debug)]
pub struct Steps {
    /// The larger of the two steps; the other is half of it.
    pub step: f64,
    /// How far the two, and the oracle, may be apart, relative to the largest derivative.
    pub relative: f64,
}

impl Steps {
    /// For functions that compute in double precision.
    pub const DOUBLE: Steps = Steps {
        step: 1e-5,
        relative: 1e-6,
    };
    /// For functions that compute in single precision here and there.
    pub const SINGLE: Steps = Steps {
        step: 1e-2,
        relative: 2e-3,
    };
}

/// Compares the oracle's derivative of every output by every input with finite differences.
pub fn compare(
    module: &Module,
    func: Func,
    args: &[Arg],
    steps: Steps,
) -> Result<Compared, String> {
    let text = |trap: Trap| format!("finite differences: {trap}");
    let mut compared = Compared::default();
    for input in inputs(args) {
        let direction = |at| f64::from(u8::from(at == input));
        let run = run_on_duals(module, func, &[], args, &direction).map_err(text)?;
        let oracle: Vec<f64> = run.shadows.iter().chain(&run.results).copied().collect();
        let coarse = slopes(module, func, args, input, steps.step).map_err(text)?;
        let fine = slopes(module, func, args, input, steps.step / 2.0).map_err(text)?;
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
        let allowed = |size: f64| steps.relative * (1.0 + size);
        // What the function itself does says whether it is smooth here. Where it is chaotic, the
        // oracle has far larger numbers.
        let apart = allowed(largest(&fine));
        let allowed = allowed(largest(&oracle).max(largest(&fine)));
        let sides = |output: usize| {
            let at = outputs(module, func, args)?[output];
            let side = |step: f64| {
                let moved = outputs(module, func, &moved(args, input, step))?;
                Ok::<f64, Trap>((moved[output] - at) / step)
            };
            Ok([side(steps.step)?, side(-steps.step)?])
        };
        let numbers = oracle.iter().zip(coarse.iter().zip(&fine));
        for (output, (oracle, (coarse, fine))) in numbers.enumerate() {
            let spread = (coarse - fine).abs();
            if spread.is_nan() || spread > apart {
                compared.skipped += 1;
            } else if (oracle - fine).abs() <= 4.0 * allowed {
                compared.components += 1;
            } else if is_between(oracle, &sides(output).map_err(text)?, allowed) {
                compared.skipped += 1;
            } else {
                return Err(format!(
                    "finite differences: output {output} along {input:?}: oracle {oracle}, \
                     differences {coarse} and {fine}"
                ));
            }
        }
    }
    Ok(compared)
}

/// Whether a number is between two others, or not far from them.
fn is_between(x: &f64, [a, b]: &[f64; 2], allowed: f64) -> bool {
    (a.min(*b) - allowed..=a.max(*b) + allowed).contains(x)
}

/// The slope of every output along an input, by a central difference.
fn slopes(
    module: &Module,
    func: Func,
    args: &[Arg],
    input: (usize, usize),
    step: f64,
) -> Result<Vec<f64>, Trap> {
    let above = outputs(module, func, &moved(args, input, step))?;
    let below = outputs(module, func, &moved(args, input, -step))?;
    let pairs = above.iter().zip(&below);
    Ok(pairs.map(|(x, y)| (x - y) / (2.0 * step)).collect())
}

/// The arguments with one input changed.
fn moved(args: &[Arg], input: (usize, usize), by: f64) -> Vec<Arg> {
    let mut args = args.to_vec();
    match &mut args[input.0] {
        Arg::Dup(numbers) => numbers[input.1] += by,
        Arg::Out(number) => *number += by,
        Arg::Const(_) | Arg::Part(..) | Arg::Int(_) => {}
    }
    args
}

/// Every output: the arrays with derivatives, and the result.
fn outputs(module: &Module, func: Func, args: &[Arg]) -> Result<Vec<f64>, Trap> {
    let mut machine = machine(module)?;
    let placed = place(&mut machine, args, Beside::Nothing, &|_| 0.0)?;
    let result = machine.call(func, &placed.values)?;
    let mut all = Vec::new();
    for &(at, count) in &placed.dups {
        all.extend(machine.memory.f64s(at, count)?);
    }
    all.extend(floats(result.as_ref(), Val::as_f64));
    Ok(all)
}
