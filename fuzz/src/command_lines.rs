//! What reads command lines: words of a link, words for clang, response files.

use crate::cc::arguments as clang;
use crate::ld::arguments;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Reads words, one in each line; `@@` stands for the name of a response file, which has all that
/// comes after the first empty line.
pub fn read(bytes: &[u8]) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a folder");
    }
    let file = FOLDER.with(|folder| folder.path().join("words"));
    let (words, content) = match bytes.windows(2).position(|pair| pair == b"\n\n") {
        Some(at) => (&bytes[..at], &bytes[at + 2..]),
        None => (bytes, &[][..]),
    };
    let name = format!("@{}", file.display());
    let with_name = |bytes: &[u8]| {
        let mut text = Vec::new();
        let mut rest = bytes;
        while let Some(at) = rest.windows(2).position(|pair| pair == b"@@") {
            text.extend(&rest[..at]);
            text.extend(name.as_bytes());
            rest = &rest[at + 2..];
        }
        text.extend(rest);
        text
    };
    std::fs::write(&file, with_name(content)).expect("room");
    let words = with_name(words);
    let words = words.split(|&byte| byte == b'\n');
    let words: Vec<OsString> = words
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    _ = arguments::Arguments::read(&words);
    let Ok(words) = arguments::open_response_files(&words) else {
        return;
    };
    let sorted = clang::Arguments::read(&words);
    let objects: Vec<OsString> = (0..sorted.sources.len())
        .map(|number| format!("{number}.o").into())
        .collect();
    let linked = sorted.link_arguments(&objects);
    assert!(objects.iter().all(|object| linked.contains(object)));
    for source in &sorted.sources {
        _ = sorted.with_language(source);
        _ = sorted.dependencies(source);
        _ = sorted.output_of(source);
    }
    _ = sorted.without_dependencies();
    _ = sorted.options();
}
