// References that lead to arguments, to constants or to new memory, and vectors that change places.
include!("check.rs");

/// The default is a constant.
fn padded(x: &[f64]) -> f64 {
    (0..x.len() + 2)
        .map(|i| x.get(i).unwrap_or(&0.5) * x[0])
        .sum()
}

fn largest(x: &[f64]) -> f64 {
    let largest = x.iter().max_by(|a, b| a.total_cmp(b)).unwrap_or(&0.0);
    largest * x[0]
}

#[derive(Clone, Copy)]
enum Shape {
    Rectangle(f64, f64),
    Scaled(f64, &'static Shape),
}

static UNIT: Shape = Shape::Rectangle(1.5, 2.0);

fn area(shape: Shape) -> f64 {
    match shape {
        Shape::Rectangle(a, b) => a * b,
        Shape::Scaled(by, inner) => by * area(*inner),
    }
}

fn shapes(x: &[f64]) -> f64 {
    area(Shape::Rectangle(x[0], x[1])) + area(Shape::Scaled(x[2], &UNIT))
}

fn repeated(x: &[f64]) -> Vec<f64> {
    (0..8).map(|i| x[i % x.len()]).collect()
}

/// Two vectors change places in every step.
fn swapped(x: &[f64]) -> f64 {
    let mut now = repeated(x);
    let mut next = now.clone();
    for _ in 0..4 {
        for i in 1..now.len() - 1 {
            next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
        }
        std::mem::swap(&mut now, &mut next);
    }
    now.iter().map(|a| a * a).sum()
}

/// A copy of constants, then what is computed from it.
fn layers(x: &[f64]) -> f64 {
    let mut now = [0.5, 0.25].to_vec();
    for w in x {
        now = now.into_iter().map(|a| (a * w).sin()).collect();
    }
    now[0] * now[1]
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("references: padded", padded, x);
    check!("references: largest", largest, x);
    check!("references: shapes", shapes, x);
    check!("references: swapped", swapped, x);
    check!("references: layers", layers, x);
    println!("# {}", repeated(&x).iter().sum::<f64>());
}
