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

#[derive(Debug)]
enum Problem {
    Negative(f64),
    TooLarge,
}

fn root(a: f64) -> Result<f64, Problem> {
    match a {
        a if a < 0.0 => Err(Problem::Negative(a)),
        a if a > 100.0 => Err(Problem::TooLarge),
        a => Ok(a.sqrt()),
    }
}

fn results(x: &[f64]) -> f64 {
    fn all(x: &[f64]) -> Result<f64, Problem> {
        let mut sum = 0.0;
        for a in x {
            sum += root(a * a + 1.0)? * a;
        }
        Ok(sum)
    }
    fn last(x: &[f64]) -> Result<f64, Problem> {
        let roots: Result<Vec<f64>, Problem> = x.iter().map(|a| root(*a)).collect();
        Ok(roots?.iter().sum())
    }
    let failed = match last(x) {
        Ok(sum) => sum,
        Err(Problem::Negative(a)) => a * x[1],
        Err(Problem::TooLarge) => 0.0,
    };
    all(x).unwrap_or(-1.0) * failed
}

fn messages(x: &[f64]) -> f64 {
    fn half(a: f64) -> Result<f64, String> {
        if a > 100.0 {
            Err(format!("{a} is too large"))
        } else {
            Ok(a / 2.0)
        }
    }
    fn all(x: &[f64]) -> Result<f64, Box<dyn std::error::Error>> {
        let mut product = 1.0;
        for a in x {
            product *= half(*a)? + "2".parse::<f64>()?;
        }
        Ok(product)
    }
    all(x).unwrap_or(0.0)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("enums: shapes", shapes, x);
    check!("enums: options", options, x);
    check!("enums: results", results, x);
    check!("enums: messages", messages, x);
}
