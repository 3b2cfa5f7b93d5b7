// Values that own memory change places, in words of which some are addresses.
include!("check.rs");

// Two vectors of different lengths take turns.
fn turns(x: &[f64]) -> f64 {
    let mut now = x.to_vec();
    let mut next = vec![0.5; x.len() + 2];
    for round in 0..5 {
        for (i, a) in next.iter_mut().enumerate() {
            *a = now[i % now.len()] * 0.9 + now[(i + 1) % now.len()] * 0.1 * round as f64;
        }
        std::mem::swap(&mut now, &mut next);
    }
    now.iter().product::<f64>() + next.iter().sum::<f64>()
}

// Where this is not inlined, the exchange is a loop over words.
#[inline(never)]
fn exchanged(x: &[f64]) -> f64 {
    let (mut from, mut to) = (x.to_vec(), vec![1.0; 3]);
    for _ in 0..6 {
        for i in 0..3 {
            to[i] = from[i].sin() * from[(i + 1) % 3] + 0.5;
        }
        std::mem::swap(&mut from, &mut to);
    }
    from.iter().sum()
}

fn sorted(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = x.iter().map(|a| vec![*a, a * a, a.sin()]).collect();
    for i in 1..rows.len() {
        let mut j = i;
        while j > 0 && rows[j - 1][2] > rows[j][2] {
            rows.swap(j - 1, j);
            j -= 1;
        }
    }
    rows.iter()
        .zip(1..)
        .map(|(row, i)| row[0] * row[1] * i as f64)
        .sum()
}

fn paired(x: &[f64]) -> f64 {
    let mut a = (x.to_vec(), 2.0 * x[0], 3usize);
    let mut b = (vec![x[1] * x[2]; 7], x[3], 4usize);
    for i in 0..x.len() {
        if i % 2 == 0 {
            std::mem::swap(&mut a, &mut b);
        }
        a.0[i % 5] += b.1 * x[i];
        b.1 = b.1.sin() + a.0[i % 3];
    }
    a.0.iter().sum::<f64>() * a.2 as f64 + b.0.iter().product::<f64>() * b.1
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("swaps: turns", turns, x);
    check!("swaps: exchanged", exchanged, x);
    check!("swaps: sorted", sorted, x);
    check!("swaps: paired", paired, x);
}
