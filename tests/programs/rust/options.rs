// Combinators of Option and Result, `?`, let-else, if-let chains.
include!("check.rs");

fn combined(x: &[f64]) -> f64 {
    let first = x.first().copied().filter(|a| *a > 0.0);
    let second = x.get(1).copied();
    let zipped = first.zip(second).map(|(a, b)| a * b);
    let either = x.get(9).copied().or(zipped).xor(None);
    let inner = either.and_then(|a| a.is_finite().then_some(a.ln()));
    inner.map_or_else(|| x[2], |a| a * x[3]) + x.get(2).is_some_and(|a| *a < 0.0) as u8 as f64
}

fn changed(x: &[f64]) -> f64 {
    let mut best: Option<f64> = None;
    for a in x {
        match &mut best {
            Some(best) if *a > *best => *best = a * 1.5,
            Some(best) => *best += 0.1 * a,
            None => best = Some(*a),
        }
    }
    let old = best.replace(x[0]);
    let first = best.get_or_insert(1.0);
    *first *= x[1];
    let taken = best.take_if(|a| *a > 0.5);
    let mut empty = None;
    let inserted = *empty.insert(x[2] * x[2]);
    old.unwrap_or_default() + taken.unwrap_or(0.0) * inserted + best.unwrap_or(2.0)
}

#[derive(Debug)]
enum Failure {
    Negative(usize),
    Empty,
}

fn roots(x: &[f64]) -> Result<f64, Failure> {
    let (first, rest) = x.split_first().ok_or(Failure::Empty)?;
    let mut sum = checked(*first, 0)?;
    for (i, a) in rest.iter().enumerate() {
        sum += checked(*a, i + 1)? * i as f64;
    }
    Ok(sum)
}

fn checked(a: f64, at: usize) -> Result<f64, Failure> {
    if a < 0.0 {
        return Err(Failure::Negative(at));
    }
    Ok(a.sqrt())
}

fn results(x: &[f64]) -> f64 {
    let good = roots(&x[..2]).map(|a| a * a).unwrap_or(0.0);
    let bad = match roots(x) {
        Ok(sum) => sum,
        Err(Failure::Negative(at)) => x[at] * 10.0,
        Err(Failure::Empty) => 1.0,
    };
    let none = roots(&[]).map_err(|failure| format!("{failure:?}").len() as f64);
    good + bad * none.unwrap_or_else(|len| len * x[4])
}

fn quotients(x: &[f64]) -> f64 {
    fn quotient(x: &[f64], i: usize, j: usize) -> Option<f64> {
        let (a, b) = (x.get(i)?, x.get(j)?);
        (b.abs() > 0.4).then(|| a / b)
    }
    fn sum(x: &[f64]) -> Option<f64> {
        Some(quotient(x, 0, 1)? + quotient(x, 2, 4)? * quotient(x, 3, 0)?)
    }
    let Some(sum) = sum(x) else {
        return 0.0;
    };
    let missing = quotient(x, 0, 2)
        .or_else(|| quotient(x, 1, 0))
        .unwrap_or(1.0);
    if let Some(a) = quotient(x, 1, 4)
        && a < 1.0
    {
        return sum * missing + a;
    }
    sum
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("options: combined", combined, x);
    check!("options: changed", changed, x);
    check!("options: results", results, x);
    check!("options: quotients", quotients, x);
}
