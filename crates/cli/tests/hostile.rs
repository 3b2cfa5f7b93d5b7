//! Odd ways to call the tools.

mod common;
#[path = "../../../fuzz/src/damage.rs"]
mod damage;

use common::{Folder, shown, succeed};
use expect_test::expect;
use std::io::Write;
use std::process::{Command, Stdio};

const SOURCE: &str = "#include <stdio.h>
double __enzyme_autodiff(void *, ...);
static double f(double x) { return x * x * x; }
int main(void) { printf(\"%g\\n\", __enzyme_autodiff((void *)f, 2.0)); }
";

/// Compiles with these words, and checks that the program runs.
fn works(folder: &Folder, words: &str) {
    succeed(&folder.zymase(words));
    assert_eq!(succeed(&folder.command("./prog", "")), "12\n", "{words}");
    std::fs::remove_file(folder.path().join("prog")).unwrap();
}

#[test]
fn options_of_clang() {
    let folder = Folder::with(&[("a.c", SOURCE), ("words", "-O2 a.c\n-o prog\n")]);
    works(&folder, "cc @words");
    let options = "-g -std=c99 -march=native -fPIC -Og -Oz -pthread -flto -Wall;-Werror \
                   -fno-pic;-no-pie -fsanitize=address -MMD -fstack-protector-all -ffast-math";
    for option in options.split_whitespace() {
        let option = option.replace(';', " ");
        works(&folder, &format!("cc -O1 {option} a.c -o prog"));
    }
    let dependencies = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!(dependencies("prog.d"), "a.o: a.c\n");
    succeed(&folder.zymase("cc -O2 -c -MMD a.c"));
    assert_eq!(dependencies("a.d"), "a.o: a.c\n");
    succeed(&folder.zymase("cc -O2 -shared -fPIC a.c -o liba.so"));
}

#[test]
fn source_from_standard_input() {
    let folder = Folder::with(&[]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_zymase"))
        .args(["cc", "-O2", "-x", "c", "-", "-o", "prog"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(SOURCE.as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(succeed(&folder.command("./prog", "")), "12\n");
}

#[test]
fn response_file_that_names_itself() {
    let folder = Folder::with(&[("words", "@others"), ("others", "a.o @words")]);
    for tool in ["cc", "ld"] {
        let output = folder.zymase(&format!("{tool} @words"));
        expect![[r#"
            exit code 1
            error[Z0803]: the response file `words` names itself
             |
             = note: its words would have no end
             = help: take `@words` out of it
        "#]]
        .assert_eq(&shown(&output));
    }
}

/// Together they would be a thousand million words.
#[test]
fn response_files_that_name_others_often() {
    let many = |word: &str| format!("{word} ").repeat(1000);
    let (first, second, third) = (many("@second"), many("@third"), many("a.o"));
    let folder = Folder::with(&[("first", &first), ("second", &second), ("third", &third)]);
    for tool in ["cc", "ld"] {
        let output = folder.zymase(&format!("{tool} @first"));
        expect![[r#"
            exit code 1
            error[Z0803]: the response files have too many words
             |
             = note: there are more than 1048576, with those of files that files name
             = help: name each file once
        "#]]
        .assert_eq(&shown(&output));
    }
}

/// LLVM refuses most of these, reads some, and dies of a few; nobody sees more than a message.
#[test]
fn damaged_bitcode() {
    let folder = Folder::with(&[("a.c", SOURCE)]);
    succeed(&folder.command("clang-22", "-O1 -c -emit-llvm a.c -o a.bc"));
    let bitcode = std::fs::read(folder.path().join("a.bc")).unwrap();
    for seed in 0..60 {
        let damaged = damage::damaged(&bitcode, &mut fastrand::Rng::with_seed(seed));
        std::fs::write(folder.path().join("b.bc"), damaged).unwrap();
        let output = folder.zymase("opt b.bc -o c.bc");
        let errors = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(1) => assert!(errors.contains("error"), "seed {seed}: {errors}"),
            _ => panic!("seed {seed}: {} {errors}", output.status),
        }
    }
}

#[test]
fn inputs_that_are_no_files() {
    let folder = Folder::with(&[("empty.o", "")]);
    for words in [
        "ld empty.o -o prog",
        "ld . -o prog",
        "ld none.o -o prog",
        "ld",
        "cc",
        "cc .",
    ] {
        let output = folder.zymase(words);
        assert_eq!(output.status.code(), Some(1), "{words}: {}", shown(&output));
    }
    assert_eq!(folder.files(), ["empty.o"]);
}

#[test]
fn request_in_a_native_object() {
    let folder = Folder::with(&[("a.c", SOURCE)]);
    succeed(&folder.command("cc", "-c a.c"));
    expect![[r#"
        exit code 1
        error[Z0806]: a.o calls `__enzyme_autodiff`, but has no bitcode
         |
         = note: derivatives are written from bitcode, and another compiler made native code of it
         = help: compile the file with `zymase cc`, or with clang and -flto
    "#]]
    .assert_eq(&shown(&folder.zymase("ld a.o -o prog")));
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk() {
    let folder = Folder::with(&[("in.ll", "define void @f() {\n  ret void\n}\n")]);
    expect![[r#"
        exit code 1
        error[Z0802]: cannot write /dev/full
         |
         = note: No space left on device (os error 28)
         = help: give a path that can be written
    "#]]
    .assert_eq(&shown(&folder.zymase("opt in.ll -o /dev/full")));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_zymase"))
        .args(["opt", "in.ll"])
        .current_dir(folder.path())
        .stdout(full.unwrap())
        .output()
        .unwrap();
    expect![[r#"
        exit code 1
        error[Z0802]: cannot write to standard output
         |
         = note: No space left on device (os error 28)
         = help: write to a file with -o, or make room where the output goes
    "#]]
    .assert_eq(&shown(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::with(&[]);
    let source = OsStr::from_bytes(b"a\xff.c");
    std::fs::write(folder.path().join(source), SOURCE).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_zymase"))
        .args(["cc", "-O2", "-o", "prog"])
        .arg(source)
        .current_dir(folder.path())
        .output()
        .unwrap();
    succeed(&output);
    assert_eq!(succeed(&folder.command("./prog", "")), "12\n");
}

/// rustc with `zymase ld` as its linker.
#[test]
fn rust_program() {
    let source = "
use std::ffi::c_void;
unsafe extern \"C\" {
    fn __enzyme_autodiff(f: *const c_void, ...) -> f64;
    fn __enzyme_fwddiff(f: *const c_void, ...) -> f64;
}
extern \"C\" fn cube(x: f64) -> f64 {
    x * x * x
}
extern \"C\" fn norm(x: *const f64, n: usize) -> f64 {
    let x = unsafe { std::slice::from_raw_parts(x, n) };
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}
fn main() {
    let (x, mut dx) = ([3.0, 4.0], [0.0, 0.0]);
    let (slope, tangent) = unsafe {
        __enzyme_autodiff(norm as *const c_void, x.as_ptr(), dx.as_mut_ptr(), x.len());
        let slope = __enzyme_autodiff(cube as *const c_void, 2.0);
        (slope, __enzyme_fwddiff(cube as *const c_void, 2.0, 1.0))
    };
    println!(\"{slope} {tangent} {:.3} {:.3}\", dx[0], dx[1]);
}
";
    let linker = format!(
        "#!/bin/sh\nexec '{}' ld \"$@\"\n",
        env!("CARGO_BIN_EXE_zymase")
    );
    let folder = Folder::with(&[("main.rs", source), ("linker", &linker)]);
    succeed(&folder.command("chmod", "+x linker"));
    for level in ["-Copt-level=0", "-Copt-level=3"] {
        let words = format!("{level} -Clinker=./linker -Clinker-plugin-lto main.rs -o prog");
        succeed(&folder.command("rustc", &words));
        assert_eq!(
            succeed(&folder.command("./prog", "")),
            "12 12 0.600 0.800\n"
        );
    }
}
