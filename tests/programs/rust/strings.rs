// Strings around the edges.
include!("check.rs");

fn named(x: &[f64]) -> f64 {
    let names: Vec<String> = (0..x.len()).map(|i| format!("v{}", i * i * i)).collect();
    names
        .iter()
        .zip(x)
        .map(|(name, a)| a * a * name.len() as f64)
        .sum()
}

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

fn report(x: &[f64]) -> f64 {
    let mut log = String::new();
    let mut sum = 0.0;
    for (i, a) in x.iter().enumerate() {
        sum += a * a;
        log.push_str(&format!("{i}: {sum:.3}; "));
    }
    log += "done";
    sum * if log.contains("done") { 2.0 } else { 1.0 } + log.lines().count() as f64 * x[0]
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("strings: named", named, x);
    check!("strings: parsed", parsed, x);
    check!("strings: report", report, x);
}
