//! The tables, one after the other.

use super::machine;
use super::options::Options;
use super::peers::{Kind, Peer, installed_peers};
use super::programs::{Build, Program, chosen_programs, data_folder, repository};
use super::rows::{Row, keep_fastest, refusals, variations};
use super::{rust, shared, turns};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The fastest of so many compilations counts.
const COMPILATIONS: usize = 3;

/// Each program of a pair runs so often, by turns.
const TURNS: usize = 2;

/// Measures, prints and writes everything.
pub fn run(options: &Options) -> Result<(), String> {
    let clang = match shared::clang() {
        Ok(clang) => clang,
        Err(reason) => {
            println!("all programs are skipped: {reason}");
            return Ok(());
        }
    };
    let folder = tempfile::tempdir().map_err(|error| format!("no folder to build in: {error}"))?;
    let folder = folder.path();
    let (programs, mut skipped) = chosen_programs(&clang, options)?;
    let (peers, missing) = installed_peers(&clang, folder);
    skipped.extend(missing);
    skipped.iter().for_each(|reason| println!("{reason}"));
    let (mut gradients, mut failures) = gradients(&programs, &peers, folder, options);
    if !options.without_rust {
        match rust::measured(options) {
            Ok(rows) => {
                rows.iter().for_each(|row| println!("{}", row.line()));
                gradients.extend(rows);
            }
            Err(reason) => {
                println!("the programs in Rust failed: {reason}");
                failures.push(reason);
            }
        }
    }
    let refusals = refusals(&gradients);
    refusals.iter().for_each(|refusal| println!("{refusal}"));
    let versions = peers
        .iter()
        .map(|peer| (peer.name.to_string(), json!(peer.version)));
    let report = json!({
        "machine": machine::describe(&clang), "command": machine::command(options),
        "peers": versions.collect::<serde_json::Map<_, _>>(),
        "gradients": gradients.iter().map(Row::json).collect::<Vec<_>>(),
        "sizes": sizes(&gradients),
        "unoptimized": unoptimized(&programs, folder, options)?,
        "compilation": compilation(&programs, &clang, folder)?,
        "skipped": skipped, "refused": refusals, "failures": failures,
    });
    failures.extend(write(&report, options).err());
    match failures.len() {
        0 => Ok(()),
        count => Err(format!("{count} things failed:\n{}", failures.join("\n"))),
    }
}

/// The rows of all programs, and what went wrong with the others.
fn gradients(
    programs: &[Program],
    peers: &[Peer],
    folder: &Path,
    options: &Options,
) -> (Vec<Row>, Vec<String>) {
    let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
    println!("{}", Row::header(&names));
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    let executable = folder.join("program");
    for program in programs {
        for build in program.builds() {
            let compiled = output(&mut program.compile(&build.flags, &executable));
            let measured = compiled
                .and_then(|_| with_peers(program, &executable, &build, peers, folder, options));
            match measured {
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

/// Runs a program, at the last level beside the peers. They do not depend on the level, and those that
/// do not compile the program itself not on `restrict` either.
fn with_peers(
    program: &Program,
    executable: &Path,
    build: &Build,
    peers: &[Peer],
    folder: &Path,
    options: &Options,
) -> Result<Vec<Row>, String> {
    let peers: Vec<&Peer> = peers
        .iter()
        .filter(|peer| peer.kind == Kind::SameProgram || !build.is_restricted)
        .collect();
    if !build.has_peers || peers.is_empty() {
        let words: &[&str] = if options.is_tiny { &["tiny"] } else { &[] };
        return measured(program, executable, &build.label, words);
    }
    let effort = turns::Effort {
        is_tiny: options.is_tiny,
    };
    turns::measure(command(executable), &peers, build, program, folder, effort)
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
fn unoptimized(
    programs: &[Program],
    folder: &Path,
    options: &Options,
) -> Result<Vec<Value>, String> {
    let word = if options.is_tiny { "tiny" } else { "one" };
    println!(
        "\n{:<58} {:>11} {:>11} {:>6}",
        "differentiated before optimizing -O2", "after ms", "before ms", "ratio"
    );
    let mut report = Vec::new();
    let executables = [folder.join("after"), folder.join("before")];
    for program in programs {
        output(&mut program.compile(&["-O2"], &executables[0]))?;
        let mut compile = program.compile(&["-O2"], &executables[1]);
        compile.env("ZYMASE_UNOPTIMIZED", "1");
        if let Err(complaint) = output(&mut compile) {
            let first = complaint.lines().find(|line| line.starts_with("error"));
            let reason = first.unwrap_or("it does not compile").to_string();
            println!("{:<58} {reason}", program.name());
            report.push(json!({"program": program.name(), "refused": reason}));
            continue;
        }
        let mut fastest: [Vec<Row>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..TURNS {
            for (executable, fastest) in executables.iter().zip(&mut fastest) {
                let rows = measured(program, executable, "-O2", &[word])?;
                keep_fastest(fastest, rows);
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
        output(compile.arg("-o").arg(object))?;
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
    let printed = output(command(executable).args(words))?;
    let rows = printed.lines().map(|line| {
        Row::read(line, program.name(), program.language(), label)
            .ok_or_else(|| format!("{} printed: {line}", program.name()))
    });
    rows.collect()
}

/// A program, which finds its data.
fn command(executable: &Path) -> Command {
    let mut command = Command::new(executable);
    command.envs(data_folder().map(|folder| ("BENCH_DATA", folder)));
    command
}

/// Writes what was measured, and lets `bench/report` make pictures and a page of it.
fn write(report: &Value, options: &Options) -> Result<(), String> {
    let file = options.folder.join("gradients.json");
    std::fs::create_dir_all(&options.folder)
        .and_then(|()| std::fs::write(&file, format!("{report:#}\n")))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    println!("\nwritten to {}", file.display());
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--release", "--quiet", "--locked", "--manifest-path"]);
    cargo.arg(repository().join("bench/report/Cargo.toml"));
    cargo
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("report"));
    print!(
        "{}",
        output(cargo.arg("--").arg(&file).arg(&options.folder))?
    );
    Ok(())
}

/// Runs a command, which must succeed, and gives what it prints.
pub fn output(command: &mut Command) -> Result<String, String> {
    let done = command
        .output()
        .map_err(|error| format!("{command:?} does not start: {error}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&done.stderr);
    Err(format!("{} from {command:?}\n{errors}", done.status))
}
