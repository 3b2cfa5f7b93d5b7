// Vectors that are collected into the memory of the vector they are made of, as Rust does it where the
// elements of one are not larger than those of the other.
include!("check.rs");

fn distance(a: &[f64; 2], b: &[f64; 2]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn clusters(x: &[f64]) -> f64 {
    let points: Vec<[f64; 2]> = x.windows(2).map(|w| [w[0], w[1]]).collect();
    let mut centers = vec![points[0], [x[4], 0.5]];
    for _ in 0..5 {
        let mut sums = vec![([0.0; 2], 0.0); centers.len()];
        for point in &points {
            let weights: Vec<f64> = centers
                .iter()
                .map(|c| (-distance(point, c)).exp())
                .collect();
            let total: f64 = weights.iter().sum();
            for ((sum, weight), w) in sums.iter_mut().zip(&weights) {
                *weight += w / total;
                for k in 0..2 {
                    sum[k] += w / total * point[k];
                }
            }
        }
        centers = sums
            .into_iter()
            .map(|(sum, weight)| sum.map(|a| a / weight))
            .collect();
    }
    distance(&centers[0], &centers[1])
}

fn halved(x: &[f64]) -> f64 {
    // Pairs become numbers, and numbers pairs again.
    let mut v = x.to_vec();
    for round in 0..3 {
        let pairs: Vec<(f64, f64)> = v.iter().map(|a| (*a, a.sin())).collect();
        v = pairs
            .into_iter()
            .map(|(a, b)| a + b * f64::from(round))
            .collect();
    }
    v.iter().product()
}

fn filtered(x: &[f64]) -> f64 {
    let mut v: Vec<[f64; 3]> = x.iter().map(|a| [*a, a * a, 1.0]).collect();
    let mut total = 0.0;
    for _ in 0..3 {
        let kept: Vec<f64> = v
            .into_iter()
            .filter(|a| a[0] > 0.0)
            .map(|a| a[0] * a[1] + a[2])
            .collect();
        total += kept.iter().sum::<f64>();
        v = kept.iter().map(|a| [a.sin(), *a, 0.5]).collect();
    }
    total
}

fn unboxed(x: &[f64]) -> f64 {
    // Addresses first, and then numbers in the same memory.
    let boxes: Vec<Box<f64>> = x.iter().map(|a| Box::new(a * a)).collect();
    let v: Vec<f64> = boxes.into_iter().map(|a| *a).collect();
    v.iter().zip(x).map(|(a, b)| a * b).sum()
}

fn rows(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = (1..4).map(|n| x[..n].to_vec()).collect();
    let sums: Vec<f64> = rows.into_iter().map(|row| row.iter().product()).collect();
    sums.iter().map(|a| a.sin()).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("collected in place: clusters", clusters, x);
    check!("collected in place: halved", halved, x);
    check!("collected in place: filtered", filtered, x);
    check!("collected in place: unboxed", unboxed, x);
    check!("collected in place: rows", rows, x);
}
