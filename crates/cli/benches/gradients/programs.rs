//! The programs of `bench/`, and how they are built.

use super::options::Options;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program to measure.
pub struct Program {
    path: PathBuf,
    source: String,
    levels: Vec<&'static str>,
}

/// The flags of a build, and what the table calls them.
pub struct Build {
    pub flags: Vec<&'static str>,
    pub label: String,
    /// Whether peers take part.
    pub has_peers: bool,
    /// Whether arrays are promised to be apart.
    pub is_restricted: bool,
}

impl Program {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it writes its inputs for others.
    pub fn shares(&self) -> bool {
        self.source.contains("share(")
    }

    pub fn language(&self) -> &'static str {
        match self.path.extension() {
            Some(extension) if extension == "cpp" => "C++",
            _ => "C",
        }
    }

    pub fn name(&self) -> &str {
        let stem = self.path.file_stem().unwrap_or_default();
        stem.to_str().unwrap_or_default()
    }

    /// The command that compiles it.
    pub fn zymase(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zymase"));
        command.arg(match self.language() {
            "C++" => "c++",
            _ => "cc",
        });
        command
    }

    pub fn compile(&self, flags: &[&str], executable: &Path) -> Command {
        let mut command = self.zymase();
        command.args(flags).arg(&self.path);
        command.args(["-lm", "-o"]).arg(executable);
        command
    }

    pub fn builds(&self) -> Vec<Build> {
        let mut builds = Vec::new();
        for level in &self.levels {
            let has_peers = Some(level) == self.levels.last();
            let flags: Vec<&'static str> = level.split(' ').collect();
            let level = level.trim_end_matches(" -w");
            builds.push(Build {
                flags: flags.clone(),
                label: level.to_string(),
                has_peers,
                is_restricted: false,
            });
            if self.source.contains("ALIAS") {
                builds.push(Build {
                    flags: [&flags[..], &["-DRESTRICTED"]].concat(),
                    label: format!("{level} restrict"),
                    has_peers,
                    is_restricted: true,
                });
            }
        }
        builds
    }
}

/// The folder with files for programs that can use some: the one that `BENCH_DATA` names, or the one
/// beside the repository, if it exists.
pub fn data_folder() -> Option<PathBuf> {
    let chosen = std::env::var_os("BENCH_DATA").map(PathBuf::from);
    let usual = repository().join("../shared/data/adbench");
    chosen.or_else(|| usual.canonicalize().ok())
}

/// The folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs whose names contain a word of the command line, all if there is none; and lines that
/// say what is left out.
pub fn chosen_programs(
    clang: &str,
    options: &Options,
) -> Result<(Vec<Program>, Vec<String>), String> {
    let folder = repository().join("bench");
    let entries =
        std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_source(path))
        .collect();
    paths.sort();
    let has_boost = includes(clang, "boost/numeric/odeint.hpp");
    let mut programs = Vec::new();
    let mut skipped = Vec::new();
    for path in paths {
        let source = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let program = Program {
            path,
            source,
            levels: options.levels.clone(),
        };
        let name = program.name();
        if !options.chooses(name) {
            continue;
        }
        if program.source.contains("<boost/") && !has_boost {
            skipped.push(format!(
                "{name} is skipped: there is no Boost.Odeint (`apt install libboost-dev`)"
            ));
            continue;
        }
        programs.push(program);
    }
    Ok((programs, skipped))
}

fn is_source(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension == "c" || extension == "cpp"
}

/// Whether the compiler finds a header.
pub fn includes(clang: &str, header: &str) -> bool {
    let probe = format!("#if !__has_include(<{header}>)\n#error\n#endif\n");
    let mut command = Command::new(clang);
    command.args(["-x", "c++", "-E", "-"]);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok_and(|mut child| {
        let written = child
            .stdin
            .take()
            .is_some_and(|mut stdin| stdin.write_all(probe.as_bytes()).is_ok());
        written & child.wait().is_ok_and(|status| status.success())
    })
}
