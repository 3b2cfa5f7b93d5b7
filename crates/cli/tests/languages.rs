//! Derivatives of what other compilers of the LLVM family wrote, asked for in C.

use std::path::{Path, PathBuf};
use std::process::Command;

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/programs/languages")
        .join(name)
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{printed}{errors}");
    printed
}

/// Builds a C program with an object or archive of another language, and runs it.
fn check(name: &str, level: &str, other: &Path) {
    let folder = other.parent().unwrap();
    let executable = folder.join("program");
    let mut build = Command::new(env!("CARGO_BIN_EXE_zymase"));
    build.args(["cc", level]).arg(program(&format!("{name}.c")));
    build.arg(other).args(["-lm", "-o"]).arg(&executable);
    run(&mut build);
    let printed = run(&mut Command::new(&executable));
    assert_eq!(printed, format!("ok {name}\n"), "{level}");
}

/// Without optimization, flang leaves the assignment of arrays to its runtime, which is native.
#[test]
fn fortran() {
    for level in ["-O1", "-O2", "-O3"] {
        let folder = tempfile::tempdir().unwrap();
        let object = folder.path().join("model.o");
        let mut compile = Command::new("flang-22");
        compile
            .args([level, "-flto", "-c"])
            .arg(program("model.f90"));
        run(compile.arg("-o").arg(&object));
        check("fortran", level, &object);
    }
}

#[test]
fn rust() {
    for level in ["0", "2", "3"] {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("liblayer.a");
        let mut compile = Command::new("rustc");
        compile.args(["--edition=2024", "--crate-type=staticlib", "-Cpanic=abort"]);
        compile.arg(format!("-Copt-level={level}"));
        compile.args(["-Clinker-plugin-lto", "-o"]).arg(&archive);
        run(compile.arg(program("layer.rs")));
        check("rust", &format!("-O{level}"), &archive);
    }
}
