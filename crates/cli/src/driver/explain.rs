//! `zymase explain`: what a program asks for, and how its derivatives are made, as text or as a
//! page for a browser.

mod html;
mod lines;
mod sources;

use crate::args::ExplainArgs;
use crate::compile::Done;
use crate::names::readable;
use crate::{cc, ld, output};
use std::fmt::Write;
use zymase_core::diagnostic::Result;
use zymase_llvm::requests::{Pinned, Pins};

/// What one file asks for, and how that is served.
pub struct Explained {
    /// What the user calls the file.
    pub name: String,
    /// What was done.
    pub done: Done,
}

/// Runs the command, and gives its exit code.
pub fn run(args: &ExplainArgs) -> Result<u8> {
    let scratch = output::scratch_folder()?;
    let program = match cc::bitcode_of_all(&args.inputs, args.options.level, scratch.path())? {
        Ok(program) => program,
        Err(code) => return Ok(code),
    };
    let mut explained = Vec::new();
    for (unit, done) in ld::serve_all(&program.link, &args.options)? {
        let source = program.sources.iter().find(|(object, _)| *object == unit);
        let name = source.map_or(unit, |(_, source)| source.clone());
        explained.push(Explained { name, done });
    }
    match &args.html {
        Some(path) => output::write(path, html::page(&explained).as_bytes())?,
        None => output::print(readable(&text(&explained)).as_bytes())?,
    }
    Ok(0)
}

fn text(explained: &[Explained]) -> String {
    let asking = |file: &&Explained| !file.done.pins.requests.is_empty();
    let some = explained.iter().any(|file| asking(&file));
    let mut text = String::new();
    for file in explained.iter().filter(|file| !some || asking(file)) {
        text.push_str(&requests(&file.name, &file.done.pins));
    }
    for report in explained.iter().flat_map(|file| &file.done.reports) {
        let _ = write!(text, "\n{report}");
    }
    text
}

/// The requests in words.
pub fn requests(name: &str, pins: &Pins) -> String {
    let mut text = String::new();
    if pins.requests.is_empty() {
        let _ = writeln!(text, "{name} asks for no derivative.");
    }
    for pinned in &pins.requests {
        text.push_str(&request(pinned));
    }
    text
}

fn request(pinned: &Pinned) -> String {
    let parsed = &pinned.parsed;
    let mut text = format!("{} derivative of `{}`", parsed.mode.name(), pinned.target);
    if parsed.width > 1 {
        let _ = write!(text, ", {} at once", parsed.width);
    }
    if let Some(place) = pinned.places.first() {
        let _ = write!(text, ", asked for at {place}");
    }
    text.push('\n');
    for (position, argument) in parsed.args.iter().enumerate() {
        let _ = writeln!(
            text,
            "  argument {}: {}",
            position + 1,
            argument.activity.name()
        );
    }
    let _ = writeln!(text, "  result: {}", parsed.ret.name());
    text
}
