// Functions that leave early: from nested loops, out of matches, with labelled blocks, guards and
// shadowed names.
include!("check.rs");

fn first_pair(x: &[f64]) -> f64 {
    for (i, a) in x.iter().enumerate() {
        for b in &x[i + 1..] {
            if a * b > 0.9 {
                return a * b * b;
            }
            if *b < -10.0 {
                return 0.0;
            }
        }
    }
    x[0]
}

fn blocks(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for a in x {
        sum += 'found: {
            let a = a * 2.0;
            if a < 0.0 {
                break 'found a * a;
            }
            let a = a.sqrt();
            for power in 1..5 {
                if a.powi(power) > 3.0 {
                    break 'found a.powi(power);
                }
            }
            a
        };
    }
    sum
}

fn values(x: &[f64]) -> f64 {
    let mut all = x.iter();
    let first = loop {
        match all.next() {
            Some(a) if *a < 0.0 => break a.exp(),
            Some(_) => continue,
            None => break 1.0,
        }
    };
    let x = all.as_slice();
    let Some((last, x)) = x.split_last() else {
        return first;
    };
    let x = x.iter().sum::<f64>();
    let x = if x > 0.5 { x * last } else { x / last };
    first * x
}

fn counted(x: &[f64]) -> f64 {
    let (mut at, mut product, mut steps) = (0usize, 1.0, 0);
    'walk: while steps < 20 {
        steps += 1;
        at = (at * 3 + 1) % 7;
        let Some(a) = x.get(at) else {
            continue 'walk;
        };
        product *= a;
        for b in x {
            if product.abs() > 2.0 {
                product /= 1.0 + b * b;
                continue 'walk;
            }
            product += 0.1 * b;
        }
    }
    product
}

fn short_circuits(x: &[f64]) -> f64 {
    let mut seen = 0.0;
    let mut large = |a: f64| {
        seen += a * a;
        a > 1.0
    };
    let any = large(x[0]) || large(x[1]) || large(x[2]);
    let all = large(x[3]) && large(x[4]);
    seen * if any && !all { x[4] } else { x[0] }
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("early returns: first pair", first_pair, x);
    check!("early returns: blocks", blocks, x);
    check!("early returns: values", values, x);
    check!("early returns: counted", counted, x);
    check!("early returns: short circuits", short_circuits, x);
}
