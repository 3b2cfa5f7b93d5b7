//! The command line.

use std::path::{Path, PathBuf};

/// The level at which derivatives by hand are vectorized like ours. (Comparisons of numbers that may
/// be infinite warn there.)
pub const FAST: &str = "-O3 -ffast-math -w";

/// What is measured, and how.
pub struct Options {
    /// Levels of optimization of the programs in C and C++; peers take part at the last.
    pub levels: Vec<&'static str>,
    /// Parts of names of programs; all programs if there are none.
    pub words: Vec<String>,
    /// The smallest sizes and one repetition, to see that everything works.
    pub is_tiny: bool,
    /// Whether the programs in Rust are left out, which take a minute to build.
    pub without_rust: bool,
    /// Where the report is written.
    pub folder: PathBuf,
}

impl Options {
    /// Reads the words after `--`.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let mut options = Options {
            levels: Vec::new(),
            words: Vec::new(),
            is_tiny: false,
            without_rust: false,
            folder: target.parent().unwrap_or(target).join("bench"),
        };
        for word in words {
            match &word[..] {
                // Cargo itself passes this.
                "--bench" => {}
                "-O2" => options.levels.push("-O2"),
                "-O3" => options.levels.push("-O3"),
                "-ffast-math" => options.levels.push(FAST),
                "--tiny" => options.is_tiny = true,
                "--without-rust" => options.without_rust = true,
                _ if word.starts_with('-') => {
                    return Err(format!(
                        "{word} is not an option; there are -O2, -O3, -ffast-math, --tiny and --without-rust"
                    ));
                }
                _ => options.words.push(word),
            }
        }
        options.levels.sort();
        options.levels.dedup();
        if options.levels.is_empty() {
            options.levels = vec!["-O2", "-O3"];
        }
        Ok(options)
    }

    /// Whether a program of this name is measured.
    pub fn chooses(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}
