//! Every program of `bench/` that can run at a tiny size compiles, and its derivatives agree with
//! those written by hand and with numbers that are known of it: the program itself compares, and
//! returns zero only if all of them do. One test for each, so that nextest runs them side by side.

mod common;
#[macro_use]
#[path = "common/listed.rs"]
mod listed;

use common::{Folder, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;

programs!(
    programs:
    ba,
    brusselator,
    det,
    dot,
    euler,
    fft,
    fft_recursive,
    gmm,
    ht,
    insertion_sort,
    kmeans,
    llsq,
    lse,
    lstm,
    lu,
    matmul,
    normalize,
    ode,
    odeint,
    overwrite,
    particle,
    relu,
    rosenbrock,
    runge_kutta,
    saddle,
    series,
);

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench")
}

/// Differentiating before optimization gives the same derivatives, later.
#[test]
fn gmm_before_it_is_optimized() {
    let folder = Folder::with(&[]);
    let mut compile = Command::new(common::binary());
    compile.args(["cc", "-O2"]).arg(programs().join("gmm.c"));
    compile.args(["-lm", "-o", "program"]);
    compile.env("ZYMASE_UNOPTIMIZED", "1");
    succeed(&compile.current_dir(folder.path()).output().unwrap());
    run_tiny(&folder);
}

fn check(name: &str) {
    let folder = Folder::with(&[]);
    let c = programs().join(format!("{name}.c"));
    let (language, source) = match c.exists() {
        true => ("cc", c),
        false => ("c++", c.with_extension("cpp")),
    };
    let source = source.display();
    succeed(&folder.zymase(&format!("{language} -O2 {source} -lm -o program")));
    run_tiny(&folder);
}

fn run_tiny(folder: &Folder) {
    let program = folder.path().join("program").display().to_string();
    let printed = succeed(&folder.command(&program, "tiny"));
    assert!(printed.lines().count() > 0);
    // Name, size, three times, spread and difference.
    for line in printed.lines() {
        assert_eq!(line.split('\t').count(), 7, "{line}");
    }
}
