// Numbers that are read from text.
include!("check.rs");

fn parsed(x: &[f64]) -> f64 {
    let text = "scale=2.5;shift=0.5;name=test";
    let mut sum = 1.0;
    for part in text.split(';') {
        let Some((key, value)) = part.split_once('=') else {
            continue;
        };
        match (key, value.parse::<f64>()) {
            ("scale", Ok(value)) => sum *= value * x[0],
            ("shift", Ok(value)) => sum += value * x[1],
            _ => sum += x[2] * value.chars().count() as f64,
        }
    }
    sum
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("parsing", parsed, x);
}
