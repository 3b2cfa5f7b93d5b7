//! Code without derivatives is as fast with Zymase as without: the same optimized program runs about
//! as many instructions, which valgrind counts and which are the same in every run.
#![cfg(target_os = "linux")]

#[path = "common/project.rs"]
mod project;

use project::{HOST, Project, package};
use std::path::Path;
use std::process::Command;

/// Four kinds of work that take about as many instructions each: a matrix product, a sort, a table
/// with hashes, and text.
const WORK: &str = r#"
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

fn numbers(count: usize) -> Vec<u64> {
    let mut state = 88172645463325252u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count).map(next).collect()
}

pub fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..n {
            for j in 0..n {
                c[i * n + j] += a[i * n + k] * b[k * n + j];
            }
        }
    }
    c
}

pub fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_by_key(|n| (n % 1000, *n));
    numbers
}

pub fn counts(numbers: &[u64]) -> HashMap<u64, usize, BuildHasherDefault<DefaultHasher>> {
    let mut counts = HashMap::default();
    for n in numbers {
        *counts.entry(n % 97).or_default() += 1;
    }
    counts
}

pub fn text(numbers: &[u64]) -> String {
    let words: Vec<String> = numbers.iter().map(|n| format!("{n:x}:{:.3}", *n as f64)).collect();
    words.join(", ")
}

pub fn all() -> f64 {
    let a: Vec<f64> = numbers(10000).iter().map(|x| (x % 10) as f64).collect();
    let sum: f64 = (0..5).map(|_| product(&a, &a, 100).iter().sum::<f64>()).sum();
    let counts = counts(&numbers(100000));
    sum + sorted(numbers(30000))[5] as f64 + counts[&5] as f64 + text(&numbers(2500)).len() as f64
}
"#;

/// A program that does the work itself, one that leaves it to a library, and one that asks for a
/// derivative beside.
fn project() -> Project {
    let manifest = package(
        "prog",
        "[dependencies]\nwork = { path = \"work\" }\n[workspace]\n",
    );
    Project::with(&[
        ("Cargo.toml", &manifest),
        ("work/Cargo.toml", &package("work", "")),
        ("work/src/lib.rs", WORK),
        ("src/work.rs", WORK),
        (
            "src/bin/own.rs",
            "#[path = \"../work.rs\"] mod work; fn main() { println!(\"{} [4.0]\", work::all()); }",
        ),
        (
            "src/bin/library.rs",
            "fn main() { println!(\"{} [4.0]\", work::all()); }",
        ),
        (
            "src/bin/asking.rs",
            r#"ASK
            #[path = "../work.rs"] mod work;
            fn main() { println!("{} {:?}", work::all(), gradient!(|x: &[f64]| x[0] * x[0], &[2.0])); }
            "#,
        ),
    ])
}

#[test]
fn programs_without_derivatives_run_as_many_instructions() {
    let project = project();
    project.succeed("build --release --bin own --bin library");
    project.succeed("zymase build --release");
    let target = project.path().join("target");
    let plain = |name: &str| instructions(&target.join("release").join(name));
    let ours = |name: &str| instructions(&target.join(HOST).join("release").join(name));
    let (own, library) = (plain("own"), plain("library"));
    for (name, found, expected) in [
        ("own", ours("own"), own),
        ("library", ours("library"), library),
        ("asking", ours("asking"), own),
    ] {
        let ratio = found as f64 / expected as f64;
        assert!(
            ratio < 1.02,
            "{name}: {found} instructions instead of {expected}, {ratio:.3} times as many"
        );
    }
}

/// How many instructions a program runs.
fn instructions(program: &Path) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = valgrind.arg(program).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(output.stdout.ends_with(b" [4.0]\n"));
    let count = told
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .map(|(_, count)| count.trim().parse().unwrap());
    count.expect("callgrind says how many instructions it has seen")
}
