//! Changes of texts that keep most of their structure, so that what comes of them gets further
//! into a compiler than random bytes do.

use fastrand::Rng;

/// Numbers that are at an edge of something.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "63",
    "64",
    "65",
    "127",
    "128",
    "255",
    "4095",
    "4096",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
];

/// Changes a text at a few places. `others` are texts to take lines from.
pub fn mutated(text: &str, others: &[String], rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..rng.usize(1..=4) {
        mutate_lines(&mut lines, others, rng);
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn mutate_lines(lines: &mut Vec<String>, others: &[String], rng: &mut Rng) {
    if lines.is_empty() {
        lines.push(String::new());
    }
    let at = rng.usize(..lines.len());
    match rng.u32(..10) {
        0 => _ = lines.remove(at),
        1 => {
            let line = lines[at].clone();
            lines.insert(rng.usize(..=lines.len()), line);
        }
        2 => {
            let other = rng.usize(..lines.len());
            lines.swap(at, other);
        }
        3 if !others.is_empty() => {
            let other: Vec<&str> = others[rng.usize(..others.len())].lines().collect();
            if !other.is_empty() {
                let line = other[rng.usize(..other.len())].to_string();
                lines.insert(at, line);
            }
        }
        _ => {
            let other = lines[rng.usize(..lines.len())].clone();
            lines[at] = with_other_word(&lines[at], &other, rng);
        }
    }
}

/// A line with one word changed, dropped, doubled, or taken from another line.
fn with_other_word(line: &str, other: &str, rng: &mut Rng) -> String {
    let mut words = words(line);
    let others = self::words(other);
    if words.is_empty() {
        return other.to_string();
    }
    let at = rng.usize(..words.len());
    match rng.u32(..8) {
        0 => _ = words.remove(at),
        1 => words.insert(at, words[at]),
        2 => {
            let with = rng.usize(..words.len());
            words.swap(at, with);
        }
        3 if !others.is_empty() => words[at] = others[rng.usize(..others.len())],
        // A word of the same kind keeps the line in shape.
        4 | 5 => {
            let kind = |word: &str| word.chars().next().map(|c| (c.is_alphanumeric(), c == '%'));
            let alike: Vec<&&str> = (others.iter())
                .filter(|word| kind(word) == kind(words[at]))
                .collect();
            if !alike.is_empty() {
                words[at] = alike[rng.usize(..alike.len())];
            }
        }
        _ => {
            let numbers = (0..words.len()).filter(|&i| words[i].parse::<f64>().is_ok());
            let numbers: Vec<usize> = numbers.collect();
            let at = match numbers.is_empty() {
                true => at,
                false => numbers[rng.usize(..numbers.len())],
            };
            words[at] = NUMBERS[rng.usize(..NUMBERS.len())];
        }
    }
    words.concat()
}

/// Names and numbers, and what is between them, one character each.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let starts = inside(first) || matches!(first, '%' | '@' | '!' | '-');
        let end = match starts {
            true => rest
                .char_indices()
                .skip(1)
                .find(|&(_, c)| !inside(c))
                .map_or(rest.len(), |(at, _)| at),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}
