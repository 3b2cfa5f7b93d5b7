// Sorting and searching.
include!("check.rs");

fn sorted(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    v.iter()
        .enumerate()
        .map(|(i, a)| (i as f64 + 1.0) * a * a)
        .sum()
}

fn unstable(x: &[f64]) -> f64 {
    let mut v: Vec<(usize, f64)> = x.iter().map(|a| a.sin()).enumerate().collect();
    v.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    v.iter()
        .enumerate()
        .map(|(i, (j, a))| (i * j + 1) as f64 * a)
        .sum()
}

fn by_key(x: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by_key(|i| (x[*i] * 1000.0) as i64);
    order.windows(2).map(|w| x[w[0]] * x[w[1]]).sum()
}

fn median(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let middle = v.len() / 2;
    let (_, m, _) = v.select_nth_unstable_by(middle, |a, b| a.total_cmp(b));
    *m * *m
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
    check!("sorting: sorted", sorted, x);
    check!("sorting: unstable", unstable, x);
    check!("sorting: by key", by_key, x);
    check!("sorting: median", median, x);
    check!("sorting: bubble", bubble, x);
}
