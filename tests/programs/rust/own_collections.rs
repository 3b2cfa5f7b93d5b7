// Collections that programs write: with Deref, IntoIterator, FromIterator, Extend, Index by ranges,
// and iterators from both ends.
include!("check.rs");

use std::ops::{Deref, DerefMut, Index, Range};

#[derive(Clone, Default)]
struct Signal {
    samples: Vec<f64>,
}

impl Deref for Signal {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.samples
    }
}

impl DerefMut for Signal {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.samples
    }
}

impl FromIterator<f64> for Signal {
    fn from_iter<I: IntoIterator<Item = f64>>(all: I) -> Signal {
        let mut signal = Signal::default();
        signal.extend(all);
        signal
    }
}

impl Extend<f64> for Signal {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, all: I) {
        for sample in all {
            self.samples.push(sample);
        }
    }
}

impl IntoIterator for Signal {
    type Item = f64;
    type IntoIter = std::vec::IntoIter<f64>;
    fn into_iter(self) -> Self::IntoIter {
        self.samples.into_iter()
    }
}

impl<'a> IntoIterator for &'a Signal {
    type Item = &'a f64;
    type IntoIter = std::slice::Iter<'a, f64>;
    fn into_iter(self) -> Self::IntoIter {
        self.samples.iter()
    }
}

fn signals(x: &[f64]) -> f64 {
    let mut signal: Signal = x.iter().map(|a| a * a).collect();
    signal.extend([x[0], 1.0]);
    signal[1] += x[2];
    signal.reverse();
    let mut sum = 0.0;
    for sample in &signal {
        sum = 0.5 * sum + sample;
    }
    let largest = signal.iter().copied().fold(f64::MIN, f64::max);
    sum + largest * signal.into_iter().rev().skip(1).sum::<f64>()
}

/// A ring that keeps the last samples.
struct Ring<const N: usize> {
    samples: [f64; N],
    next: usize,
}

impl<const N: usize> Ring<N> {
    fn push(&mut self, sample: f64) -> f64 {
        let old = std::mem::replace(&mut self.samples[self.next], sample);
        self.next = (self.next + 1) % N;
        old
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &f64> + ExactSizeIterator {
        RingIter {
            ring: self,
            left: 0..N,
        }
    }
}

struct RingIter<'a, const N: usize> {
    ring: &'a Ring<N>,
    left: Range<usize>,
}

impl<'a, const N: usize> Iterator for RingIter<'a, N> {
    type Item = &'a f64;
    fn next(&mut self) -> Option<&'a f64> {
        let i = self.left.next()?;
        Some(&self.ring.samples[(self.ring.next + i) % N])
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<const N: usize> DoubleEndedIterator for RingIter<'_, N> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let i = self.left.next_back()?;
        Some(&self.ring.samples[(self.ring.next + i) % N])
    }
}

impl<const N: usize> ExactSizeIterator for RingIter<'_, N> {}

fn rings(x: &[f64]) -> f64 {
    let mut ring = Ring::<3> {
        samples: [0.0; 3],
        next: 0,
    };
    let mut lost = 0.0;
    for a in x {
        lost += ring.push(a.sin()).powi(2);
    }
    let forwards = ring.iter().fold(0.0, |sum, a| 0.5 * sum + a);
    let backwards = ring
        .iter()
        .rev()
        .zip(1..)
        .map(|(a, i)| a * f64::from(i))
        .sum::<f64>();
    forwards * backwards + lost * ring.iter().len() as f64
}

/// A matrix whose lower triangle is zero and is not stored.
struct Triangle {
    size: usize,
    entries: Box<[f64]>,
    below: f64,
}

impl Index<(usize, usize)> for Triangle {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        match i <= j {
            true => &self.entries[i * self.size - i * (i + 1) / 2 + j],
            false => &self.below,
        }
    }
}

fn triangles(x: &[f64]) -> f64 {
    let triangle = Triangle {
        size: 3,
        entries: x.iter().copied().chain([1.5]).collect(),
        below: 0.0,
    };
    let mut v = [1.0, x[0], x[1]];
    for _ in 0..2 {
        v = std::array::from_fn(|i| (0..3).map(|j| triangle[(i, j)] * v[j]).sum());
    }
    v[0] * v[1] + v[2]
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("own collections: signals", signals, x);
    check!("own collections: rings", rings, x);
    check!("own collections: triangles", triangles, x);
}
