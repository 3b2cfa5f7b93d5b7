//! `zymase --explain-code Z0123`: the page of a code, which is a part of the program.

use crate::output;
use include_dir::{Dir, include_dir};
use std::process::ExitCode;
use zymase_core::diagnostic::{Code, Result};

/// The pages, one for each code.
static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../docs/errors");

/// How many codes are named where there is none that was asked for.
const NEAR: usize = 4;

/// Prints the page of a code; if there is none, the codes that may be meant.
pub fn explain(text: &str) -> Result<ExitCode> {
    let page = Code::parse(text).and_then(|code| PAGES.get_file(format!("{code}.md")));
    if let Some(page) = page.and_then(|page| page.contents_utf8()) {
        output::print(page.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("error: there is no code `{text}`\n\nNear ones:");
    for code in near(text) {
        eprintln!("  {code}  {}", code.title());
    }
    Ok(ExitCode::from(2))
}

/// The codes whose numbers are nearest to that in a text.
fn near(text: &str) -> Vec<Code> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number: u64 = digits.parse().unwrap_or(0);
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|&code| (code as u64).abs_diff(number));
    codes.truncate(NEAR);
    codes.sort();
    codes
}
