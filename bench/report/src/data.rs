//! What `cargo bench -p zymase-cli --bench gradients` writes.

use serde::Deserialize;
use std::collections::BTreeMap;

/// All that was measured.
#[derive(Deserialize)]
pub struct Report {
    pub machine: BTreeMap<String, String>,
    pub command: String,
    /// Names of peers with their versions.
    pub peers: BTreeMap<String, String>,
    pub gradients: Vec<Gradient>,
    pub sizes: Vec<Variation>,
    pub unoptimized: Vec<Unoptimized>,
    pub compilation: Vec<Compilation>,
    pub skipped: Vec<String>,
    pub refused: Vec<String>,
    pub failures: Vec<String>,
}

/// A function and its gradient at one size.
#[derive(Deserialize)]
pub struct Gradient {
    pub language: String,
    pub name: String,
    pub size: String,
    pub flags: String,
    pub primal_ms: f64,
    pub gradient_ms: f64,
    pub by_hand_ms: Option<f64>,
    pub gradient_over_primal: f64,
    pub gradient_over_by_hand: Option<f64>,
    pub spread_percent: f64,
    pub largest_difference: f64,
    pub peers: BTreeMap<String, Peer>,
}

/// What another tool answered.
#[derive(Deserialize)]
pub struct Peer {
    pub primal_ms: Option<f64>,
    pub gradient_ms: Option<f64>,
    pub over_ours: Option<f64>,
    pub spread_percent: Option<f64>,
    pub refused: Option<String>,
}

/// How gradient over primal varies over sizes.
#[derive(Deserialize)]
pub struct Variation {
    pub name: String,
    pub least_ratio: f64,
    pub most_ratio: f64,
    pub varies: f64,
}

/// A gradient beside one that was made before the function was optimized.
#[derive(Deserialize)]
pub struct Unoptimized {
    pub program: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub size: String,
    pub after_ms: Option<f64>,
    pub before_ms: Option<f64>,
    pub ratio: Option<f64>,
    pub refused: Option<String>,
}

/// How long compilers take.
#[derive(Deserialize)]
pub struct Compilation {
    pub program: String,
    pub clang_ms: f64,
    pub zymase_ms: f64,
    pub ratio: f64,
}

impl Gradient {
    /// Whether it is of the build that pictures show: the last level, no promises about arrays.
    pub fn is_shown(&self, last_flags: &str) -> bool {
        self.language == "Rust" || self.flags == last_flags
    }

    /// Name and size, as text below a bar has them.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.size).trim().to_string()
    }
}

impl Report {
    /// The flags of the build that pictures show.
    pub fn last_flags(&self) -> &str {
        let flags = self.gradients.iter().map(|row| &row.flags[..]);
        let plain = flags.filter(|flags| !flags.contains(' '));
        plain.max().unwrap_or_default()
    }

    /// Names of functions, in the order in which they were measured.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for row in &self.gradients {
            if !names.contains(&&row.name[..]) {
                names.push(&row.name[..]);
            }
        }
        names
    }

    /// The rows of a function that pictures show, of one language or the others.
    pub fn rows(&self, name: &str, is_rust: bool) -> impl Iterator<Item = &Gradient> {
        let flags = self.last_flags();
        let rows = self.gradients.iter().filter(move |row| row.is_shown(flags));
        let name = name.to_string();
        rows.filter(move |row| row.name == name && (row.language == "Rust") == is_rust)
    }
}
