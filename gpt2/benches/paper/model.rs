//! The whole model.

use super::measure::{Clock, difference};
use super::report::Line;
use zymase_gpt2::layers::tuned::set_threads;
use zymase_gpt2::method::{Backward, Kernel, Method, Sequences, gradient, loss};
use zymase_gpt2::optimizer::{AdamW, Moments};
use zymase_gpt2::random::Random;
use zymase_gpt2::{Config, Parameters};

/// As the program in C names it.
pub const NAME: &str = "gpt2 124M";

/// A way to compute the model.
#[derive(Clone, Copy)]
pub struct Variant {
    pub name: &'static str,
    kernel: Kernel,
    /// 0 stands for all that the machine has.
    threads: usize,
    recompute: bool,
}

pub const VARIANTS: [Variant; 6] = [
    Variant {
        name: PLAIN,
        kernel: Kernel::Naive,
        threads: 1,
        recompute: false,
    },
    Variant {
        name: "plain loops, all threads",
        kernel: Kernel::Naive,
        threads: 0,
        recompute: false,
    },
    Variant {
        name: "blocked",
        kernel: Kernel::Blocked,
        threads: 1,
        recompute: false,
    },
    Variant {
        name: TUNED,
        kernel: Kernel::Tuned,
        threads: 1,
        recompute: false,
    },
    Variant {
        name: "tuned, all threads",
        kernel: Kernel::Tuned,
        threads: 0,
        recompute: false,
    },
    Variant {
        name: "tuned, one thread, recomputed",
        kernel: Kernel::Tuned,
        threads: 1,
        recompute: true,
    },
];

/// The variant in which nobody wrote a product but as loops.
pub const PLAIN: &str = "plain loops, one thread";

/// The variant that is compared with C.
pub const TUNED: &str = "tuned, one thread";

/// The two backward passes, with the words for them.
const METHODS: [(&str, Backward); 2] = [
    ("hand", Backward::ByHand),
    ("synthesized", Backward::Synthesized),
];

impl Variant {
    /// What is compared. Only synthesized gradients can compute layers again; and plain loops by hand,
    /// which no kernel computes, take half a minute a step.
    fn methods(&self) -> &'static [(&'static str, Backward)] {
        match self.recompute || self.is_plain() {
            true => &METHODS[1..],
            false => &METHODS,
        }
    }

    fn is_plain(&self) -> bool {
        self.kernel == Kernel::Naive
    }
}

/// Everything that is measured: times, and the peak of memory with each backward pass.
pub fn names() -> impl Iterator<Item = String> {
    VARIANTS.iter().flat_map(|variant| {
        let times = format!("{NAME} {}", variant.name);
        let methods = variant.methods().iter();
        let memory = methods.map(|(method, _)| format!("{NAME} memory {method} {}", variant.name));
        [times].into_iter().chain(memory)
    })
}

/// Measures what has this name.
pub fn measure(name: &str, is_tiny: bool) -> Option<Vec<Line>> {
    let rest = name.strip_prefix(NAME)?.trim_start();
    let find = |name: &str| {
        VARIANTS
            .iter()
            .copied()
            .find(|variant| variant.name == name)
    };
    if let Some(rest) = rest.strip_prefix("memory ") {
        let (method, variant) = rest.split_once(' ')?;
        let (method, backward) = METHODS.into_iter().find(|(name, _)| *name == method)?;
        return Some(vec![memory(find(variant)?, method, backward, is_tiny)]);
    }
    Some(times(find(rest)?, is_tiny))
}

struct State {
    config: Config,
    parameters: Parameters,
    gradients: Parameters,
    moments: Moments,
    tokens: Vec<u32>,
    targets: Vec<u32>,
    length: usize,
    variant: Variant,
    steps: u64,
}

impl State {
    fn new(variant: Variant, is_tiny: bool) -> State {
        // Those of the product that the program calls, and those of the products that are found in it.
        set_threads(variant.threads);
        zymase::set_threads(variant.threads);
        let config = match is_tiny {
            true => Config {
                positions: 8,
                vocabulary: 40,
                padded_vocabulary: 48,
                layers: 2,
                heads: 2,
                channels: 24,
            },
            false => Config::GPT2_124M,
        };
        let (batch, length) = if is_tiny { (2, 8) } else { (4, 64) };
        let mut random = Random::new(1);
        let mut tokens = || -> Vec<u32> {
            let tokens = (0..batch * length).map(|_| random.below(config.vocabulary) as u32);
            tokens.collect()
        };
        State {
            parameters: Parameters::random(&config, 1),
            gradients: Parameters::zeros(&config),
            moments: Moments::zeros(&config),
            tokens: tokens(),
            targets: tokens(),
            length,
            config,
            variant,
            steps: 0,
        }
    }

    fn sequences(&self) -> Sequences<'_> {
        Sequences {
            tokens: &self.tokens,
            targets: &self.targets,
            length: self.length,
        }
    }

    /// How many threads there are for what the gradient is not about.
    fn threads(&self) -> usize {
        match self.variant.threads {
            0 => std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            threads => threads,
        }
    }

    fn zero(&mut self) {
        self.gradients.zero(self.threads());
    }

    fn forward(&self) {
        let kernel = self.variant.kernel;
        let loss = loss(kernel, &self.parameters, &self.config, self.sequences());
        std::hint::black_box(loss);
    }

    /// Adds the gradient.
    fn gradient(&mut self, backward: Backward) {
        self.gradient_by(backward, self.variant.kernel);
    }

    fn gradient_by(&mut self, backward: Backward, kernel: Kernel) {
        let method = Method {
            backward,
            kernel,
            recompute: self.variant.recompute,
        };
        let sequences = Sequences {
            tokens: &self.tokens,
            targets: &self.targets,
            length: self.length,
        };
        let (parameters, gradients) = (&self.parameters, &mut self.gradients);
        gradient(method, parameters, gradients, &self.config, sequences, 1.0);
    }

    fn step(&mut self, backward: Backward) {
        self.zero();
        self.gradient(backward);
        let optimizer = AdamW {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
        };
        let threads = self.threads();
        let (parameters, gradients) = (&mut self.parameters, &self.gradients);
        optimizer.update(
            parameters,
            gradients,
            &mut self.moments,
            self.steps,
            1e-4,
            threads,
        );
        self.steps += 1;
    }

    /// The largest difference of the two gradients, each as a part of the largest of its tensor.
    fn compare(&mut self) -> f64 {
        self.zero();
        let by_hand = match self.variant.is_plain() {
            true => Kernel::Tuned,
            false => self.variant.kernel,
        };
        self.gradient_by(Backward::ByHand, by_hand);
        let by_hand = self.gradients.clone();
        self.zero();
        self.gradient(Backward::Synthesized);
        let tensors = self.gradients.tensors().into_iter().zip(by_hand.tensors());
        tensors
            .map(|(found, expected)| difference(found, expected))
            .fold(0.0, f64::max)
    }
}

fn times(variant: Variant, is_tiny: bool) -> Vec<Line> {
    let mut state = State::new(variant, is_tiny);
    let difference = state.compare();
    // The moments are touched for the first time outside of what is measured.
    state.step(Backward::Synthesized);
    let clock = match variant.threads {
        1 => Clock::Processor,
        _ => Clock::Passing,
    };
    let is_plain = variant.is_plain();
    let mut best = [None; 5];
    for _ in 0..if is_tiny { 1 } else { 4 } {
        let forward = (!is_plain).then(|| clock.time(|| state.forward()));
        let is_measured = |backward| !is_plain || backward == Backward::Synthesized;
        let [hand, synthesized] = METHODS.map(|(_, backward)| {
            state.zero();
            is_measured(backward).then(|| clock.time(|| state.gradient(backward)))
        });
        let [hand_step, synthesized_step] = METHODS.map(|(_, backward)| {
            is_measured(backward).then(|| clock.time(|| state.step(backward)))
        });
        let times = [forward, hand, synthesized, hand_step, synthesized_step];
        for (best, time) in best.iter_mut().zip(times) {
            *best = [*best, time].into_iter().flatten().reduce(f64::min);
        }
    }
    let [forward, hand, synthesized, hand_step, synthesized_step] = best;
    let beyond_forward = |time: Option<f64>| Some(time? - forward?);
    let shape = format!("B={} T={}", state.tokens.len() / state.length, state.length);
    let common = Line {
        variant: Some(variant.name.to_string()),
        shape: Some(shape),
        ..Line::default()
    };
    vec![
        Line {
            name: NAME.to_string(),
            forward_ms: forward,
            hand_backward_ms: beyond_forward(hand),
            hand_gradient_ms: hand,
            synthesized_backward_ms: beyond_forward(synthesized),
            synthesized_gradient_ms: synthesized,
            difference: Some(difference),
            ..common.clone()
        },
        Line {
            name: format!("{NAME} step"),
            hand_ms: hand_step,
            synthesized_ms: synthesized_step,
            ..common
        },
    ]
}

/// The peak of a process is known only to itself, so each method is measured in one of its own. After
/// the first step, the moments of AdamW are in memory when the gradient is computed.
fn memory(variant: Variant, method: &str, backward: Backward, is_tiny: bool) -> Line {
    let mut state = State::new(variant, is_tiny);
    for _ in 0..if is_tiny { 1 } else { 3 } {
        state.step(backward);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| {
        let kilobytes = line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?;
        kilobytes.trim().parse().ok()
    });
    Line {
        name: format!("{NAME} memory"),
        variant: Some(variant.name.to_string()),
        method: Some(method.to_string()),
        peak_kb: peak,
        ..Line::default()
    }
}
