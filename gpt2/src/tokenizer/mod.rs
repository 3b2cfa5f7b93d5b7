//! Text to tokens and back.
//!
//! A small model with the vocabulary of GPT-2 would be a table of 50257 rows and little else, so there
//! are two more: one that is learned from the text, and plain bytes. A checkpoint says which one its
//! model reads.

mod learned;

pub use learned::Learned;

use serde_json::{Value, json};
use tiktoken_rs::r50k_base_singleton;

/// Turns text into tokens and tokens into text.
#[derive(Clone, Debug, PartialEq)]
pub enum Tokenizer {
    /// A token is a byte.
    Bytes,
    /// The vocabulary of GPT-2: 50257 tokens.
    Gpt2,
    /// A small vocabulary of byte pairs, learned from a text.
    Learned(Learned),
}

/// The vocabulary of GPT-2.
const GPT2_VOCABULARY: usize = 50257;

/// Longer parts of a text are encoded by themselves: the pattern that splits text into words gives up on
/// texts without words, such as a megabyte of spaces.
const PART: usize = 1 << 16;

impl Tokenizer {
    /// How many tokens there are.
    pub fn vocabulary(&self) -> usize {
        match self {
            Tokenizer::Bytes => 256,
            Tokenizer::Gpt2 => GPT2_VOCABULARY,
            Tokenizer::Learned(learned) => learned.vocabulary(),
        }
    }

    /// The tokenizer of a model of which only the size of the vocabulary is known.
    pub fn for_vocabulary(vocabulary: usize) -> Option<Tokenizer> {
        match vocabulary {
            256 => Some(Tokenizer::Bytes),
            GPT2_VOCABULARY => Some(Tokenizer::Gpt2),
            _ => None,
        }
    }

    /// The tokens of a text.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        match self {
            Tokenizer::Bytes => text.bytes().map(u32::from).collect(),
            Tokenizer::Gpt2 => parts(text)
                .flat_map(|part| r50k_base_singleton().encode_ordinary(part))
                .collect(),
            Tokenizer::Learned(learned) => learned.encode(text),
        }
    }

    /// The bytes of a token; none if there is no such token. A character may have bytes of several.
    pub fn decode(&self, token: u32) -> Vec<u8> {
        match self {
            Tokenizer::Bytes => u8::try_from(token).into_iter().collect(),
            Tokenizer::Gpt2 => r50k_base_singleton()
                .decode_bytes(&[token])
                .unwrap_or_default(),
            Tokenizer::Learned(learned) => learned.decode(token).to_vec(),
        }
    }

    /// What a text begins with if nothing else is given.
    pub fn start(&self) -> u32 {
        match self {
            Tokenizer::Gpt2 => GPT2_VOCABULARY as u32 - 1,
            Tokenizer::Bytes | Tokenizer::Learned(_) => u32::from(b'\n'),
        }
    }

    /// What a checkpoint says of it.
    pub fn to_json(&self) -> Value {
        match self {
            Tokenizer::Bytes => json!({"kind": "bytes"}),
            Tokenizer::Gpt2 => json!({"kind": "gpt2"}),
            Tokenizer::Learned(learned) => json!({"kind": "learned", "merges": learned.merges()}),
        }
    }

    /// From what a checkpoint says; otherwise, why not.
    pub fn from_json(value: &Value) -> Result<Tokenizer, String> {
        match value["kind"].as_str() {
            Some("bytes") => Ok(Tokenizer::Bytes),
            Some("gpt2") => Ok(Tokenizer::Gpt2),
            Some("learned") => {
                let merges = serde_json::from_value(value["merges"].clone())
                    .map_err(|_| "the merges of its tokenizer cannot be read".to_string())?;
                Ok(Tokenizer::Learned(Learned::from_merges(merges)?))
            }
            _ => Err("it has a tokenizer that is not known".into()),
        }
    }
}

/// A text in parts of at least [`PART`] bytes that end with a line, or of twice as much if there is no
/// end of a line.
fn parts(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let bytes = text.as_bytes();
        let mut end = bytes.len().min(2 * PART);
        if bytes.len() > 2 * PART {
            // The end of a line that is followed by a word: GPT-2 splits there in any case.
            let line = bytes[PART..end]
                .windows(2)
                .position(|pair| pair[0] == b'\n' && pair[1].is_ascii_graphic());
            end = line.map_or(text.floor_char_boundary(end), |at| PART + at + 1);
        }
        let (part, rest) = text.split_at(end);
        text = rest;
        Some(part)
    })
}
