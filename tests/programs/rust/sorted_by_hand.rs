// Sorting that programs write: merge sort, heap sort, insertion with swaps, ranks and medians.
include!("check.rs");

fn weighted(v: &[f64]) -> f64 {
    v.iter()
        .enumerate()
        .map(|(i, a)| a * a * (i as f64 + 1.0).ln_1p())
        .sum()
}

fn merged(x: &[f64]) -> f64 {
    fn sort(v: Vec<f64>) -> Vec<f64> {
        if v.len() < 2 {
            return v;
        }
        let mut left = v;
        let right = left.split_off(left.len() / 2);
        let (mut left, mut right) = (
            sort(left).into_iter().peekable(),
            sort(right).into_iter().peekable(),
        );
        let mut all = Vec::new();
        loop {
            all.push(match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if a <= b => left.next().unwrap(),
                (_, Some(_)) => right.next().unwrap(),
                (Some(_), None) => left.next().unwrap(),
                (None, None) => break,
            });
        }
        all
    }
    weighted(&sort(x.to_vec()))
}

fn heaped(x: &[f64]) -> f64 {
    fn sift(v: &mut [f64], mut root: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= v.len() {
                return;
            }
            if child + 1 < v.len() && v[child + 1] > v[child] {
                child += 1;
            }
            if v[root] >= v[child] {
                return;
            }
            v.swap(root, child);
            root = child;
        }
    }
    let mut v: Vec<f64> = x.iter().map(|a| a * 1.5).collect();
    for root in (0..v.len() / 2).rev() {
        sift(&mut v, root);
    }
    for end in (1..v.len()).rev() {
        v.swap(0, end);
        sift(&mut v[..end], 0);
    }
    weighted(&v)
}

fn ranked(x: &[f64]) -> f64 {
    let rank = |a: f64| x.iter().filter(|b| **b < a).count();
    let median = x.iter().copied().find(|a| rank(*a) == x.len() / 2).unwrap();
    x.iter()
        .map(|a| rank(*a) as f64 * (a - median).powi(2))
        .sum()
}

fn inserted(x: &[f64]) -> f64 {
    let mut all = [f64::INFINITY; 5];
    for (n, &a) in x.iter().enumerate() {
        let at = all[..n].iter().position(|b| *b > a).unwrap_or(n);
        all.copy_within(at..n, at + 1);
        all[at] = a;
    }
    weighted(&all)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("sorted by hand: merged", merged, x);
    check!("sorted by hand: heaped", heaped, x);
    check!("sorted by hand: ranked", ranked, x);
    check!("sorted by hand: inserted", inserted, x);
}
