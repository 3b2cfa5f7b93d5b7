// Iterators behind pointers: which one runs is known when the program does.
include!("check.rs");

fn walk<'a>(x: &'a [f64], way: usize) -> Box<dyn Iterator<Item = f64> + 'a> {
    match way {
        0 => Box::new(x.iter().map(|a| a * a)),
        1 => Box::new(x.iter().rev().scan(0.0, |sum, a| {
            *sum += a;
            Some(*sum)
        })),
        _ => Box::new(x.iter().copied().filter(|a| *a > 0.0).chain([1.5])),
    }
}

fn chosen(x: &[f64]) -> f64 {
    let pairs = walk(x, x.len() % 2).zip(walk(x, 0)).map(|(a, b)| a * b);
    pairs.sum::<f64>() + walk(x, 2).product::<f64>()
}

fn made(x: &[f64]) -> f64 {
    let own = x.to_vec();
    let from: Box<dyn Fn(usize) -> Box<dyn Iterator<Item = f64>>> = Box::new(move |skipped| {
        let copy = own.clone();
        Box::new(copy.into_iter().skip(skipped).map(|a| a * a))
    });
    from(1).sum::<f64>() * from(2).sum::<f64>()
}

// The number that an iterator gives is overwritten by the next, and kept by the program.
fn last(x: &[f64]) -> f64 {
    let mut walk = walk(x, 1);
    let (mut before, mut total) = (None, 0.0);
    while let Some(a) = walk.next() {
        total += before.replace(a.sin()).unwrap_or(2.0) * a;
    }
    total * before.unwrap_or(0.0)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("boxed iterators: chosen", chosen, x);
    check!("boxed iterators: made", made, x);
    check!("boxed iterators: last", last, x);
}
