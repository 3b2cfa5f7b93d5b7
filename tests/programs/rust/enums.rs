// Enumerations with data, Option, Result and `?`.
include!("check.rs");

enum Shape {
    Circle(f64),
    Box { width: f64, height: f64 },
    Nothing,
}

fn shapes(x: &[f64]) -> f64 {
    let shapes = [
        Shape::Circle(x[0]),
        Shape::Box {
            width: x[1],
            height: x[2],
        },
        Shape::Nothing,
    ];
    let area = |shape: &Shape| match shape {
        Shape::Circle(r) => 3.0 * r * r,
        Shape::Box { width, height } => width * height,
        Shape::Nothing => 0.0,
    };
    shapes.iter().map(area).sum()
}

fn options(x: &[f64]) -> f64 {
    let largest = x
        .iter()
        .copied()
        .fold(None, |m: Option<f64>, a| Some(m.map_or(a, |b| b.max(a))));
    let found = x.iter().find(|a| **a < 0.0).map(|a| a * 3.0).unwrap_or(1.0);
    let checked: Option<Vec<f64>> = x.iter().map(|a| (*a < 5.0).then(|| a * a)).collect();
    largest
        .and_then(|a| checked.map(|v| v.iter().sum::<f64>() * a))
        .unwrap_or(0.0)
        * found
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("enums: shapes", shapes, x);
    check!("enums: options", options, x);
}
