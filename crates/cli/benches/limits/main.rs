//! How compile time and memory grow with the size of a program.
//!
//! `cargo bench -p zymase-cli --bench limits` writes C programs of several families at growing sizes,
//! compiles them with `zymase cc -O2 -c` and with clang alone, and prints a line for each: size,
//! seconds of Zymase and of clang, peak memory of both, and the exponent with which the seconds of
//! each grew since the size before (1 is linear, 2 is quadratic). Seconds are those of the processor,
//! so that a busy machine gives the same curve. Words after `--` choose families,
//! and a number limits the size: `cargo bench -p zymase-cli --bench limits -- chain 1000`.
//!
//! Nothing is asserted; an exponent of Zymase above 1.4 that clang does not have is marked. Tapes
//! that find no memory are in `crates/cli/tests/limits.rs`, for they cost no compile time.

mod families;
#[path = "../shared/mod.rs"]
mod shared;

use families::FAMILIES;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use wait4::Wait4;

/// An exponent that is not "near linear" any more.
const STEEP: f64 = 1.4;

/// Differences below this many seconds are noise.
const NOISE: f64 = 0.2;

fn main() -> ExitCode {
    match print_curves() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn print_curves() -> Result<(), String> {
    // Cargo itself passes `--bench`.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let limit = words.iter().find_map(|word| word.parse::<usize>().ok());
    let names: Vec<&String> = words
        .iter()
        .filter(|word| word.parse::<usize>().is_err())
        .collect();
    let folder = tempfile::tempdir().map_err(|error| format!("no folder to build in: {error}"))?;
    let clang = shared::clang()?;
    println!(
        "{:<10} {:>7} {:>9} {:>6} {:>9} {:>6} {:>9} {:>9}",
        "family", "size", "zymase s", "grows", "clang s", "grows", "zymase MB", "clang MB"
    );
    for family in FAMILIES {
        if !names.is_empty() && !names.iter().any(|name| family.name.contains(name.as_str())) {
            continue;
        }
        let mut before: Option<(usize, Measured, Measured)> = None;
        for &size in family.sizes {
            if limit.is_some_and(|limit| size > limit) {
                break;
            }
            let source = folder.path().join("program.c");
            std::fs::write(&source, (family.program)(size))
                .map_err(|error| format!("{}: {error}", source.display()))?;
            let ours = measure(&[env!("CARGO_BIN_EXE_zymase"), "cc"], &source)?;
            let alone = measure(&[&clang], &source)?;
            let exponents = before.map(|(smaller, our, their)| {
                let step = (size as f64 / smaller as f64).ln();
                let grown = |now: f64, then: f64| (now / then).ln() / step;
                (
                    grown(ours.seconds, our.seconds),
                    grown(alone.seconds, their.seconds),
                )
            });
            let shown = |exponent: Option<f64>| match exponent {
                Some(exponent) => format!("{exponent:.2}"),
                None => "-".to_string(),
            };
            let steep = exponents.is_some_and(|(our, their)| {
                our > STEEP && their < STEEP && ours.seconds > alone.seconds + NOISE
            });
            println!(
                "{:<10} {size:>7} {:>9.2} {:>6} {:>9.2} {:>6} {:>9} {:>9}{}",
                family.name,
                ours.seconds,
                shown(exponents.map(|(our, _)| our)),
                alone.seconds,
                shown(exponents.map(|(_, their)| their)),
                ours.megabytes,
                alone.megabytes,
                if steep { "  steep" } else { "" }
            );
            before = Some((size, ours, alone));
        }
    }
    Ok(())
}

#[derive(Copy, Clone)]
struct Measured {
    seconds: f64,
    megabytes: u64,
}

/// Compiles a program to an object. Memory is that of the largest process that took part.
fn measure(compiler: &[&str], source: &Path) -> Result<Measured, String> {
    let mut compile = Command::new(compiler[0]);
    compile.args(&compiler[1..]).args(["-O2", "-w", "-c"]);
    // clang's own limit on nested expressions is not ours.
    compile.arg("-fbracket-depth=200000");
    compile.arg(source).arg("-o");
    compile.arg(source.with_extension("o")).stdin(Stdio::null());
    let child = compile
        .spawn()
        .map_err(|error| format!("{compile:?} does not start: {error}"))?;
    let done = child
        .wait4()
        .map_err(|error| format!("{compile:?}: {error}"))?;
    if !done.status.success() {
        return Err(format!("{} from {compile:?}", done.status));
    }
    let time = done.rusage.utime + done.rusage.stime;
    Ok(Measured {
        seconds: time.as_secs_f64(),
        megabytes: done.rusage.maxrss >> 20,
    })
}
