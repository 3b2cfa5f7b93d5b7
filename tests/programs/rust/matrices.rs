// Vectors of vectors.
include!("check.rs");

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = b[0].len();
    let entry = |row: &[f64], j: usize| row.iter().zip(b).map(|(a, b)| a * b[j]).sum();
    a.iter()
        .map(|row| (0..columns).map(|j| entry(row, j)).collect())
        .collect()
}

fn powers(x: &[f64]) -> f64 {
    let m: Vec<Vec<f64>> = (0..3)
        .map(|i| {
            (0..3)
                .map(|j| x[(i + j) % x.len()] * (i + 1) as f64)
                .collect()
        })
        .collect();
    let p = product(&product(&m, &m), &m);
    p.iter()
        .flatten()
        .enumerate()
        .map(|(i, a)| a / (i + 1) as f64)
        .sum()
}

fn triangle(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = vec![vec![x[0]]];
    for a in &x[1..] {
        let last = &rows[rows.len() - 1];
        let mut next = vec![*a];
        for w in last.windows(2) {
            next.push(w[0] * w[1]);
        }
        next.push(last[last.len() - 1] + a);
        rows.push(next);
    }
    rows.iter()
        .map(|row| row.iter().map(|a| a.sin()).sum::<f64>())
        .product()
}

fn layers(x: &[f64]) -> f64 {
    let weights: Vec<Vec<Vec<f64>>> = (0..2)
        .map(|l| {
            (0..3)
                .map(|i| (0..3).map(|j| x[(l + 2 * i + j) % x.len()]).collect())
                .collect()
        })
        .collect();
    let mut now = vec![0.3, -0.2, 0.9];
    for layer in &weights {
        now = layer
            .iter()
            .map(|row| row.iter().zip(&now).map(|(w, a)| w * a).sum::<f64>().tanh())
            .collect();
    }
    now.iter().map(|a| a * a).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("matrices: powers", powers, x);
    check!("matrices: triangle", triangle, x);
    check!("matrices: layers", layers, x);
}
