//! The documents tell the truth: the C and C++ programs in README.md and docs/requests.md are built and
//! run, and print what the text after them says.

mod common;
#[path = "common/page.rs"]
mod page;

use common::{Folder, succeed};
use page::blocks;

/// Every block of C or C++ is a program, and the block of text after it is what it prints.
fn check(document: &str) {
    let blocks = blocks(document, &["c", "cpp", "text"]);
    let pairs: Vec<_> = blocks
        .windows(2)
        .filter(|pair| pair[0].0 != "text" && pair[1].0 == "text")
        .collect();
    assert!(!pairs.is_empty(), "there is no program with its output");
    let programs = blocks.iter().filter(|(language, _)| language != "text");
    assert_eq!(pairs.len(), programs.count(), "a program without output");
    for pair in pairs {
        let (command, file) = match pair[0].0.as_str() {
            "cpp" => ("c++ -std=c++17", "example.cpp"),
            _ => ("cc", "example.c"),
        };
        let folder = Folder::with(&[(file, &pair[0].1)]);
        for level in ["-O0", "-O2", "-O3"] {
            succeed(&folder.zymase(&format!("{command} {level} {file} -lm -o example")));
            let program = folder.path().join("example");
            let printed = succeed(&folder.command(program.to_str().unwrap(), ""));
            assert_eq!(printed, pair[1].1, "at {level}");
        }
    }
}

#[test]
fn readme() {
    check(include_str!("../../../README.md"));
}

#[test]
fn requests() {
    check(include_str!("../../../docs/requests.md"));
}
