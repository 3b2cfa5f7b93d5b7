//! Programs that are large, and derivatives that find no memory.
//!
//! The sizes here take a moment; `cargo bench -p zymase-cli --bench limits` prints how time and memory
//! grow up to a hundred times as far.

mod common;
#[path = "../benches/limits/families.rs"]
mod families;

use common::{Folder, succeed};
use families::FAMILIES;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// The smallest programs of the benchmark; deep recursion in the compiler would show.
#[test]
fn large_programs_compile() {
    for family in FAMILIES {
        let size = family.sizes[0];
        let folder = Folder::with(&[("program.c", &(family.program)(size))]);
        let start = Instant::now();
        succeed(&folder.zymase("cc -O1 -w -c program.c"));
        let time = start.elapsed();
        // Ten times what the slowest takes on a busy machine.
        assert!(time < Duration::from_secs(60), "{}: {time:?}", family.name);
    }
}

/// Loops nested 12 deep, with the right gradient.
#[test]
fn twelve_loops_in_each_other() {
    let mut source = (FAMILIES.iter().find(|family| family.name == "nested"))
        .map(|family| (family.program)(12))
        .unwrap();
    source += "
#include <stdio.h>
#include <math.h>
int main(void) {
    double x[2] = {0.3, 0.2}, dx[2] = {0, 0};
    gradient(x, dx, 2);
    for (int i = 0; i < 2; i++) {
        double h = 1e-6, up[2] = {x[0], x[1]}, down[2] = {x[0], x[1]};
        up[i] += h;
        down[i] -= h;
        double wanted = (f(up, 2) - f(down, 2)) / (2 * h);
        if (!(fabs(dx[i] - wanted) <= 1e-4 * (1 + fabs(wanted)))) {
            printf(\"%g %g\\n\", dx[i], wanted);
            return 1;
        }
    }
    return 0;
}
";
    let folder = Folder::with(&[("program.c", &source)]);
    succeed(&folder.zymase("cc -O2 -w program.c -lm -o program"));
    succeed(&folder.command("./program", ""));
}

/// A function so large that its sweeps stay apart, with branches, a local array, and a loop on
/// memory that may overlap: the gradient is that of finite differences, whether it does or not.
#[test]
fn sweeps_of_a_large_function() {
    let mut source = "#include <math.h>
#include <stdio.h>
extern int enzyme_dup;
void __enzyme_autodiff(void *, ...);
double f(double *x, double *y, long n) {
    double a = x[0], t[4] = {1, 2, 3, 4};
"
    .to_string();
    for i in 0..600 {
        let (to, from, at) = (i % 4, i * 7 % 4, i % 8);
        source += &format!(
            "    if (x[{at}] > a * 0.{i:03}) a = sin(a) * x[{at}] + t[{to}] * 0.{i:03};\n    \
             t[{to}] = cos(t[{from}] + a) + x[{at}] * 0.5;\n"
        );
        if i % 200 == 100 {
            source += "    for (long i = 0; i < n; i++) y[i] = y[i] * x[n - 1 - i] + a * x[i];\n";
        }
    }
    source += "    for (long i = 0; i < n; i++) a += y[i] * t[i % 4];
    return a;
}
static int wrong(long apart) {
    double at[12], shadow[12] = {0};
    for (int i = 0; i < 12; i++) at[i] = 0.3 + 0.1 * i;
    double x[12];
    for (int i = 0; i < 12; i++) x[i] = at[i];
    __enzyme_autodiff((void *)f, enzyme_dup, x, shadow, enzyme_dup, x + apart, shadow + apart, 4L);
    for (int i = 0; i < 12; i++) {
        double h = 1e-6, up[12], down[12];
        for (int k = 0; k < 12; k++) up[k] = down[k] = at[k];
        up[i] += h;
        down[i] -= h;
        double wanted = (f(up, up + apart, 4) - f(down, down + apart, 4)) / (2 * h);
        if (!(fabs(shadow[i] - wanted) <= 1e-5 * (1 + fabs(wanted)))) {
            printf(\"%ld: %d: %g %g\\n\", apart, i, shadow[i], wanted);
            return 1;
        }
    }
    return 0;
}
int main(void) { return wrong(8) | wrong(2); }
";
    let folder = Folder::with(&[("program.c", &source)]);
    succeed(&folder.zymase("cc -O2 -w program.c -lm -o program"));
    succeed(&folder.command("./program", ""));
}

/// Runs a program with little memory; it must end with our message.
fn runs_out_of_memory(body: &str, level: &str) {
    let source = format!(
        "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
extern int enzyme_dup, enzyme_const;
double __enzyme_autodiff(void *, ...);
{body}"
    );
    let folder = Folder::with(&[("program.c", &source)]);
    succeed(&folder.zymase(&format!("cc {level} -w program.c -lm -o program")));
    let run = |memory: &str| {
        Command::new("bash")
            .args(["-c", &format!("ulimit -c 0; ulimit -v {memory}; ./program")])
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    // With more memory it works, so it is the memory.
    succeed(&run("unlimited"));
    let output = run("100000");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.starts_with("zymase: out of memory: the derivative needs ")
            && errors.lines().count() == 1,
        "{level} {body}\n{:?} {errors}",
        output.status
    );
    // It stopped by itself.
    assert_eq!(
        output
            .status
            .signal()
            .or(output.status.code().map(|c| c - 128)),
        Some(6)
    );
}

/// A tape of this many doubles has 240 MB.
const RECORDS: &str = "30000000";

#[test]
fn tape_of_a_counted_loop() {
    for level in ["-O0", "-O2"] {
        runs_out_of_memory(
            &format!(
                "double f(double x, long n) {{
    double a = x;
    for (long i = 0; i < n; i++) a = sin(a);
    return a;
}}
int main(void) {{ printf(\"%g\\n\", __enzyme_autodiff((void *)f, 0.5, {RECORDS}L)); }}"
            ),
            level,
        );
    }
}

#[test]
fn tape_that_grows() {
    runs_out_of_memory(
        &format!(
            "double f(double x) {{
    double a = x, sum = 0;
    while (sum < {RECORDS}) {{ a = sin(a) + 1; sum += 1 + 0 * a; }}
    return a;
}}
int main(void) {{ printf(\"%g\\n\", __enzyme_autodiff((void *)f, 0.5)); }}"
        ),
        "-O2",
    );
}

#[test]
fn tape_of_recursion() {
    runs_out_of_memory(
        "__attribute__((noinline)) double g(double x, long n) {
    for (long i = 0; i < 4000; i++) x = sin(x) + 0.001;
    return n == 0 ? x : g(x, n - 1) * sin(x);
}
double f(double x, long n) { return g(x, n); }
int main(void) { printf(\"%g\\n\", __enzyme_autodiff((void *)f, 0.5, 8000L)); }",
        "-O1",
    );
}

#[test]
fn shadow_memory() {
    runs_out_of_memory(
        "double f(double *x, long n) {
    double *copy = malloc(n * sizeof(double));
    for (long i = 0; i < n; i++) copy[i] = exp(x[i]);
    double sum = 0;
    for (long i = 0; i < n; i++) sum += copy[i] * copy[n - 1 - i];
    free(copy);
    return sum;
}
int main(void) {
    long n = 3300000;
    double *x = calloc(n, 8), *dx = calloc(n, 8);
    x[rand() & 7] = 1; // Memory that nobody writes would not be there at all.
    if (x && dx) __enzyme_autodiff((void *)f, enzyme_dup, x, dx, n);
    printf(\"%g\\n\", dx[7]);
}",
        "-O2",
    );
}

/// So many iterations have no tape in any memory, and their bytes no number.
#[test]
fn a_tape_whose_size_has_no_number() {
    let source = "#include <math.h>
#include <stdio.h>
double __enzyme_autodiff(void *, ...);
double f(double x, long n, long m) {
    double a = x;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++) a = sin(a);
    return a;
}
int main(void) { printf(\"%g\\n\", __enzyme_autodiff((void *)f, 0.5, 1L << 40, 1L << 40)); }
";
    let folder = Folder::with(&[("program.c", source)]);
    succeed(&folder.zymase("cc -O2 -w program.c -lm -o program"));
    let output = folder.command("timeout", "20 ./program");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("zymase: out of memory"), "{errors}");
}
