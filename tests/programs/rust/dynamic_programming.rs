// Tables that are filled: soft time warping, the way of least cost, edit distances with weights,
// knapsacks, memorized recursion.
include!("check.rs");

fn warping(x: &[f64]) -> f64 {
    let (a, b) = (x, [0.3, 1.1, 0.2, 1.9]);
    let soft_min = |values: [f64; 3]| {
        let least = values.into_iter().fold(f64::INFINITY, f64::min);
        least - values.iter().map(|v| (least - v).exp()).sum::<f64>().ln()
    };
    let mut table = vec![vec![1e3; b.len() + 1]; a.len() + 1];
    table[0][0] = 0.0;
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = (a[i - 1] - b[j - 1]).powi(2);
            table[i][j] = cost + soft_min([table[i - 1][j], table[i][j - 1], table[i - 1][j - 1]]);
        }
    }
    table[a.len()][b.len()]
}

fn cheapest(x: &[f64]) -> f64 {
    const N: usize = 4;
    let cost = |i: usize, j: usize| x[(i * 3 + j) % x.len()].exp() + (i * j) as f64 * 0.1;
    let mut row = [f64::INFINITY; N];
    for i in 0..N {
        for j in 0..N {
            let before = match (i, j) {
                (0, 0) => 0.0,
                (_, 0) => row[0],
                (0, _) => row[j - 1],
                _ => row[j].min(row[j - 1]),
            };
            row[j] = before + cost(i, j);
        }
    }
    row[N - 1]
}

fn edits(x: &[f64]) -> f64 {
    let [insert, remove, change] = [x[0], x[3], x[1]];
    let (a, b) = ("kitten", "sitting");
    let mut last: Vec<f64> = (0..=b.len()).map(|j| j as f64 * insert).collect();
    for (i, p) in a.chars().enumerate() {
        let mut now = vec![(i + 1) as f64 * remove];
        for (j, q) in b.chars().enumerate() {
            let same = last[j] + if p == q { 0.0 } else { change };
            now.push(same.min(last[j + 1] + remove).min(now[j] + insert));
        }
        last = now;
    }
    last[b.len()]
}

fn packed(x: &[f64]) -> f64 {
    let weights = [3, 1, 4, 2, 2];
    let mut best = [0.0; 8];
    for (value, weight) in x.iter().zip(weights) {
        for room in (weight..best.len()).rev() {
            let with: f64 = best[room - weight] + value * value;
            best[room] = if with > best[room] { with } else { best[room] };
        }
    }
    best[7] * best[3]
}

fn memorized(x: &[f64]) -> f64 {
    fn value(n: usize, x: &[f64], known: &mut [Option<f64>]) -> f64 {
        if n < 2 {
            return x[n];
        }
        if let Some(value) = known[n] {
            return value;
        }
        let value = 0.5 * value(n - 1, x, known) * x[2] + value(n - 2, x, known);
        known[n] = Some(value);
        value
    }
    value(12, x, &mut [None; 13])
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("programming: warping", warping, x);
    check!("programming: cheapest", cheapest, x);
    check!("programming: edits", edits, x);
    check!("programming: packed", packed, x);
    check!("programming: memorized", memorized, x);
}
