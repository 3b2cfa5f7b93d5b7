// Sorting and searching.
include!("check.rs");

fn stable(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = (0..60)
        .map(|i| x[i % x.len()] * ((i * 37) % 61) as f64)
        .collect();
    v.sort_by(|a, b| a.total_cmp(b));
    v.iter().enumerate().map(|(i, a)| i as f64 * a).sum()
}

fn unstable(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = x.iter().map(|a| a.sin()).collect();
    v.sort_unstable_by(|a, b| b.total_cmp(a));
    v.iter().enumerate().map(|(i, a)| i as f64 * a).sum()
}

fn bubble(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    for i in 0..v.len() {
        for j in 1..v.len() - i {
            if v[j - 1] > v[j] {
                v.swap(j - 1, j);
            }
        }
    }
    v.iter().fold(0.0, |sum, a| sum * 0.5 + a)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("sorting: stable", stable, x);
    check!("sorting: unstable", unstable, x);
    check!("sorting: bubble", bubble, x);
}
