//! What is seen while a model is trained: a bar on a terminal, plain lines elsewhere.

use crate::train::Step;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::time::{Duration, Instant};

/// Says how training goes.
pub struct Progress {
    bar: Option<ProgressBar>,
    steps: u64,
    tokens: usize,
    /// A running mean of the loss: that of one batch jumps.
    loss: Option<f32>,
    /// When the last line was written, and how many steps were made since.
    line: Instant,
    made: u64,
    rate: f64,
}

/// Without a terminal, a line at least this often.
const OFTEN: Duration = Duration::from_secs(10);

impl Progress {
    /// For training from step `done` on to step `steps`, each with `tokens` tokens.
    pub fn new(is_terminal: bool, done: u64, steps: u64, tokens: usize) -> Progress {
        let bar = is_terminal.then(|| {
            let bar = ProgressBar::new(steps).with_position(done);
            let style = "{bar:30} {pos}/{len} {msg}, {elapsed} gone, {eta} left";
            bar.set_style(
                ProgressStyle::with_template(style)
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            // The time left is by the steps of this run, not by those of earlier ones.
            bar.reset_eta();
            bar
        });
        Progress {
            bar,
            steps,
            tokens,
            loss: None,
            line: Instant::now(),
            made: 0,
            rate: 0.0,
        }
    }

    /// A step was made.
    pub fn step(&mut self, step: u64, made: Step) {
        let loss = self
            .loss
            .map_or(made.loss, |loss| 0.9 * loss + 0.1 * made.loss);
        self.loss = Some(loss);
        self.made += 1;
        let seconds = self.line.elapsed().as_secs_f64();
        if seconds > 0.5 || self.rate == 0.0 {
            self.rate = self.made as f64 / seconds.max(1e-9);
        }
        if let Some(bar) = &self.bar {
            let rate = self.rate * self.tokens as f64;
            bar.set_message(format!("loss {loss:.3}, {rate:.0} tokens/s"));
            bar.set_position(step);
        } else if self.line.elapsed() > OFTEN {
            self.say(&self.text(step));
            self.restart();
        }
    }

    /// A validation was made.
    pub fn validation(&mut self, step: u64, loss: f32) {
        self.say(&format!("{}, validation {loss:.3}", self.text(step)));
        self.restart();
    }

    fn text(&self, step: u64) -> String {
        let mut text = format!("step {step:>5}/{}", self.steps);
        if let Some(loss) = self.loss {
            let left = self.steps.saturating_sub(step) as f64 / self.rate.max(1e-9);
            text += &format!(
                ": loss {loss:.3}, {:.0} tokens/s, {left:.0} s left",
                self.rate * self.tokens as f64
            );
        }
        text
    }

    fn restart(&mut self) {
        self.line = Instant::now();
        self.made = 0;
    }

    /// Writes a line.
    pub fn say(&self, line: &str) {
        let write = || {
            // Nobody may be reading any more, which is no reason to stop.
            let _ = writeln!(std::io::stdout(), "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
