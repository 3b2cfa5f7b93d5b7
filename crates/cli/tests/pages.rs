//! The pages about codes in docs/errors: each code has one, and the programs on it give the message
//! that it shows, or run.
//!
//! The blocks of code before the first block of text are files (`a.c`, `b.c`, …, or `a.ll`); a block
//! of shell says what to run, if it is not just the compiler. The text is what standard error shows.
//! Blocks after it are repaired programs: they compile without a message, and print the text that
//! follows them. Where messages about Rust have another remedy, it is at the end of the page.
//! `ZYMASE_BLESS=1` writes the texts and the index; read the difference.

mod common;
#[path = "common/page.rs"]
mod page;

use common::{Folder, shown};
use expect_test::expect;
use page::{Piece, blessing, pieces, written};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use zymase_core::diagnostic::Code;

/// Codes whose pages show no program, and why.
const WITHOUT_PROGRAM: &[(Code, &str)] = &[
    (Code::Defect, "no program is known"),
    (
        Code::EndlessRecursion,
        "it takes many pointers that change places; tests/refusals.rs has a program",
    ),
    (
        Code::Crashed,
        "no program is known; tests/launcher.rs has one that crashes by itself",
    ),
    (
        Code::FormattingChanges,
        "it takes Rust; tests/rust.rs has programs",
    ),
    (
        Code::UnknownValueType,
        "no program is known: memory is refused first",
    ),
    (
        Code::MissingPointerShadow,
        "no program is known: activity is refused first",
    ),
    (
        Code::FreesForeign,
        "such a request is served in another way",
    ),
    (Code::Irreducible, "LLVM gives such loops one entry"),
    (
        Code::CannotLink,
        "the driver links modules of one compiler and machine",
    ),
    (Code::Terminal, "tests have no terminal"),
    (
        Code::Installation,
        "tests/launcher.rs takes an installation apart",
    ),
];

/// Pages in a part of the list, so that several run at a time.
const PARTS: usize = 4;

fn folder() -> PathBuf {
    page::path("docs/errors")
}

/// The name of a file for a block of code.
fn file_name(number: usize, language: &str) -> Option<String> {
    let letter = char::from(b'a' + number as u8);
    let extension = match language {
        "c" => "c",
        "cpp" => "cpp",
        "llvm" => "ll",
        _ => return None,
    };
    Some(format!("{letter}.{extension}"))
}

/// Runs a script with the `zymase` of the tests, and gives what it shows.
fn run(folder: &Folder, script: &str) -> (bool, String, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_zymase"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let output = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env_remove("ZYMASE_CLANG")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_string() + "\n";
    (
        output.status.success(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn compile(file: &str) -> String {
    match file {
        "a.ll" => "zymase opt a.ll -o out.ll".to_string(),
        "a.cpp" => "zymase c++ -O2 a.cpp -lm -o a".to_string(),
        _ => "zymase cc -O2 a.c -lm -o a".to_string(),
    }
}

/// Checks what the programs on a page do, and gives the page with what they did.
fn tried(code: Code, page: &str) -> Result<String, String> {
    let mut pieces = pieces(page);
    let mut files: Vec<(String, String)> = Vec::new();
    let (mut script, mut told) = (None, false);
    for piece in &mut pieces {
        let Piece::Block(language, text) = piece else {
            continue;
        };
        if let Some(name) = file_name(files.len(), language) {
            files.push((name, text.clone()));
            continue;
        }
        // Programs in Rust are tried by tests/rust.rs.
        if language == "rust" {
            continue;
        }
        if language == "sh" {
            script = Some(text.clone());
            continue;
        }
        let all: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let folder = Folder::with(&all);
        let usual = files.first().map(|(name, _)| compile(name));
        let command = script.take().or(usual).ok_or("nothing to run")?;
        files.clear();
        let (good, _, errors) = run(&folder, &command);
        if !told {
            told = true;
            let severity = if code.is_warning() {
                "warning"
            } else {
                "error"
            };
            if good != code.is_warning() || !errors.starts_with(&format!("{severity}[{code}]")) {
                return Err(format!("gives another message:\n{errors}"));
            }
            let others = errors.lines().filter(|line| line.contains("[Z"));
            if others.count() != 1 || !errors.contains("= note: ") || !errors.contains("= help: ") {
                return Err(format!("no single message with reason and help:\n{errors}"));
            }
            *text = errors;
            continue;
        }
        if !good || errors != "\n" {
            return Err(format!("the repaired program does not compile:\n{errors}"));
        }
        let (good, printed, errors) = run(&folder, "./a");
        if !good {
            return Err(format!("the repaired program fails:\n{errors}"));
        }
        *text = printed;
    }
    match (files.is_empty(), told) {
        (false, _) => Err("a program without text after it".to_string()),
        (_, true) => Ok(written(&pieces)),
        _ => match WITHOUT_PROGRAM.iter().any(|(other, _)| *other == code) {
            true => Ok(written(&pieces)),
            false => Err("there is no program".to_string()),
        },
    }
}

/// A page with what to do in Rust, where that is something else.
fn with_remedy_in_rust(code: Code, page: &str) -> String {
    const TITLE: &str = "\n## In Rust\n";
    let (before, _) = page.split_once(TITLE).unwrap_or((page, ""));
    match code.help_in_rust() {
        None => before.to_string(),
        Some(help) => {
            let (first, rest) = help.split_at(1);
            let first = first.to_uppercase();
            let more = "More, with programs: [what is refused in Rust](../rust-refusals.md).";
            format!("{before}{TITLE}\n{first}{rest}. {more}\n")
        }
    }
}

fn check(part: usize) {
    let mut troubles = String::new();
    for &code in Code::ALL.iter().skip(part).step_by(PARTS) {
        let path = folder().join(format!("{code}.md"));
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        let title = format!("# {code}: {}\n", code.title());
        if !page.starts_with(&title) || !page.contains("\n## What to do\n") {
            let _ = writeln!(troubles, "{code}: no page with title and remedy");
            continue;
        }
        let now = tried(code, &page).map(|now| with_remedy_in_rust(code, &now));
        match now {
            Err(trouble) => {
                let _ = writeln!(troubles, "{code}: {trouble}");
            }
            Ok(now) if now != page && blessing() => std::fs::write(&path, now).unwrap(),
            Ok(now) if now != page => {
                let _ = writeln!(troubles, "{code}: the page should be\n{now}");
            }
            Ok(_) => {}
        }
    }
    assert!(troubles.is_empty(), "{troubles}");
}

#[test]
fn pages_first() {
    check(0);
}

#[test]
fn pages_second() {
    check(1);
}

#[test]
fn pages_third() {
    check(2);
}

#[test]
fn pages_fourth() {
    check(3);
}

/// What the first two digits mean.
const AREAS: &[&str] = &[
    "Zymase itself",
    "Requests",
    "Types",
    "Activity: what has a derivative",
    "Memory",
    "Calls",
    "Derivatives and allocators of your own",
    "Control flow",
    "Files, tools and links",
    "Warnings",
];

#[test]
fn index() {
    let mut text = "# Codes of messages\n\n\
        Every message of Zymase has a code, and every code a page here, which `zymase --explain-code \
        Z0501` prints too. Codes keep their meaning; what a message says may become clearer. What \
        Rust programs meet most is in [docs/rust-refusals.md](../rust-refusals.md).\n"
        .to_string();
    for (area, title) in AREAS.iter().enumerate() {
        let _ = write!(text, "\n## {title}\n\n| code | |\n| --- | --- |\n");
        for &code in Code::ALL
            .iter()
            .filter(|&&code| code as usize / 100 == area)
        {
            let _ = writeln!(text, "| [{code}]({code}.md) | {} |", code.title());
        }
    }
    let path = folder().join("README.md");
    if blessing() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text);
    // No page is about a code that is not there.
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.strip_suffix(".md").unwrap();
        let known = Code::ALL.iter().any(|code| code.to_string() == stem);
        assert!(known || stem == "README", "{name}");
    }
}

#[test]
fn explained() {
    let folder = Folder::with(&[]);
    let page = std::fs::read_to_string(crate::folder().join("Z0501.md")).unwrap();
    for words in ["--explain-code Z0501", "--explain-code 501"] {
        let output = folder.zymase(words);
        assert_eq!(String::from_utf8_lossy(&output.stdout), page);
    }
    expect![[r#"
        exit code 2
        error: there is no code `Z0599`

        Near ones:
          Z0601  a registration of a derivative that cannot be read
          Z0602  a function of other types than its rule needs
          Z0603  a rule for a function whose arguments have no place in rules
          Z0604  no rule for the mode or the activities at hand
    "#]]
    .assert_eq(&shown(&folder.zymase("--explain-code Z0599")));
}
