// Vectors that are made, grow and shrink.
include!("check.rs");

fn pushed(x: &[f64]) -> f64 {
    let mut v = Vec::new();
    for (i, a) in x.iter().enumerate() {
        v.push(a * a);
        if i % 2 == 0 {
            v.push(a.cos());
        }
    }
    v.iter()
        .enumerate()
        .map(|(i, a)| (i as f64 + 1.0) * a)
        .sum()
}

fn stack(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = Vec::with_capacity(1);
    let mut sum = 0.0;
    for _ in 0..3 {
        v.extend(x.iter().map(|a| a * 1.1));
        while v.len() > 2 {
            let (a, b) = (v.pop().unwrap(), v.pop().unwrap());
            v.push(a * b);
            sum += a;
        }
    }
    sum + v[0]
}

fn edited(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.swap(0, 2);
    v.reverse();
    v.rotate_left(1);
    v.insert(1, x[0] * x[1]);
    v.remove(0);
    v.extend_from_slice(x);
    v.truncate(7);
    v.retain(|a| *a > -0.2);
    let tail = v.split_off(3);
    v.append(&mut tail.iter().map(|a| a * a).collect());
    v.drain(1..3);
    v.iter()
        .enumerate()
        .map(|(i, a)| a * (i as f64).cos())
        .sum()
}

fn returned(x: &[f64]) -> f64 {
    fn differences(x: &[f64]) -> Vec<f64> {
        x.windows(2).map(|w| w[1] - w[0]).collect()
    }
    let mut v = x.to_vec();
    let mut sum = 0.0;
    while v.len() > 1 {
        v = differences(&v);
        sum += v[0] * v[v.len() - 1];
    }
    sum
}

fn filled(x: &[f64]) -> f64 {
    let mut v = vec![x[0]; 3];
    v.resize(5, x[1]);
    v[4] *= x[2];
    let w = v.clone();
    v.fill(x[3]);
    v.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() + vec![0.0; 4].iter().sum::<f64>()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("vectors: pushed", pushed, x);
    check!("vectors: stack", stack, x);
    check!("vectors: edited", edited, x);
    check!("vectors: returned", returned, x);
    check!("vectors: filled", filled, x);
}
