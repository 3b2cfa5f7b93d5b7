// Text beside numbers: words that are counted, tables of names, writers, labels in structures.
include!("check.rs");

use std::fmt::Write;

fn counted(x: &[f64]) -> f64 {
    // Counts are integers; what is multiplied by them is active.
    let mut counts: Vec<(&str, i32)> = Vec::new();
    for word in "the cat and the dog and the bird".split_whitespace() {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    counts
        .iter()
        .zip(x)
        .map(|((_, count), a)| a.powi(*count))
        .sum()
}

fn named(x: &[f64]) -> f64 {
    let names = ["mass", "speed", "height"];
    let indices: Vec<(String, usize)> = names.iter().map(|n| n.to_string()).zip(0..).collect();
    let get = |name: &str| {
        let found = indices.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map_or(0.0, |(_, i)| x[*i])
    };
    0.5 * get("mass") * get("speed").powi(2) + 9.81 * get("mass") * get("height") + get("charge")
}

fn written(x: &[f64]) -> f64 {
    let mut out = String::with_capacity(64);
    let mut product = 1.0;
    for (i, a) in x.iter().enumerate() {
        product *= 1.0 + a * a;
        write!(out, "{i}={product:.1},").unwrap();
        if out.len() > 20 {
            out.clear();
            product = product.sqrt();
        }
    }
    product * out.chars().filter(char::is_ascii_digit).count() as f64
}

fn characters(x: &[f64]) -> f64 {
    // A turtle that obeys letters.
    let (mut px, mut py, mut angle) = (0.0, 0.0, x[0]);
    for letter in "FLFFRFLFRRF".chars().chain('A'..='C') {
        match letter {
            'F' => {
                px += x[1] * f64::cos(angle);
                py += x[1] * f64::sin(angle);
            }
            'L' => angle += x[2],
            'R' => angle -= x[3],
            other => angle *= 1.0 + f64::from(other as u8 - b'A') * 0.1,
        }
    }
    px * px + py * angle
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("text: counted", counted, x);
    check!("text: named", named, x);
    check!("text: written", written, x);
    check!("text: characters", characters, x);
}
