//! The command line.

use std::path::{Path, PathBuf};

/// What is measured, and how.
pub struct Options {
    /// Parts of names of rows; all rows if there are none.
    words: Vec<String>,
    /// Small shapes and one repetition.
    pub is_tiny: bool,
    /// Whether the program in C is left out.
    pub without_c: bool,
    /// Whether PyTorch is left out.
    pub without_torch: bool,
    /// Where files are written.
    pub folder: PathBuf,
    /// The one row that this process measures.
    pub alone: Option<String>,
}

impl Options {
    /// Reads the words of the command line.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let mut options = Options {
            words: Vec::new(),
            is_tiny: false,
            without_c: false,
            without_torch: false,
            folder: target.parent().unwrap_or(target).join("gpt2-bench"),
            alone: None,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut next = || words.next().ok_or(format!("{word} needs a word after it"));
            match &word[..] {
                // Cargo itself passes this.
                "--bench" => {}
                "--tiny" => options.is_tiny = true,
                "--without-c" => options.without_c = true,
                "--without-torch" => options.without_torch = true,
                "--out" => options.folder = next()?.into(),
                "--alone" => options.alone = Some(next()?),
                _ if word.starts_with('-') => {
                    return Err(format!(
                        "{word} is not an option; there are --tiny, --without-c, \
                         --without-torch and --out FOLDER"
                    ));
                }
                _ => options.words.push(word.to_lowercase()),
            }
        }
        Ok(options)
    }

    /// Whether a row is measured.
    pub fn chooses(&self, language: &str, name: &str) -> bool {
        let name = format!("{language} {name}").to_lowercase();
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}
