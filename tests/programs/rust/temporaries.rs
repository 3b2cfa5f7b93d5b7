// Vectors that a function makes and drops: they stay until the reverse sweep where it reads them.
include!("check.rs");

fn once(x: &[f64]) -> f64 {
    let t: Vec<f64> = x.iter().map(|a| (0.5 * a).exp()).collect();
    t.windows(2).map(|w| w[0] * w[1]).zip(x).map(|(p, a)| p * a).sum()
}

fn each_time(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for (i, a) in x.iter().enumerate() {
        let mut t = vec![0.0; i + 2];
        for (j, place) in t.iter_mut().enumerate() {
            *place = a * x[j % x.len()] + j as f64;
        }
        let s: f64 = t.windows(2).map(|w| w[0] * w[1]).sum();
        total += (0.1 * s).sin();
    }
    total
}

// One of them has no bytes: there is no memory then, only an address that is none.
fn perhaps_empty(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for skipped in 0..x.len() + 1 {
        let rest = vec![0.5; x.len() - skipped];
        let t: Vec<f64> = x[skipped..].iter().zip(&rest).map(|(a, b)| a * b * a).collect();
        for (i, a) in t.iter().enumerate() {
            total += a * a * x[i];
        }
    }
    total
}

fn nested(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.iter().map(|a| x.iter().map(|b| a * b + b).collect()).collect();
    let mut total = 0.0;
    for row in &rows {
        for (a, b) in row.iter().zip(x) {
            total += a * a * b;
        }
    }
    total
}

#[inline(never)]
fn norm(t: &[f64]) -> f64 {
    t.iter().map(|a| a * a).sum::<f64>().sqrt()
}

fn passed_on(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for a in x {
        let scaled: Vec<f64> = x.iter().map(|b| a * b + 1.0).collect();
        total += norm(&scaled) * scaled[0];
    }
    total
}

#[inline(never)]
fn halves(x: &[f64]) -> f64 {
    if x.len() < 2 {
        return x.iter().map(|a| a * a).sum();
    }
    let (left, right) = x.split_at(x.len() / 2);
    let products: Vec<f64> = left.iter().zip(right).map(|(a, b)| a * b).collect();
    halves(&products) + halves(right) + products.iter().map(|a| a * a * a).sum::<f64>()
}

fn overwritten(x: &[f64]) -> f64 {
    let mut t = x.to_vec();
    for _ in 0..3 {
        for i in 1..t.len() {
            t[i] = (t[i] * t[i - 1]).sin();
        }
    }
    t.iter().map(|a| a * a).sum()
}

fn by_index(x: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|a, b| x[*b].total_cmp(&x[*a]));
    order.iter().enumerate().map(|(i, at)| (i as f64 + 1.0) * x[*at] * x[i]).sum()
}

fn main() {
    let x = [0.3, -0.7, 1.1, 0.45, -0.2, 0.9, -1.3];
    check!("temporaries: once", once, x);
    check!("temporaries: each_time", each_time, x);
    check!("temporaries: perhaps_empty", perhaps_empty, x);
    check!("temporaries: nested", nested, x);
    check!("temporaries: passed_on", passed_on, x);
    check!("temporaries: halves", halves, x);
    check!("temporaries: overwritten", overwritten, x);
    check!("temporaries: by_index", by_index, x);
}
