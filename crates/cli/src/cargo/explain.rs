//! `cargo zymase explain`: how the derivatives of the programs of a package are made.
//!
//! Linking with derivatives keeps what it read in a folder beside the program. So this builds what
//! `cargo build` would, which is nothing if it is there already, and hands those folders to
//! `zymase explain`.

use crate::{Complaint, Result, cannot_run, exit_code, installation, subcommand};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use zymase_core::diagnostic::Code;

/// Options of `zymase explain`, each with a value; everything else is cargo's.
const OPTIONS: [&str; 2] = ["--html", "--plan"];

/// Runs the command; `args` are what follows `explain`.
pub fn run(args: &[OsString]) -> Result<ExitCode> {
    let (ours, cargos) = sorted(args);
    let mut build = subcommand::cargo()?;
    build.args(["build", "--message-format=json-render-diagnostics"]);
    build.args(cargos).stdout(Stdio::piped());
    let built = build.spawn().and_then(|child| child.wait_with_output());
    let built = built.map_err(|e| cannot_run(&build, &e))?;
    if !built.status.success() {
        return Ok(exit_code(built.status));
    }
    let programs = programs(&String::from_utf8_lossy(&built.stdout));
    if programs.is_empty() {
        return Err(Complaint {
            code: Code::InvalidInput,
            message: "nothing here is linked, and derivatives are written when a program is; name \
                      one with --bin, --example, --test or --all-targets"
                .to_string(),
        });
    }
    let links = programs.iter().filter_map(|p| Some((p, kept_link(p)?)));
    let links: Vec<(&PathBuf, PathBuf)> = links.collect();
    let several = links.len() > 1;
    let is_page = |option: &OsString| option.to_string_lossy().starts_with("--html");
    if links.is_empty() {
        println!("{} asks for no derivative.", names(programs.iter()));
    }
    if several && ours.iter().any(is_page) {
        let asking = names(links.iter().map(|(program, _)| *program));
        return Err(Complaint {
            code: Code::InvalidInput,
            message: format!(
                "--html is for one program, and {asking} ask for derivatives; name one with --bin, \
                 --example or --test"
            ),
        });
    }
    for (program, link) in &links {
        if several {
            println!("{}:\n", names(std::iter::once(*program)));
        }
        let mut file = OsString::from("@");
        file.push(link.join("inputs"));
        let mut explain = Command::new(installation::beside("zymase")?);
        explain.arg("explain").args(&ours).arg(file);
        let status = explain.status().map_err(|e| cannot_run(&explain, &e))?;
        if !status.success() {
            return Ok(exit_code(status));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The arguments for `zymase explain`, and those for cargo.
fn sorted(args: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut ours, mut cargos) = (Vec::new(), Vec::new());
    let mut args = args.iter().cloned();
    while let Some(argument) = args.next() {
        let text = argument.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        match OPTIONS.contains(&name) {
            true if text.contains('=') => ours.push(argument),
            true => ours.extend(std::iter::once(argument).chain(args.next())),
            false => cargos.push(argument),
        }
    }
    (ours, cargos)
}

/// The programs and shared libraries among what cargo says it has built.
fn programs(messages: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for message in messages.lines() {
        let Ok(message) = serde_json::from_str::<Value>(message) else {
            continue;
        };
        if message["reason"] != "compiler-artifact" {
            continue;
        }
        let shared = message["target"]["crate_types"]
            .as_array()
            .is_some_and(|types| types.iter().any(|t| t == "cdylib" || t == "dylib"));
        match message["executable"].as_str() {
            Some(executable) => found.push(PathBuf::from(executable)),
            None if shared => {
                let files = message["filenames"].as_array().into_iter().flatten();
                let files = files.filter_map(Value::as_str).map(PathBuf::from);
                found.extend(files.filter(|file| is_shared(file)));
            }
            None => {}
        }
    }
    found
}

fn is_shared(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "so" || e == "dylib")
}

/// The folder that the link of a program left behind. Cargo gives programs a second, shorter name
/// in another folder; the folder is beside the first.
fn kept_link(program: &Path) -> Option<PathBuf> {
    let own = folder_of(program);
    if own.is_dir() {
        return Some(own);
    }
    let folder = program.parent()?;
    let candidates = [folder.join("deps"), folder.to_path_buf()];
    let candidates = candidates
        .iter()
        .filter_map(|folder| folder.read_dir().ok());
    let candidates = candidates.flatten().flatten().map(|entry| entry.path());
    let mut kept = candidates.filter(|path| path.extension() == Some(OsStr::new("zymase")));
    kept.find(|kept| same_file(&kept.with_extension(""), program))
}

/// The folder beside the output of a link.
fn folder_of(output: &Path) -> PathBuf {
    let mut folder = output.as_os_str().to_os_string();
    folder.push(".zymase");
    PathBuf::from(folder)
}

/// Whether two names are of one file, or of two copies of it.
fn same_file(one: &Path, other: &Path) -> bool {
    if same_file::is_same_file(one, other).unwrap_or(false) {
        return true;
    }
    let length = |path: &Path| path.metadata().map(|data| data.len()).ok();
    length(one).is_some()
        && length(one) == length(other)
        && std::fs::read(one).ok() == std::fs::read(other).ok()
}

/// The names of programs, for a sentence.
fn names<'a>(programs: impl Iterator<Item = &'a PathBuf>) -> String {
    let names = programs.filter_map(|program| program.file_name());
    let names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.join(" and ")
}
