// Sorting and choosing among numbers that travel with something else.
include!("check.rs");

/// Numbers that depend on all of `x`, with two orders.
fn numbers(x: &[f64], count: usize) -> Vec<f64> {
    let n = x.len();
    (0..count)
        .map(|i| x[i % n] * ((i * 37) % 61) as f64 + x[(i + 1) % n].sin())
        .collect()
}

fn pairs(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, usize)> = numbers(x, 7).into_iter().zip(0..).collect();
    v.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    v.iter()
        .enumerate()
        .map(|(i, a)| (i * a.1) as f64 * a.0)
        .sum()
}

fn many_pairs(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, usize)> = numbers(x, 150).into_iter().zip(0..).collect();
    v.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    v.iter()
        .enumerate()
        .map(|(i, a)| (i + 2 * a.1) as f64 * a.0)
        .sum()
}

fn points(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, f64)> = numbers(x, 60).iter().map(|a| (a.sin(), a.cos())).collect();
    v.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    v.windows(2)
        .map(|w| w[0].0 * w[1].1 - w[1].0 * w[0].1)
        .sum()
}

#[derive(Clone, Copy)]
struct Item {
    kind: u8,
    weight: f32,
    value: f64,
    at: usize,
}

fn structures(x: &[f64]) -> f64 {
    let items = numbers(x, 80).into_iter().enumerate();
    let mut v: Vec<Item> = items
        .map(|(at, value)| Item {
            kind: (at % 5) as u8,
            weight: ((at * 7) % 11) as f32,
            value,
            at,
        })
        .collect();
    v.sort_unstable_by(|a, b| (a.kind.cmp(&b.kind)).then(b.value.total_cmp(&a.value)));
    let first: f64 = v.iter().zip(1..).map(|(a, i)| a.value * i as f64).sum();
    v.sort_unstable_by(|a, b| a.weight.total_cmp(&b.weight).then(a.at.cmp(&b.at)));
    first
        + v.iter()
            .zip(1..)
            .map(|(a, i)| a.value.sin() * (i + a.kind as usize) as f64)
            .sum::<f64>()
}

fn by_key(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, usize)> = numbers(x, 50).into_iter().zip(0..).collect();
    v.sort_by_cached_key(|a| (a.1 * 11) % 50);
    let first: f64 = v.iter().zip(1..).map(|(a, i)| a.0.cos() * i as f64).sum();
    v.sort_unstable_by_key(|a| (a.1 * 13) % 50);
    first
        + v.iter()
            .zip(1..)
            .map(|(a, i)| a.0 * a.0 * i as f64)
            .sum::<f64>()
}

// The place that is asked for is one that a number has moved to, and numbers are stored over
// others on the way there.
fn median(x: &[f64]) -> f64 {
    let mut v = numbers(x, 101);
    let (low, middle, high) = v.select_nth_unstable_by(50, |a, b| a.total_cmp(b));
    let middle = *middle;
    let spread = high.iter().sum::<f64>() - low.iter().sum::<f64>();
    middle * middle + spread + v[50]
}

fn smallest_pairs(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, usize)> = numbers(x, 40).into_iter().zip(0..).collect();
    v.select_nth_unstable_by(9, |a, b| a.0.total_cmp(&b.0));
    let mut total = 0.0;
    for (value, at) in &v[..9] {
        total += value.sin() * (1 + at % 3) as f64;
    }
    total + v[9].0
}

// What was sorted is overwritten, and sorted again.
fn again(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, usize)> = numbers(x, 30).into_iter().zip(0..).collect();
    let mut total = 0.0;
    for round in 1..4 {
        v.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        total += v[3].0 * v[20].0;
        for (i, pair) in v.iter_mut().enumerate() {
            pair.0 = if i % 4 == 0 {
                round as f64 - 0.37 * i as f64
            } else {
                (pair.0 + i as f64).sin() * 9.0
            };
        }
    }
    total
}

fn boxed(x: &[f64]) -> f64 {
    let parts = numbers(x, 40).into_iter().enumerate();
    let mut v: Vec<(Vec<f64>, f64)> = parts.map(|(i, a)| (vec![a; 1 + i % 3], a.sin())).collect();
    v.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    v.iter()
        .zip(1..)
        .map(|(a, i)| a.0.iter().sum::<f64>() * i as f64)
        .sum()
}

fn others(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, usize)> = numbers(x, 33).into_iter().zip(0..).collect();
    v.rotate_left(5);
    v.reverse();
    v[4..20].rotate_right(3);
    v.dedup_by_key(|a| a.1 / 2);
    v.retain(|a| a.1 % 5 != 0);
    v.swap(1, 4);
    v.iter().zip(1..).map(|(a, i)| a.0 * (i * a.1) as f64).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("ordering: pairs", pairs, x);
    check!("ordering: many pairs", many_pairs, x);
    check!("ordering: points", points, x);
    check!("ordering: structures", structures, x);
    check!("ordering: by key", by_key, x);
    check!("ordering: median", median, x);
    check!("ordering: smallest pairs", smallest_pairs, x);
    check!("ordering: again", again, x);
    check!("ordering: boxed", boxed, x);
    check!("ordering: others", others, x);
}
