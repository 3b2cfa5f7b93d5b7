//! The program in C: compiled by Zymase, with both gradients, and by clang alone, with the one by hand.
//! Each with the backward pass by hand in tiles, and as plain loops.

use super::options::Options;
use super::report::Report;
use super::{is_there, layers, lines, model};
use std::path::Path;
use std::process::Command;

/// What the report calls the build of plain loops by clang alone.
pub const PLAIN: &str = "C, clang, plain";

const FLAGS: &str = "-O3 -ffast-math -march=native -Wno-unknown-pragmas";

/// Measures everything that is chosen, in each build that the machine can make.
pub fn measure(options: &Options, report: &mut Report) -> Result<(), String> {
    let zymase = std::env::var("ZYMASE").unwrap_or("zymase".to_string());
    let clang = ["clang-22", "clang"]
        .into_iter()
        .find(|name| is_there(name));
    let plain = "-DPLAIN";
    if !is_there(&zymase) {
        report.skip("C with synthesized gradients: there is no `zymase` on the PATH");
    } else {
        let both = ["hand", "synthesized"];
        measure_build(options, report, "C, Zymase", &[&zymase, "cc"], &both)?;
        let build = [&zymase, "cc", plain];
        measure_build(options, report, "C, Zymase, plain", &build, &both)?;
    }
    match clang {
        None => report.skip("C by clang alone: there is neither `clang-22` nor `clang`"),
        Some(clang) => {
            let build = [clang, "-DWITHOUT_ZYMASE"];
            measure_build(options, report, "C, clang", &build, &["hand"])?;
            let build = [clang, "-DWITHOUT_ZYMASE", plain];
            measure_build(options, report, PLAIN, &build, &["hand"])?;
        }
    }
    Ok(())
}

fn measure_build(
    options: &Options,
    report: &mut Report,
    language: &str,
    compiler: &[&str],
    methods: &[&str],
) -> Result<(), String> {
    // The builds differ in the backward pass of the product only.
    let has_layers = !compiler.contains(&"-DPLAIN")
        && layers::NAMES
            .iter()
            .any(|name| options.chooses(language, name));
    let has_model = options.chooses(language, model::NAME);
    if !has_layers && !has_model {
        return Ok(());
    }
    let program = options
        .folder
        .join(language.replace(", ", "-").to_lowercase());
    compile(compiler, &program, options.is_tiny)?;
    let mut parts = Vec::new();
    if has_layers {
        parts.push("layers".to_string());
    }
    if has_model {
        parts.push("model".to_string());
        parts.extend(methods.iter().map(|method| format!("memory {method}")));
    }
    for part in parts {
        eprintln!("{language} {part}");
        let mut command = Command::new(&program);
        command.arg("bench").args(part.split(' '));
        let lines = lines(command)?.into_iter();
        let chosen = lines.filter(|line| options.chooses(language, &line.name));
        report.add(language, chosen.collect());
    }
    Ok(())
}

fn compile(compiler: &[&str], program: &Path, is_tiny: bool) -> Result<(), String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/c/gpt2.c");
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(FLAGS.split(' '));
    if is_tiny {
        command.arg("-DTINY");
    }
    command.args([source, "-lm", "-o"]).arg(program);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?} does not start: {error}")),
    }
}
