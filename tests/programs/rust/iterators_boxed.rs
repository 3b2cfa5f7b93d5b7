// Iterators behind boxes.
include!("check.rs");

fn squares(x: &[f64]) -> impl Iterator<Item = f64> + '_ {
    x.iter().map(|a| a * a)
}

fn boxed(x: &[f64]) -> f64 {
    let each: Box<dyn Iterator<Item = f64>> = match x.len() % 2 {
        0 => Box::new(x.iter().copied()),
        _ => Box::new(squares(x)),
    };
    each.fold(1.0, |product, a| product * (a + 1.0))
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("boxed iterators", boxed, x);
}
