//! How long gradients take, and how long it takes to compile them, as ratios.
//!
//! `cargo bench -p zymase-cli --bench gradients` builds every program of `bench/` with `zymase cc` at
//! -O2 and -O3, with and without `restrict` where it matters, runs it, and prints tables:
//!
//! - the function alone, its gradient, their ratio, the ratio to a gradient written by hand where
//!   there is one, and how far the median of the repetitions lies above the fastest;
//! - how the first of these ratios varies over sizes;
//! - the gradient as it is beside one that is made before the function is optimized;
//! - `zymase cc` (`zymase c++` for programs in C++) beside clang alone.
//!
//! The same is in `target/bench/gradients.json`. Words after `--` choose programs, and levels:
//! `cargo bench -p zymase-cli --bench gradients -- -O3 lu fft`.
//!
//! Ratios are of measurements in one process, a primal and a gradient by turns. Nothing is asserted;
//! a ratio that is higher than expected is marked.

mod programs;
mod rows;
#[path = "../shared/mod.rs"]
mod shared;

use programs::{Program, chosen_programs};
use rows::{Row, variations};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The fastest of so many compilations counts.
const COMPILATIONS: usize = 3;

/// Each program of a pair runs so often, by turns.
const TURNS: usize = 2;

fn main() -> ExitCode {
    match print_tables() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn print_tables() -> Result<(), String> {
    let clang = match shared::clang() {
        Ok(clang) => clang,
        Err(reason) => {
            println!("all programs are skipped: {reason}");
            return Ok(());
        }
    };
    let (programs, skipped) = chosen_programs(&clang)?;
    for reason in &skipped {
        println!("{reason}");
    }
    let folder = tempfile::tempdir().map_err(|error| format!("no folder to build in: {error}"))?;
    let (gradients, failures) = gradients(&programs, folder.path());
    let report = json!({
        "gradients": gradients.iter().map(Row::json).collect::<Vec<_>>(),
        "sizes": sizes(&gradients),
        "unoptimized": unoptimized(&programs, folder.path())?,
        "compilation": compilation(&programs, &clang, folder.path())?,
        "skipped": skipped, "failures": failures,
    });
    write(&report)?;
    match failures.len() {
        0 => Ok(()),
        count => Err(format!("{count} measurements failed, see above")),
    }
}

/// The rows of all programs, and what went wrong with the others.
fn gradients(programs: &[Program], folder: &Path) -> (Vec<Row>, Vec<String>) {
    println!("{}", Row::header());
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    let executable = folder.join("program");
    for program in programs {
        for build in program.builds() {
            let compiled = run(&mut program.compile(&build.flags, &executable));
            match compiled.and_then(|_| measured(program, &executable, &build.label, &[])) {
                Ok(measured) => {
                    measured.iter().for_each(|row| println!("{}", row.line()));
                    rows.extend(measured);
                }
                Err(reason) => {
                    println!("{} {} failed: {reason}", program.name(), build.label);
                    failures.push(reason);
                }
            }
        }
    }
    (rows, failures)
}

/// How the ratio of gradient and primal varies over sizes.
fn sizes(rows: &[Row]) -> Vec<Value> {
    println!(
        "\n{:<34} {:>11} {:>11} {:>6}",
        "over sizes", "least", "most", "varies"
    );
    let mut report = Vec::new();
    for variation in variations(rows) {
        println!("{}", variation.line());
        report.push(variation.json());
    }
    report
}

/// Gradients beside those that are made before the function is optimized, at the smallest size that
/// takes a while.
fn unoptimized(programs: &[Program], folder: &Path) -> Result<Vec<Value>, String> {
    println!(
        "\n{:<58} {:>11} {:>11} {:>6}",
        "differentiated before optimizing -O2", "after ms", "before ms", "ratio"
    );
    let mut report = Vec::new();
    let executables = [folder.join("after"), folder.join("before")];
    for program in programs {
        run(&mut program.compile(&["-O2"], &executables[0]))?;
        let mut compile = program.compile(&["-O2"], &executables[1]);
        compile.env("ZYMASE_UNOPTIMIZED", "1");
        if let Err(complaint) = run(&mut compile) {
            let first = complaint.lines().find(|line| line.starts_with("error"));
            let reason = first.unwrap_or("it does not compile").to_string();
            println!("{:<58} {reason}", program.name());
            report.push(json!({"program": program.name(), "refused": reason}));
            continue;
        }
        let mut fastest: [Vec<Row>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..TURNS {
            for (executable, fastest) in executables.iter().zip(&mut fastest) {
                let rows = measured(program, executable, "-O2", &["one"])?;
                rows::keep_fastest(fastest, rows);
            }
        }
        let [after, before] = &fastest;
        for (after, before) in after.iter().zip(before) {
            let ratio = before.gradient / after.gradient;
            println!(
                "{:<58} {:>11.3} {:>11.3} {ratio:>6.2}",
                after.title(),
                after.gradient,
                before.gradient
            );
            report.push(json!({
                "program": program.name(), "name": after.name, "size": after.size,
                "after_ms": after.gradient, "before_ms": before.gradient, "ratio": ratio,
            }));
        }
    }
    Ok(report)
}

fn compilation(programs: &[Program], clang: &str, folder: &Path) -> Result<Vec<Value>, String> {
    println!(
        "\n{:<34} {:>11} {:>11} {:>6}",
        "compile -O2 -c", "clang ms", "zymase ms", "ratio"
    );
    let object = folder.join("program.o");
    let mut report = Vec::new();
    for program in programs {
        let name = program.name();
        let alone = compile_time(program, || Command::new(clang), &object)?;
        let ours = compile_time(program, || program.zymase(), &object)?;
        let ratio = ours / alone;
        println!("{name:<34} {alone:>11.0} {ours:>11.0} {ratio:>6.2}");
        report.push(json!({
            "program": name, "clang_ms": alone, "zymase_ms": ours, "ratio": ratio,
        }));
    }
    Ok(report)
}

/// The fastest of some compilations to an object, in milliseconds.
fn compile_time(
    program: &Program,
    compiler: impl Fn() -> Command,
    object: &Path,
) -> Result<f64, String> {
    let mut fastest = f64::INFINITY;
    for _ in 0..COMPILATIONS {
        let mut compile = compiler();
        compile.args(["-O2", "-c"]).arg(program.path());
        let start = Instant::now();
        run(compile.arg("-o").arg(object))?;
        fastest = fastest.min(1e3 * start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

/// Runs a program; a row for each line that it prints.
fn measured(
    program: &Program,
    executable: &Path,
    label: &str,
    words: &[&str],
) -> Result<Vec<Row>, String> {
    let mut command = Command::new(executable);
    if let Some(folder) = programs::data_folder() {
        command.env("BENCH_DATA", folder);
    }
    let printed = run(command.args(words))?;
    let rows = printed.lines().map(|line| {
        Row::read(line, program.name(), label)
            .ok_or_else(|| format!("{} printed: {line}", program.name()))
    });
    rows.collect()
}

fn write(report: &Value) -> Result<(), String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = target.parent().unwrap_or(target).join("bench");
    let file = folder.join("gradients.json");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, format!("{report:#}\n")))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    println!("\nwritten to {}", file.display());
    Ok(())
}

/// Runs a command, which must succeed, and gives what it prints.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?} does not start: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} from {command:?}\n{errors}", output.status))
}
