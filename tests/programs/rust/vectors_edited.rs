// More of what vectors do: dedup, retain_mut, splice, extend, binary search, swap_remove, drain.
include!("check.rs");

fn weighted(v: &[f64]) -> f64 {
    v.iter()
        .enumerate()
        .map(|(i, a)| a * (i as f64 + 0.5).sqrt())
        .sum()
}

fn removed(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = x.iter().flat_map(|a| [*a, *a, a * a]).collect();
    v.dedup();
    v.retain_mut(|a| {
        *a *= 1.5;
        *a > 0.1
    });
    let taken = v.swap_remove(1);
    v.dedup_by(|a, b| (*a - *b).abs() < 0.3);
    weighted(&v) * taken
}

fn spliced(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let old: Vec<f64> = v.splice(1..3, [x[0] * x[4], x[3].exp(), 1.0]).collect();
    let drained: f64 = v.drain(..2).map(|a| a * a).sum();
    v.extend(old.iter().map(|a| a + drained));
    v.extend_from_within(1..);
    weighted(&v)
}

fn searched(x: &[f64]) -> f64 {
    let mut v = Vec::new();
    for a in x {
        let at = v
            .binary_search_by(|b: &f64| b.total_cmp(a))
            .unwrap_or_else(|at| at);
        v.insert(at, *a);
    }
    v.insert(2, x[0] * x[1]);
    let split = v.partition_point(|a| *a < 0.5);
    let tail = v.split_off(split);
    weighted(&v) * weighted(&tail)
}

fn grown(x: &[f64]) -> f64 {
    let mut v = Vec::with_capacity(2);
    for (i, a) in x.iter().enumerate() {
        v.resize(2 * i + 1, *a);
        v.reserve(3);
        v.resize_with(2 * i + 2, || a * a);
        v.shrink_to_fit();
    }
    v.rotate_right(3);
    weighted(&v)
}

fn stacked(x: &[f64]) -> f64 {
    // A calculator of reverse polish notation.
    let mut stack: Vec<f64> = Vec::new();
    for token in "0 1 + 2 * 3 4 - / 0 *".split(' ') {
        match token {
            "+" | "-" | "*" | "/" => {
                let (b, a) = (stack.pop().unwrap(), stack.pop().unwrap());
                stack.push(match token {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    _ => a / b,
                });
            }
            digit => stack.push(x[digit.parse::<usize>().unwrap()]),
        }
    }
    stack.pop().unwrap()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("edited: removed", removed, x);
    check!("edited: spliced", spliced, x);
    check!("edited: searched", searched, x);
    check!("edited: grown", grown, x);
    check!("edited: stacked", stacked, x);
}
