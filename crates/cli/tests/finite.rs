//! Programs that are built with `--check-finite` stop at the operation that first makes a
//! derivative NaN or infinite, and compute what they would compute otherwise.

mod common;

use common::{Folder, binary, build, succeed};
use expect_test::{Expect, expect};
use zymase_testgen::grow::grow;
use zymase_testgen::tally::try_levels;

/// Builds a program at some levels, and gives what it prints on the error stream in each of its
/// cases, which must be the same at all.
fn check(name: &str, text: &str, flags: &str, cases: &[&str], expected: Expect) {
    let folder = Folder::with(&[(name, text)]);
    let command = if name.ends_with(".cpp") { "c++" } else { "cc" };
    let mut all: Vec<String> = Vec::new();
    for level in ["-O0", "-O2"] {
        let build = format!("{command} {level} --check-finite {name} -lm {flags} -o program");
        succeed(&folder.zymase(&build));
        let mut printed = String::new();
        for case in cases {
            let output = folder.command("./program", case);
            assert!(!output.status.success(), "case {case} does not stop");
            assert!(output.stdout.is_empty());
            printed += &format!("{case}: {}", String::from_utf8_lossy(&output.stderr));
        }
        all.push(printed);
    }
    assert_eq!(all[0], all[1]);
    expected.assert_eq(&all[0]);
}

const C: &str = r#"#include <math.h>
#include <stdio.h>
#include <stdlib.h>
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);

double root(double x) {
    double y = x * x;
    return 3 * sqrt(y + x);
}
double logarithm(double x) { return log(x) * 2; }
__attribute__((noinline)) double divide(double a, double b) {
    return a / b;
}
double through(double x) { return 2 * divide(x, x) + x; }
double power(double x) { return pow(x, 0.5 + x); }
double large(double x) {
    double big = exp(x);
    return big * big * x;
}
double sum(double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += sqrt(x[i]);
    return sum;
}
void twice(const double *x, double *y) { y[0] = x[0] * 2; }
double add(double x, double y) {
    double huge = 1.5e308;
    return huge * x + huge * y;
}
double both(double x) { return add(x, x); }

int main(int count, char **words) {
    double x[3] = {1, 0, 4}, dx[3] = {0}, y[1] = {0}, dy[1] = {NAN}, r = 0;
    switch (atoi(words[1])) {
    case 0: r = __enzyme_autodiff((void *)root, 0.0); break;
    case 1: r = __enzyme_autodiff((void *)logarithm, 0.0); break;
    case 2: r = __enzyme_autodiff((void *)through, 0.0); break;
    case 3: r = __enzyme_autodiff((void *)power, 0.0); break;
    case 4: r = __enzyme_autodiff((void *)large, 400.0); break;
    case 5: __enzyme_autodiff((void *)sum, x, dx, 3); break;
    case 6: __enzyme_autodiff((void *)twice, x, dx, y, dy); break;
    case 7: dx[0] = INFINITY; __enzyme_autodiff((void *)sum, x, dx, 1); break;
    case 8: r = __enzyme_autodiff((void *)both, 1e-3); break;
    case 10: r = __enzyme_fwddiff((void *)root, 0.0, 1.0); break;
    case 11: r = __enzyme_fwddiff((void *)logarithm, 0.0, 1.0); break;
    case 12: r = __enzyme_fwddiff((void *)through, 0.0, 1.0); break;
    case 13: r = __enzyme_fwddiff((void *)power, 0.0, 1.0); break;
    case 14: r = __enzyme_fwddiff((void *)large, 400.0, 1.0); break;
    case 15: dx[1] = 1; r = __enzyme_fwddiff((void *)sum, x, dx, 3); break;
    case 16: r = __enzyme_fwddiff((void *)root, 1.0, (double)NAN); break;
    case 17: dx[0] = INFINITY; r = __enzyme_fwddiff((void *)sum, x, dx, 3); break;
    }
    printf("%g\n", r);
}
"#;

#[test]
fn reverse() {
    let cases = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];
    check(
        "a.c",
        C,
        "",
        &cases,
        expect![[r#"
        0: zymase: the adjoint of the operand of `sqrt` is inf (a.c:9:16 in root: the adjoint of the result is 3, the result is 0)
        1: zymase: the adjoint of the operand of `log` is inf (a.c:11:37 in logarithm: the adjoint of the result is 2, the operand is 0)
        2: zymase: the adjoint of operand 1 of the quotient is inf (a.c:13:14 in divide: the adjoint of the result is 2, operand 2 is 0)
        3: zymase: the adjoint of operand 1 of `pow` is inf (a.c:16:33 in power: the adjoint of the result is 1, operand 1 is 0, operand 2 is 0.5)
        4: zymase: the adjoint of operand 1 of the product is inf (a.c:19:22 in large: the adjoint of the result is 1, operand 2 is inf)
        5: zymase: the adjoint of the operand of `sqrt` is inf (a.c:24:16 in sum: the adjoint of the result is 1, the result is 0)
        6: zymase: the adjoint of what is stored is nan (a.c:27:47 in twice: as its shadow was given; are the seeds finite, and is the memory initialized?)
        7: zymase: the adjoint of what is read is inf (a.c:24:21 in sum: its shadow is inf, what is added is 0.5)
        8: zymase: the adjoint of argument 1 is inf (in both: the sum of what its uses contribute)
    "#]],
    );
}

#[test]
fn forward() {
    let cases = ["10", "11", "12", "13", "14", "15", "16", "17"];
    check(
        "a.c",
        C,
        "",
        &cases,
        expect![[r#"
        10: zymase: the tangent of `sqrt` is inf (a.c:9:16 in root: the operand is 0)
        11: zymase: the tangent of `log` is inf (a.c:11:37 in logarithm: the operand is 0)
        12: zymase: the tangent of the quotient is nan (a.c:13:14 in divide: operand 1 is 0, operand 2 is 0)
        13: zymase: the tangent of `pow` is inf (a.c:16:33 in power: operand 1 is 0, operand 2 is 0.5)
        14: zymase: the tangent of the product is inf (a.c:19:16 in large: operand 1 is 5.22147e+173, operand 2 is 5.22147e+173)
        15: zymase: the tangent of `sqrt` is inf (a.c:24:16 in sum: the operand is 0)
        16: zymase: the tangent of argument 1 of `root` is nan (in root: given by the caller)
        17: zymase: the tangent of what is read is inf (a.c:24:21 in sum: as its shadow was given; are the tangents finite, and is the memory initialized?)
    "#]],
    );
}

/// All formats, vectors, several derivatives at once, the halves one by one, containers.
#[test]
fn kinds_of_floats_and_calls() {
    let text = r#"#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
template <typename T> T __enzyme_autodiff(void *, ...);
template <typename T> T __enzyme_fwddiff(void *, ...);
void *__enzyme_augmentfwd(void *, ...);
double __enzyme_reverse(void *, ...);
int enzyme_width, enzyme_dup;

inline float squareroot(float x) { return sqrtf(x); }
inline double squareroot(double x) { return sqrt(x); }
inline long double squareroot(long double x) { return sqrtl(x); }
template <typename T> T root(T x) { return squareroot(x); }
typedef double pair __attribute__((vector_size(16)));
__attribute__((noinline)) pair quotient(pair a, pair b) { return a / b; }
double lanes(const double *x) {
    pair a = {x[0], x[1]}, b = {1.0, x[1]};
    pair c = quotient(a, b);
    return c[0] + c[1];
}
double narrow(double x) { return static_cast<float>(x); }
double contained(double *x, int n) {
    std::vector<double> logs;
    for (int i = 0; i < n; i++)
        logs.push_back(std::log(x[i]));
    double sum = 0;
    for (double log : logs)
        sum += log;
    return sum;
}

int main(int, char **words) {
    double x[2] = {1, 0}, dx[2] = {0, 0}, dy[2] = {1, 1}, r = 0;
    switch (std::atoi(words[1])) {
    case 0: r = __enzyme_autodiff<float>((void *)root<float>, 0.0f); break;
    case 1: r = __enzyme_autodiff<long double>((void *)root<long double>, 0.0L); break;
    case 2: __enzyme_autodiff<void>((void *)lanes, x, dx); break;
    case 3: __enzyme_autodiff<void>((void *)contained, x, dx, 2); break;
    case 4: __enzyme_autodiff<void>((void *)lanes, enzyme_width, 2, enzyme_dup, x, dx, dy); break;
    case 5: r = __enzyme_fwddiff<long double>((void *)root<long double>, 0.0L, 1.0L); break;
    case 6: r = __enzyme_fwddiff<double>((void *)lanes, x, dy); break;
    case 7: {
        void *tape = __enzyme_augmentfwd((void *)root<double>, 4.0);
        r = __enzyme_reverse((void *)root<double>, 4.0, (double)INFINITY, tape);
        break;
    }
    case 8: {
        void *tape = __enzyme_augmentfwd((void *)narrow, 4.0);
        r = __enzyme_reverse((void *)narrow, 4.0, 1e300, tape);
        break;
    }
    }
    std::printf("%g\n", r);
}
"#;
    let cases = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];
    check(
        "a.cpp",
        text,
        "",
        &cases,
        expect![[r#"
            0: zymase: the adjoint of the operand of `sqrt` is inf (a.cpp:11:43 in squareroot, inlined at a.cpp:14:44 in root<float>: the adjoint of the result is 1, the result is 0)
            1: zymase: the adjoint of the operand of `sqrt` is inf (a.cpp:13:55 in squareroot, inlined at a.cpp:14:44 in root<long double>: the adjoint of the result is 1, the result is 0)
            2: zymase: the adjoint of operand 1 of the quotient is inf (a.cpp:16:68 in quotient: the adjoint of the result is 1, operand 2 is 0)
            3: zymase: the adjoint of the operand of `log` is inf (a.cpp:26:24 in contained: the adjoint of the result is 1, the operand is 0)
            4: zymase: the adjoint of operand 1 of the quotient is inf (a.cpp:16:68 in quotient: the adjoint of the result is 1, operand 2 is 0)
            5: zymase: the tangent of `sqrt` is inf (a.cpp:13:55 in squareroot, inlined at a.cpp:14:44 in root<long double>: the operand is 0)
            6: zymase: the tangent of the quotient is nan (a.cpp:16:68 in quotient: operand 1 is 0, operand 2 is 0)
            7: zymase: the seed of the result of `_Z4rootIdET_S0_` is inf (a.cpp:14:37 in root<double>: given by the caller)
            8: zymase: the adjoint of the operand of the conversion is inf (a.cpp:22:34 in narrow: the adjoint of the result is 1e+300)
        "#]],
    );
}

/// The arrays around subprograms of linear algebra are looked through.
#[test]
fn linear_algebra() {
    let text = r#"#include <math.h>
#include <stdio.h>
#include <stdlib.h>
void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double,
                 double *, int);
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
void product(const double *a, const double *x, double *y) {
    cblas_dgemv(101, 111, 2, 2, 1.0, a, 2, x, 1, 0.0, y, 1);
}
int main(int count, char **words) {
    double a[4] = {1e200, 2, 3, 4}, da[4] = {0}, x[2] = {1, 2}, dx[2] = {0}, y[2], dy[2] = {1, 1};
    switch (atoi(words[1])) {
    case 0: dy[0] = 1e200; __enzyme_autodiff((void *)product, a, da, x, dx, y, dy); break;
    case 1: dy[0] = NAN; __enzyme_autodiff((void *)product, a, da, x, dx, y, dy); break;
    case 2: dx[0] = 1e200; __enzyme_fwddiff((void *)product, a, da, x, dx, y, dy); break;
    }
    printf("%g\n", dx[0]);
}
"#;
    check(
        "a.c",
        text,
        "-lopenblas",
        &["0", "1", "2"],
        expect![[r#"
            0: zymase: an adjoint behind the arguments of `cblas_dgemv` is inf (a.c:9:5 in product: by its derivative)
            1: zymase: an adjoint behind the arguments of `cblas_dgemv` is nan (a.c:9:5 in product: before its derivative is added; are the seeds finite?)
            2: zymase: a tangent behind the arguments of `cblas_dgemv` is inf (a.c:9:5 in product: after the call)
        "#]],
    );
}

/// What rules of the program write to memory, and the functions that they call.
#[test]
fn rules_of_the_program() {
    let text = r#"#include <math.h>
#include <stdio.h>
#include <stdlib.h>
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
__attribute__((noinline)) static void roots(const double *x, double *y, int n) {
    for (int i = 0; i < n; i++) y[i] = sqrt(x[i]);
}
__attribute__((noinline)) static void add(double *to, double what) { *to += what; }
static void roots_augmented(const double *x, double *dx, double *y, double *dy, int n) {
    roots(x, y, n);
}
static void roots_gradient(const double *x, double *dx, double *y, double *dy, int n) {
    double largest = INFINITY, scratch[4] = {largest};
    for (int i = 0; i < n; i++) {
        double root = sqrt(x[i]) + 0 / scratch[0];
        add(dx + i, dy[i] / (2 * root));
        dy[i] = 0;
    }
}
static void roots_tangent(const double *x, const double *dx, double *y, double *dy, int n) {
    roots(x, y, n);
    for (double *to = dy; to < dy + n; to++) {
        *to = dx[to - dy] / (2 * sqrt(x[to - dy]));
    }
}
void *__enzyme_register_gradient_roots[] = {roots, roots_augmented, roots_gradient};
void *__enzyme_register_derivative_roots[] = {roots, roots_tangent};
static double sum(const double *x, int n) {
    double y[4], sum = 0;
    roots(x, y, n);
    for (int i = 0; i < n; i++) sum += y[i];
    return sum;
}
int main(int count, char **words) {
    double good[3] = {1, 2, 4}, x[3] = {1, 0, 4}, dx[3] = {0}, tangent[3] = {1, 1, 1}, r = 0;
    __enzyme_autodiff((void *)sum, good, dx, 3);
    __enzyme_fwddiff((void *)sum, good, tangent, 3);
    switch (atoi(words[1])) {
    case 0: __enzyme_autodiff((void *)sum, x, dx, 3); break;
    case 1: r = __enzyme_fwddiff((void *)sum, x, tangent, 3); break;
    }
    printf("%g\n", r);
}
"#;
    check(
        "a.c",
        text,
        "",
        &["0", "1"],
        expect![[r#"
            0: zymase: an adjoint that `add` writes is inf (a.c:9:74 in add: a derivative of the program's own, the first term is inf, the second is 0.353553)
            1: zymase: a tangent that `roots_tangent` writes is inf (a.c:24:13 in roots_tangent: a derivative of the program's own)
        "#]],
    );
}

/// Both sides of a copy: the adjoints that it moves, and the sums that come of it.
#[test]
fn copies() {
    let text = r#"#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
double __enzyme_autodiff(void *, ...);
extern int enzyme_dup;
struct pair { double key; float weight[2]; };
static double largest(const double *x, double *y, int n) {
    memcpy(y, x, n * sizeof *x);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}
static double pairs(const struct pair *x, struct pair *y, int n) {
    memcpy(y, x, n * sizeof *x);
    return x[0].key * x[0].weight[1];
}
int main(int count, char **words) {
    double x[3] = {1, 2, 3}, dx[3] = {0}, y[3], dy[3] = {1, 1, 1};
    struct pair p[2] = {{1, {2, 3}}, {4, {5, 6}}}, dp[2] = {0}, q[2], dq[2] = {0};
    switch (atoi(words[1])) {
    case 0: dx[2] = dy[2] = 1.5e308; __enzyme_autodiff((void *)largest, x, dx, y, dy, 3); break;
    case 1: dy[1] = NAN; __enzyme_autodiff((void *)largest, x, dx, y, dy, 3); break;
    case 2: dq[1].weight[1] = INFINITY; __enzyme_autodiff((void *)pairs, p, dp, q, dq, 2); break;
    case 3: dp[1].weight[1] = dq[1].weight[1] = 3e38f; __enzyme_autodiff((void *)pairs, p, dp, q, dq, 2); break;
    }
    printf("%g\n", dx[0]);
}
"#;
    check(
        "a.c",
        text,
        "",
        &["0", "1", "2", "3"],
        expect![[r#"
            0: zymase: the adjoint of what is copied is inf (a.c:9:5 in largest: the sum of its shadow and what is added)
            1: zymase: the adjoint of what is copied is nan (a.c:9:5 in largest: as its shadow was given; are the seeds finite, and is the memory initialized?)
            2: zymase: the adjoint of what is copied is inf (a.c:15:5 in pairs: as its shadow was given; are the seeds finite, and is the memory initialized?)
            3: zymase: the adjoint of what is copied is inf (a.c:15:5 in pairs: the sum of its shadow and what is added)
        "#]],
    );
}

/// A program whose derivatives are finite prints the same, bit for bit. No value is used twice: the
/// optimizer may add up contributions in any order, and another one under checks.
#[test]
fn finite_programs_are_the_same() {
    let text = r#"#include <math.h>
#include <stdio.h>
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
double chain(const double *x, int n) {
    double y = *x;
    for (int t = 0; t < n; t++)
        y = sqrt(2 + tanh(0.9 * y)) / 1.1;
    return y > 1 ? log(y) : y;
}
int main(void) {
    double x = 0.3, dx = 0, dy = 1;
    __enzyme_autodiff((void *)chain, &x, &dx, 20);
    double tangent = __enzyme_fwddiff((void *)chain, &x, &dy, 20);
    printf("%a %a\n", dx, tangent);
}
"#;
    let folder = Folder::with(&[("a.c", text)]);
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let [plain, checked] =
            [("plain", ""), ("checked", "--check-finite")].map(|(name, flag)| {
                succeed(&folder.zymase(&format!("cc {level} {flag} a.c -lm -o {name}")));
                succeed(&folder.command(&format!("./{name}"), ""))
            });
        assert_eq!(plain, checked, "{level}");
        assert!(plain.starts_with("0x1"), "{plain}");
    }
}

/// Generated programs, whose derivatives are finite, have the same derivatives as before.
#[test]
fn generated_programs_go_on() {
    let binary = binary();
    try_levels("ZYMASE_FINITE_SEEDS", 0..8, |seed, level| {
        build(&binary, &format!("{level} --check-finite")).trial(&grow(seed))
    });
}
