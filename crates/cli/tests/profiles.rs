//! The programs of `tests/programs/rust` by `cargo zymase`, in profiles of every kind.
//!
//! They check their own derivatives, see `rust.rs`. All of them in all profiles take long, so each
//! profile has two programs that are drawn by its name; the ignored tests run the rest.
#![cfg(target_os = "linux")]

#[path = "common/project.rs"]
mod project;

use project::{HOST, Project, package};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

macro_rules! profiles {
    ($($name:ident: $settings:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let mut programs = programs($settings);
                programs.sort_by_key(|program| drawn(stringify!($name), program));
                check($settings, &programs[..2]);
            }
        )*

        mod every_program {
            $(
                #[test]
                #[ignore = "takes minutes"]
                fn $name() {
                    super::check($settings, &super::programs($settings));
                }
            )*
        }
    };
}

profiles!(
    level_1: "opt-level = 1";
    level_2: "opt-level = 2";
    small: "opt-level = \"s\"";
    smallest: "opt-level = \"z\"";
    one_part: "codegen-units = 1";
    one_part_at_level_1: "opt-level = 1\ncodegen-units = 1";
    assertions: "debug-assertions = true\noverflow-checks = true";
    aborting: "panic = \"abort\"";
    nothing_for_debuggers: "debug = 0\nstrip = true";
    fat: "lto = \"fat\"";
    thin: "lto = \"thin\"";
    as_small_as_can_be: "opt-level = \"z\"\nlto = true\ncodegen-units = 1\npanic = \"abort\"\nstrip = true";
    unoptimized: "opt-level = 0\ndebug = 0";
);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/rust")
}

/// The programs that run in a profile with these settings.
fn programs(settings: &str) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
    }
    // What is not a program; and these catch panics.
    let catches = ["panics", "panics_caught"];
    let aborts = settings.contains("abort");
    names.retain(|name| name != "check" && !(aborts && catches.contains(&name.as_str())));
    names.sort();
    names
}

/// A number that looks like chance, and is the same in every run.
fn drawn(profile: &str, program: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (profile, program).hash(&mut hasher);
    hasher.finish()
}

/// Builds programs in a profile and runs them, and says of all that fail what they say.
fn check(settings: &str, programs: &[String]) {
    let mut manifest = package("programs", "");
    for program in programs {
        let path = folder().join(format!("{program}.rs"));
        manifest += &format!("[[bin]]\nname = \"{program}\"\npath = {path:?}\n");
    }
    manifest += &format!("[profile.tested]\ninherits = \"release\"\n{settings}\n");
    let project = Project::with(&[("Cargo.toml", &manifest)]);
    let output = project.cargo("zymase build --profile tested --keep-going");
    let built = project.path().join("target").join(HOST).join("tested");
    let mut failures = String::new();
    for program in programs {
        let said = match Command::new(built.join(program)).output() {
            Ok(run) if run.status.success() && says_ok(&run.stdout) => continue,
            Ok(run) => format!("{run:?}"),
            Err(_) => "is not built".to_string(),
        };
        failures += &format!("{program}: {said}\n");
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(failures.is_empty(), "{settings}:\n{failures}\n{messages}");
}

/// Whether a program says of something that it is right; it ends otherwise where that is wrong.
fn says_ok(printed: &[u8]) -> bool {
    let printed = String::from_utf8_lossy(printed);
    printed.lines().any(|line| line.starts_with("ok "))
}
