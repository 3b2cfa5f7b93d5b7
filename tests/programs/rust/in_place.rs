// References that change what they lead to.
include!("check.rs");

fn swapped(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let (left, right) = v.split_at_mut(2);
    std::mem::swap(&mut left[0], &mut right[1]);
    let old = std::mem::replace(&mut left[1], x[0] * x[0]);
    right[0] += old;
    let taken = std::mem::take(&mut right[2]);
    v.iter()
        .enumerate()
        .map(|(i, a)| a * (i + 1) as f64)
        .sum::<f64>()
        * taken
}

fn updated(x: &[f64]) -> f64 {
    fn normalize(v: &mut [f64]) {
        let norm = v.iter().map(|a| a * a).sum::<f64>().sqrt();
        v.iter_mut().for_each(|a| *a /= norm);
    }
    let mut v = x.to_vec();
    normalize(&mut v);
    normalize(&mut v[1..3]);
    for chunk in v.chunks_mut(2) {
        chunk[0] *= 2.0;
    }
    if let Some(last) = v.last_mut() {
        *last += 1.0;
    }
    v.iter().map(|a| a.exp()).sum()
}

fn copied(x: &[f64]) -> f64 {
    let mut v = vec![0.0; 8];
    v[..x.len()].copy_from_slice(x);
    v.copy_within(0..4, 3);
    let mut w = [0.0; 8];
    w.clone_from_slice(&v);
    w.swap_with_slice(&mut v);
    w.iter()
        .zip(&v)
        .enumerate()
        .map(|(i, (a, b))| a * b * i as f64)
        .sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("in place: swapped", swapped, x);
    check!("in place: updated", updated, x);
    check!("in place: copied", copied, x);
}
