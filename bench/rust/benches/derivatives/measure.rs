//! Repetitions by turns.

use std::time::Duration;

/// How thoroughly to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The first size, one repetition.
    pub is_tiny: bool,
}

impl Effort {
    /// The sizes to measure.
    pub fn sizes<T>(self, sizes: &[T]) -> &[T] {
        if self.is_tiny { &sizes[..1] } else { sizes }
    }
}

/// A function, its derivative by Zymase and that by hand, of a state that holds arguments and results.
/// `restore` runs before each of them and is not measured; `results` are where the two derivatives
/// are, one after the other or in the same place.
pub struct Compared<'a, S> {
    pub name: &'a str,
    pub size: &'a str,
    pub restore: fn(&mut S),
    pub primal: fn(&mut S),
    pub derivative: fn(&mut S),
    pub by_hand: fn(&mut S),
    pub results: fn(&S) -> [&[f64]; 2],
}

const FEWEST: usize = 7;
const MOST: usize = 64;
const ENOUGH: Duration = Duration::from_millis(400);

impl<S> Compared<'_, S> {
    /// Compares, measures, and prints a line.
    pub fn run(&self, effort: Effort, mut state: S) {
        let functions = [self.primal, self.derivative, self.by_hand];
        let [found, expected] = [1, 2].map(|index: usize| {
            (self.restore)(&mut state);
            functions[index](&mut state);
            (self.results)(&state)[index - 1].to_vec()
        });
        let difference = largest_difference(&found, &expected);
        assert!(
            difference <= 1e-7,
            "{} {}: derivatives by Zymase and by hand differ by {difference:e}",
            self.name,
            self.size
        );
        let mut times = [const { Vec::new() }; 3];
        let begin = processor_time();
        let is_enough = |repetitions: usize| match effort.is_tiny {
            true => repetitions == 1,
            false => {
                let is_late = processor_time() - begin > ENOUGH.as_secs_f64();
                repetitions == MOST || (repetitions >= FEWEST && is_late)
            }
        };
        while !is_enough(times[0].len()) {
            for (times, function) in times.iter_mut().zip(functions) {
                (self.restore)(&mut state);
                let start = processor_time();
                function(&mut state);
                times.push(1e3 * (processor_time() - start));
            }
        }
        times
            .iter_mut()
            .for_each(|times| times.sort_by(f64::total_cmp));
        let spread = |times: &Vec<f64>| 100.0 * (times[times.len() / 2] / times[0] - 1.0);
        let spread = times.iter().map(spread).fold(0.0, f64::max);
        let [primal, derivative, by_hand] = times.map(|times| times[0]);
        println!(
            "{}\t{}\t{primal:.6}\t{derivative:.6}\t{by_hand:.6}\t{spread:.1}\t{difference:.1e}",
            self.name, self.size
        );
    }
}

/// Seconds of this process: other processes do not count.
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

/// Relative to the two numbers and to an ordinary one, as `agree` of `../bench.h` has it.
fn largest_difference(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let ordinary = expected.iter().map(|x| x.abs()).sum::<f64>() / expected.len() as f64;
    let differences = found.iter().zip(expected).map(|(a, b)| {
        let difference = (a - b).abs() / (a.abs() + b.abs() + ordinary);
        match difference.is_nan() {
            true if a == b => 0.0,
            true => f64::INFINITY,
            false => difference,
        }
    });
    differences.fold(0.0, f64::max)
}
