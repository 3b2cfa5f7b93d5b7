//! Files of tokens, in the layout that llm.c reads: 256 numbers of 32 bits, of which the first are a
//! magic number, the version and how many tokens there are; then the tokens, 16 bits each. All numbers
//! have their lowest byte first.

use crate::checkpoint::write_safely;
use crate::error::{Error, Result};
use memmap2::Mmap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What a file begins with.
pub const MAGIC: u32 = 20240520;
const VERSION: u32 = 1;
const HEADER: usize = 1024;
const REMEDY: &str = "make it again by `gpt2 tokenize`";

/// Writes tokens to a file.
pub fn write(path: &Path, tokens: &[u32]) -> Result<()> {
    let count = i32::try_from(tokens.len()).map_err(|_| {
        Error::file(
            path,
            format!(
                "{} tokens are more than a token file can have",
                tokens.len()
            ),
            "split the text",
        )
    })?;
    if let Some(token) = tokens.iter().find(|&&token| token > u16::MAX.into()) {
        return Err(Error::file(
            path,
            format!("token {token} does not fit into 16 bits"),
            "choose another tokenizer",
        ));
    }
    write_safely(path, |file| {
        let mut out = std::io::BufWriter::new(file);
        let mut header = [0; HEADER];
        for (index, number) in [MAGIC, VERSION, count as u32].into_iter().enumerate() {
            header[index * 4..][..4].copy_from_slice(&number.to_le_bytes());
        }
        out.write_all(&header)?;
        for &token in tokens {
            out.write_all(&(token as u16).to_le_bytes())?;
        }
        out.flush()
    })
}

/// A file of tokens, in memory only as far as it is read.
#[derive(Clone)]
pub struct TokenFile {
    map: Arc<Mmap>,
}

impl TokenFile {
    /// Opens a file and checks that its header and its size fit.
    pub fn open(path: &Path) -> Result<TokenFile> {
        let complain = |problem: String| Err(Error::file(path, problem, REMEDY));
        let file = File::open(path).map_err(Error::io(path, "read"))?;
        let is_file = file.metadata().map_err(Error::io(path, "read"))?.is_file();
        if !is_file {
            return complain("not a file".into());
        }
        // SAFETY: the bytes are only read. Whoever makes the file shorter while it is in use stops this
        // process, as with any mapped file; nothing wrong is computed.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path, "read"))?;
        let number = |index: usize| {
            let bytes = map.get(index * 4..index * 4 + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        if number(0) != Some(MAGIC) {
            return complain("not a token file (it does not begin with 20240520)".into());
        }
        if number(1) != Some(VERSION) {
            let version = number(1).unwrap_or(0);
            return complain(format!("version {version} of token files is not known"));
        }
        let tokens = u64::from(number(2).unwrap_or(0));
        let expected = HEADER as u64 + 2 * tokens;
        let found = map.len() as u64;
        if found != expected {
            return complain(format!(
                "{}: {tokens} tokens make {expected} bytes, and it has {found}",
                if found < expected {
                    "truncated"
                } else {
                    "bytes after the end"
                },
            ));
        }
        Ok(TokenFile { map: Arc::new(map) })
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        (self.map.len() - HEADER) / 2
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A token.
    pub fn token(&self, at: usize) -> u16 {
        let at = HEADER + 2 * at;
        u16::from_le_bytes([self.map[at], self.map[at + 1]])
    }
}
