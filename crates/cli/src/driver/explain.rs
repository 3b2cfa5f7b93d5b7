//! `zymase explain`: what a program asks for, and how its derivatives are made, as text or as a
//! page for a browser.

mod html;
mod lines;
mod sources;

use crate::args::{CompileOptions, ExplainArgs};
use crate::compile::Done;
use crate::names::readable;
use crate::{cc, ld, output};
use std::fmt::Write;
use zymase_core::diagnostic::Result;
use zymase_core::report::Report;
use zymase_llvm::requests::Pinned;

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
    let options = CompileOptions {
        tells_loops: true,
        ..args.options.clone()
    };
    for (unit, done) in ld::serve_all(&program.link, &options)? {
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
        text.push_str(&requests(&file.name, &file.done));
    }
    for report in explained.iter().flat_map(|file| &file.done.reports) {
        let _ = write!(text, "\n{report}");
    }
    text
}

/// The requests in words.
pub fn requests(name: &str, done: &Done) -> String {
    let mut text = String::new();
    if done.pins.requests.is_empty() {
        let _ = writeln!(text, "{name} asks for no derivative.");
    }
    for pinned in &done.pins.requests {
        text.push_str(&request(pinned, &done.reports));
    }
    text
}

fn request(pinned: &Pinned, reports: &[Report]) -> String {
    let parsed = &pinned.parsed;
    let mut text = format!("{} derivative of `{}`", parsed.mode.name(), pinned.target);
    if parsed.width > 1 {
        let _ = write!(text, ", {} at once", parsed.width);
    }
    if let Some(place) = pinned.places.first() {
        let _ = write!(text, ", asked for at {place}");
    }
    text.push('\n');
    let names = parameters_in_rust(pinned, reports);
    for (position, argument) in parsed.args.iter().enumerate() {
        let called = match names.get(position) {
            // The length of a slice follows its address.
            Some(name) if position > 0 && names[position - 1] == *name => continue,
            Some(name) => name.to_string(),
            None => format!("argument {}", position + 1),
        };
        let _ = writeln!(text, "  {called}: {}", argument.activity.name());
    }
    // Thunks of Rust return nothing: their results are behind a parameter.
    if names.is_empty() {
        let _ = writeln!(text, "  result: {}", parsed.ret.name());
    }
    text
}

/// What a Rust function calls its parameters, if all of them have names. rustc may pass one in
/// several words, so that positions are not those of the source.
fn parameters_in_rust<'a>(pinned: &Pinned, reports: &'a [Report]) -> Vec<&'a str> {
    let report = reports
        .iter()
        .filter(|_| rustc_demangle::try_demangle(&pinned.target).is_ok())
        .find(|report| report.function == pinned.target);
    let arguments = report.map_or(&[][..], |report| &report.arguments);
    match arguments.iter().all(|argument| !argument.name.is_empty()) {
        true => arguments.iter().map(|a| a.name.as_str()).collect(),
        false => Vec::new(),
    }
}
