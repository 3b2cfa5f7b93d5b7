//! A program of five source files and a static library, built in all the ways that programs are:
//! on one command line, file by file, from bitcode, from native objects that carry bitcode, with a
//! part that is native code alone. The gradient goes through four of the files, the library, a
//! variable that two files share, and a buffer that is local to one.

use std::path::{Path, PathBuf};
use std::process::Command;

const KERNEL: [&str; 4] = ["flux", "smooth", "norm", "unused"];
const FILES: [&str; 5] = ["main", "model", "solver", "boundary", "report"];

/// Sources and a folder for what is made of them.
struct Build {
    folder: tempfile::TempDir,
}

impl Build {
    fn new() -> Build {
        let folder = tempfile::tempdir().unwrap();
        Build { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a file of the program or of the library to an object.
    fn compile(&self, compiler: &[&str], name: &str) -> PathBuf {
        let object = self.path(&format!("{name}.o"));
        let mut command = start(compiler);
        command.arg("-c").arg(source(name)).arg("-o").arg(&object);
        run(&mut command);
        object
    }

    /// Makes the library; one of its members needs what nobody has.
    fn library(&self, compiler: &[&str], archiver: &str) {
        let objects = KERNEL.map(|name| self.compile(compiler, name));
        let mut command = Command::new(archiver);
        let archive = self.path("libkernel.a");
        run(command.arg("rcs").arg(archive).args(objects));
    }

    /// Links with the library, runs the program, and checks what it says.
    fn link(&self, linker: &[&str], inputs: &[PathBuf]) {
        let program = self.path("program");
        let mut command = start(linker);
        command.args(inputs).arg("-L").arg(self.folder.path());
        command.args(["-lkernel", "-lm", "-o"]).arg(&program);
        run(&mut command);
        let printed = run(&mut Command::new(&program));
        assert!(printed.ends_with("ok several\n"), "{printed}");
    }
}

fn start(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

fn source(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/several");
    let own = folder.join(format!("{name}.c"));
    match own.exists() {
        true => own,
        false => folder.join(format!("kernel/{name}.c")),
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{printed}{errors}");
    printed
}

const ZYMASE: &str = env!("CARGO_BIN_EXE_zymase");

#[test]
fn on_one_command_line() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let build = Build::new();
        let compiler = [ZYMASE, "cc", level];
        build.library(&compiler, "ar");
        build.link(&compiler, &FILES.map(source));
    }
}

/// The file that asks was compiled when nobody could see the others.
#[test]
fn file_by_file() {
    for level in ["-O0", "-O2"] {
        let build = Build::new();
        let compiler = [ZYMASE, "cc", level];
        build.library(&compiler, "ar");
        let objects = FILES.map(|name| build.compile(&compiler, name));
        build.link(&compiler, &objects);
    }
}

/// Native code without any bitcode calls a function of the library, whose members are bitcode.
#[test]
fn bitcode_and_native_code() {
    let build = Build::new();
    let compiler = ["clang-22", "-O2", "-flto"];
    build.library(&compiler, "llvm-ar-22");
    let mut objects = FILES.map(|name| build.compile(&compiler, name));
    objects[4] = build.compile(&["clang-22", "-O2"], "report");
    build.link(&[ZYMASE, "ld", "-O2"], &objects);
}

/// Objects that a plain clang made native, with its bitcode beside: the file that asks is compiled
/// from its bitcode, and so is the one whose buffer derivatives use.
#[test]
fn embedded_bitcode() {
    let build = Build::new();
    let compiler = ["clang-22", "-O2", "-fembed-bitcode"];
    build.library(&compiler, "llvm-ar-22");
    let objects = FILES.map(|name| build.compile(&compiler, name));
    build.link(&[ZYMASE, "ld"], &objects);
}
