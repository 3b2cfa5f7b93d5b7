// Iterators and what they are chained from.
include!("check.rs");

fn adapters(x: &[f64]) -> f64 {
    let zipped: f64 = x.iter().zip(x.iter().rev()).map(|(a, b)| a * b.exp()).sum();
    let stepped: f64 = x.iter().step_by(2).map(|a| a * a).sum();
    let counted: f64 = x.iter().enumerate().map(|(i, a)| i as f64 * a.sin()).sum();
    zipped + stepped * counted
}

fn folds(x: &[f64]) -> f64 {
    let horner = x.iter().rev().fold(0.0, |sum, a| sum * 0.7 + a);
    let scanned: f64 = x
        .iter()
        .scan(1.0, |p, &a| {
            *p *= a;
            Some(*p)
        })
        .sum();
    horner * scanned
}

fn selections(x: &[f64]) -> f64 {
    let positive: f64 = x.iter().filter(|a| **a > 0.0).map(|a| a.ln()).sum();
    let some: f64 = x.iter().skip(1).take(3).copied().sum();
    let until: f64 = x
        .iter()
        .take_while(|a| **a < 1.8)
        .chain(x.iter().skip_while(|a| **a < 1.0))
        .product();
    let flat: f64 = x.iter().flat_map(|a| [*a, a * a]).sum();
    positive * some + until + flat
}

fn extremes(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = x
        .iter()
        .copied()
        .min_by(|a, b| a.total_cmp(b))
        .unwrap_or(0.0);
    let (low, high): (Vec<f64>, Vec<f64>) = x.iter().partition(|a| **a < 1.0);
    largest * least + low.iter().sum::<f64>() * high.iter().product::<f64>()
}

fn ranges(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in (0..x.len()).rev().step_by(2) {
        sum += x[i].powi(3);
    }
    for i in 1..=x.len() - 1 {
        sum *= x[i - 1] + 1.0;
    }
    sum
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("iterators: adapters", adapters, x);
    check!("iterators: folds", folds, x);
    check!("iterators: selections", selections, x);
    check!("iterators: extremes", extremes, x);
    check!("iterators: ranges", ranges, x);
}
