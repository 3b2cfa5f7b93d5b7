//! The programs that Zymase runs: clang and the system's linker.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// The languages of clang.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
}

/// The clang to use: what ZYMASE_CLANG names, else the newest on PATH that fits.
pub fn clang(language: Language) -> Result<PathBuf> {
    let plain = match language {
        Language::C => "clang",
        Language::Cxx => "clang++",
    };
    if let Some(chosen) = std::env::var_os("ZYMASE_CLANG") {
        return Ok(match language {
            Language::C => PathBuf::from(chosen),
            Language::Cxx => plus_plus(chosen),
        });
    }
    let versioned = (14..=22).rev().map(|version| format!("{plain}-{version}"));
    std::iter::once(plain.to_string())
        .chain(versioned)
        .find_map(|name| on_path(&name))
        .ok_or_else(|| {
            Diagnostic::new(
                Code::MissingTool,
                format!("no clang found: neither {plain} nor {plain}-22 to {plain}-14 is on PATH"),
                "Zymase reads the bitcode that clang writes",
                "install clang (`apt install clang`), or set ZYMASE_CLANG to its path",
            )
        })
}

/// `clang++-22` for `clang-22`, where there is one.
fn plus_plus(clang: OsString) -> PathBuf {
    let path = PathBuf::from(&clang);
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    if name.contains("++") {
        return path;
    }
    let sibling = path.with_file_name(name.replacen("clang", "clang++", 1));
    let found = sibling.is_file() || on_path(&sibling.to_string_lossy()).is_some();
    if found { sibling } else { path }
}

/// The linker driver: what ZYMASE_LINKER names, else the system's C compiler.
pub fn linker() -> Result<PathBuf> {
    if let Some(chosen) = std::env::var_os("ZYMASE_LINKER") {
        return Ok(PathBuf::from(chosen));
    }
    ["cc", "gcc", "clang"]
        .iter()
        .find_map(|name| on_path(name))
        .map_or_else(
            || match clang(Language::C) {
                Ok(clang) => Ok(clang),
                Err(_) => Err(Diagnostic::new(
                    Code::MissingTool,
                    "no linker found: none of cc, gcc, clang is on PATH",
                    "the last step of a link is the system's own",
                    "install a C compiler (`apt install gcc`), or set ZYMASE_LINKER to its path",
                )),
            },
            Ok,
        )
}

/// The program of this name in the folders of PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// A command with the environment that the user gave us: the folder of our LLVM is not for others.
pub fn command(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    let variable = if cfg!(target_os = "macos") {
        "DYLD_LIBRARY_PATH"
    } else {
        "LD_LIBRARY_PATH"
    };
    if std::env::var_os("ZYMASE_JOURNAL").is_some() {
        match std::env::var_os("ZYMASE_OUTER_LIBRARY_PATH") {
            Some(outer) => command.env(variable, outer),
            None => command.env_remove(variable),
        };
    }
    command
        .env_remove("ZYMASE_JOURNAL")
        .env_remove("ZYMASE_OUTER_LIBRARY_PATH");
    command
}

/// Runs a command to its end and gives its exit code; one that dies by a signal counts as failed.
pub fn run(command: &mut Command) -> Result<u8> {
    let status = command.status().map_err(|error| {
        Diagnostic::new(
            Code::MissingTool,
            format!("cannot run {}", command.get_program().display()),
            error.to_string(),"give the path of a program that can be run, in ZYMASE_CLANG or ZYMASE_LINKER if it is one of these",
        )
    })?;
    Ok(status
        .code()
        .map_or(1, |code| u8::try_from(code).unwrap_or(1)))
}
