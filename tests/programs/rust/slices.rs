// Slices: indices, ranges, splitting, chunks and windows.
include!("check.rs");

fn indices(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i] * x[(i + 1) % x.len()];
    }
    sum
}

fn ranges(x: &[f64]) -> f64 {
    let (left, right) = x.split_at(x.len() / 2);
    let inner = &x[1..x.len() - 1];
    left.iter().sum::<f64>() * right.iter().product::<f64>() + inner[0] * inner[inner.len() - 1]
}

fn chunks(x: &[f64]) -> f64 {
    let products = x.chunks(2).map(|c| c.iter().product::<f64>()).sum::<f64>();
    let pairs = x.windows(2).map(|w| w[0] * w[1].sin()).sum::<f64>();
    let exact = x.chunks_exact(3).map(|c| c[0] * c[1] - c[2]).sum::<f64>();
    let behind = x.rchunks(2).map(|c| c[0].cos()).sum::<f64>();
    products + pairs * exact + behind
}

fn ends(x: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (x.first(), x.last()) else {
        return 0.0;
    };
    match x {
        [a, b, .., z] => first * last + a * b * z,
        _ => 0.0,
    }
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("slices: indices", indices, x);
    check!("slices: ranges", ranges, x);
    check!("slices: chunks", chunks, x);
    check!("slices: ends", ends, x);
}
