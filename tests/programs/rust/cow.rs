// Memory that is borrowed or owned, and ownership that moves.
include!("check.rs");

use std::borrow::Cow;

fn positive(x: &[f64]) -> Cow<'_, [f64]> {
    match x.iter().all(|a| *a > 0.0) {
        true => Cow::Borrowed(x),
        false => Cow::Owned(x.iter().map(|a| a.abs()).collect()),
    }
}

fn borrowed(x: &[f64]) -> f64 {
    positive(x).iter().map(|a| a.ln()).sum::<f64>() + positive(&x[..2]).iter().product::<f64>()
}

struct Guarded<'a> {
    values: Vec<f64>,
    sum: &'a mut f64,
}

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        *self.sum += self.values.iter().product::<f64>();
    }
}

fn dropped(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for w in x.windows(3) {
        let guarded = Guarded {
            values: w.to_vec(),
            sum: &mut sum,
        };
        *guarded.sum += guarded.values[0];
    }
    sum
}

fn moved(x: &[f64]) -> f64 {
    fn scale(mut v: Vec<f64>, by: f64) -> Vec<f64> {
        v.iter_mut().for_each(|a| *a *= by);
        v
    }
    let parts = vec![x.to_vec(), x[1..].to_vec()];
    let parts: Vec<Vec<f64>> = parts
        .into_iter()
        .zip(x)
        .map(|(v, a)| scale(v, *a))
        .collect();
    parts.concat().iter().sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("ownership: borrowed", borrowed, x);
    check!("ownership: dropped", dropped, x);
    check!("ownership: moved", moved, x);
}
