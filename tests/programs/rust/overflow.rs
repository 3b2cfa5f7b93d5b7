// Integer arithmetic that is checked in development builds.
include!("check.rs");

fn indices(x: &[f64]) -> f64 {
    let mut at = 0usize;
    let mut sum = 0.0;
    for step in 1..20usize {
        at = (at * 7 + step) % x.len();
        sum += x[at] * (step as f64).sqrt();
    }
    sum * sum
}

fn binomial(x: &[f64]) -> f64 {
    fn choose(n: u64, k: u64) -> u64 {
        (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
    }
    (0..=5)
        .map(|k| choose(5, k) as f64 * x[0].powi(k as i32) * x[1].powi(5 - k as i32))
        .sum()
}

fn bits(x: &[f64]) -> f64 {
    let mut state = 12345u32;
    let mut sum = 0.0;
    for a in x {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        sum += a * a * f64::from(state) / f64::from(u32::MAX);
    }
    sum
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("overflow: indices", indices, x);
    check!("overflow: binomial", binomial, x);
    check!("overflow: bits", bits, x);
}
