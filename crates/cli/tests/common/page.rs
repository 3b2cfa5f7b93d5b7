//! The pages of the documentation, as words and fenced blocks.
#![allow(dead_code)] // Each test binary uses a part of this.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A piece of a page.
pub enum Piece {
    /// Lines outside of blocks.
    Words(String),
    /// A block, with its language.
    Block(String, String),
}

/// A file of the repository.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

/// The text of a page.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

/// Whether pages are to be written as they should be.
pub fn blessing() -> bool {
    std::env::var_os("ZYMASE_BLESS").is_some()
}

/// Takes a page apart.
pub fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = vec![Piece::Words(String::new())];
    for line in page.lines() {
        let open = matches!(pieces.last(), Some(Piece::Block(..)));
        match (open, line.strip_prefix("```")) {
            (false, Some(language)) => {
                pieces.push(Piece::Block(language.to_string(), String::new()));
            }
            (true, Some(_)) => pieces.push(Piece::Words(String::new())),
            _ => {
                let Some(Piece::Words(text) | Piece::Block(_, text)) = pieces.last_mut() else {
                    unreachable!("there is a first piece");
                };
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    pieces
}

/// The page that has these pieces.
pub fn written(pieces: &[Piece]) -> String {
    let mut page = String::new();
    for piece in pieces {
        match piece {
            Piece::Words(text) => page.push_str(text),
            Piece::Block(language, text) => {
                let _ = write!(page, "```{language}\n{text}```\n");
            }
        }
    }
    page
}

/// The blocks of a page in some languages, in order.
pub fn blocks(page: &str, languages: &[&str]) -> Vec<(String, String)> {
    let blocks = pieces(page).into_iter().filter_map(|piece| match piece {
        Piece::Block(language, text) => Some((language, text)),
        Piece::Words(_) => None,
    });
    blocks
        .filter(|(language, _)| languages.contains(&language.as_str()))
        .collect()
}
