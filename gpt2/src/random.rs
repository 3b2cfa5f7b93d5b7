//! Random numbers from a seed: the same everywhere, with a state of one number that is easy to save.

/// A generator (SplitMix64).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Begins at a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// A generator for one of several purposes that share a seed.
    pub fn stream(seed: u64, purpose: u64) -> Random {
        let mut random = Random::new(seed);
        Random::new(random.bits() ^ Random::new(purpose).bits())
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// At least 0 and less than 1.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Less than `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        // The high half of the product: even to within end / 2⁶⁴.
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// Normally distributed with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        // 1 − u is never 0, so that the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Puts a slice in random order.
    pub fn shuffle<T>(&mut self, slice: &mut [T]) {
        for last in (1..slice.len()).rev() {
            slice.swap(last, self.below(last + 1));
        }
    }
}
