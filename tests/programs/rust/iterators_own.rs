// Iterators that programs write, and those behind `impl Trait`.
include!("check.rs");

struct Powers {
    base: f64,
    next: f64,
    left: usize,
}

impl Iterator for Powers {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.left = self.left.checked_sub(1)?;
        let now = self.next;
        self.next *= self.base;
        Some(now)
    }
}

fn powers(x: &[f64]) -> f64 {
    let powers = Powers {
        base: x[0],
        next: 1.0,
        left: 4,
    };
    powers.zip(x).map(|(p, a)| p * a).sum()
}

fn squares(x: &[f64]) -> impl Iterator<Item = f64> + '_ {
    x.iter().map(|a| a * a)
}

fn hidden(x: &[f64]) -> f64 {
    let all: Vec<f64> = squares(x).chain(squares(&x[1..])).collect();
    all.iter()
        .rev()
        .enumerate()
        .map(|(i, a)| a / (i + 1) as f64)
        .sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("own iterators: powers", powers, x);
    check!("own iterators: hidden", hidden, x);
}
