// Sorting what is too long for an insertion sort.
include!("check.rs");

fn stable(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = (0..60)
        .map(|i| x[i % x.len()] * ((i * 37) % 61) as f64)
        .collect();
    v.sort_by(|a, b| a.total_cmp(b));
    v.iter().enumerate().map(|(i, a)| i as f64 * a).sum()
}

fn unstable(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = (0..60)
        .map(|i| x[i % x.len()] * ((i * 37) % 61) as f64)
        .collect();
    v.sort_unstable_by(|a, b| a.total_cmp(b));
    v.iter().enumerate().map(|(i, a)| i as f64 * a).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("long sorting: stable", stable, x);
    check!("long sorting: unstable", unstable, x);
}
