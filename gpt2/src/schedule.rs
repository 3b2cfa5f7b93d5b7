//! How the learning rate changes: up in a line, then down along a cosine.

/// A learning rate for each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The largest rate, reached after the warm-up.
    pub peak: f64,
    /// The rate of the last step.
    pub floor: f64,
    /// How many steps it takes to get to the peak.
    pub warmup: u64,
    /// How many steps there are.
    pub steps: u64,
}

impl Schedule {
    /// The rate of a step; the first step is 0.
    pub fn rate(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.peak * (step + 1) as f64 / self.warmup as f64;
        }
        // The last step is at the floor; later ones, if training goes on, stay there.
        let length = self
            .steps
            .saturating_sub(self.warmup.saturating_add(1))
            .max(1);
        let done = ((step - self.warmup) as f64 / length as f64).min(1.0);
        let high = 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        self.floor + (self.peak - self.floor) * high
    }
}
