//! PyTorch, as a peer: the same step, where `python3` (or what `PYTHON` names) has it.

use super::model::NAME;
use super::options::Options;
use super::report::Report;
use super::{is_there, lines};
use std::process::{Command, Stdio};

/// What the report calls it.
pub const LANGUAGE: &str = "PyTorch";

/// The way that is compared with.
pub const COMPILED: &str = "compiled, one thread";

/// Measures a step, compiled and not, with one thread and with all.
pub fn measure(options: &Options, report: &mut Report) {
    let ways = [
        ("1", "compiled", COMPILED),
        ("0", "compiled", "compiled, all threads"),
        ("1", "eager", "eager, one thread"),
        ("0", "eager", "eager, all threads"),
    ];
    let chosen = |(_, _, variant): &(&str, &str, &str)| {
        options.chooses(LANGUAGE, &format!("{NAME} {variant}"))
    };
    let ways: Vec<_> = ways.into_iter().filter(chosen).collect();
    if ways.is_empty() {
        return;
    }
    let python = std::env::var("PYTHON").unwrap_or("python3".to_string());
    let mut imports = Command::new(&python);
    imports.args(["-c", "import torch"]).stderr(Stdio::null());
    if !is_there(&python) || !imports.status().is_ok_and(|status| status.success()) {
        report.skip("PyTorch: python3 has no module `torch`; PYTHON may name another");
        return;
    }
    for (threads, mode, variant) in ways {
        eprintln!("{LANGUAGE} {variant}");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/paper/torch_step.py");
        let mut command = Command::new(&python);
        command.args([script, threads, mode]);
        if options.is_tiny {
            command.arg("tiny");
        }
        match lines(command) {
            Ok(lines) => report.add(LANGUAGE, lines),
            Err(problem) => report.fail(&problem),
        }
    }
}
