//! Rows of measurements, as text and as JSON.

use serde_json::{Value, json};

/// What a gradient may cost, in evaluations of the function.
const EXPECTED: f64 = 4.0;

/// What a gradient may cost, in gradients written by hand.
const EXPECTED_BY_HAND: f64 = 1.2;

/// How much the ratio of gradient and primal may vary over sizes.
const EXPECTED_VARIATION: f64 = 3.0;

/// A primal that takes less than this many milliseconds says nothing about larger sizes.
const SMALL: f64 = 1.0;

/// A function and its gradient, in milliseconds.
pub struct Row {
    program: String,
    pub name: String,
    pub size: String,
    flags: String,
    primal: f64,
    pub gradient: f64,
    by_hand: Option<f64>,
    spread: f64,
    difference: f64,
}

impl Row {
    /// Reads a line that a program printed, see `bench/bench.h`.
    pub fn read(line: &str, program: &str, flags: &str) -> Option<Row> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [name, size, primal, gradient, by_hand, spread, difference] = parts[..] else {
            return None;
        };
        let by_hand: f64 = by_hand.parse().ok()?;
        Some(Row {
            program: program.to_string(),
            name: name.to_string(),
            size: size.to_string(),
            flags: flags.to_string(),
            primal: primal.parse().ok()?,
            gradient: gradient.parse().ok()?,
            by_hand: (by_hand > 0.0).then_some(by_hand),
            spread: spread.parse().ok()?,
            difference: difference.parse().ok()?,
        })
    }

    pub fn header() -> String {
        format!(
            "{:<58} {:>10} {:>11} {:>6} {:>10} {:>7} {:>7} {:>8}",
            "gradient",
            "primal ms",
            "gradient ms",
            "ratio",
            "hand ms",
            "by hand",
            "spread",
            "differs"
        )
    }

    /// Name, size and flags.
    pub fn title(&self) -> String {
        let parts = [&self.name, &self.size, &self.flags];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        parts.join(" ").replace("  ", " ")
    }

    fn ratio(&self) -> f64 {
        self.gradient / self.primal
    }

    /// The ratio to what was written by hand.
    fn to_hand(&self) -> Option<f64> {
        self.by_hand.map(|by_hand| self.gradient / by_hand)
    }

    pub fn line(&self) -> String {
        let (by_hand, to_hand) = match (self.by_hand, self.to_hand()) {
            (Some(by_hand), Some(ratio)) => (format!("{by_hand:.3}"), format!("{ratio:.2}")),
            _ => ("-".to_string(), "-".to_string()),
        };
        format!(
            "{:<58} {:>10.3} {:>11.3} {:>6.2} {by_hand:>10} {to_hand:>7} {:>6.0}% {:>8.0e}{}",
            self.title(),
            self.primal,
            self.gradient,
            self.ratio(),
            self.spread,
            self.difference,
            self.mark()
        )
    }

    /// What is higher than expected. A gradient that nobody can write for four evaluations need not
    /// cost less.
    fn mark(&self) -> String {
        let by_hand_is_dear = self
            .by_hand
            .is_some_and(|by_hand| by_hand > EXPECTED * self.primal);
        let mut marks = Vec::new();
        if self.ratio() > EXPECTED && !by_hand_is_dear {
            marks.push(format!("above {EXPECTED}"));
        }
        if self.to_hand().is_some_and(|ratio| ratio > EXPECTED_BY_HAND) {
            marks.push(format!("above {EXPECTED_BY_HAND} by hand"));
        }
        match marks.is_empty() {
            true => String::new(),
            false => format!("  {}", marks.join(", ")),
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "program": self.program, "name": self.name, "size": self.size, "flags": self.flags,
            "primal_ms": self.primal, "gradient_ms": self.gradient, "by_hand_ms": self.by_hand,
            "gradient_over_primal": self.ratio(), "gradient_over_by_hand": self.to_hand(),
            "spread_percent": self.spread, "largest_difference": self.difference,
        })
    }
}

/// Takes over the rows whose gradients are faster than those that are known.
pub fn keep_fastest(known: &mut Vec<Row>, rows: Vec<Row>) {
    if known.is_empty() {
        *known = rows;
        return;
    }
    for (known, row) in known.iter_mut().zip(rows) {
        if row.gradient < known.gradient {
            *known = row;
        }
    }
}

/// How the ratio of gradient and primal varies over the sizes of one program.
pub struct Variation {
    title: String,
    least: f64,
    most: f64,
}

/// One for each name and each build with several sizes that take a while.
pub fn variations(rows: &[Row]) -> Vec<Variation> {
    let mut variations = Vec::new();
    for (index, first) in rows.iter().enumerate() {
        let alike = |row: &&Row| row.name == first.name && row.flags == first.flags;
        if rows[..index].iter().any(|row| alike(&row)) {
            continue;
        }
        let large = rows.iter().filter(alike).filter(|row| row.primal > SMALL);
        let ratios: Vec<f64> = large.map(Row::ratio).collect();
        if ratios.len() < 2 {
            continue;
        }
        variations.push(Variation {
            title: format!("{} {}", first.name, first.flags),
            least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            most: ratios.iter().copied().fold(0.0, f64::max),
        });
    }
    variations
}

impl Variation {
    pub fn line(&self) -> String {
        let factor = self.most / self.least;
        let mark = match factor > EXPECTED_VARIATION {
            true => format!("  above {EXPECTED_VARIATION}"),
            false => String::new(),
        };
        let Variation { title, least, most } = self;
        format!("{title:<34} {least:>11.2} {most:>11.2} {factor:>6.2}{mark}")
    }

    pub fn json(&self) -> Value {
        json!({
            "name": self.title, "least_ratio": self.least, "most_ratio": self.most,
            "varies": self.most / self.least,
        })
    }
}
