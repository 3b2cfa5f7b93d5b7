//! Texts, tokens, and the batches that are made of them.

use crate::common::{data, text};
use std::collections::BTreeMap;
use std::fs;
use zymase_gpt2::Error;
use zymase_gpt2::data::{
    Data, Input, Loader, Position, embedded, read_text, validation, write_token_file,
};
use zymase_gpt2::random::Random;
use zymase_gpt2::tokenizer::{Learned, Tokenizer};

fn decode(tokenizer: &Tokenizer, tokens: &[u32]) -> String {
    let bytes = tokens.iter().flat_map(|&token| tokenizer.decode(token));
    String::from_utf8(bytes.collect()).unwrap()
}

#[test]
fn texts_come_back_from_their_tokens() {
    let learned = Tokenizer::Learned(Learned::learn(&embedded(), 400));
    assert_eq!(learned.vocabulary(), 400);
    let long = [
        " ".repeat(300_000),
        "a".repeat(100_000),
        "\n".repeat(300_000),
        "word ".repeat(60_000),
        "ж ".repeat(150_000),
    ];
    let mut texts = vec![
        String::new(),
        "a".into(),
        text(),
        "naïve → 漢字 🦀\r\n\t  end  ".into(),
        embedded(),
    ];
    texts.extend(long);
    let seed = 3;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for _ in 0..50 {
        let length = random.below(60);
        texts.push(
            (0..length)
                .filter_map(|_| char::from_u32(random.below(0x3000) as u32))
                .collect(),
        );
    }
    for tokenizer in [Tokenizer::Bytes, Tokenizer::Gpt2, learned] {
        for text in &texts {
            let tokens = tokenizer.encode(text);
            assert!(
                tokens
                    .iter()
                    .all(|&t| (t as usize) < tokenizer.vocabulary())
            );
            assert!(decode(&tokenizer, &tokens) == *text);
        }
        assert_eq!(
            Tokenizer::from_json(&tokenizer.to_json()),
            Ok(tokenizer.clone())
        );
        assert!(tokenizer.decode(u32::MAX).is_empty());
    }
}

#[test]
fn the_vocabulary_of_gpt2_is_the_published_one() {
    let tokens = Tokenizer::Gpt2.encode("Hello world, this is GPT-2.");
    let published = [15496, 995, 11, 428, 318, 402, 11571, 12, 17, 13];
    assert_eq!(tokens, published);
    assert_eq!(decode(&Tokenizer::Gpt2, &[50256]), "<|endoftext|>");
}

#[test]
fn a_learned_vocabulary_does_not_depend_on_the_order_of_maps() {
    let learn = || Learned::learn(&text(), 300);
    assert_eq!(learn(), learn());
    assert!(Learned::learn("abc", 300).merges().is_empty());
}

#[test]
fn merges_that_cannot_be_are_refused() {
    let doubling: Vec<(u32, u32)> = (0..30)
        .map(|n| if n == 0 { (0, 0) } else { (255 + n, 255 + n) })
        .collect();
    for merges in [
        vec![(0, 256)],
        vec![(1000, 0)],
        doubling,
        vec![(0, 0); 65281],
    ] {
        assert!(Learned::from_merges(merges).is_err());
    }
}

#[test]
fn an_epoch_has_each_piece_once_and_targets_are_shifted() {
    let data = data();
    let (batch, length) = (3, 10);
    let mut loader = Loader::new(&data, (batch, length), 256, Position::default());
    let bytes = text().into_bytes();
    let mut seen: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let mut sequences = 0;
    while loader.position().epoch == 0 {
        let made = loader.next(&data).unwrap();
        for (tokens, targets) in made.tokens.chunks(length).zip(made.targets.chunks(length)) {
            assert_eq!(tokens[1..], targets[..length - 1]);
            let whole: Vec<u8> = tokens
                .iter()
                .chain(targets.last())
                .map(|&t| t as u8)
                .collect();
            assert!(
                bytes[..data.training().end]
                    .windows(length + 1)
                    .any(|w| w == whole)
            );
            *seen.entry(tokens.to_vec()).or_default() += 1;
            sequences += 1;
        }
    }
    let pieces = data.training().len() / length;
    assert!(sequences >= pieces - 1 && sequences <= pieces + batch);
    assert!(
        seen.len() > pieces * 9 / 10,
        "pieces are not read once each"
    );
}

#[test]
fn a_position_is_all_that_has_to_be_saved() {
    let data = data();
    let shape = (3, 10);
    let start = Position {
        seed: 9,
        ..Position::default()
    };
    let mut loader = Loader::new(&data, shape, 256, start);
    for _ in 0..150 {
        let mut other = Loader::new(&data, shape, 256, loader.position());
        let batch = loader.next(&data).unwrap();
        assert_eq!(batch, other.next(&data).unwrap());
        assert_eq!(loader.position(), other.position());
    }
    assert!(loader.position().epoch >= 2);
    loader.go_to(&data, start);
    let again = loader.next(&data).unwrap();
    assert_eq!(
        again,
        Loader::new(&data, shape, 256, start).next(&data).unwrap()
    );
}

#[test]
fn validation_is_always_the_same_and_from_its_part() {
    let data = data();
    let batches = validation(&data, (4, 10), 7, 256).unwrap();
    assert_eq!(batches, validation(&data, (4, 10), 7, 256).unwrap());
    let sizes: Vec<usize> = batches.iter().map(|batch| batch.tokens.len()).collect();
    assert_eq!(sizes, [40, 30]);
    let many = validation(&data, (4, 10), usize::MAX, 256).unwrap();
    let tokens: usize = many.iter().map(|batch| batch.tokens.len()).sum();
    assert_eq!(tokens, (data.validation().len() - 1) / 10 * 10);
}

#[test]
fn token_files_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.bin");
    let tokens = Tokenizer::Gpt2.encode(&embedded());
    write_token_file(&file, &tokens).unwrap();
    let bytes = fs::read(&file).unwrap();
    let words: Vec<u32> = bytes[..12]
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert_eq!(words, [20240520, 1, tokens.len() as u32]);
    assert_eq!(bytes.len(), 1024 + 2 * tokens.len());
    let input = Input::read(&file).unwrap();
    let from_file = Data::new("file", &input, &Tokenizer::Gpt2).unwrap();
    let from_text = Data::new("text", &Input::Text(embedded()), &Tokenizer::Gpt2).unwrap();
    assert_eq!(from_file.len(), from_text.len());
    let batch = |data| Loader::new(data, (2, 30), 50257, Position::default()).next(data);
    assert_eq!(batch(&from_file).unwrap(), batch(&from_text).unwrap());
    // A model with fewer tokens must not read it.
    let mut loader = Loader::new(&from_file, (2, 30), 256, Position::default());
    assert!(matches!(
        loader.next(&from_file),
        Err(Error::UnknownToken {
            vocabulary: 256,
            ..
        })
    ));
}

#[test]
fn files_that_are_no_text_or_tokens_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let header = |words: [u32; 3], length: usize| {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(length, 0);
        bytes
    };
    let magic = 20240520;
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty.txt", vec![], "empty;"),
        ("latin.txt", b"abc\xe9 def".to_vec(), "not UTF-8 at byte 3;"),
        (
            "cut.txt",
            "ab🦀".as_bytes()[..4].to_vec(),
            "not UTF-8 at byte 2;",
        ),
        ("empty.bin", vec![], "not a token file"),
        ("text.bin", b"some text".to_vec(), "not a token file"),
        (
            "short.bin",
            header([magic, 1, 4], 12),
            "truncated: 4 tokens make 1032 bytes",
        ),
        ("cut.bin", header([magic, 1, 4], 1031), "truncated"),
        (
            "long.bin",
            header([magic, 1, 4], 1033),
            "bytes after the end",
        ),
        ("version.bin", header([magic, 2, 4], 1032), "version 2"),
        ("huge.bin", header([magic, 1, u32::MAX], 1032), "truncated"),
        ("no-name", header([magic, 7, 4], 1032), "version 7"),
    ];
    for (name, bytes, expected) in table {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        let error = Input::read(&file).err().expect(name).to_string();
        assert!(error.contains(expected) && error.contains(name), "{error}");
    }
    let missing = folder.path().join("missing.txt");
    assert!(
        read_text(&missing)
            .unwrap_err()
            .to_string()
            .contains("cannot read")
    );
}

#[test]
fn texts_that_are_too_short_are_refused() {
    for (length, batch, is_enough) in [(2000, 2, true), (100, 2, false), (130, 100, false)] {
        let input = Input::Text("x".repeat(length));
        let data = Data::new("text", &input, &Tokenizer::Bytes).unwrap();
        let checked = data.check(batch, 12);
        assert_eq!(checked.is_ok(), is_enough);
        if let Err(error) = checked {
            assert!(error.to_string().contains("too short"), "{error}");
        }
    }
    let one = Data::new("text", &Input::Text("x".into()), &Tokenizer::Bytes).unwrap();
    assert!(one.check(usize::MAX, usize::MAX).is_err());
}
