// Patterns: guards, bindings, ranges, nested enums, slices with rests, references.
include!("check.rs");

#[derive(Clone, Copy)]
enum Shape {
    Point,
    Circle { radius: f64 },
    Rectangle(f64, f64),
    Square { side: f64, round: bool },
}

fn area(shape: Shape) -> f64 {
    match shape {
        Shape::Point => 0.0,
        Shape::Circle {
            radius: r @ 0.0..1.0,
        } => 3.0 * r * r,
        Shape::Circle { radius } => 3.1 * radius.powi(2),
        Shape::Rectangle(a, b) if a > b => a * b,
        Shape::Rectangle(a, b) => a * b * 1.1,
        Shape::Square { side, round: true } => 0.9 * side * side,
        Shape::Square { side, .. } => side * side,
    }
}

fn shapes(x: &[f64]) -> f64 {
    let all = [
        Shape::Point,
        Shape::Circle { radius: x[0] },
        Shape::Circle { radius: x[1] },
        Shape::Rectangle(x[3], x[4]),
        Shape::Rectangle(x[4], x[3]),
        Shape::Square {
            side: x[2],
            round: x[0] > 0.0,
        },
    ];
    all.iter()
        .enumerate()
        .map(|(i, shape)| area(*shape) * i as f64)
        .sum()
}

fn slices(x: &[f64]) -> f64 {
    fn fold(x: &[f64]) -> f64 {
        match x {
            [] => 0.0,
            [one] => one.exp(),
            [first, last] => first * last,
            [first, middle @ .., last] if first < last => first * last + fold(middle),
            [first, rest @ ..] => first.sin() * fold(rest),
        }
    }
    fold(x) + fold(&x[1..]) * fold(&x[..4])
}

fn tuples(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, pair) in x.windows(2).enumerate() {
        let (a, b) = (pair[0], pair[1]);
        sum += match (i, a > 0.0, b > 0.0) {
            (0, true, _) => a * b,
            (1 | 2, positive, _) => a - b + f64::from(u8::from(positive)),
            (n @ 3.., _, true) if n % 2 == 1 => a.powi(n as i32) * b,
            _ => b,
        };
    }
    sum
}

struct Body {
    place: (f64, f64),
    speed: [f64; 2],
}

fn destructured(x: &[f64]) -> f64 {
    let &[a, b, c, d, e] = x else {
        return 0.0;
    };
    let mut body = Body {
        place: (a, b),
        speed: [c, d],
    };
    let Body {
        place: (px, ref mut py),
        speed: [vx, vy],
    } = body;
    *py += e * vy;
    let (mut low, mut high) = (px.min(vx), px.max(vx));
    (low, high) = (high, low * body.place.1);
    low * high + body.place.0
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("patterns: shapes", shapes, x);
    check!("patterns: slices", slices, x);
    check!("patterns: tuples", tuples, x);
    check!("patterns: destructured", destructured, x);
}
