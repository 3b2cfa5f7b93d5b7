//! What the report says of the machine and of the command.

use super::options::{FAST, Options};
use serde_json::{Value, json};
use std::process::Command;

/// Processor, system and compilers.
pub fn describe(clang: &str) -> Value {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map(|rest| rest.trim_start_matches([' ', '\t', ':']));
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().find_map(|line| {
        let kilobytes: f64 = line
            .strip_prefix("MemTotal:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()?;
        Some(format!("{:.0} GiB", kilobytes / (1 << 20) as f64))
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let described = [
        ("processor", model.map(str::to_string)),
        ("cores", Some(cores.to_string())),
        ("memory", memory),
        ("system", first_line("uname", &["-srm"])),
        ("clang", first_line(clang, &["--version"])),
        (
            "zymase",
            first_line(env!("CARGO_BIN_EXE_zymase"), &["--version"]),
        ),
        ("date", first_line("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
    ];
    let known = described
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), json!(value?))));
    Value::Object(known.collect())
}

/// The command that measures the same.
pub fn command(options: &Options) -> String {
    let mut command = "cargo bench -p zymase-cli --bench gradients --".to_string();
    let flags = [
        (options.is_tiny, "--tiny"),
        (options.without_rust, "--without-rust"),
    ];
    let flags = flags
        .iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, flag)| *flag);
    let words = options.words.iter().map(String::as_str);
    let levels = options.levels.iter().map(|&level| match level {
        FAST => "-ffast-math",
        level => level,
    });
    for word in levels.chain(flags).chain(words) {
        command.push(' ');
        command.push_str(word);
    }
    command
}

fn first_line(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    printed.lines().next().map(str::to_string)
}
