//! `zymase explain`: what a module asks for, and how its derivatives are made.

use crate::args::ExplainArgs;
use crate::compile::{differentiate, no_library};
use crate::output;
use std::fmt::Write;
use zymase_core::diagnostic::Result;
use zymase_llvm::requests::{Pinned, Pins};
use zymase_llvm::{Context, Module};

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Result<()> {
    let name = args.input.display().to_string();
    let context = Context::new();
    let program = Module::parse(&context, &output::read(&args.input)?, &name)?;
    let done = differentiate(&program, &name, &args.options, &mut no_library)?;
    output::print(requests(&name, &done.pins).as_bytes())?;
    for report in &done.reports {
        output::print(format!("\n{report}").as_bytes())?;
    }
    Ok(())
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
