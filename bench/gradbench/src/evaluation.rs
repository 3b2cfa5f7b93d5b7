//! One `evaluate` message: its input, the repetitions under the clock, and the answer.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

/// What a module is asked: a function by its name, and its input.
pub struct Request<'a> {
    /// The name of the function.
    pub function: &'a str,
    /// The input as it was sent.
    pub input: &'a RawValue,
}

/// How long one run of the function took.
#[derive(Serialize)]
pub struct Timing {
    name: &'static str,
    nanoseconds: u64,
}

/// A result, as JSON, and the time that each run took.
pub struct Answer {
    /// The result of the last run, as JSON.
    pub output: Vec<u8>,
    /// An entry for each run.
    pub timings: Vec<Timing>,
}

/// The result of an evaluation, or why there is none.
pub type Outcome = Result<Answer, String>;

/// How often a function is to be run, at least; fields of every input but that of `hello`.
#[derive(Deserialize)]
struct Runs {
    #[serde(default)]
    min_runs: Count,
    #[serde(default)]
    min_seconds: f64,
}

/// A number of something, or an index. It may be written as a float: `3.0`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(try_from = "f64")]
pub struct Count(pub usize);

impl TryFrom<f64> for Count {
    type Error = String;

    fn try_from(number: f64) -> Result<Count, String> {
        let count = number as usize;
        if count as f64 == number && number < 9e15 {
            Ok(Count(count))
        } else {
            Err(format!("{number} is not a number of things"))
        }
    }
}

impl<'a> Request<'a> {
    /// The input, read as what the module takes.
    pub fn input<T: Deserialize<'a>>(&self) -> Result<T, String> {
        serde_json::from_str(self.input.get())
            .map_err(|error| format!("cannot read input: {error}"))
    }

    /// Runs a function as often as the input says, and gives the times and the last result. The
    /// optimizer does not know what the input is, so every run is a whole one.
    pub fn repeat<I: ?Sized, R>(
        &self,
        input: &I,
        mut function: impl FnMut(&I) -> R,
    ) -> Result<(R, Vec<Timing>), String> {
        let runs: Runs = self.input()?;
        let mut timings = Vec::new();
        let mut total = 0.0;
        loop {
            let start = Instant::now();
            let result = black_box(function(black_box(input)));
            let time = start.elapsed();
            total += time.as_secs_f64();
            timings.push(Timing::of_run(time));
            if timings.len() >= runs.min_runs.0 && total >= runs.min_seconds {
                return Ok((result, timings));
            }
        }
    }

    /// As [`repeat`](Request::repeat); what the function returns is the answer.
    pub fn answer<I: ?Sized, R: Serialize>(
        &self,
        input: &I,
        function: impl FnMut(&I) -> R,
    ) -> Outcome {
        let (output, timings) = self.repeat(input, function)?;
        Answer::new(&output, timings)
    }

    /// The module has no such function.
    pub fn unknown_function(&self) -> Outcome {
        Err(format!("no function {}", self.function))
    }
}

impl Timing {
    /// The entry of one run of the function.
    pub fn of_run(time: std::time::Duration) -> Timing {
        Timing {
            name: "evaluate",
            nanoseconds: time.as_nanos() as u64,
        }
    }
}

impl Answer {
    /// An answer with this output, if all its numbers are finite.
    pub fn new(output: &(impl Serialize + ?Sized), timings: Vec<Timing>) -> Outcome {
        let mut writer = serde_json::Serializer::with_formatter(Vec::new(), OnlyFinite);
        match output.serialize(&mut writer) {
            Ok(()) => Ok(Answer {
                output: writer.into_inner(),
                timings,
            }),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Checks the shape of an input.
pub fn check(good: bool, what: &str) -> Result<(), String> {
    if good {
        Ok(())
    } else {
        Err(format!("bad input: {what}"))
    }
}

/// Puts rows of equal length one after the other.
pub fn flat(rows: &[Vec<f64>], width: usize, name: &str) -> Result<Vec<f64>, String> {
    let good = rows.iter().all(|row| row.len() == width);
    check(good, &format!("a row of {name} has not {width} numbers"))?;
    Ok(rows.concat())
}

/// The rows of a flat matrix, each of which may be empty.
pub fn rows(matrix: &[f64], count: usize, width: usize) -> Vec<&[f64]> {
    (0..count).map(|i| &matrix[i * width..][..width]).collect()
}

/// JSON without `null`, which is how a number that is not finite would be written.
struct OnlyFinite;

impl serde_json::ser::Formatter for OnlyFinite {
    fn write_null<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Err(io::Error::other("the result is not finite"))
    }
}
