//! How long gradients take, and how long it takes to compile them, as ratios.
//!
//! `cargo bench -p zymase-cli --bench gradients` builds every program of `bench/` with `zymase cc` at
//! -O2 and -O3, with and without `restrict` where it matters, runs it, and prints a table: the
//! function alone, its gradient, their ratio, the ratio to a gradient written by hand where there is
//! one, and how far the median of the repetitions lies above the fastest. A second table compares
//! `zymase cc` (`zymase c++` for programs in C++) with clang alone. Words after `--` choose programs:
//! `cargo bench -p zymase-cli --bench gradients -- lu fft`.
//!
//! Ratios are of measurements in one process, a primal and a gradient by turns. Nothing is asserted;
//! a ratio above four, or above one and a half to what was written by hand, is marked.

mod shared;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// What a gradient may cost, in evaluations of the function.
const EXPECTED: f64 = 4.0;

/// What a gradient may cost, in gradients written by hand.
const EXPECTED_BY_HAND: f64 = 1.5;

/// The fastest of so many compilations counts.
const COMPILATIONS: usize = 3;

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
    let clang = shared::clang()?;
    let programs = chosen_programs()?;
    let folder = tempfile::tempdir().map_err(|error| format!("no folder to build in: {error}"))?;
    println!(
        "{:<34} {:>11} {:>11} {:>6} {:>8} {:>8}",
        "gradient", "primal ms", "gradient ms", "ratio", "by hand", "spread"
    );
    for program in &programs {
        for build in builds(program)? {
            for row in measure(program, &build, folder.path())? {
                println!("{row}");
            }
        }
    }
    println!(
        "\n{:<34} {:>11} {:>11} {:>6}",
        "compile -O2 -c", "clang ms", "zymase ms", "ratio"
    );
    let object = folder.path().join("program.o");
    for program in &programs {
        let zymase = [env!("CARGO_BIN_EXE_zymase"), driver(program)];
        let alone = compile_time(&[&clang], program, &object)?;
        let ours = compile_time(&zymase, program, &object)?;
        let name = name_of(program);
        println!(
            "{name:<34} {alone:>11.0} {ours:>11.0} {:>6.2}",
            ours / alone
        );
    }
    Ok(())
}

/// The programs whose names contain a word of the command line; all if there is none.
fn chosen_programs() -> Result<Vec<PathBuf>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench");
    // Cargo itself passes `--bench`.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let entries =
        std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut programs: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_source(path))
        .filter(|path| {
            words.is_empty()
                || words
                    .iter()
                    .any(|word| name_of(path).contains(word.as_str()))
        })
        .collect();
    programs.sort();
    Ok(programs)
}

fn is_source(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension == "c" || extension == "cpp"
}

/// The command that compiles a program.
fn driver(program: &Path) -> &'static str {
    match program
        .extension()
        .is_some_and(|extension| extension == "cpp")
    {
        true => "c++",
        false => "cc",
    }
}

/// The flags of a build, and what the table calls them.
struct Build {
    flags: Vec<&'static str>,
    label: String,
}

fn builds(program: &Path) -> Result<Vec<Build>, String> {
    let source = std::fs::read_to_string(program)
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let mut builds = Vec::new();
    for level in ["-O2", "-O3"] {
        builds.push(Build {
            flags: vec![level],
            label: level.to_string(),
        });
        if source.contains("ALIAS") {
            builds.push(Build {
                flags: vec![level, "-DRESTRICTED"],
                label: format!("{level} restrict"),
            });
        }
    }
    Ok(builds)
}

/// Builds and runs a program; a row for each line that it prints.
fn measure(program: &Path, build: &Build, folder: &Path) -> Result<Vec<String>, String> {
    let executable = folder.join("program");
    let mut compile = Command::new(env!("CARGO_BIN_EXE_zymase"));
    compile.arg(driver(program)).args(&build.flags).arg(program);
    run(compile.args(["-lm", "-o"]).arg(&executable))?;
    let printed = run(&mut Command::new(&executable))?;
    printed
        .lines()
        .map(|line| row(line, &build.label).ok_or(format!("{} printed: {line}", name_of(program))))
        .collect()
}

/// `NAME PRIMAL GRADIENT BY-HAND SPREAD` as a row of the table; the name may have several words.
fn row(line: &str, label: &str) -> Option<String> {
    let mut words = line.rsplitn(5, ' ');
    let spread: f64 = words.next()?.parse().ok()?;
    let by_hand: f64 = words.next()?.parse().ok()?;
    let gradient: f64 = words.next()?.parse().ok()?;
    let primal: f64 = words.next()?.parse().ok()?;
    let name = format!("{} {label}", words.next()?);
    let ratio = gradient / primal;
    let to_hand = gradient / by_hand;
    let compared = match by_hand > 0.0 {
        true => format!("{to_hand:.2}"),
        false => "-".to_string(),
    };
    let mark = match (
        ratio > EXPECTED,
        by_hand > 0.0 && to_hand > EXPECTED_BY_HAND,
    ) {
        (true, true) => "  above 4, and 1.5 by hand",
        (true, false) => "  above 4",
        (false, true) => "  above 1.5 by hand",
        (false, false) => "",
    };
    Some(format!(
        "{name:<34} {primal:>11.3} {gradient:>11.3} {ratio:>6.2} {compared:>8} {spread:>7.0}%{mark}"
    ))
}

/// The fastest of some compilations to an object, in milliseconds.
fn compile_time(compiler: &[&str], program: &Path, object: &Path) -> Result<f64, String> {
    let mut fastest = f64::INFINITY;
    for _ in 0..COMPILATIONS {
        let mut compile = Command::new(compiler[0]);
        compile.args(&compiler[1..]).args(["-O2", "-c"]);
        compile.arg(program).arg("-o").arg(object);
        let start = Instant::now();
        run(&mut compile)?;
        fastest = fastest.min(1e3 * start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

fn name_of(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
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
