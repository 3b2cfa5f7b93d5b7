//! What `zymase check` says: of programs whose derivatives agree, and of derivatives that are wrong,
//! which request, which component and which of the three.

mod common;

use common::Folder;
use expect_test::{Expect, expect};

const HEADER: &str = "
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int enzyme_dup, enzyme_const, enzyme_out, enzyme_width, enzyme_runtime_activity;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
void *__enzyme_augmentfwd(void *, ...);
double __enzyme_reverse(void *, ...);
#line 1 \"program.c\"
";

/// Builds and runs a program; exit code, standard output and standard error. The largest relative
/// difference is left out: it depends on the library of mathematics.
fn checked(folder: &Folder, words: &str) -> String {
    let output = folder.zymase(&format!("check {words}"));
    let code = output.status.code().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let told: String = told
        .lines()
        .map(
            |line| match line.split_once("largest relative difference ") {
                Some((before, after)) => {
                    let (number, rest) = after.split_once(',').unwrap();
                    let size = match number.parse::<f64>().unwrap() {
                        ..1e-6 => "small",
                        // Halves have eleven bits.
                        ..1e-3 => "below 1e-3",
                        _ => panic!("{line}"),
                    };
                    format!("{before}largest relative difference {size},{rest}\n")
                }
                None => format!("{line}\n"),
            },
        )
        .collect();
    format!("exit code {code}\n{printed}{told}")
}

fn check(program: &str, expected: &Expect) {
    let folder = Folder::with(&[("program.c", &format!("{HEADER}{program}"))]);
    let told = checked(&folder, "-O2 program.c -lm");
    assert_eq!(told, checked(&folder, "-O0 program.c -lm"));
    expected.assert_eq(&told);
}

/// Numbers, memory, memory in place, both modes, several at once, halves; and the program goes on
/// as if nothing had been compared.
#[test]
fn right_derivatives_agree() {
    check(
        r#"
static int runs;
static double product(double a, const double *x, int n) {
    runs++;
    printf("product runs\n");
    for (int i = 0; i < n; i++) a *= x[i];
    return a;
}
static void powers(double *x, int n) {
    for (int i = 1; i < n; i++) x[i] += x[i - 1] * x[i - 1];
}
static void single(const float *x, float *y) { *y = sinf(x[0]) * x[1]; }
int main(void) {
    double x[4] = {1, 2, 3, 4}, d[4] = {0}, e[4] = {1, 1, 1, 1};
    printf("%g\n", __enzyme_autodiff((void *)product, 2.0, enzyme_dup, x, d, 4));
    printf("%g %g\n", d[0], d[3]);
    printf("%g\n", __enzyme_fwddiff((void *)product, 2.0, 1.0, enzyme_dup, x, e, 4));
    __enzyme_fwddiff((void *)powers, enzyme_width, 2, enzyme_dup, x, d, e, 4);
    __enzyme_autodiff((void *)powers, enzyme_dup, x, e, 4);
    void *tape = __enzyme_augmentfwd((void *)product, 2.0, enzyme_dup, x, d, 4);
    __enzyme_reverse((void *)product, 2.0, enzyme_dup, x, d, 4, 1.0, tape);
    float in[2] = {1, 2}, din[2] = {0}, out, dout = 1;
    __enzyme_autodiff((void *)single, enzyme_dup, in, din, enzyme_dup, &out, &dout);
    printf("%d runs, x[3] is %g\n", runs, x[3]);
}
"#,
        &expect![[r#"
            exit code 0
            product runs
            24
            48 12
            product runs
            124
            product runs
            3 runs, x[3] is 932
            zymase check: 7 calls of 6 requests agree (largest relative difference small, 0 components badly conditioned)
        "#]],
    );
}

/// A rule of the program that lacks a factor in one component of many.
#[test]
fn a_wrong_gradient_of_the_program() {
    check(
        r#"
__attribute__((noinline)) static double cubes(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i] * x[i];
    return sum;
}
static double cubes_augmented(const double *x, double *dx, int n) { return cubes(x, n); }
static void cubes_gradient(const double *x, double *dx, int n, double seed) {
    for (int i = 0; i < n; i++) dx[i] += seed * (i == 17 ? 2 : 3) * x[i] * x[i];
}
void *__enzyme_register_gradient_cubes[] = {cubes, cubes_augmented, cubes_gradient};
static double cost(const double *x, int n) { return sin(cubes(x, n)); }
int main(void) {
    double x[100], dx[100] = {0};
    for (int i = 0; i < 100; i++) x[i] = 0.25 + i % 7;
    __enzyme_autodiff((void *)cost, x, dx, 100);
}
"#,
        &expect![[r#"
            exit code 1
            zymase check: program.c:16: the reverse derivative of `cost` disagrees at call 1
              with respect to x[17], used at program.c:4
              reverse mode         20.8517713
              forward mode         31.2776569
              finite differences   31.2777, with twice the step  31.2777
              reverse mode is wrong
              derivatives of your own on the way: `cubes` (cubes_gradient)
            zymase check: 1 call of 1 request, 1 disagrees (seed 1)
        "#]],
    );
}

/// A tangent with the wrong sign, of a number.
#[test]
fn a_wrong_tangent_of_the_program() {
    check(
        r#"
__attribute__((noinline)) static double wave(double t) { return cos(t); }
static double wave_tangent(double t, double dt) { return sin(t) * dt; }
void *__enzyme_register_derivative_wave[] = {wave, wave_tangent};
static double twice(double t, double *out) { *out = wave(2 * t); return t; }
int main(void) {
    double out, d_out = 0;
    __enzyme_fwddiff((void *)twice, 0.5, 1.0, enzyme_dup, &out, &d_out);
}
"#,
        &expect![[r#"
            exit code 1
            zymase check: program.c:8: the forward derivative of `twice` disagrees at call 1
              tangent of out[0], used at program.c:5
              reverse mode        -1.68294197
              forward mode         1.68294197
              finite differences  -1.68294, with twice the step -1.68294
              forward mode is wrong
              derivatives of your own on the way: `wave` (wave_tangent)
            zymase check: 1 call of 1 request, 1 disagrees (seed 1)
        "#]],
    );
}

/// Something is marked as having no derivative, and has one: both modes are wrong in the same way.
#[test]
fn a_derivative_that_is_wrongly_denied() {
    check(
        r#"
struct model { int n; double *weights, bias; };
__attribute__((noinline)) static double scale(double w) { return w * w; }
void *__enzyme_inactivefn_scale = (void *)scale;
static double energy(const struct model *m) {
    double sum = m->bias * m->bias;
    for (int i = 0; i < m->n; i++) sum += i < 2 ? m->weights[i] : m->weights[i] * scale(m->weights[i]);
    return sum;
}
int main(void) {
    double w[4] = {1, 2, 3, 4}, dw[4] = {0};
    struct model m = {4, w, 1}, dm = {4, dw, 0};
    __enzyme_autodiff((void *)energy, enzyme_dup, &m, &dm);
}
"#,
        &expect![[r#"
            exit code 1
            zymase check: program.c:13: the reverse derivative of `energy` disagrees at call 1
              with respect to (*(m + 8 bytes))[2], used at program.c:7
              reverse mode         9
              forward mode         9
              finite differences   27, with twice the step  27
              both modes are wrong, or the function is not differentiable here
            zymase check: 1 call of 1 request, 1 disagrees (seed 1)
        "#]],
    );
}

/// At a kink finite differences are between the slopes, and the derivative is one of them.
#[test]
fn a_kink_is_no_mistake() {
    check(
        r#"
static double relu(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] > 0 ? 3 * x[i] : 0;
    return sum;
}
int main(void) {
    double x[5] = {1, 0, -1, 0, 2}, dx[5] = {0};
    __enzyme_autodiff((void *)relu, x, dx, 5);
}
"#,
        &expect![[r#"
            exit code 0
            zymase check: 1 call of 1 request agrees (largest relative difference small, 2 components badly conditioned)
        "#]],
    );
}

/// What is not compared is told: bytes that nobody knows the type of, and those that have several.
#[test]
fn bytes_that_are_not_compared() {
    check(
        r#"
static void labelled(const double *x, const void *label, void *out) {
    double product = x[0] * x[1];
    memcpy(out, &product, 8);
    memcpy((char *)out + 8, label, 8);
}
union word { double whole; float parts[2]; };
static double reused(union word *w, const double *x) {
    w->whole = x[0];
    double square = w->whole * w->whole;
    w->parts[1] = 1;
    return square;
}
int main(void) {
    double x[2] = {2, 3}, dx[2] = {0};
    union word w = {0}, dw = {0};
    long label = 7;
    double out[2], d_out[2] = {1, 0};
    __enzyme_autodiff((void *)labelled, enzyme_dup, x, dx, enzyme_const, &label, enzyme_dup, out, d_out);
    __enzyme_autodiff((void *)reused, enzyme_dup, &w, &dw, enzyme_dup, x, dx);
}
"#,
        &expect![[r#"
            exit code 0
            zymase check: program.c:19: not compared: 8 bytes behind out, used at program.c:5: their type is not known
            zymase check: program.c:20: not compared: 8 bytes behind w, used at program.c:9: they are used as different types
            zymase check: 2 calls of 2 requests agree (largest relative difference small, 0 components badly conditioned)
        "#]],
    );
}

/// Memory that is cleared has no derivative from then on, and that is compared, too.
#[test]
fn memory_that_is_cleared() {
    check(
        r#"
static double drained(double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    memset(x, 0, n * sizeof *x);
    return sum;
}
int main(void) {
    double x[3] = {1, 2, 3}, dx[3] = {5, 6, 7};
    __enzyme_autodiff((void *)drained, enzyme_dup, x, dx, 3);
    double y[3] = {1, 2, 3}, dy[3] = {5, 6, 7};
    __enzyme_fwddiff((void *)drained, enzyme_dup, y, dy, 3);
    printf("%g %g\n", dx[0], dy[0]);
}
"#,
        &expect![[r#"
            exit code 0
            2 0
            zymase check: 2 calls of 2 requests agree (largest relative difference small, 0 components badly conditioned)
        "#]],
    );
}

/// A gradient that is NaN where the function is finite is told; one that only the other mode has is
/// not held against the call.
#[test]
fn derivatives_that_are_not_finite() {
    check(
        r#"
static double norm(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}
static double product(double *x, int n) {
    double all = 1;
    for (int i = 0; i < n; i++) all *= x[i];
    x[0] = all;
    return all;
}
int main(void) {
    double x[3] = {0}, dx[3] = {0}, e[3] = {1, 0, 0};
    __enzyme_autodiff((void *)norm, x, dx, 3);
    __enzyme_fwddiff((void *)norm, x, e, 3);
    double y[3] = {1, NAN, 2}, dy[3] = {0};
    __enzyme_autodiff((void *)product, enzyme_dup, y, dy, 3);
}
"#,
        &expect![[r#"
            exit code 1
            zymase check: program.c:15: the reverse derivative of `norm` disagrees at call 1
              with respect to x[0], used at program.c:4
              reverse mode         nan
              forward mode         0
              finite differences   0, with twice the step  0
              reverse mode is not finite, though the function is: --check-finite names the operation
            zymase check: 3 calls of 3 requests, 1 disagrees (seed 1)
        "#]],
    );
}

/// No false alarms: a function that no step is small enough for, an argument that is zero beside a
/// result that is not there yet, numbers of 16 bits, floats that are only moved.
#[test]
fn hard_numbers() {
    check(
        r#"
static double chaotic(double r) {
    double x = 0.3;
    for (int i = 0; i < 80; i++) x = r * x * (1 - x);
    return x;
}
static double arc(double x) { return fabs(x) < 1 ? acos(x) : 0; }
static double half(const _Float16 *x, _Float16 y) { return x[0] * x[1] * y; }
struct weighed { double key[4]; float w[2]; };
static double moved(struct weighed *in, struct weighed *out, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += in->key[k] * (k + 1);
    out[0] = *in, out[1] = *in;
    return sum;
}
int main(void) {
    __enzyme_autodiff((void *)chaotic, 3.9);
    for (int i = 0; i < 20; i++) __enzyme_autodiff((void *)arc, 0.0);
    _Float16 x[2] = {1, 2}, dx[2] = {0};
    __enzyme_autodiff((void *)half, enzyme_dup, x, dx, (_Float16)3);
    struct weighed a = {{1, 2, 3, 4}, {1, 2}}, b[2], da = {0}, db[2] = {{{0}, {5, 6}}, {{0}, {7, 8}}};
    __enzyme_autodiff((void *)moved, enzyme_dup, &a, &da, enzyme_dup, b, db, 3);
}
"#,
        &expect![[r#"
            exit code 0
            zymase check: 23 calls of 4 requests agree (largest relative difference below 1e-3, 1 component badly conditioned)
        "#]],
    );
}

/// A wrong rule deep in a tree; requests before and after `main` count, too.
#[test]
fn deep_early_and_late() {
    check(
        r#"
struct tree { struct tree *left, *right; double value; };
__attribute__((noinline)) static double cube(double x) { return x * x * x; }
static double cube_augmented(double x) { return cube(x); }
static double cube_gradient(double x, double seed) { return x > 2 ? seed * 2 * x * x : seed * 3 * x * x; }
void *__enzyme_register_gradient_cube[] = {cube, cube_augmented, cube_gradient};
static double sum(const struct tree *t) { return t ? cube(t->value) + sum(t->left) + 2 * sum(t->right) : 0; }
static double square(double x) { return x * x; }
__attribute__((constructor)) static void early(void) { __enzyme_autodiff((void *)square, 1.0); }
__attribute__((destructor)) static void late(void) { __enzyme_autodiff((void *)square, 2.0); }
int main(void) {
    struct tree leaf = {0, 0, 3}, inner = {0, &leaf, 1}, root = {&inner, 0, 1};
    struct tree d_leaf = {0}, d_inner = {0, &d_leaf, 0}, d_root = {&d_inner, 0, 0};
    __enzyme_autodiff((void *)sum, enzyme_dup, &root, &d_root);
}
"#,
        &expect![[r#"
            exit code 1
            zymase check: program.c:14: the reverse derivative of `sum` disagrees at call 1
              with respect to (*(*t + 8 bytes))[2], used at program.c:7
              reverse mode         36
              forward mode         54
              finite differences   54, with twice the step  54
              reverse mode is wrong
              derivatives of your own on the way: `cube` (cube_gradient)
            zymase check: 3 calls of 3 requests, 1 disagrees (seed 1)
        "#]],
    );
}

/// Many kinks hide the rest, and that is told.
#[test]
fn too_many_kinks() {
    check(
        r#"
static double relu(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] > 0 ? 3 * x[i] : 0;
    return sum;
}
int main(void) {
    static double x[1000], dx[1000];
    __enzyme_autodiff((void *)relu, x, dx, 1000);
}
"#,
        &expect![[r#"
            exit code 0
            zymase check: program.c:9: not compared one by one: 904 components, because too many are badly conditioned
            zymase check: 1 call of 1 request agrees (largest relative difference small, 96 components badly conditioned)
        "#]],
    );
}

/// A program that ends in the middle has no summary, but the exit code tells what was found.
#[test]
fn programs_that_end_in_the_middle() {
    check(
        r#"
#include <unistd.h>
__attribute__((noinline)) static double cube(double x) { return x * x * x; }
static double cube_augmented(double x) { return cube(x); }
static double cube_gradient(double x, double seed) { return seed * 2 * x * x; }
void *__enzyme_register_gradient_cube[] = {cube, cube_augmented, cube_gradient};
static double cost(double x) { return cube(x); }
int main(void) {
    __enzyme_autodiff((void *)cost, 2.0);
    _exit(0);
}
"#,
        &expect![[r#"
            exit code 1
            zymase check: program.c:9: the reverse derivative of `cost` disagrees at call 1
              with respect to x
              reverse mode         8
              forward mode         12
              finite differences   12, with twice the step  12
              reverse mode is wrong
              derivatives of your own on the way: `cube` (cube_gradient)
            zymase check: the program ended in the middle, without a summary
        "#]],
    );
}

/// A rule for a function without a body: nobody sees which memory it touches.
#[test]
fn memory_that_nobody_sees() {
    let program = r#"
double library(const double *x);
static double library_augmented(const double *x, double *dx) { return library(x); }
static void library_gradient(const double *x, double *dx, double seed) { dx[0] += seed; }
static double library_tangent(const double *x, const double *dx) { return dx[0]; }
void *__enzyme_register_gradient_library[] = {library, library_augmented, library_gradient};
void *__enzyme_register_derivative_library[] = {library, library_tangent};
static double cost(const double *x) { return library(x); }
int main(void) {
    double x = 1, dx = 0;
    __enzyme_autodiff((void *)cost, &x, &dx);
}
"#;
    let folder = Folder::with(&[
        ("program.c", &format!("{HEADER}{program}")),
        (
            "library.c",
            "double library(const double *x) { return *x; }",
        ),
    ]);
    let built = folder.command("clang-22", "-c library.c");
    assert!(built.status.success());
    expect![[r#"
        exit code 0
        zymase check: program.c:11: not compared: the memory that `library` touches is not known
        zymase check: no call of a request was compared
    "#]]
    .assert_eq(&checked(&folder, "-O2 program.c library.o -lm"));
}

/// Programs that check their own gradients agree with us, too.
#[test]
fn programs_that_check_themselves() {
    let folder = Folder::with(&[]);
    let names = [
        "globals_active",
        "heap",
        "logging",
        "loops",
        "overwrite",
        "split",
        "structs",
    ];
    for name in names {
        let told = checked(&folder, &format!("-O2 {PROGRAMS}/{name}.c -lm"));
        assert!(told.starts_with("exit code 0\n"), "{name}: {told}");
        assert!(told.contains(&format!("ok {name}\n")), "{name}: {told}");
        let last = told.lines().last().unwrap();
        assert!(
            last.contains(" agree (") && !told.contains("not compared"),
            "{name}: {told}"
        );
    }
}

const PROGRAMS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/programs/gradients"
);

/// All of them do, but for rules that are not the truth on purpose (`custom_rules`), and for
/// derivatives that end in memory without a shadow (`runtime_activity`).
#[test]
#[ignore = "takes half an hour"]
fn every_program_at_every_level() {
    let folder = Folder::with(&[]);
    let mut failures = String::new();
    for entry in std::fs::read_dir(PROGRAMS).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let stem = file.strip_suffix(".c").or(file.strip_suffix(".cpp"));
        let Some(name) = stem.filter(|stem| !stem.ends_with(".native")) else {
            continue;
        };
        let mut libraries = String::new();
        if path.with_file_name(format!("{name}.native.c")).exists() {
            let build = format!("-O2 -c {PROGRAMS}/{name}.native.c -o native.o");
            assert!(folder.command("clang-22", &build).status.success());
            libraries += " native.o";
        }
        if name.starts_with("blas") {
            libraries += " -lopenblas";
        }
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let words = format!("--calls 3 {level} {PROGRAMS}/{file}{libraries} -lm");
            let told = checked(&folder, &words);
            let disagrees = ["custom_rules", "runtime_activity"].contains(&name);
            if !told.starts_with(&format!("exit code {}\n", u8::from(disagrees))) {
                failures += &format!("{name} at {level}: {told}\n");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The exit code and the arguments are the program's, and calls can be left out.
#[test]
fn arguments_and_exit_code() {
    let program = r#"
static double square(double x) { return x * x; }
int main(int count, char **words) {
    double sum = 0;
    for (int i = 0; i < 10; i++) sum += __enzyme_autodiff((void *)square, (double)i);
    printf("%s %s %g\n", words[1], words[2], sum);
    return count;
}
"#;
    let folder = Folder::with(&[("program.c", &format!("{HEADER}{program}"))]);
    expect![[r#"
        exit code 3
        one -two 90
        zymase check: 4 calls of 1 request agree (largest relative difference small, 0 components badly conditioned)
    "#]].assert_eq(&checked(
        &folder,
        "--calls 4 --seed 7 -O1 program.c -- one -two",
    ));
}

/// The check of what a program computes does not depend on the language.
#[test]
fn programs_in_cxx() {
    let program = r#"
#include <cmath>
#include <vector>
#include <zymase/autodiff>
double energy(const std::vector<double> &x) {
    double sum = 0;
    for (double v : x) sum += std::exp(-v) * v;
    return sum;
}
int main() {
    std::vector<double> x = {1, 2, 3}, dx = {0, 0, 0};
    zymase::autodiff<zymase::Reverse>(energy, zymase::Duplicated<const std::vector<double> &>(x, dx));
}
"#;
    let folder = Folder::with(&[("program.cpp", program)]);
    expect![[r#"
        exit code 0
        zymase check: 1 call of 1 request agrees (largest relative difference small, 0 components badly conditioned)
    "#]].assert_eq(&checked(&folder, "-O2 program.cpp"));
}
