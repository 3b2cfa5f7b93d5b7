//! What can go wrong around the model: each error names the file, the cause and a remedy, in one line.

use std::io;
use std::path::{Path, PathBuf};

/// The result of everything that can fail because of what it was given.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a command cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused something.
    #[error("{}: cannot {action}: {source}{}", .path.display(), remedy(.source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: "read", "write", "create".
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A text is not UTF-8.
    #[error("{}: not UTF-8 at byte {at}; convert it, for example with iconv", .path.display())]
    NotUtf8 {
        /// The text.
        path: PathBuf,
        /// The first byte that is wrong, counted from 0.
        at: usize,
    },
    /// A text has nothing in it.
    #[error("{}: empty; give a file with text in it", .path.display())]
    Empty {
        /// The text.
        path: PathBuf,
    },
    /// A text has fewer tokens than training needs.
    #[error(
        "{name}: too short: {part} has {tokens} tokens, and at least {needed} are needed; give more text, \
         or choose a smaller --length or --batch"
    )]
    TooShort {
        /// The text.
        name: String,
        /// The part for training or the one for validation.
        part: &'static str,
        /// How many there are.
        tokens: usize,
        /// How many there must be.
        needed: usize,
    },
    /// A token of a token file is not in the vocabulary of the model.
    #[error(
        "{name}: token {token} at position {at} is not in the vocabulary of {vocabulary}; the file was made \
         by another tokenizer: make it again by `gpt2 tokenize`, or choose another --tokenizer"
    )]
    UnknownToken {
        /// The token file.
        name: String,
        /// What is no token.
        token: u32,
        /// Where, counted in tokens.
        at: usize,
        /// How many tokens the model knows.
        vocabulary: usize,
    },
    /// A file is not what it should be.
    #[error("{}: {problem}; {remedy}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What can be done.
        remedy: &'static str,
    },
    /// A model cannot have this shape.
    #[error("{0}; see --help for the options that set the shape")]
    Shape(#[from] crate::ConfigError),
    /// Options that do not go together, or are out of range.
    #[error("{problem}; {remedy}")]
    Option {
        /// What is wrong.
        problem: String,
        /// What can be done.
        remedy: &'static str,
    },
    /// The loss or the gradient is not a number any more.
    #[error(
        "step {step}: the loss is {loss} and the norm of the gradient {norm}: training has diverged; \
         choose a smaller --learning-rate (the last checkpoint is unchanged)"
    )]
    Diverged {
        /// The step that was not made.
        step: u64,
        /// Its loss.
        loss: f32,
        /// The norm of its gradient.
        norm: f64,
    },
}

impl Error {
    /// For `map_err`: `action` on `path` was refused.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io {
            path,
            action,
            source,
        }
    }

    /// `path` has this problem.
    pub fn file(path: &Path, problem: impl Into<String>, remedy: &'static str) -> Error {
        Error::File {
            path: path.to_path_buf(),
            problem: problem.into(),
            remedy,
        }
    }

    /// An option, or several together, have this problem.
    pub fn option(problem: impl Into<String>, remedy: &'static str) -> Error {
        Error::Option {
            problem: problem.into(),
            remedy,
        }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    use io::ErrorKind::*;
    match error.kind() {
        NotFound => "; check the path",
        PermissionDenied | ReadOnlyFilesystem => "; check who may read and write there",
        StorageFull | QuotaExceeded | FileTooLarge => {
            "; make room or choose another folder by --out (what was saved before is unchanged)"
        }
        IsADirectory => "; give a file, not a folder",
        NotADirectory | AlreadyExists => "; choose another path",
        _ => "",
    }
}
