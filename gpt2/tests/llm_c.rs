//! Models in the layout of llm.c.

use crate::common::{TINY, refused};
use std::fs;
use zymase_gpt2::checkpoint::{Checkpoint, count};
use zymase_gpt2::tokenizer::Tokenizer;

/// The header that llm.c writes.
fn header(shape: [i32; 6]) -> Vec<u8> {
    let words = [20240326, 3].into_iter().chain(shape);
    let mut bytes: Vec<u8> = words.flat_map(i32::to_le_bytes).collect();
    bytes.resize(1024, 0);
    bytes
}

const SHAPE: [i32; 6] = [12, 256, 2, 2, 8, 256];

#[test]
fn files_in_the_layout_of_llm_c_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.bin");
    let count = count(&TINY).unwrap();
    let mut bytes = header(SHAPE);
    bytes.extend((0..count).flat_map(|index| (index as f32).to_le_bytes()));
    fs::write(&file, &bytes).unwrap();
    let found = Checkpoint::read(&file).unwrap();
    assert_eq!(found.config, TINY);
    assert_eq!(found.tokenizer, Some(Tokenizer::Bytes));
    let numbers: Vec<f32> = found.parameters.tensors().concat();
    assert!(
        numbers
            .iter()
            .enumerate()
            .all(|(index, &x)| x == index as f32)
    );
    found.write(&file).unwrap();
    assert_eq!(fs::read(&file).unwrap(), bytes);
}

#[test]
fn wrong_files_in_the_layout_of_llm_c_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = |shape| {
        let mut bytes = header(shape);
        bytes.resize(1024 + 4 * count(&TINY).unwrap(), 0);
        bytes
    };
    let good = whole(SHAPE);
    let with = |index: usize, value: i32| {
        let mut bytes = good.clone();
        bytes[index * 4..][..4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let longer = [&good[..], &[0]].concat();
    let huge = whole([i32::MAX; 6]);
    let table: [(&str, &[u8], &str); 12] = [
        (
            "header",
            &good[..1023],
            "truncated: 1023 bytes are less than a header",
        ),
        ("magic", &good[..4], "truncated"),
        (
            "cut",
            &good[..good.len() - 1],
            "truncated: a model of this shape has",
        ),
        ("only-header", &good[..1024], "truncated"),
        ("long", &longer, "bytes after the end"),
        ("version", &with(1, 5), "version 5"),
        ("negative", &with(4, -1), "corrupt header"),
        (
            "zero",
            &with(6, 0),
            "corrupt header: channels must not be 0",
        ),
        (
            "heads",
            &with(5, 3),
            "corrupt header: 8 channels cannot be divided",
        ),
        (
            "padded",
            &with(7, 255),
            "corrupt header: the padded vocabulary",
        ),
        ("layers", &with(4, 3), "truncated"),
        ("huge", &huge, "more than can be counted"),
    ];
    for (name, bytes, expected) in table {
        let error = refused(folder.path(), name, bytes);
        assert!(error.contains(expected), "{name}: {error}");
    }
}
