// Iterators that look for something: min_by, max_by, position, any, partition, unzip, reduce.
include!("check.rs");

fn extremes(x: &[f64]) -> f64 {
    let (at, largest) = x
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .unwrap();
    let least = x.iter().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
    let closest = x
        .iter()
        .min_by_key(|a| ((*a - 0.7).abs() * 1e6) as i64)
        .unwrap();
    largest * least + closest * closest * at as f64
}

fn positions(x: &[f64]) -> f64 {
    let first = x.iter().position(|a| *a < 0.0).unwrap_or(0);
    let last = x.iter().rposition(|a| *a > 1.0).unwrap_or(0);
    let factor = if x.iter().any(|a| *a > 2.0) && x.iter().all(|a| *a < 3.0) {
        2.0
    } else {
        1.0
    };
    factor * x[first] * x[last].exp()
}

fn parted(x: &[f64]) -> f64 {
    let (sines, cosines): (Vec<f64>, Vec<f64>) = x.iter().map(|a| (a.sin(), a.cos())).unzip();
    let (even, odd): (Vec<(usize, f64)>, Vec<(usize, f64)>) =
        sines.into_iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let even: f64 = even.iter().map(|(i, a)| a * *i as f64).sum();
    let odd: f64 = odd.iter().map(|(_, a)| a).product();
    even * odd + cosines.iter().sum::<f64>()
}

fn reduced(x: &[f64]) -> f64 {
    let softmax = x
        .iter()
        .copied()
        .reduce(|a, b| (a.exp() + b.exp()).ln())
        .unwrap();
    let last = x.iter().try_fold(1.0, |product, a| {
        let product = product * a;
        (product > -10.0).then_some(product)
    });
    let mapped = x
        .iter()
        .find_map(|a| (*a > 1.0).then(|| a * a))
        .unwrap_or_default();
    softmax
        + last.unwrap_or(0.0) * mapped
        + x.iter()
            .map_while(|a| (*a > 0.0).then(|| a.ln()))
            .sum::<f64>()
}

fn compared(x: &[f64]) -> f64 {
    let sorted = x.is_sorted();
    let less = x[..2].iter().lt(x[2..].iter());
    let count = x.iter().filter(|a| **a > 0.5).count() as f64;
    let nth = x.iter().nth(2).copied().unwrap_or(1.0) + x.iter().last().unwrap();
    nth * count * if sorted || less { x[0] } else { x[1] }
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("searching: extremes", extremes, x);
    check!("searching: positions", positions, x);
    check!("searching: parted", parted, x);
    check!("searching: reduced", reduced, x);
    check!("searching: compared", compared, x);
}
