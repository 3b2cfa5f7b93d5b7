//! How long the layers and the whole of GPT-2 take with the shapes of the paper, in C and in Rust,
//! with gradients that Zymase writes and with those by hand:
//!
//!     cargo zymase bench                         # everything
//!     cargo zymase bench -- attention gelu       # rows with these words in their names
//!     cargo zymase bench -- --tiny               # small shapes, to see that it works
//!     cargo zymase bench -- --without-c --without-torch --out /tmp/gpt2-bench
//!
//! Prints tables, and writes `gpt2.json` and pictures. Every row in Rust is measured in a process of
//! its own, as are the two programs in C: memory and threads that another one has left would make it
//! faster or slower.

mod c;
mod layers;
mod measure;
mod model;
mod options;
mod pictures;
mod report;
mod torch;
mod training;

use options::Options;
use report::{Line, Report};
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let result = Options::read(std::env::args().skip(1)).and_then(|options| match &options.alone {
        Some(name) => alone(name, &options),
        None => all(&options),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Measures one row in this process, and prints it.
fn alone(name: &str, options: &Options) -> Result<(), String> {
    limit_memory();
    let line = match layers::measure(name, options.is_tiny) {
        Some(line) => vec![line],
        None => model::measure(name, options.is_tiny)
            .ok_or_else(|| format!("there is nothing with the name {name:?}"))?,
    };
    for line in line {
        let line = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        println!("{line}");
    }
    Ok(())
}

/// Asks the system for no more memory than there is: what needs more should fail by itself, before
/// the system chooses a process to end.
fn limit_memory() {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = memory.lines().find_map(|line| {
        let kilobytes = line
            .strip_prefix("MemAvailable:")?
            .trim()
            .strip_suffix("kB")?;
        kilobytes.trim().parse::<u64>().ok()
    });
    if let Some(kilobytes) = available {
        // A quarter is left to others.
        let bytes = kilobytes / 4 * 3 * 1024;
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: bytes,
        };
        // SAFETY: the structure is there to be read. Without a limit, everything works as well.
        unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    }
}

/// Measures everything that is chosen.
fn all(options: &Options) -> Result<(), String> {
    std::fs::create_dir_all(&options.folder)
        .map_err(|error| format!("{}: {error}", options.folder.display()))?;
    let mut report = Report::new(options);
    let rust = layers::NAMES.iter().map(|name| (*name).to_string());
    let rust: Vec<String> = rust.chain(model::names()).collect();
    for name in rust.iter().filter(|name| options.chooses("Rust", name)) {
        eprintln!("Rust {name}");
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(this);
        command.args(["--alone", name]);
        if options.is_tiny {
            command.arg("--tiny");
        }
        match lines(command) {
            Ok(lines) => report.add("Rust", lines),
            Err(problem) => report.fail(&problem),
        }
    }
    if !options.without_c {
        c::measure(options, &mut report)?;
    }
    if !options.without_torch {
        torch::measure(options, &mut report);
    }
    if options.chooses("Rust", "forty steps") {
        training::draw(&options.folder, &mut report)?;
    }
    report.finish(options)
}

/// What a process prints, one JSON object on each line.
fn lines(mut command: Command) -> Result<Vec<Line>, String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{command:?} does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let read = |line: &str| {
        serde_json::from_str(line).map_err(|error| format!("{command:?} prints {line:?}: {error}"))
    };
    printed.lines().map(read).collect()
}

/// Whether there is a program of this name.
fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
