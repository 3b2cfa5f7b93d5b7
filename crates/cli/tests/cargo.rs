//! `cargo zymase` on small projects: every kind of crate and command, beside plain cargo.
#![cfg(target_os = "linux")]

#[path = "common/project.rs"]
mod project;

use project::{HOST, Project, package};

/// A workspace with everything that cargo builds: a library that asks for a derivative, with a build
/// script, a procedural macro, unit tests, documentation that runs, an example and a benchmark; and
/// a program in another package that asks for derivatives through the library's functions.
fn workspace() -> Project {
    let model = "
        [dependencies]
        words = { path = \"../words\" }
        [[bench]]
        name = \"speed\"
        harness = false
    ";
    let app = "[dependencies]\nmodel = { path = \"../model\" }\n";
    let words = "[lib]\nproc-macro = true\n";
    Project::with(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"app\", \"model\", \"words\"]\nresolver = \"3\"\n",
        ),
        ("words/Cargo.toml", &package("words", words)),
        (
            "words/src/lib.rs",
            r#"
            use proc_macro::TokenStream;
            /// The function `cube`.
            #[proc_macro]
            pub fn cube(_: TokenStream) -> TokenStream {
                "pub fn cube(x: f64) -> f64 { x * x * x }".parse().unwrap()
            }
            "#,
        ),
        ("model/Cargo.toml", &package("model", model)),
        (
            "model/build.rs",
            r#"
            fn main() {
                let file = std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("factor.rs");
                std::fs::write(file, "const FACTOR: f64 = 10.0;").unwrap();
                println!("cargo::rerun-if-changed=build.rs");
            }
            "#,
        ),
        (
            "model/src/lib.rs",
            r#"ASK
            include!(concat!(env!("OUT_DIR"), "/factor.rs"));
            words::cube!();

            /// Ten times the sum of squares.
            ///
            /// ```
            /// let gradient = model::gradient!(model::energy, &[1.0, 2.0]);
            /// assert_eq!(gradient, [20.0, 40.0]);
            /// assert_eq!(model::slope(&[3.0]), [60.0]);
            /// ```
            #[inline(never)]
            pub fn energy(x: &[f64]) -> f64 {
                x.iter().map(|x| FACTOR * x * x).sum()
            }

            /// The sum of a function of every number.
            pub fn total<F: Fn(f64) -> f64>(x: &[f64], f: F) -> f64 {
                x.iter().map(|&x| f(x)).sum()
            }

            /// The gradient of the energy.
            pub fn slope(x: &[f64]) -> Vec<f64> {
                gradient!(energy, x)
            }

            #[test]
            fn in_a_unit_test() {
                assert_eq!(gradient!(|x: &[f64]| total(x, cube), &[1.0, 2.0]), [3.0, 12.0]);
            }
            "#,
        ),
        (
            "model/tests/outside.rs",
            r#"
            #[test]
            fn in_a_test_of_its_own() {
                assert_eq!(model::gradient!(model::energy, &[2.0]), [40.0]);
            }
            "#,
        ),
        (
            "model/examples/show.rs",
            r#"fn main() { println!("{:?}", model::gradient!(model::energy, &[0.5])); }"#,
        ),
        (
            "model/benches/speed.rs",
            r#"fn main() { println!("bench {:?}", model::slope(&[0.25])); }"#,
        ),
        ("app/Cargo.toml", &package("app", app)),
        (
            "app/src/main.rs",
            r#"
            fn mixed(x: &[f64]) -> f64 {
                model::energy(x) + model::total(x, |x| model::cube(x))
            }
            fn main() {
                println!("{:?} {:?}", model::slope(&[1.0, 2.0]), model::gradient!(mixed, &[1.0, 2.0]));
            }
            "#,
        ),
    ])
}

#[test]
fn everything_that_cargo_builds() {
    let project = workspace();
    let printed = "[20.0, 40.0] [23.0, 52.0]\n";
    assert_eq!(project.succeed("zymase run"), printed);
    assert_eq!(project.succeed("zymase run --release"), printed);
    assert_eq!(
        project.succeed(&format!("zymase run --release --target {HOST}")),
        printed
    );
    assert_eq!(
        project.succeed("zymase run -p model --example show"),
        "[10.0]\n"
    );
    assert_eq!(
        project.succeed("zymase bench -p model --bench speed"),
        "bench [5.0]\n"
    );
    let tests = project.succeed("zymase test --workspace");
    for test in [
        "test in_a_unit_test",
        "test in_a_test_of_its_own",
        "test model/src/lib.rs - energy",
    ] {
        let line = tests.lines().find(|line| line.starts_with(test));
        assert!(
            line.is_some_and(|line| line.ends_with("ok")),
            "{test}: {tests}"
        );
    }
    // What builds nothing works as well, and so does what only looks at sources.
    project.succeed("zymase check --workspace --all-targets");
    project.succeed("zymase doc --no-deps");
    assert!(
        project
            .succeed("zymase tree -p app")
            .starts_with("app v0.1.0")
    );
}

/// Link-time optimization by the linker, over all crates; a linker that cannot do that; and crates
/// that are optimized differently.
#[test]
fn other_ways_to_link() {
    let printed = "[20.0, 40.0] [23.0, 52.0]\n";
    let mut project = workspace();
    let words = "zymase run --release --config profile.release.lto=";
    assert_eq!(project.succeed(&format!("{words}\"fat\"")), printed);
    assert_eq!(project.succeed(&format!("{words}\"thin\"")), printed);
    let words = "zymase run --config profile.dev.package.model.opt-level=3";
    assert_eq!(project.succeed(words), printed);
    let words = "zymase run --release --config profile.release.package.model.opt-level=0";
    assert_eq!(project.succeed(words), printed);
    project.set("RUSTFLAGS", "-Clinker-features=-lld");
    assert_eq!(project.succeed("zymase run --release"), printed);
    assert_eq!(project.succeed("zymase run"), printed);
}

/// `zymase check` for a Rust test: every call of a request is compared.
#[test]
fn calls_are_compared() {
    let library = r#"ASK
    fn product(x: &[f64]) -> f64 { x.iter().map(|x| x.sin()).product() }
    #[test]
    fn slopes() {
        for k in 0..3 {
            let slopes = gradient!(product, &[0.5 + f64::from(k), 1.0]);
            assert!((slopes[0] - (0.5 + f64::from(k)).cos() * 1f64.sin()).abs() < 1e-12);
        }
    }
    "#;
    let mut project = Project::with(&[
        ("Cargo.toml", &package("prog", "")),
        ("src/lib.rs", library),
    ]);
    project.set("RUSTFLAGS", "-Clink-arg=--check-requests");
    for profile in ["", "--release"] {
        let output = project.cargo(&format!("zymase test --lib {profile}"));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        let compared = "zymase check: 3 calls of 1 request agree";
        assert!(told.contains(compared), "{told}");
    }
}

const SQUARES: &str = r#"ASK
mod other;
fn f(x: &[f64]) -> f64 { x.iter().map(|x| x * x).sum::<f64>() * other::factor(1.0) }
fn main() { println!("{:?}", gradient!(f, &[1.0, 2.0])); }
"#;

/// The settings of profiles that change how rustc and the linker work together.
#[test]
fn profiles() {
    let project = Project::program(SQUARES);
    project.write("src/other.rs", "pub fn factor(x: f64) -> f64 { x }");
    let check = |settings: &str| {
        let profile = format!("[profile.test-profile]\ninherits = \"dev\"\n{settings}");
        project.write("Cargo.toml", &package("prog", &profile));
        assert_eq!(
            project.succeed("zymase run --profile test-profile"),
            "[2.0, 4.0]\n",
            "{settings}"
        );
    };
    check("codegen-units = 1");
    check("incremental = false");
    check("opt-level = 1");
    check("opt-level = \"s\"\npanic = \"abort\"");
    check("opt-level = 3\nlto = \"fat\"\nstrip = true");
    check("opt-level = 3\nlto = \"thin\"\ndebug = 0\nincremental = false");
    check("opt-level = 2\nlto = \"off\"\ncodegen-units = 1\noverflow-checks = true");
}

/// A change in a part of a program reaches the derivative, in the parts that are compiled again and
/// in those that are not.
#[test]
fn incremental_builds() {
    for profile in ["", "--config profile.release.incremental=true --release"] {
        let project = Project::program(SQUARES);
        for factor in ["1.0", "2.0", "5.0"] {
            project.write(
                "src/other.rs",
                &format!("pub fn factor(x: f64) -> f64 {{ x * {factor} }}"),
            );
            let factor: f64 = factor.parse().unwrap();
            let printed = format!("[{:?}, {:?}]\n", 2.0 * factor, 4.0 * factor);
            assert_eq!(project.succeed(&format!("zymase run {profile}")), printed);
        }
    }
}

/// Plain cargo and `cargo zymase` in one target folder, with and without a target, by turns.
#[test]
fn beside_plain_cargo() {
    let project = Project::with(&[
        (
            "Cargo.toml",
            &package(
                "app",
                "[dependencies]\nlib = { path = \"lib\" }\n[workspace]\n",
            ),
        ),
        ("build.rs", "fn main() {}"),
        ("src/main.rs", "fn main() { println!(\"{}\", lib::two()); }"),
        ("lib/Cargo.toml", &package("lib", "")),
        ("lib/src/lib.rs", "pub fn two() -> i32 { 2 }"),
    ]);
    for target in ["", &format!("--target {HOST}")] {
        let (plain, ours) = (format!("build {target}"), format!("zymase build {target}"));
        project.compiled(&plain);
        project.compiled(&ours);
        for _ in 0..2 {
            assert_eq!(project.compiled(&plain), [] as [&str; 0]);
            assert_eq!(project.succeed(&format!("run {target}")), "2\n");
            assert_eq!(project.compiled(&ours), [] as [&str; 0]);
            assert_eq!(project.succeed(&format!("zymase run {target}")), "2\n");
        }
    }
    project.write("lib/src/lib.rs", "pub fn two() -> i32 { 3 }");
    assert_eq!(project.succeed("run"), "3\n");
    assert_eq!(project.succeed("zymase run"), "3\n");
}

/// rustc optimizes the parts of a crate together: what one of them has for itself gets a name for
/// the others. A part that asks for a derivative is compiled again, and has no such names.
#[test]
fn parts_that_were_optimized_together() {
    let manifest = package(
        "app",
        "[dependencies]\nmodel = { path = \"model\" }\n[workspace]\n[profile.release]\nincremental = true\n",
    );
    let project = Project::with(&[
        ("Cargo.toml", &manifest),
        (
            "src/main.rs",
            r#"fn main() {
                println!("{:?} {} {}", model::a::slope(&[1.0, 2.0, 3.0]), model::c::total(), model::a::count());
            }"#,
        ),
        ("model/Cargo.toml", &package("model", "")),
        ("model/src/lib.rs", "ASK pub mod a; pub mod b; pub mod c;"),
        (
            "model/src/a.rs",
            r#"
            use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
            static TABLE: [f64; 4] = [1.5, 2.5, 3.5, 4.5];
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            fn pick(i: usize) -> f64 { COUNT.fetch_add(1, Relaxed); TABLE[i % 4] }
            pub fn weight(i: usize) -> f64 { pick(i) + 1.0 }
            pub fn count() -> usize { COUNT.load(Relaxed) }
            pub fn slope(x: &[f64]) -> Vec<f64> { crate::gradient!(crate::b::energy, x) }
            "#,
        ),
        (
            "model/src/b.rs",
            r#"
            static SCALE: [f64; 3] = [1.0, 2.0, 3.0];
            fn scale(i: usize) -> f64 { SCALE[i % 3] }
            pub fn energy(x: &[f64]) -> f64 {
                x.iter().enumerate().map(|(i, x)| x * x * crate::a::weight(i) * scale(i)).sum()
            }
            "#,
        ),
        (
            "model/src/c.rs",
            "pub fn total() -> f64 { (0..4).map(crate::a::weight).sum::<f64>() + crate::b::energy(&[1.0]) }",
        ),
    ]);
    for profile in ["", "--release"] {
        let printed = project.succeed(&format!("zymase run {profile}"));
        assert_eq!(printed, "[5.0, 28.0, 81.0] 18.5 8\n");
    }
}

/// Another wrapper around rustc, in a variable or in a file of settings, still runs.
#[test]
#[cfg(unix)]
fn other_wrappers() {
    use std::os::unix::fs::PermissionsExt;
    let mut project = Project::program(SQUARES);
    project.write("src/other.rs", "pub fn factor(x: f64) -> f64 { x }");
    project.write(
        "wrap/er",
        "#!/bin/sh\necho called >> \"$LOG\"\nexec \"$@\"\n",
    );
    let wrapper = project.path().join("wrap/er");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let log = project.path().join("log");
    project.set("LOG", log.to_str().unwrap());
    project.write(
        ".cargo/config.toml",
        "[build]\nrustc-wrapper = \"wrap/er\"\n",
    );
    assert_eq!(project.succeed("zymase run"), "[2.0, 4.0]\n");
    assert!(
        std::fs::remove_file(&log).is_ok(),
        "the wrapper of the file did not run"
    );
    std::fs::remove_dir_all(project.path().join(".cargo")).unwrap();
    std::fs::remove_dir_all(project.path().join("target")).unwrap();
    project.set("RUSTC_WRAPPER", wrapper.to_str().unwrap());
    assert_eq!(project.succeed("zymase run"), "[2.0, 4.0]\n");
    assert!(log.exists(), "the wrapper of the variable did not run");
}

/// A shared library has its derivatives in it.
#[test]
fn shared_libraries() {
    let project = Project::with(&[
        (
            "Cargo.toml",
            &package("shared", "[lib]\ncrate-type = [\"cdylib\"]\n"),
        ),
        (
            "src/lib.rs",
            r#"ASK
            fn f(x: &[f64]) -> f64 { x[0] * x[0] }
            /// The slope of a parabola.
            #[unsafe(no_mangle)]
            pub extern "C" fn slope(x: f64) -> f64 { gradient!(f, &[x])[0] }
            "#,
        ),
        (
            "main.c",
            "double slope(double);\nint main(void) { return slope(3.0) == 6.0 ? 0 : 1; }\n",
        ),
    ]);
    for profile in ["debug", "release"] {
        let words = if profile == "release" {
            "--release"
        } else {
            ""
        };
        project.succeed(&format!("zymase build {words}"));
        let folder = project.path().join("target").join(HOST).join(profile);
        let program = project.path().join("main");
        let mut compile = std::process::Command::new("cc");
        compile
            .arg(project.path().join("main.c"))
            .arg("-L")
            .arg(&folder)
            .arg("-lshared");
        compile
            .arg(format!("-Wl,-rpath,{}", folder.display()))
            .arg("-o")
            .arg(&program);
        assert!(compile.status().unwrap().success());
        assert!(
            std::process::Command::new(&program)
                .status()
                .unwrap()
                .success()
        );
    }
}

/// Code that asks for no derivative is what plain cargo makes of it: libraries in every profile,
/// programs where they are not optimized. An optimized program is optimized by the linker.
#[test]
fn code_without_derivatives() {
    let code = r#"
        use std::collections::BTreeMap;
        pub fn words(text: &str) -> BTreeMap<String, usize> {
            let mut words = BTreeMap::new();
            for word in text.split_whitespace() { *words.entry(word.to_string()).or_default() += 1; }
            words
        }
        pub fn mean(x: &[f64]) -> f64 { x.iter().sum::<f64>() / x.len() as f64 }
        pub fn smooth(x: &mut [f64]) { for i in 1..x.len() { x[i] = 0.5 * (x[i] + x[i - 1]); } }
    "#;
    let project = Project::with(&[
        (
            "Cargo.toml",
            &package(
                "app",
                "[dependencies]\nlib = { path = \"lib\" }\n[workspace]\n",
            ),
        ),
        (
            "src/main.rs",
            "mod own; fn main() { println!(\"{:?} {}\", lib::words(\"a b a\"), own::mean(&[1.0])); }",
        ),
        ("src/own.rs", &format!("#![allow(dead_code)]\n{code}")),
        ("lib/Cargo.toml", &package("lib", "")),
        ("lib/src/lib.rs", code),
    ]);
    for (profile, words) in [("debug", ""), ("release", "--release")] {
        project.succeed(&format!("build {words}"));
        project.succeed(&format!("zymase build {words}"));
        let target = project.path().join("target");
        let (plain, ours) = (target.join(profile), target.join(HOST).join(profile));
        let libraries = [plain.join("deps"), ours.join("deps")].map(|folder| library(&folder));
        assert!(libraries[0].len() > 10);
        assert!(libraries[0] == libraries[1], "{profile}");
    }
}

/// The machine code of every function of a library, in a fixed order. What linkers fill in, such as
/// addresses of other functions, is empty there.
fn library(folder: &std::path::Path) -> Vec<Vec<u8>> {
    use object::{Object, ObjectSection};
    let files = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files = files.filter(|path| path.extension().is_some_and(|e| e == "rlib"));
    let bytes = std::fs::read(files.next().unwrap()).unwrap();
    let archive = object::read::archive::ArchiveFile::parse(&*bytes).unwrap();
    let mut functions = Vec::new();
    for member in archive.members() {
        let data = member.unwrap().data(&*bytes).unwrap();
        let Ok(file) = object::File::parse(data) else {
            continue;
        };
        let sections = file
            .sections()
            .filter(|s| s.name().is_ok_and(|n| n.starts_with(".text")));
        functions.extend(sections.map(|section| section.data().unwrap().to_vec()));
    }
    functions.retain(|code| !code.is_empty());
    functions.sort();
    functions
}
