//! Differentiates the C and C++ programs of `tests/programs/gradients` with the real command line, at every
//! optimization level, and runs them.
//!
//! Each program asks for derivatives in both modes and compares them itself with finite
//! differences or with the gradient worked out by hand; it prints `ok NAME` and returns zero only
//! if all of them agree. A file `NAME.native.c` beside `NAME.c` is compiled to a native object, as
//! a library would be that Zymase cannot look into. Programs about memory also run under valgrind,
//! which finds leaks and accesses to memory that is gone.
//!
//! One test for each program, so that nextest runs them side by side.

#[macro_use]
#[path = "common/listed.rs"]
mod listed;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The levels that every program is built at.
const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

programs!(
    programs:
    allocators,
    arrays,
    beside_constants,
    blas,
    blas_fortran,
    bodies,
    branches,
    callbacks,
    calls,
    choices,
    chosen,
    complex,
    containers,
    contractions,
    copy_bytes,
    custom_rules,
    decisions,
    deques,
    destructors,
    duff,
    early,
    eigen_dynamic,
    eigen_fixed,
    fft,
    fft_recursive,
    free_list,
    functions,
    globals,
    globals_active,
    globals_cpp,
    globals_held,
    guards,
    heap,
    householder,
    insertion_sort,
    lasting_memory,
    layers,
    logging,
    loops,
    lu,
    makers,
    matmul,
    mathematics,
    mixed,
    moves,
    networks,
    normalize,
    numerics,
    odeint,
    overlap,
    overwrite,
    overwritten,
    owners,
    pointers,
    read_product,
    records,
    recursion,
    relu3,
    reused,
    requests_defined,
    requests_marked,
    requests_plain,
    rosenbrock,
    runge_kutta,
    runtime_activity,
    scalars,
    searches,
    second_order,
    series,
    shared,
    solvers,
    split,
    streams,
    strings,
    structs,
    swaps,
    tables,
    trees,
    tape_memory,
    tape_stack,
    temporaries,
    vectors,
    vectors_cpp,
    visitors,
    windows,
);

/// Programs that make and free memory while they are differentiated.
const ON_THE_HEAP: [&str; 21] = [
    "allocators",
    "callbacks",
    "containers",
    "free_list",
    "functions",
    "globals_held",
    "heap",
    "layers",
    "owners",
    "recursion",
    "reused",
    "second_order",
    "shared",
    "split",
    "strings",
    "tables",
    "tape_stack",
    "temporaries",
    "trees",
    "vectors_cpp",
    "windows",
];

/// Builds and runs a program at every level, and reports all levels that fail, not only the first.
fn check(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let native = native_object(name, folder.path());
    let mut failures = String::new();
    for level in LEVELS {
        if let Err(failure) = build_and_run(name, level, native.as_deref(), folder.path()) {
            failures += &format!("\n{name} at {level}: {failure}");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// AddressSanitizer checks every access of derivatives too, and that nothing is left behind.
#[test]
fn sanitized() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "early",
        "heap",
        "lasting_memory",
        "split",
        "tape_memory",
        "tape_stack",
        "temporaries",
    ] {
        let program = folder.path().join(name);
        let mut build = Command::new(env!("CARGO_BIN_EXE_zymase"));
        build.args(["cc", "-O1", "-fsanitize=address"]);
        build.arg(programs().join(format!("{name}.c")));
        run(build.arg("-lm").arg("-o").arg(&program)).unwrap();
        let printed = run(&mut Command::new(&program)).unwrap();
        assert_eq!(printed.lines().last(), Some(&*format!("ok {name}")));
    }
    // The function reads one number too many, and only its derivative is called.
    let source = folder.path().join("beyond.c");
    let text = "#include <stdlib.h>
double __enzyme_autodiff(void *, ...);
static double f(double *x, int n) {
    double sum = 0;
    for (int i = 0; i <= n; i++) sum += x[i] * x[i];
    return sum;
}
int main(int n, char **words) {
    double *x = calloc(n, 8), *d = calloc(n, 8);
    __enzyme_autodiff((void *)f, x, d, n);
}";
    std::fs::write(&source, text).unwrap();
    let program = folder.path().join("beyond");
    let mut build = Command::new(env!("CARGO_BIN_EXE_zymase"));
    build.args(["cc", "-O1", "-fsanitize=address"]).arg(&source);
    run(build.arg("-o").arg(&program)).unwrap();
    let failure = run(&mut Command::new(&program)).unwrap_err();
    assert!(failure.contains("heap-buffer-overflow"), "{failure}");
}

/// What `zymase explain` says of a program.
fn explained(source: &Path, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let bitcode = folder.path().join("program.bc");
    let mut compile = Command::new("clang-22");
    compile.args(["-O1", "-g", "-Xclang", "-disable-llvm-passes"]);
    compile.args(["-c", "-emit-llvm", "-o"]).arg(&bitcode);
    run(compile.args(flags).arg(source)).unwrap();
    let mut explain = Command::new(env!("CARGO_BIN_EXE_zymase"));
    run(explain.arg("explain").arg(&bitcode)).unwrap()
}

/// A recursive function whose branches follow from its arguments keeps nothing of a call, if its
/// arrays are known to be apart. If they are not, the roots may be overwritten, and each call has a
/// frame for them.
#[test]
fn recursion_keeps_what_it_must() {
    let source = programs().join("../../../bench/fft_recursive.c");
    let plan = explained(&source, &["-DRESTRICTED"]);
    assert!(plan.contains("frame: 0 bytes for each call"), "{plan}");
    assert!(!plan.contains("has a frame apart"), "{plan}");
    assert!(!plan.contains("for each iteration"), "{plan}");
    let plan = explained(&source, &[]);
    assert!(!plan.contains("frame: 0 bytes for each call"), "{plan}");
    for line in [
        "fft_recursive.c:19: the call of `fft` has a frame apart, 8 bytes for its address",
        "fft_recursive.c:22: load : f64 is cached, 8 bytes for each iteration of the loop at",
    ] {
        assert!(plan.contains(line), "{line}\n{plan}");
    }
}

/// Ten million terms, and nothing is kept of any of them.
#[test]
fn the_series_caches_nothing() {
    let plan = explained(&programs().join("series.c"), &[]);
    assert!(plan.contains("reverse mode of `series`"), "{plan}");
    assert!(!plan.contains("for each iteration"), "{plan}");
}

fn build_and_run(
    name: &str,
    level: &str,
    native: Option<&Path>,
    folder: &Path,
) -> Result<(), String> {
    let program = folder.join(format!("{name}{level}"));
    let mut build = Command::new(env!("CARGO_BIN_EXE_zymase"));
    let c = programs().join(format!("{name}.c"));
    let (language, source) = match c.exists() {
        true => ("cc", c),
        false => ("c++", c.with_extension("cpp")),
    };
    build.args([language, level]).arg(source).args(native);
    if name.starts_with("blas") {
        build.arg("-lopenblas");
    }
    build.arg("-lm").arg("-o").arg(&program);
    run(&mut build)?;
    // The program makes and frees the same memory at every level, so one is enough.
    let mut start = match level == "-O2" && ON_THE_HEAP.contains(&name) {
        true => {
            let mut valgrind = Command::new("valgrind");
            let checks = ["-q", "--error-exitcode=9", "--leak-check=full"];
            valgrind.args(checks).arg(&program);
            valgrind
        }
        false => Command::new(&program),
    };
    let printed = run(&mut start)?;
    if printed.lines().last() == Some(&format!("ok {name}")) {
        return Ok(());
    }
    Err(format!("it returned 0 and printed:\n{printed}"))
}

/// The object of the part of a program that Zymase must not see, where there is one.
fn native_object(name: &str, folder: &Path) -> Option<PathBuf> {
    let source = programs().join(format!("{name}.native.c"));
    if !source.exists() {
        return None;
    }
    let object = folder.join("native.o");
    let mut compile = Command::new(env!("CARGO_BIN_EXE_zymase"));
    compile
        .args(["cc", "-O2", "-c", "-o"])
        .arg(&object)
        .arg(source);
    run(&mut compile).unwrap();
    Some(object)
}

/// Runs a command, which must succeed, and gives what it prints.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?} does not start: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{} from {command:?}\n{printed}{errors}",
        output.status
    ))
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/gradients")
}
