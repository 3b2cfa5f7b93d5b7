//! The round-trip law: import and export of any module changes no result of the program.
//!
//! Each program is compiled twice from the same bitcode, as it is and after every body was written
//! again from core's IR, and must print the same. Programs in C go through every optimization
//! level, because each makes another dialect of LLVM's IR.

mod common;

use common::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use zymase_llvm::pipelines::{finish, prepare};
use zymase_llvm::{Context, Module};

/// Every function of the standard library comes back from core's IR as something that LLVM
/// accepts.
#[test]
fn the_standard_library_comes_back() {
    let mut bodies = 0;
    for (name, bitcode) in standard_library() {
        let module = Module::parse(&Context::new(), &bitcode, &name).unwrap();
        bodies += round_trip(&module, &name);
    }
    assert!(bodies > 3000, "only {bodies} functions were found");
}

/// The same for copies of the functions as new ones, with debug information of their own.
#[test]
fn the_standard_library_is_copied() {
    let mut bodies = 0;
    for (name, bitcode) in standard_library() {
        let module = Module::parse(&Context::new(), &bitcode, &name).unwrap();
        bodies += copy_functions(&module, &name);
    }
    assert!(bodies > 3000, "only {bodies} functions were found");
}

/// Compiles bitcode as it is, after the round trip, and with copies in the place of its functions;
/// all three programs must print the same.
fn check(bitcode: &Path, link: impl Fn(&Path, &Path)) {
    let print = |variant: &str, module: Module| {
        let object = bitcode.with_extension(format!("{variant}.o"));
        let program = bitcode.with_extension(variant);
        compile(&module, &object);
        link(&object, &program);
        run(&mut Command::new(&program))
    };
    let expected = print("plain", read(bitcode));
    let name = bitcode.display().to_string();
    assert!(!expected.is_empty(), "{name} prints nothing");
    let again = read(bitcode);
    assert!(round_trip(&again, &name) > 0);
    assert_eq!(expected, print("again", again), "{name}");
    let copied = read(bitcode);
    copy_functions(&copied, &name);
    assert_eq!(expected, print("copied", copied), "copies of {name}");
}

/// Compiles a C or C++ program by clang with these flags and checks it.
fn check_clang(compiler: &str, source: &Path, flags: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let bitcode = folder.path().join(format!(
        "{}{}.bc",
        source.file_stem().unwrap().to_string_lossy(),
        flags.join("")
    ));
    run(Command::new(compiler)
        .args(["-w", "-c", "-emit-llvm", "-I/usr/include/eigen3", "-o"])
        .arg(&bitcode)
        .arg(source)
        .args(flags));
    check(&bitcode, |object, program| {
        run(Command::new(compiler)
            .arg(object)
            .args(["-lm", "-o"])
            .arg(program));
    });
}

fn sources(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(programs().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn check_c(level: &str) {
    let sources = sources("c");
    assert!(sources.len() >= 30);
    for source in sources {
        check_clang("clang-22", &source, &[level]);
    }
}

#[test]
fn c_programs_at_o0() {
    check_c("-O0");
}

#[test]
fn c_programs_at_o1() {
    check_c("-O1");
}

#[test]
fn c_programs_at_o2() {
    check_c("-O2");
}

#[test]
fn c_programs_at_o3() {
    check_c("-O3");
}

/// What the passes before import and after export make of unoptimized programs.
#[test]
fn prepared_programs() {
    for source in sources("c") {
        let folder = tempfile::tempdir().unwrap();
        let bitcode = folder.path().join("program.bc");
        run(Command::new("clang-22")
            .args(["-w", "-c", "-emit-llvm", "-O0", "-o"])
            .arg(&bitcode)
            .arg(&source));
        let print = |variant: &str, module: Module| {
            let object = bitcode.with_extension("o");
            let program = bitcode.with_extension(variant);
            compile(&module, &object);
            let mut link = Command::new("clang-22");
            run(link.arg(&object).args(["-lm", "-o"]).arg(&program));
            run(&mut Command::new(&program))
        };
        let expected = print("plain", read(&bitcode));
        let module = read(&bitcode);
        prepare(&module).unwrap();
        round_trip(&module, &source.display().to_string());
        finish(&module).unwrap();
        assert_eq!(expected, print("prepared", module), "{}", source.display());
    }
}

#[test]
fn cpp_programs_with_debug_information() {
    for source in sources("cpp") {
        check_clang("clang++-22", &source, &["-O3", "-g", "-std=c++17"]);
    }
}

#[test]
fn cpp_exceptions_at_every_level() {
    for level in ["-O0", "-O1", "-O2"] {
        let source = programs().join("cpp/exceptions.cpp");
        check_clang("clang++-22", &source, &[level, "-g", "-std=c++17"]);
    }
}

/// A Rust program is a library with `rust_main`, so that the object made here can take the place
/// of the compiler's at the link.
#[test]
fn rust_programs() {
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".into());
    for source in sources("rust") {
        for level in ["0", "3"] {
            let folder = tempfile::tempdir().unwrap();
            run(Command::new(&rustc)
                .args(["--crate-type=staticlib", "--emit=llvm-bc,link", "-g"])
                .args([
                    "--edition=2024",
                    "-Ccodegen-units=1",
                    "--crate-name=program",
                ])
                .arg(format!("-Copt-level={level}"))
                .arg("--out-dir")
                .arg(folder.path())
                .arg(&source));
            let main = folder.path().join("main.c");
            let text = "void rust_main(void); int main(void) { rust_main(); return 0; }";
            std::fs::write(&main, text).unwrap();
            let library = folder.path().join("libprogram.a");
            check(&folder.path().join("program.bc"), |object, program| {
                run(Command::new("clang-22")
                    .arg(&main)
                    .arg(object)
                    .arg(&library)
                    .args(["-lpthread", "-ldl", "-lm", "-o"])
                    .arg(program));
            });
        }
    }
}
