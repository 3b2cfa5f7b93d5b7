// Iterators of iterators: flat_map, flatten, chunks of windows, group sums, products of sets.
include!("check.rs");

fn pairs(x: &[f64]) -> f64 {
    let all = (0..x.len()).flat_map(|i| (i + 1..x.len()).map(move |j| (i, j)));
    all.map(|(i, j)| (x[i] - x[j]).powi(2)).sum::<f64>().sqrt()
}

fn flattened(x: &[f64]) -> f64 {
    let maybe: Vec<Option<f64>> = x.iter().map(|a| (*a > 0.0).then(|| a.sqrt())).collect();
    let rows: Vec<Vec<f64>> = (1..4)
        .map(|n| x.iter().take(n).map(|a| a * n as f64).collect())
        .collect();
    let roots: f64 = maybe.iter().flatten().sum();
    let all: f64 = rows.into_iter().flatten().map(|a| a.tanh()).sum();
    roots * all
}

fn grouped(x: &[f64]) -> f64 {
    let sums = x.chunks(2).map(|chunk| chunk.iter().sum::<f64>());
    let steps = x
        .windows(3)
        .map(|w| w.iter().rev().fold(0.0, |sum, a| sum * 0.5 + a));
    sums.zip(steps).map(|(a, b)| a * b).sum()
}

fn inspected(x: &[f64]) -> f64 {
    let mut seen = 0;
    let sum: f64 = x
        .iter()
        .inspect(|_| seen += 1)
        .filter_map(|a| (*a < 2.0).then_some(a * a))
        .sum();
    let (left, right) = x.split_first().unwrap();
    sum * f64::from(seen) + left * right.iter().rev().skip(1).sum::<f64>()
}

fn split(x: &[f64]) -> f64 {
    let parts = x
        .split(|a| *a < 0.0)
        .map(|part| part.iter().product::<f64>());
    let chunked = x
        .chunk_by(|a, b| a < b)
        .map(|run| run[run.len() - 1] - run[0]);
    parts.sum::<f64>() + chunked.map(|d| d * d).sum::<f64>()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("nested: pairs", pairs, x);
    check!("nested: flattened", flattened, x);
    check!("nested: grouped", grouped, x);
    check!("nested: inspected", inspected, x);
    check!("nested: split", split, x);
}
