//! Repetitions by turns.

use super::report::Line;
use std::time::Instant;

/// Which time counts.
#[derive(Clone, Copy, PartialEq)]
pub enum Clock {
    /// That of the processor: other processes do not count.
    Processor,
    /// That which passes, where several threads work.
    Passing,
}

impl Clock {
    /// How many milliseconds a function takes.
    pub fn time(self, function: impl FnOnce()) -> f64 {
        let (passing, processor) = (Instant::now(), processor_time());
        function();
        match self {
            Clock::Processor => 1e3 * (processor_time() - processor),
            Clock::Passing => 1e3 * passing.elapsed().as_secs_f64(),
        }
    }
}

/// Seconds of this process.
fn processor_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure is there to be written to.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "there is no clock of this process");
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// At least so many repetitions; then until so many milliseconds are over, or so many are done.
const FEWEST: usize = 10;
const MOST: usize = 60;
const ENOUGH: f64 = 3e3;

/// A layer, its backward pass by hand and its gradient by Zymase, of a state that holds arguments and
/// results. `prepare` runs before each and is not measured.
pub struct Layer<S> {
    pub prepare: fn(&mut S),
    pub forward: fn(&mut S),
    pub backward: fn(&mut S),
    pub synthesized: fn(&mut S),
    pub gradients: fn(&mut S) -> Vec<&mut Vec<f32>>,
}

impl<S> Layer<S> {
    /// Compares and measures.
    pub fn run(&self, name: &str, shape: String, is_tiny: bool, mut state: S) -> Line {
        let difference = self.compare(&mut state);
        let mut best = [f64::INFINITY; 4];
        let begin = Instant::now();
        let is_enough = |done: usize| match is_tiny {
            true => done == 1,
            false => {
                let passed = 1e3 * begin.elapsed().as_secs_f64();
                done == MOST || (done >= FEWEST && passed > ENOUGH)
            }
        };
        for done in 0.. {
            if is_enough(done) {
                break;
            }
            let clock = Clock::Processor;
            (self.prepare)(&mut state);
            let forward = clock.time(|| (self.forward)(&mut state));
            let backward = clock.time(|| (self.backward)(&mut state));
            (self.prepare)(&mut state);
            let by_hand = clock.time(|| {
                (self.forward)(&mut state);
                (self.backward)(&mut state);
            });
            (self.prepare)(&mut state);
            let synthesized = clock.time(|| (self.synthesized)(&mut state));
            for (best, time) in best
                .iter_mut()
                .zip([forward, backward, by_hand, synthesized])
            {
                *best = best.min(time);
            }
        }
        let [forward, backward, by_hand, synthesized] = best;
        Line {
            name: name.to_string(),
            shape: Some(shape),
            forward_ms: Some(forward),
            hand_backward_ms: Some(backward),
            hand_gradient_ms: Some(by_hand),
            synthesized_gradient_ms: Some(synthesized),
            synthesized_backward_ms: Some(synthesized - forward),
            difference: Some(difference),
            ..Line::default()
        }
    }

    /// The largest difference of the two gradients, each as a part of the largest of its tensor.
    fn compare(&self, state: &mut S) -> f64 {
        let [by_hand, synthesized] = [true, false].map(|is_by_hand| {
            (self.gradients)(state)
                .into_iter()
                .for_each(|tensor| tensor.fill(0.0));
            (self.prepare)(state);
            if is_by_hand {
                (self.forward)(state);
                (self.backward)(state);
            } else {
                (self.synthesized)(state);
            }
            let gradients = (self.gradients)(state).into_iter();
            gradients.map(|tensor| tensor.clone()).collect::<Vec<_>>()
        });
        let tensors = synthesized.iter().zip(&by_hand);
        tensors
            .map(|(found, expected)| difference(found, expected))
            .fold(0.0, f64::max)
    }
}

/// The largest difference, as a part of the largest number that is expected.
pub fn difference(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    let pairs = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let most = pairs.fold(
        0.0,
        |most: f32, x| if x > most || x.is_nan() { x } else { most },
    );
    if most == 0.0 {
        0.0
    } else {
        f64::from(most / largest)
    }
}
