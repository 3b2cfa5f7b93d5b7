// Loops that compilers vectorize: long sums, stencils, maxima, products of columns.
include!("check.rs");

fn repeated(x: &[f64]) -> Vec<f64> {
    (0..64)
        .map(|i| x[i % x.len()] * (1.0 + i as f64 * 0.01))
        .collect()
}

fn axpy(x: &[f64]) -> f64 {
    let (a, mut b) = (repeated(x), vec![1.0; 64]);
    for (b, a) in b.iter_mut().zip(&a) {
        *b += 0.5 * a * a;
    }
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

fn four_sums(x: &[f64]) -> f64 {
    let a = repeated(x);
    let mut sums = [0.0; 4];
    for four in a.chunks_exact(4) {
        for k in 0..4 {
            sums[k] += four[k] * four[3 - k];
        }
    }
    sums.iter().product::<f64>() / 1e4
}

fn stencil(x: &[f64]) -> f64 {
    let mut now = repeated(x);
    let mut next = now.clone();
    for _ in 0..4 {
        for i in 1..now.len() - 1 {
            next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
        }
        (now, next) = (next, now);
    }
    now.iter().map(|a| a * a).sum()
}

fn clipped(x: &[f64]) -> f64 {
    let mut a = repeated(x);
    a.iter_mut().for_each(|a| *a = a.max(0.3).min(1.5));
    let largest = a.iter().fold(f64::MIN, |m, a| m.max(*a));
    a.iter().map(|a| (a - largest).abs() + a * a).sum()
}

fn columns(x: &[f64]) -> f64 {
    let a: [[f64; 16]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| x[(i + j) % x.len()]));
    let mut products = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            products[i][j] = a[i].iter().zip(&a[j]).map(|(a, b)| a * b).sum();
        }
    }
    products.as_flattened().iter().map(|a: &f64| a.ln()).sum()
}

fn main() {
    let x = [0.52, 1.57, 0.33, 0.81, 2.04];
    check!("vectorized: axpy", axpy, x);
    check!("vectorized: four sums", four_sums, x);
    check!("vectorized: stencil", stencil, x);
    check!("vectorized: clipped", clipped, x);
    check!("vectorized: columns", columns, x);
}
