//! What `cargo zymase` says: warnings, errors, explanations, and what is missing.
#![cfg(target_os = "linux")]

#[path = "common/page.rs"]
mod page;
#[path = "common/project.rs"]
mod project;

use expect_test::{Expect, expect};
use project::{HOST, Project, package, said};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Builds a program in dev and in release, which say the same.
fn check(main: &str, expected: Expect) {
    let project = Project::program(main);
    let [dev, release] =
        ["", "--release"].map(|p| said(&project.cargo(&format!("zymase build {p}"))));
    assert_eq!(dev, release);
    expected.assert_eq(&dev);
}

#[test]
fn a_derivative_that_is_always_zero() {
    check(
        "unsafe extern \"C-unwind\" { fn __enzyme_autodiff(f: *const (), ...); static enzyme_dup: i32; }
fn steps(x: &[f64]) -> f64 { x.iter().map(|x| x.round()).sum() }
fn main() {
    let (x, mut dx, mut out, mut seed) = ([1.0], [0.0], 0.0, 1.0);
    let thunk: fn(&[f64], &mut f64) = |x, out| *out = steps(x);
    let (d, f) = (&raw const enzyme_dup, thunk as *const ());
    unsafe { __enzyme_autodiff(f, d, x.as_ptr(), dx.as_mut_ptr(), 1usize, d, &raw mut out, &raw mut seed) };
}
",
        expect![[r#"
            exit code 0
            warning[Z0901]: the derivative of what is written to `out` of `prog::main::{closure#0}` is always zero
             --> src/main.rs:7:14
              |
            7 |     unsafe { __enzyme_autodiff(f, d, x.as_ptr(), dx.as_mut_ptr(), 1usize, d, &raw mut out, &raw mut seed) };
              |              ^^^^^^^^^^^^^^^^^ in `prog::main`
              |
              = note: it does not depend on any active argument in a way that has a derivative
              = help: if that is meant, write `Const` for it, or mark the function that ends the derivative `#[zymase::inactive]`; otherwise look for a conversion to an integer, a rounding or a constant on the way

            warning: `prog` (bin "prog") generated 1 warning
        "#]],
    );
}

#[test]
fn a_function_without_bitcode() {
    check(
        "unsafe extern \"C-unwind\" { fn __enzyme_autodiff(f: *const (), ...); static enzyme_dup: i32; }
unsafe extern \"C\" { safe fn lookup(x: f64) -> f64; }
fn cost(x: &[f64]) -> f64 { x.iter().map(|&x| x * lookup(x)).sum() }
fn main() {
    let (x, mut dx, mut out, mut seed) = ([1.0], [0.0], 0.0, 1.0);
    let thunk: fn(&[f64], &mut f64) = |x, out| *out = cost(x);
    let (d, f) = (&raw const enzyme_dup, thunk as *const ());
    unsafe { __enzyme_autodiff(f, d, x.as_ptr(), dx.as_mut_ptr(), 1usize, d, &raw mut out, &raw mut seed) };
}
",
        expect![[r#"
            exit code 101
            error[Z0501]: cannot differentiate the call of `lookup`
             --> src/main.rs:3:51
              |
            3 | fn cost(x: &[f64]) -> f64 { x.iter().map(|&x| x * lookup(x)).sum() }
              |                                                   ^^^^^^ in `{closure#0}`
              |
             ::: src/main.rs:3:62
              |
            3 | fn cost(x: &[f64]) -> f64 { x.iter().map(|&x| x * lookup(x)).sum() }
              |                                                              --- inlined here, in `cost`
              |
             ::: src/main.rs:6:55
              |
            6 |     let thunk: fn(&[f64], &mut f64) = |x, out| *out = cost(x);
              |                                                       ---- inlined here, in `{closure#0}`
              |
             ::: src/main.rs:8:14
              |
            8 |     unsafe { __enzyme_autodiff(f, d, x.as_ptr(), dx.as_mut_ptr(), 1usize, d, &raw mut out, &raw mut seed) };
              |              ----------------- asked for here, in `prog::main`
              |
              = note: a derivative flows through it, but its body is not part of the program and no rule for it is known
              = help: crates that cargo builds have their bodies, and a library in C has them if it was compiled by `zymase cc -c`; otherwise call it in a function of yours with `#[zymase::derivative(...)]`, which says its derivative, or with `#[zymase::inactive]`, if no derivative is meant to flow through it

            error: could not compile `prog` (bin "prog") due to 1 previous error
        "#]],
    );
}

/// The explanation is there also when nothing has to be built, and names what the user wrote.
#[test]
fn explanations() {
    let main = "ASK
mod inner { pub struct Model { pub scale: f64 } impl Model { #[inline(never)] pub fn cost(&self, x: &[f64]) -> f64 { x.iter().map(|x| self.scale * x * x).sum() } } }
fn loss(x: &[f64]) -> f64 { inner::Model { scale: x[0] }.cost(x) }
fn main() { println!(\"{:?}\", gradient!(loss, &[2.0])); }
";
    let project = Project::program(main);
    let text = project.succeed("zymase explain --release");
    assert_eq!(project.compiled("zymase build --release"), [] as [&str; 0]);
    assert_eq!(project.succeed("zymase explain --release"), text);
    // The call stands in the macro.
    let call = |line: &str| line.trim() == "__enzyme_autodiff(";
    let line = project::ASK.lines().position(call).unwrap() + 1;
    let asked = format!(
        "combined derivative of `prog::main::{{closure#0}}`, asked for at src/main.rs:{line}:"
    );
    assert!(text.starts_with(&asked), "{asked}\n{text}");
    assert!(text.contains("\n  x: dup\n  out: dup\n\n"), "{text}");
    assert!(
        text.contains("reverse mode of `<prog::inner::Model>::cost`"),
        "{text}"
    );
    assert!(
        !text.contains("_R") && !text.contains("library/core"),
        "{text}"
    );
    let page = project.path().join("page.html");
    project.succeed("zymase explain --release --html page.html");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("&lt;prog::inner::Model&gt;::cost"), "{page}");
}

/// Loops are told by the lines that the user wrote, also where iterators of the library run them.
#[test]
fn explanations_of_loops() {
    let main = "ASK
const N: usize = 32;
fn product(a: &[f64], b: &[f64], c: &mut [f64]) {
    for i in 0..N {
        for j in 0..N {
            for k in 0..N {
                c[i * N + j] += a[i * N + k] * b[k * N + j];
            }
        }
    }
}
fn rows(a: &[f64], b: &[f64], c: &mut [f64]) {
    c.chunks_exact_mut(N).zip(a.chunks_exact(N)).for_each(|(c, a)| {
        for (c, b) in c.iter_mut().zip(b.chunks_exact(N)) {
            *c = a.iter().zip(b).map(|(a, b)| a * b).sum();
        }
    });
}
fn loss(x: &[f64]) -> f64 {
    let (mut c, mut d) = ([0.0; N * N], [0.0; N * N]);
    product(x, x, &mut c);
    rows(&c, x, &mut d);
    d.iter().sum()
}
fn main() { println!(\"{:?}\", gradient!(loss, &[2.0; N * N])[0]); }
";
    let project = Project::program(main);
    let text = project.succeed("zymase explain --release");
    let told = text.lines().filter(|line| line.contains("main.rs, lines"));
    let told: Vec<&str> = told.map(str::trim).collect();
    expect![[r#"
        src/main.rs, lines 27 to 30: matrix product 32×32 by 32×32, a nest of 3 loops, adjoint as two products, by kernels where they are large enough
        src/main.rs, lines 36 to 38: map over 32×?, as a loop"#]].assert_eq(&told.join("\n"));
}

#[test]
fn explanations_of_nothing() {
    let project = Project::program("fn main() {}");
    assert_eq!(
        project.succeed("zymase explain"),
        "prog asks for no derivative.\n"
    );
    let project = Project::with(&[("Cargo.toml", &package("lib", "")), ("src/lib.rs", "")]);
    expect![[r#"
        exit code 1
        error[Z0803]: nothing here is linked, and derivatives are written when a program is; name one with --bin, --example, --test or --all-targets
    "#]].assert_eq(&said(&project.cargo("zymase explain")));
}

#[test]
fn explanations_of_several_programs() {
    let ask = "ASK fn main() { println!(\"{:?}\", gradient!(|x: &[f64]| x[0] * x[0], &[2.0])); }";
    let project = Project::with(&[
        ("Cargo.toml", &package("several", "")),
        ("src/bin/one.rs", ask),
        ("src/bin/two.rs", ask),
        ("src/bin/three.rs", "fn main() {}"),
    ]);
    let text = project.succeed("zymase explain");
    for name in ["one", "two"] {
        let part = format!("{name}:\n\ncombined derivative of `{name}::main::{{closure#0}}`");
        assert!(text.contains(&part), "{text}");
    }
    let output = project.cargo("zymase explain --html page.html");
    assert!(said(&output).contains("--html is for one program, and"));
    project.succeed("zymase explain --html page.html --bin two");
    assert!(project.path().join("page.html").is_file());
}

#[test]
fn help_and_version() {
    let project = Project::program("fn main() {}");
    assert!(
        project
            .succeed("zymase")
            .starts_with("Cargo, with derivatives\n")
    );
    assert!(
        project
            .succeed("zymase --help")
            .contains("cargo zymase explain --release")
    );
    let version = format!("cargo-zymase {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(project.succeed("zymase --version"), version);
}

fn shown(output: &Output, folder: &Path) -> String {
    said(output).replace(folder.to_str().unwrap(), "FOLDER")
}

#[test]
fn a_part_of_zymase_is_missing() {
    let project = Project::program("fn main() {}");
    let alone = project.path().join("bin/cargo-zymase");
    std::fs::create_dir(alone.parent().unwrap()).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_cargo-zymase"), &alone).unwrap();
    let output = Command::new(&alone)
        .args(["zymase", "build"])
        .output()
        .unwrap();
    expect![[r#"
        exit code 1
        error[Z0811]: zymase is missing in FOLDER/bin, where cargo-zymase is; install Zymase again
    "#]]
    .assert_eq(&shown(&output, project.path()));
}

/// A script that says it is a compiler with an LLVM that is not ours.
#[test]
fn another_llvm() {
    let mut project = Project::program("fn main() {}");
    let text = "#!/bin/sh\necho 'rustc 2.0.0'\necho 'host: x86_64-unknown-linux-gnu'\necho 'release: 2.0.0'\necho 'LLVM version: 31.0.1'\n";
    project.write("rustc", text);
    let rustc = project.path().join("rustc");
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).unwrap();
    project.set("RUSTC", rustc.to_str().unwrap());
    expect![[r#"
        exit code 1
        error[Z0811]: rustc 2.0.0 has LLVM 31.0.1, and this Zymase was built with LLVM 22.1; install Zymase again with that toolchain, or use one with LLVM 22
    "#]].assert_eq(&said(&project.cargo("zymase build")));
}

#[test]
fn no_linker() {
    let project = Project::program("fn main() {}");
    let sysroot = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .unwrap();
    let sysroot = String::from_utf8(sysroot.stdout).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-zymase"));
    command
        .args(["zymase", "build"])
        .current_dir(project.path());
    command.env("PATH", Path::new(sysroot.trim()).join("bin"));
    command.env_remove("RUSTFLAGS").env_remove("ZYMASE_LINKER");
    expect![[r#"
        exit code 1
        error[Z0805]: no linker found: none of cc, gcc, clang is on PATH; install a C compiler (`apt install gcc`), or set ZYMASE_LINKER to the path of one
    "#]].assert_eq(&said(&command.output().unwrap()));
}

/// The first block of a language on a page.
fn block(name: &str, language: &str) -> String {
    let mut blocks = page::blocks(&page::read(name), &[language]);
    blocks.remove(0).1
}

const SQUARE: &str = r#"ASK
fn main() { println!("{:?}", gradient!(|x: &[f64]| x[0] * x[0], &[2.0])); }
"#;

/// Plain cargo with the settings on the page about cargo.
#[test]
fn plain_cargo_with_settings() {
    let printed = "[4.0]\n";
    let project = Project::program(SQUARE);
    assert_eq!(project.succeed("zymase run"), printed);
    let settings = block("docs/cargo.md", "toml");
    assert!(settings.contains(HOST));
    project.write(".cargo/config.toml", &settings);
    project.write("tests/plain.rs", "#[test] fn plain() {}");
    assert_eq!(project.succeed("run"), printed);
    assert_eq!(project.succeed("run --release"), printed);
    assert_eq!(project.compiled("zymase build"), [] as [&str; 0]);
    project.write(
        "src/lib.rs",
        "ASK\n/// ```\n/// assert_eq!(prog::gradient!(|x: &[f64]| x[0], &[2.0]), [1.0]);\n/// ```\npub struct Documented;",
    );
    assert!(project.succeed("test --doc").contains("1 passed"));
}

/// A library in C, compiled by the build script on the page.
#[test]
fn libraries_in_c() {
    let main = r#"ASK
    unsafe extern "C" { safe fn lookup(x: f64) -> f64; }
    fn main() { println!("{:?}", gradient!(|x: &[f64]| x[0] * lookup(x[0]), &[2.0])); }
    "#;
    let project = Project::program(main);
    project.write("build.rs", &block("docs/cargo.md", "rust"));
    project.write(
        "lookup.c",
        "double lookup(double x) { return 3.0 * x * x; }\n",
    );
    assert_eq!(project.succeed("zymase run"), "[36.0]\n");
    assert_eq!(project.succeed("zymase run --release"), "[36.0]\n");
}

/// The command without cargo that the page has.
#[test]
fn without_cargo() {
    let command = block("docs/cargo.md", "sh");
    let words = command.trim().strip_prefix("rustc ").unwrap();
    let project = Project::program(SQUARE);
    let linker = env!("CARGO_BIN_EXE_zymase-linker");
    let mut rustc = Command::new("rustc");
    let words = words.replace("-Clinker=zymase-linker", &format!("-Clinker={linker}"));
    rustc
        .args(words.split(' '))
        .current_dir(project.path().join("src"));
    assert!(rustc.status().unwrap().success(), "{words}");
    let output = Command::new(project.path().join("src/main"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "[4.0]\n");
}
