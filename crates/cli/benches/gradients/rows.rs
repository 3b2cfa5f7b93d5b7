//! Rows of measurements, as text and as JSON.

use super::programs::Program;
use serde_json::{Map, Value, json};

/// What a gradient may cost, in evaluations of the function.
const EXPECTED: f64 = 4.0;

/// What a gradient may cost, in gradients written by hand.
const EXPECTED_BY_HAND: f64 = 1.2;

/// How much the ratio of gradient and primal may vary over sizes.
const EXPECTED_VARIATION: f64 = 3.0;

/// A primal that takes less than this many milliseconds says nothing about larger sizes.
const SMALL: f64 = 1.0;

/// Repetitions of one function, in milliseconds.
pub struct Times(Vec<f64>);

impl Times {
    pub const fn new() -> Times {
        Times(Vec::new())
    }

    pub fn add(&mut self, time: f64) {
        self.0.push(time);
    }

    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    fn fastest(&self) -> Option<f64> {
        self.0.iter().copied().reduce(f64::min)
    }

    /// How far the median lies above the fastest, in percent.
    fn spread(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.first() {
            Some(fastest) => 100.0 * (sorted[sorted.len() / 2] / fastest - 1.0),
            None => 0.0,
        }
    }
}

/// What another tool needs for the same gradient.
pub struct PeerTime {
    pub peer: &'static str,
    /// Or why there is none.
    pub answer: Result<Answer, String>,
}

/// The times of another tool, and how far its gradient is from ours.
pub struct Answer {
    pub primal: Times,
    pub gradient: Times,
    pub difference: f64,
}

/// A function and its gradient, in milliseconds.
pub struct Row {
    program: String,
    language: &'static str,
    pub name: String,
    pub size: String,
    flags: String,
    primal: f64,
    pub gradient: f64,
    by_hand: Option<f64>,
    spread: f64,
    difference: f64,
    pub peers: Vec<PeerTime>,
}

impl Row {
    /// Reads a line that a program printed, see `bench/bench.h`.
    pub fn read(line: &str, program: &str, language: &'static str, flags: &str) -> Option<Row> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [name, size, primal, gradient, by_hand, spread, difference] = parts[..] else {
            return None;
        };
        let by_hand: f64 = by_hand.parse().ok()?;
        Some(Row {
            program: program.to_string(),
            language,
            name: name.to_string(),
            size: size.to_string(),
            flags: flags.to_string(),
            primal: primal.parse().ok()?,
            gradient: gradient.parse().ok()?,
            by_hand: (by_hand > 0.0).then_some(by_hand),
            spread: spread.parse().ok()?,
            difference: difference.parse().ok()?,
            peers: Vec::new(),
        })
    }

    /// The row of primal, gradient and gradient by hand, and of what peers answered.
    pub fn measured(
        program: &Program,
        (name, size, flags): (&str, &str, &str),
        times: &[Times; 3],
        difference: f64,
        peers: Vec<PeerTime>,
    ) -> Option<Row> {
        let [primal, gradient, by_hand] = times;
        Some(Row {
            program: program.name().to_string(),
            language: program.language(),
            name: name.to_string(),
            size: size.to_string(),
            flags: flags.to_string(),
            primal: primal.fastest()?,
            gradient: gradient.fastest()?,
            by_hand: by_hand.fastest(),
            spread: times.iter().map(Times::spread).fold(0.0, f64::max),
            difference,
            peers,
        })
    }

    pub fn header(peers: &[&str]) -> String {
        let peers: String = peers.iter().map(|peer| format!(" {peer:>8}")).collect();
        format!(
            "{:<58} {:>10} {:>11} {:>6} {:>10} {:>7} {:>7} {:>8}{peers}",
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

    /// Name, size, language and flags.
    pub fn title(&self) -> String {
        let parts = [&self.name[..], &self.size, self.language, &self.flags];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" ")
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
        let peers: String = self.peers.iter().map(|peer| self.column(peer)).collect();
        format!(
            "{:<58} {:>10.3} {:>11.3} {:>6.2} {by_hand:>10} {to_hand:>7} {:>6.0}% {:>8.0e}{peers}{}",
            self.title(),
            self.primal,
            self.gradient,
            self.ratio(),
            self.spread,
            self.difference,
            self.mark()
        )
    }

    /// The gradient of a peer over ours.
    fn column(&self, peer: &PeerTime) -> String {
        let gradient = peer
            .answer
            .as_ref()
            .ok()
            .and_then(|answer| answer.gradient.fastest());
        match gradient {
            Some(gradient) => format!(" {:>8.2}", gradient / self.gradient),
            None => format!(" {:>8}", "-"),
        }
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
            "program": self.program, "language": self.language,
            "name": self.name, "size": self.size, "flags": self.flags,
            "primal_ms": self.primal, "gradient_ms": self.gradient, "by_hand_ms": self.by_hand,
            "gradient_over_primal": self.ratio(), "gradient_over_by_hand": self.to_hand(),
            "spread_percent": self.spread, "largest_difference": self.difference,
            "peers": self.peers.iter().map(|peer| self.peer_json(peer)).collect::<Map<_, _>>(),
        })
    }

    fn peer_json(&self, peer: &PeerTime) -> (String, Value) {
        let value = match &peer.answer {
            Err(reason) => json!({"refused": reason}),
            Ok(answer) => {
                let gradient = answer.gradient.fastest();
                json!({
                    "primal_ms": answer.primal.fastest(), "gradient_ms": gradient,
                    "over_ours": gradient.map(|gradient| gradient / self.gradient),
                    "spread_percent": answer.gradient.spread(),
                    "largest_difference": answer.difference,
                })
            }
        };
        (peer.peer.to_string(), value)
    }
}

/// One line for each peer and each reason why it has no time, with the functions that it is about.
pub fn refusals(rows: &[Row]) -> Vec<String> {
    let mut about: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for row in rows {
        for PeerTime { peer, answer } in &row.peers {
            let Err(reason) = answer else { continue };
            let known = |(other, _, names): &(&str, &str, Vec<&str>)| {
                other == peer && names.contains(&&row.name[..])
            };
            if about.iter().any(known) {
                continue;
            }
            match about
                .iter_mut()
                .find(|(other, why, _)| (other, why) == (peer, &&reason[..]))
            {
                Some((_, _, names)) => names.push(&row.name),
                None => about.push((peer, reason, vec![&row.name])),
            }
        }
    }
    let lines = about.into_iter().map(|(peer, reason, names)| {
        format!("{peer} is not measured for {}: {reason}", names.join(", "))
    });
    lines.collect()
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
        let alike = |row: &&Row| {
            (&row.name, row.language, &row.flags) == (&first.name, first.language, &first.flags)
        };
        if rows[..index].iter().any(|row| alike(&row)) {
            continue;
        }
        let large = rows.iter().filter(alike).filter(|row| row.primal > SMALL);
        let ratios: Vec<f64> = large.map(Row::ratio).collect();
        if ratios.len() < 2 {
            continue;
        }
        variations.push(Variation {
            title: format!("{} {} {}", first.name, first.language, first.flags),
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
