//! A small vocabulary: the bytes, and the pairs that are most frequent in a text.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Byte pairs that were learned from a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    merges: Vec<(u32, u32)>,
    ranks: HashMap<(u32, u32), u32>,
    bytes: Vec<Vec<u8>>,
}

/// The most tokens: they are stored in 16 bits.
const MOST: usize = 1 << 16;
/// Longer words are cut, so that no word takes long to encode.
const LONGEST: usize = 32;
/// No more text than this is learned from: pairs do not become better by it.
const ENOUGH: usize = 1 << 21;

impl Learned {
    /// Learns at most `vocabulary` tokens, of which the first 256 are the bytes; fewer if no pair is
    /// there twice.
    pub fn learn(text: &str, vocabulary: usize) -> Learned {
        let text = &text[..text.floor_char_boundary(ENOUGH)];
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for word in words(text) {
            *counts.entry(word).or_default() += 1;
        }
        let mut words: Vec<(Vec<u32>, usize)> = counts
            .into_iter()
            .map(|(word, count)| (word.bytes().map(u32::from).collect(), count))
            .collect();
        let mut merges = Vec::new();
        while merges.len() + 256 < vocabulary.min(MOST) {
            let mut pairs: HashMap<(u32, u32), usize> = HashMap::new();
            for (word, count) in &words {
                for pair in word.windows(2) {
                    *pairs.entry((pair[0], pair[1])).or_default() += count;
                }
            }
            // Among equals the smallest, so that it does not depend on the order of a map.
            let best = pairs
                .into_iter()
                .max_by_key(|&(pair, count)| (count, Reverse(pair)));
            let Some((pair, 2..)) = best else { break };
            let token = 256 + merges.len() as u32;
            for (word, _) in &mut words {
                merge(word, pair, token);
            }
            merges.push(pair);
        }
        Learned::build(merges)
    }

    /// The vocabulary with these pairs; otherwise, why there is none.
    pub fn from_merges(merges: Vec<(u32, u32)>) -> Result<Learned, String> {
        if merges.len() > MOST - 256 {
            return Err(format!("its tokenizer has {} merges", merges.len()));
        }
        // Each pair is of earlier tokens, and no token is longer than a word.
        let mut lengths = vec![1; 256];
        for (index, &(a, b)) in merges.iter().enumerate() {
            let length = |token: u32| lengths.get(token as usize).copied();
            match (length(a), length(b)) {
                (Some(a), Some(b)) if a + b <= LONGEST => lengths.push(a + b),
                _ => return Err(format!("merge {index} of its tokenizer cannot be")),
            }
        }
        Ok(Learned::build(merges))
    }

    fn build(merges: Vec<(u32, u32)>) -> Learned {
        let mut bytes: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut ranks = HashMap::new();
        for &(a, b) in &merges {
            ranks.entry((a, b)).or_insert(bytes.len() as u32);
            bytes.push([&bytes[a as usize][..], &bytes[b as usize]].concat());
        }
        Learned {
            merges,
            ranks,
            bytes,
        }
    }

    /// The pairs, in the order of their tokens.
    pub fn merges(&self) -> &[(u32, u32)] {
        &self.merges
    }

    /// How many tokens there are.
    pub fn vocabulary(&self) -> usize {
        self.bytes.len()
    }

    /// The tokens of a text.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let mut known: HashMap<&str, Vec<u32>> = HashMap::new();
        let mut tokens = Vec::new();
        for word in words(text) {
            tokens.extend(known.entry(word).or_insert_with(|| self.word(word)).iter());
        }
        tokens
    }

    /// Earlier merges first, as they were learned.
    fn word(&self, word: &str) -> Vec<u32> {
        let mut tokens: Vec<u32> = word.bytes().map(u32::from).collect();
        loop {
            let best = tokens
                .windows(2)
                .filter_map(|pair| {
                    let pair = (pair[0], pair[1]);
                    self.ranks.get(&pair).map(|&token| (token, pair))
                })
                .min();
            let Some((token, pair)) = best else {
                return tokens;
            };
            merge(&mut tokens, pair, token);
        }
    }

    /// The bytes of a token; none if there is no such token.
    pub fn decode(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }
}

/// Puts `token` wherever `pair` is, from left to right.
fn merge(word: &mut Vec<u32>, pair: (u32, u32), token: u32) {
    let mut kept = 0;
    let mut at = 0;
    while at < word.len() {
        if at + 1 < word.len() && (word[at], word[at + 1]) == pair {
            word[kept] = token;
            at += 2;
        } else {
            word[kept] = word[at];
            at += 1;
        }
        kept += 1;
    }
    word.truncate(kept);
}

/// Splits a text into words: characters of one kind, together with a space before them.
fn words(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut characters = text.char_indices().peekable();
        let (_, first) = characters.next()?;
        let mut kind = Kind::of(first);
        if first == ' '
            && let Some(&(_, second)) = characters.peek()
        {
            kind = Kind::of(second);
        }
        let end = characters
            .find(|&(at, character)| {
                Kind::of(character) != kind || at + character.len_utf8() > LONGEST
            })
            .map_or(text.len(), |(at, _)| at);
        let (word, rest) = text.split_at(end);
        text = rest;
        Some(word)
    })
}

/// What characters of a word have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Space,
    Line,
    Other,
}

impl Kind {
    fn of(character: char) -> Kind {
        match character {
            '\n' | '\r' => Kind::Line,
            _ if character.is_alphabetic() => Kind::Letter,
            _ if character.is_numeric() => Kind::Digit,
            _ if character.is_whitespace() => Kind::Space,
            _ => Kind::Other,
        }
    }
}
