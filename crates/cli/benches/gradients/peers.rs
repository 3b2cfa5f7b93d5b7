//! Other tools for derivatives, where they are on this machine: optional, and measured beside ours.
//!
//! Enzyme compiles the programs of `bench/` as they are. PyTorch, JAX and ADOL-C have functions of
//! their own in `bench/peers`, and read the inputs that the programs share.

use super::programs::{Build, Program, data_folder, includes, repository};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a peer comes to compute the same.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// It compiles the same program.
    SameProgram,
    /// It has functions of its own, and reads inputs from a file.
    Reader,
}

/// Another tool.
pub struct Peer {
    pub name: &'static str,
    pub kind: Kind,
    pub version: String,
    program: PathBuf,
    script: Option<PathBuf>,
}

impl Peer {
    /// The command that takes part in measurements of a program.
    pub fn command(&self, program: &Program, build: &Build) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.script);
        if self.kind == Kind::SameProgram {
            command.arg(program.path()).args(&build.flags).arg("--");
        }
        if let Some(folder) = data_folder() {
            command.env("BENCH_DATA", folder);
        }
        // One thread each, as we have.
        for variable in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
            command.env(variable, "1");
        }
        let one_thread = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1";
        command.env("XLA_FLAGS", one_thread);
        command
            .env("JAX_PLATFORMS", "cpu")
            .env("JAX_ENABLE_X64", "1");
        command
    }
}

/// The packages of Python, and the scripts that use them.
const PACKAGES: [(&str, &str, Kind, &str); 3] = [
    ("Enzyme", "enzyme-ad", Kind::SameProgram, "enzyme_cpp.py"),
    ("JAX", "jax", Kind::Reader, "peer_jax.py"),
    ("PyTorch", "torch", Kind::Reader, "peer_torch.py"),
];

/// The peers of this machine, and a line for each that is not here.
pub fn installed_peers(clang: &str, folder: &Path) -> (Vec<Peer>, Vec<String>) {
    let (mut peers, mut missing) = (Vec::new(), Vec::new());
    let python = std::env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_string());
    for (name, package, kind, script) in PACKAGES {
        match version(&python, package) {
            Ok(version) => peers.push(Peer {
                name,
                kind,
                version: format!("{package} {version}"),
                program: PathBuf::from(&python),
                script: Some(repository().join("bench/peers").join(script)),
            }),
            Err(reason) => missing.push(format!("{name} is skipped: {reason}")),
        }
    }
    match adolc(clang, folder) {
        Ok(peer) => peers.push(peer),
        Err(reason) => missing.push(format!("ADOL-C is skipped: {reason}")),
    }
    (peers, missing)
}

/// The version of a package of Python, if it is installed.
fn version(python: &str, package: &str) -> Result<String, String> {
    let question = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))";
    let output = Command::new(python)
        .args(["-c", question, package])
        .output();
    let output = output.map_err(|error| format!("{python} does not start: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
        false => Err(format!(
            "{python} has no package {package} (`pip install {package}`; BENCH_PYTHON names \
             another Python)"
        )),
    }
}

/// Its program, compiled.
fn adolc(clang: &str, folder: &Path) -> Result<Peer, String> {
    if !includes(clang, "adolc/adolc.h") {
        return Err("there are no headers of it (`apt install libadolc-dev`)".to_string());
    }
    let program = folder.join("adolc");
    let mut compile = Command::new(clang);
    compile.args(["--driver-mode=g++", "-std=c++20", "-O3"]);
    compile.arg(repository().join("bench/peers/adolc.cpp"));
    compile.args(["-ladolc", "-o"]).arg(&program);
    let output = compile.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().find(|line| line.contains("error"));
        return Err(format!(
            "its program does not compile: {}",
            first.unwrap_or_default()
        ));
    }
    Ok(Peer {
        name: "ADOL-C",
        kind: Kind::Reader,
        version: "ADOL-C".to_string(),
        program,
        script: None,
    })
}
